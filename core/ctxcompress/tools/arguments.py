"""The arguments of the search tool: what a client or a language model may send, as JSON Schema, and what it did send.

Their defaults are the options that the tool was made with. `null` switches a filter off, `filters: false` all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

from ctxcompress.config.options import CompressionConfig
from ctxcompress.errors import ConfigError

__all__ = ["QUERY", "Parameter", "Parameters", "QueryArguments", "object_schema"]

# What follows is read by a language model.
QUERY = "What to look for: a question or keywords."
_TOP_N = "How many results at most, the best ones; null for as many as fit."
_MIN_SCORE = "The score below which results are dropped; the best one has 1.0. null keeps all."
_SIMILARITY = "The cosine similarity from which the worse of two results is dropped; null for none."
_NGRAMS = "The share of word triples in common from which the worse of two results is dropped; null for none."
_STATS = "Whether to say how many results each step left."
_FILTERS = "false drops no result by score, as a duplicate or by a limit; what fits is chosen by the query alone."

_KINDS = {"integer": "a whole number", "number": "a number"}


class Parameter(NamedTuple):
    """An argument besides the query."""

    kind: str
    """Of JSON Schema: "integer", "number" or "boolean"."""
    default: float | None
    least: float | None
    most: float | None
    description: str
    nullable: bool = False

    @classmethod
    def filter(cls, kind: str, default: float | None, least: float, most: float, description: str) -> "Parameter":
        """Return the argument of a filter that null switches off. The limits include the default."""
        if default is not None:
            least, most = min(least, default), max(most, default)
        return cls(kind, default, least, most, description, nullable=True)

    def validate_argument(self, name: str, value: object) -> str:
        """Say what is wrong with a value, or nothing where it can be taken."""
        if value is None and self.nullable:
            return ""
        if self.kind == "boolean":
            return "" if isinstance(value, bool) else f"{name} is {_shown(value)}; give true or false"
        if self._takes(value):
            return ""
        off = ", or null to switch it off" if self.nullable else ""
        return f"{name} is {_shown(value)}; give {_KINDS[self.kind]} from {self.least} to {self.most}{off}"

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
    top_n: int | None
    min_score: float | None
    similarity_threshold: float | None
    ngram_threshold: float | None
    show_stats: bool
    filters: bool


@dataclass(frozen=True)  # without slots: what follows from the options is made once
class Parameters:
    """The arguments that a tool with these options takes."""

    config: CompressionConfig

    @cached_property
    def besides_query(self) -> Mapping[str, Parameter]:
        """Name -> argument."""
        config = self.config
        return {
            "top_n": Parameter.filter("integer", config.top_n, 1, 100, _TOP_N),
            "min_score": Parameter.filter("number", config.min_score, 0.0, 1.0, _MIN_SCORE),
            "similarity_threshold": Parameter.filter("number", config.similarity_threshold, 0.5, 1.0, _SIMILARITY),
            "ngram_threshold": Parameter.filter("number", config.ngram_threshold, 0.1, 1.0, _NGRAMS),
            "show_stats": Parameter("boolean", False, None, None, _STATS),
            "filters": Parameter("boolean", True, None, None, _FILTERS),
        }

    @cached_property
    def schema(self) -> dict[str, object]:
        """JSON Schema of the arguments."""
        query = {"type": "string", "description": QUERY, "minLength": 1}
        others = {name: parameter.schema() for name, parameter in self.besides_query.items()}
        return object_schema({"query": query, **others}, ("query",))

    def read(self, given: Mapping[str, Any]) -> QueryArguments:
        """Return what a client or a model sent, with the defaults for what it left out.

        Raises ConfigError with the value, the limit and the remedy.
        """
        known: dict[str, Any] = {name: parameter.default for name, parameter in self.besides_query.items()}
        asked = {"query": None, **known, **given}
        for name, value in asked.items():
            if wrong := self.validate_argument(name, value):
                raise ConfigError(wrong)
        if asked["top_n"] is not None:
            asked["top_n"] = int(asked["top_n"])  # JSON writes 5 as 5.0, too
        return QueryArguments(**asked)

    def validate_argument(self, name: str, value: object) -> str:
        """Say what is wrong with an argument of this name, or nothing where it can be taken."""
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
