"""How an option is declared, and the values that it may have. Each check raises ConfigError with the value, the limit
and the remedy.

A `Check` is for one option: it takes the option's name and value, and returns the value to store. What depends on
several options is checked by the functions whose names begin with "check_".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import isfinite
from typing import Any, Literal, TypeGuard, TypeVar, get_args

from ctxcompress.cache.cache import Cache
from ctxcompress.data.passages import Kind
from ctxcompress.data.results import Format
from ctxcompress.data.stats import Observer
from ctxcompress.encoders import WORDS, encoder_named
from ctxcompress.encoders.encoder import Comparer, Encoder, word_vectors_of
from ctxcompress.errors import ConfigError, MissingExtra
from ctxcompress.language_model import LLMSelector
from ctxcompress.plugins import plugin_names
from ctxcompress.text.language import LANGUAGE_CODES
from ctxcompress.text.tokens import is_carried

__all__ = [
    "Check",
    "OnEmpty",
    "OnError",
    "Option",
    "Order",
    "ScoreKind",
    "Scorer",
    "cache_store",
    "check_count",
    "check_flag",
    "closest",
    "option",
]

Scorer = Literal["evidence", "bm25", "rank_bm25", "rank_bm25l", "rank_bm25plus"]
ScoreKind = Literal["similarity", "absolute", "distance", "rank", "none"]
OnEmpty = Literal["keep_best", "original", "drop"]
Order = Literal["source", "relevance", "edges"]
OnError = Literal["raise", "without", "original"]

Check = Callable[[str, Any], Any]
"""From an option's name and value to the value to store."""

_MAPPED_FIELDS = ("title", "header_path", "doc_id", "file_path", "score")


def anything(_: str, value: object) -> object:
    """Accept any value: `check_...` functions look at it together with other options."""
    return value


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


def valid(holds: Callable[[Any], bool], remedy: str) -> Check:
    """Return a check for the values for which `holds` is true. remedy: what to give in place of another one."""

    def check(name: str, value: object) -> object:
        if not holds(value):
            raise ConfigError(f"{name} is {_shown(value)}; give {remedy}")
        return value

    return check


def or_none(check: Check) -> Check:
    """Return a check that accepts None as well."""
    return lambda name, value: None if value is None else check(name, value)


def switch(usual: float, number: Check) -> Check:
    """Return a check for a stage that False leaves out. number: checks its limit, for which True is the usual one."""
    return lambda name, value: value if value is False else number(name, usual if value is True else value)


def one_of(literal: object) -> Check:
    """Return a check for the values of a Literal."""
    choices = get_args(literal)
    return valid(lambda value: value in choices, f"one of {', '.join(choices)}")


def format_name(name: str, value: object) -> object:
    """Check the name of a format of the final text: one of this package, or one that another package adds."""
    added = plugin_names("ctxcompress.renderers") if value not in get_args(Format) else ()
    return value if value in added else one_of(Format)(name, value)


def whole_number(least: int, otherwise: str = "") -> Check:
    """Return a check for whole numbers. otherwise: the end of the message, which says what else to give."""
    remedy = f"a whole number, at least {least}{', ' if otherwise else ''}{otherwise}"
    return valid(lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least, remedy)


def _is_number(value: object) -> TypeGuard[int | float]:
    return not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value)


check_flag = valid(lambda value: isinstance(value, bool), "True or False")
seconds = valid(
    lambda value: value is None or (_is_number(value) and value > 0),
    "a number of seconds above 0, or None for no limit",
)
separator = valid(lambda value: isinstance(value, str), "a string, such as '\\n\\n'")
similarity = valid(
    lambda value: value is None or (_is_number(value) and 0 < value <= 1),
    "a number above 0 and at most 1, or None to leave this stage out",
)
probability = valid(lambda value: _is_number(value) and 0 < value < 1, "True, False or a number above 0 and below 1")
language_code = valid(
    lambda value: value is None or (isinstance(value, str) and value in LANGUAGE_CODES),
    "a two-letter code such as 'en' (ISO 639-1), or None to detect it",
)
cache_store = valid(
    lambda value: isinstance(value, Cache | None), "one of ctxcompress.cache, such as Cache(SqliteStore(path))"
)
_observer = valid(
    lambda value: isinstance(value, bool) or (isinstance(value, Observer) and not isinstance(value, type)),
    "True, False, ctxcompress.apps.telemetry.OpenTelemetry(...) or an object with observe",
)


def observer(name: str, value: object) -> object:
    if value is True and find_spec("opentelemetry") is None:
        raise MissingExtra(f"{name}=True needs opentelemetry-api; run: pip install 'ctxcompress[otel]'")
    return _observer(name, value)


def token_encoding(name: str, value: object) -> object:
    if is_carried(value):
        return value
    if isinstance(value, str):
        from tiktoken import list_encoding_names  # takes time to import, and the default does not need it

        known = list_encoding_names()
        return valid(lambda value: value in known, f"one of {', '.join(known)}, or a callable")(name, value)
    return valid(callable, "a tiktoken encoding's name or a callable")(name, value)


