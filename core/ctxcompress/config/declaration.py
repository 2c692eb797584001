"""The declaration of an option: its default, description, check, and the value that switches it off."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ctxcompress.config.checks import Check, anything

__all__ = ["Option", "option", "with_budget"]

T = TypeVar("T")

_NO_FILTER = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """The declaration of an option, except for its name and type."""

    default: object
    description: str
    check: Check
    off: object
    """The value that switches a filter off."""
    tool_limits: tuple[float, float] | None
    """The least and the greatest value that a call of the search tool may give; None if a call cannot give it."""

    @property
    def is_filter(self) -> bool:
        """Return whether the option drops or cuts passages before the budget decides."""
        return self.off is not _NO_FILTER

    @property
    def summary(self) -> str:
        """Return the first sentence of the description."""
        return f"{self.description.partition('. ')[0].removesuffix('.')}."


def option(
    default: T,
    description: str,
    check: Check = anything,
    *,
    off: object = _NO_FILTER,
    tool_limits: tuple[float, float] | None = None,
) -> T:
    """Return the declaration of an option, as the value of a field of CompressionConfig.

    The first sentence of the description stands alone where there is room for one line. check: for values that are
    wrong by themselves. off: given for a filter, the value that switches it off. tool_limits: given for an argument of
    the search tool.
    """
    declared = Option(default=default, description=description, check=check, off=off, tool_limits=tool_limits)
    start: Any = {"default_factory": default.copy} if isinstance(default, dict) else {"default": default}
    made: Any = field(**start, metadata={"option": declared})
    return made  # type: ignore[no-any-return]


def with_budget(options: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return `options` with `others` in their place, where one of `max_tokens` and `tier` replaces the other.

    None for one of these two means that it is not given.
    """
    budgets = ("max_tokens", "tier")
    given = {name: value for name, value in others.items() if value is not None or name not in budgets}
    merged = {**options, **given}
    if "max_tokens" in given and "tier" not in given:
        merged["tier"] = None
    elif "tier" in given and "max_tokens" not in given:
        merged["max_tokens"] = None
    return merged
