"""The arguments of the search tool: their JSON Schema, and how a call is checked.

They are the options that are declared with `tool_limits`, `show_stats` and `filters`. Their defaults are the options
that the tool was made with. `null` switches a filter off, `filters: false` all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

from ctxcompress.config.options import OPTIONS, CompressionConfig
from ctxcompress.errors import ConfigError

__all__ = ["QUERY", "Parameter", "Parameters", "QueryArguments", "object_schema"]

# A language model reads these texts.
QUERY = "What to look for: a question or keywords."
_OFF = "null switches this off."
_STATS = "Whether to say how many results each step left, if there is room for it."
_FILTERS = "false drops no result by score, as a duplicate or by a limit; the query alone decides what fits."

_KINDS = {"integer": "a whole number", "number": "a number"}


def _kind(name: str) -> str:
    """Return the type in JSON Schema of an option that is declared with `tool_limits`."""
    return "integer" if all(isinstance(limit, int) for limit in OPTIONS[name].tool_limits or ()) else "number"


_OPTIONS = sorted((name for name, option in OPTIONS.items() if option.tool_limits), key=_kind)
"""The options that are arguments: whole numbers, then the others."""


class Parameter(NamedTuple):
    """An argument other than the query."""

    kind: str
    """The type in JSON Schema: "integer", "number" or "boolean"."""
    default: float | None
    least: float | None
    most: float | None
    description: str
    nullable: bool = False

    @classmethod
    def option(cls, name: str, default: float | None) -> "Parameter":
        """Return the argument for an option that is declared with `tool_limits`, which widen to include the default."""
        least, most = OPTIONS[name].tool_limits or (0, 0)
        if default is not None:
            least, most = min(least, default), max(most, default)
        return cls(_kind(name), default, least, most, f"{OPTIONS[name].summary} {_OFF}", nullable=True)

    def validate_argument(self, name: str, value: object) -> str:
        """Return what is wrong with a value, "" if nothing is."""
        if value is None and self.nullable:
            return ""
        if self.kind == "boolean":
            return "" if isinstance(value, bool) else f"{name} is {_shown(value)}; give true or false"
        if self._takes(value):
            return ""
        off = ", or null to switch it off" if self.nullable else ""
        return f"{name} is {_shown(value)}; give {_KINDS[self.kind]} from {self.least} to {self.most}{off}"

    def native(self, value: float | None) -> float | None:
        """Return a checked value as the options take it: JSON writes 5 as 5.0, too."""
        return int(value) if self.kind == "integer" and value is not None else value

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema of the argument."""
        kind = [self.kind, "null"] if self.nullable else self.kind
        limits = {} if self.least is None else {"minimum": self.least, "maximum": self.most}
        return {"type": kind, "description": self.description, "default": self.default, **limits}

    def _takes(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.least is None or self.most is None or not self.least <= value <= self.most:
            return False
        return self.kind == "number" or value == int(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryArguments:
    """The checked arguments of one call."""

    query: str
    options: Mapping[str, Any]
    """Values for all options that a call may give."""
    show_stats: bool
    filters: bool


@dataclass(frozen=True)  # without slots, which cached properties need
class Parameters:
    """The arguments of a tool with these options."""

    config: CompressionConfig

    @cached_property
    def besides_query(self) -> Mapping[str, Parameter]:
        """The arguments other than the query, by name."""
        return {
            **{name: Parameter.option(name, getattr(self.config, name)) for name in _OPTIONS},
            "show_stats": Parameter("boolean", False, None, None, _STATS),
            "filters": Parameter("boolean", True, None, None, _FILTERS),
        }

    @cached_property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the arguments."""
        query = {"type": "string", "description": QUERY, "minLength": 1}
        others = {name: parameter.schema() for name, parameter in self.besides_query.items()}
        return object_schema({"query": query, **others}, ("query",))

    def read(self, given: Mapping[str, Any]) -> QueryArguments:
        """Return the arguments of a call, with the defaults for those that are missing.

        Raises ConfigError with the value, the limit and the remedy.
        """
        known: dict[str, Any] = {name: parameter.default for name, parameter in self.besides_query.items()}
        asked = {"query": None, **known, **given}
        for name, value in asked.items():
            if wrong := self.validate_argument(name, value):
                raise ConfigError(wrong)
        options = {name: self.besides_query[name].native(asked.pop(name)) for name in _OPTIONS}
        return QueryArguments(options=options, **asked)

    def validate_argument(self, name: str, value: object) -> str:
        """Return what is wrong with an argument, "" if nothing is."""
        if name == "query":
            is_text = isinstance(value, str) and bool(value.strip())
            return "" if is_text else f"query is {_shown(value)}; give a question or keywords, as a string"
        parameter = self.besides_query.get(name)
        if parameter is not None:
            return parameter.validate_argument(name, value)
        close = get_close_matches(name, (known := ("query", *self.besides_query)), n=1)
        hint = f"did you mean {close[0]}?" if close else f"the arguments are {', '.join(known)}"
        return f"there is no argument {_shown(name)}; {hint}"


def object_schema(properties: Mapping[str, object], required: tuple[str, ...]) -> dict[str, object]:
    """Return the JSON Schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 100 else f"{shown[:100]}..."
