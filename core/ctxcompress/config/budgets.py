"""The budget that the options give: a number of tokens, a tier, or a share of the model's context window."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from ctxcompress.errors import ConfigError
from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "NO_LIMIT",
    "TIERS",
    "Tier",
    "budget_of",
    "check_budget",
    "check_tokens_or_share",
    "is_share",
    "share_of",
    "tokens_in_window",
    "with_one_budget",
]

Tier = Literal["key_facts", "summary", "detailed", "complete"]

TIERS: Mapping[Tier, int] = MappingProxyType(
    {"key_facts": 200, "summary": 1_000, "detailed": 5_000, "complete": 20_000}
)
"""Budgets by name, in tokens."""

NO_LIMIT = 1_000_000_000
"""More tokens than any text has."""

_SHARE = lazy_regex(r"(?=.*[1-9])(100(?:\.0{1,6})?|\d{1,2}(?:\.\d{1,6})?)%")
_KEYS = ("max_tokens", "tier")


def check_budget(max_tokens: object, tier: object) -> None:
    """Raise ConfigError unless one of both can be a budget, or neither is given."""
    if max_tokens is not None and tier is not None:
        raise ConfigError(f"both max_tokens={max_tokens!r} and tier={tier!r} are given; give one of them")
    if isinstance(max_tokens, int) and max_tokens < 1:
        raise ConfigError(f"max_tokens is {max_tokens}; it must be at least 1")
    if max_tokens not in (None, "auto") and not _is_tokens_or_share(max_tokens):
        raise ConfigError(
            f"max_tokens is {max_tokens!r}; give a whole number of tokens, at least 1, or 'auto', or a share of the "
            "context window, such as '25%'"
        )
    if tier is not None and tier not in get_args(Tier):
        raise ConfigError(f"tier is {tier!r}; give one of {', '.join(get_args(Tier))}, or max_tokens")


def check_tokens_or_share(name: str, value: object) -> None:
    """Raise ConfigError unless an argument is a number of tokens, or a share of the context window."""
    if not _is_tokens_or_share(value):
        raise ConfigError(
            f"{name} is {value!r}; give a whole number, at least 1, or a share of the context window, such as '25%'"
        )


def _is_tokens_or_share(value: object) -> bool:
    return is_share(value) or (isinstance(value, int) and not isinstance(value, bool) and value >= 1)


def is_share(max_tokens: object) -> bool:
    """Tell whether a budget is a share of the context window, such as "25%"."""
    return isinstance(max_tokens, str) and _SHARE.fullmatch(max_tokens) is not None


def share_of(share: str, tokens: int) -> int:
    """Return a share such as "25%" of these tokens, at least 0."""
    from fractions import Fraction  # takes time to import, and few calls need it

    return int(Fraction(share.removesuffix("%")) * max(tokens, 0) / 100)


def budget_of(max_tokens: int | str | None, tier: Tier | None, window: int | None) -> int:
    """Return the budget in tokens; for "auto" the most that it can be.

    Raises ConfigError for a share of a context window that is unknown, or so small that nothing is left.
    """
    if isinstance(max_tokens, int):
        return max_tokens
    if max_tokens is None:
        return TIERS[tier or "summary"]
    if max_tokens == "auto":
        return TIERS["detailed"]
    return tokens_in_window("max_tokens", max_tokens, window)


def tokens_in_window(name: str, share: str, window: int | None) -> int:
    """Return a share of the context window, which the argument `name` has. Raises ConfigError as `budget_of` does."""
    if window is None:
        raise ConfigError(
            f"{name} is {share!r}, a share of a context window whose size is not known; give context_window "
            "in tokens, in an adapter a model that tells it, or a number of tokens"
        )
    tokens = share_of(share, window)
    if tokens < 1:
        raise ConfigError(
            f"{name} is {share!r} of context_window={window}, which is less than one token; give a larger share, or a "
            "model with a larger window"
        )
    return tokens


def with_one_budget(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options in which one of `max_tokens` and `tier` replaces the other; None means that it is not given."""
    given = {name: value for name, value in options.items() if value is not None or name not in _KEYS}
    replaced = {name: None for name in _KEYS if name not in given} if given.keys() & set(_KEYS) else {}
    return given | replaced