def language_model(name: str, value: object) -> object:
    selector = LLMSelector.of(value)
    if selector is not None and not selector.is_usable:
        raise ConfigError(
            f"{name} is {_shown(selector.model)}; give an object with identity and complete, to an adapter a model of "
            "its framework, or either in LLMSelector(...)"
        )
    return value


def synonym_lists(name: str, value: object) -> dict[str, tuple[str, ...]]:
    mapping = _mapping(name, value, "a word to a list of words")
    for word, others in mapping.items():
        if isinstance(others, str) or not isinstance(others, Sequence):
            raise ConfigError(f"{name}[{word!r}] is {others!r}; give a list of words")
    return {str(word): tuple(map(str, others)) for word, others in mapping.items()}


def kind_weights(name: str, value: object) -> dict[str, float]:
    mapping = _mapping(name, value, "a segment kind to a factor")
    for kind, weight in mapping.items():
        if kind not in list(Kind):
            raise ConfigError(f"{name} names {kind!r}; the kinds are {', '.join(Kind)}")
        if not _is_number(weight) or not weight >= 0:
            raise ConfigError(f"{name}[{str(kind)!r}] is {weight!r}; give a finite number, at least 0")
    return {str(kind): float(weight) for kind, weight in mapping.items()}


def field_keys(name: str, value: object) -> dict[str, str]:
    mapping = _mapping(name, value, "a field to a metadata key")
    for each in mapping:
        if each not in _MAPPED_FIELDS:
            raise ConfigError(f"{name} names {each!r}; it can name {', '.join(_MAPPED_FIELDS)}")
    return {str(each): str(key) for each, key in mapping.items()}


def _mapping(name: str, value: object, what: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} is {value!r}; give a mapping from {what}")
    return value


def closest(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the end of a message about an unknown name: the closest one there is, or `otherwise` if none is close."""
    from difflib import get_close_matches  # takes time to import, and few calls need it

    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


def check_count(name: str, value: object, least: int, otherwise: str = "") -> None:
    """Check an argument of a call, not an option."""
    whole_number(least, otherwise)(name, value)


def check_format(format: str, separator: str) -> None:
    if format != "plain" and separator != "\n\n":
        raise ConfigError(
            f"format={format!r} is given with separator={separator!r}, but has separators of its own; leave one of "
            "them out"
        )


def check_sources(keep_all: bool, format: str, order: str) -> None:
    if keep_all and (format == "preview" or order != "source"):
        given = f"format={format!r}" if format == "preview" else f"order={order!r}"
        raise ConfigError(f"keep_all_sources=True is given with {given}, which does not show all in their order")


def check_scores(min_score: object, metadata_only: object, kind: str) -> None:
    if min_score is not None:
        _check_score("min_score", min_score, kind, "or None to keep passages whatever their score")
    if metadata_only is not False:
        _check_score("metadata_only", metadata_only, kind, "such as 0.4, True or False")


def _check_score(name: str, score: object, kind: str, otherwise: str) -> None:
    if not _is_number(score):
        raise ConfigError(f"{name} is {score!r}; give a number, {otherwise}")
    if kind == "none":
        raise ConfigError(
            f'{name}={score!r} is given with score_kind="none"; say what the scores mean: "similarity", "absolute", '
            '"distance" or "rank"'
        )
    if kind != "absolute" and not 0 <= score <= 1:
        raise ConfigError(
            f"{name} is {score!r}; the best score of a retrieval counts as 1.0, so give a number from 0 to 1, "
            'or score_kind="absolute" to compare scores as they are'
        )


def encoder(name: str, value: object) -> object:
    """Check the encoder, and return the one that a name stands for. The table of words is read when it first scores."""
    if isinstance(value, str):
        return value if value == WORDS else encoder_named(value)
    if value is not None and (isinstance(value, type) or not isinstance(value, Encoder | Comparer)):
        raise ConfigError(
            f'{name} is {_shown(value)}; give "words", one of ctxcompress.encoders, such as StaticVectors() or '
            "SentenceEncoder(...), to an adapter an embedding model of its framework, or an object with encode_query "
            "and encode_document, or with compare and compares_all"
        )
    return value


def check_evidence_only(scorer: str, encoder: object, adaptive: object) -> None:
    beside = word_vectors_of(encoder)
    if beside is not None and (isinstance(beside, type) or not isinstance(beside, Comparer) or not beside.compares_all):
        raise ConfigError(
            f"the encoder's word_vectors is {_shown(beside)}; give StaticVectors(), another object with compare and "
            "compares_all=True, or None"
        )
    if scorer.startswith("rank_bm25") and find_spec("rank_bm25") is None:
        raise MissingExtra(f"scorer={scorer!r} needs rank-bm25; run: pip install 'ctxcompress[rank-bm25]'")
    if scorer != "evidence" and (encoder is not None or adaptive):
        option = "adaptive=True" if encoder is None else "an encoder"
        raise ConfigError(f'{option} is given with scorer={scorer!r}; it needs probabilities: give scorer="evidence"')


def _shown(value: object) -> str:
    """Name only the type of an object, which may hold a key to a service."""
    is_plain = isinstance(value, str | int | float | type | None)
    return repr(value) if is_plain else f"an object of type {type(value).__name__}"
