"""The values that options may have. Each check raises ConfigError with the value, the limit and the remedy.

A `Check` is for one option: it takes the option's name and value, and returns the value to store. What depends on
several options is checked by the functions whose names begin with "check_".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import isfinite
from typing import Any, Literal, TypeGuard, get_args

from ctxcompress.cache.cache import Cache
from ctxcompress.data.observer import Observer
from ctxcompress.data.passages import Kind
from ctxcompress.encoders.encoder import Comparer, Encoder, word_vectors_of
from ctxcompress.errors import ConfigError, MissingExtra
from ctxcompress.language_model import LLMSelector
from ctxcompress.text.language import LANGUAGE_CODES

__all__ = [
    "Check",
    "Mode",
    "OnEmpty",
    "Order",
    "ScoreKind",
    "Scorer",
    "anything",
    "cache_store",
    "check_count",
    "check_evidence_only",
    "check_flag",
    "check_format",
    "check_scores",
    "closest",
    "field_keys",
    "flag",
    "kind_weights",
    "language_code",
    "language_model",
    "observer",
    "one_of",
    "or_none",
    "probability",
    "similarity",
    "string",
    "synonym_lists",
    "token_encoding",
    "whole_number",
]

Scorer = Literal["evidence", "bm25", "rank_bm25", "rank_bm25l", "rank_bm25plus"]
ScoreKind = Literal["similarity", "distance", "rank", "none"]
OnEmpty = Literal["keep_best", "original", "drop"]
Mode = Literal["extract", "preview"]
Order = Literal["source", "relevance", "edges"]

Check = Callable[[str, Any], Any]
"""From an option's name and value to the value to store."""

_MAPPED_FIELDS = ("title", "header_path", "doc_id", "file_path")


def anything(_: str, value: object) -> object:
    """Accept any value: `check_...` functions look at it together with other options."""
    return value


def or_none(check: Check) -> Check:
    """Return a check that accepts None as well."""
    return lambda name, value: None if value is None else check(name, value)


def flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} is {value!r}; give True or False")
    return value


def one_of(literal: object) -> Check:
    """Return a check for the values of a Literal."""
    choices = get_args(literal)

    def check(name: str, value: object) -> object:
        if value not in choices:
            raise ConfigError(f"{name} is {value!r}; give one of {', '.join(choices)}")
        return value

    return check


def string(example: str) -> Check:
    """Return a check for texts."""

    def check(name: str, value: object) -> object:
        if not isinstance(value, str):
            raise ConfigError(f"{name} is {value!r}; give a string, such as {example!r}")
        return value

    return check


def whole_number(least: int, otherwise: str = "") -> Check:
    """Return a check for whole numbers. otherwise: the end of the message, which says what else to give."""
    rest = f", {otherwise}" if otherwise else ""

    def check(name: str, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} is {value!r}; give a whole number, at least {least}{rest}")
        return value

    return check


def similarity(name: str, value: object) -> object:
    if value is not None and not (_is_number(value) and 0 < value <= 1):
        raise ConfigError(f"{name} is {value!r}; give a number above 0 and at most 1, or None to leave this stage out")
    return value


def probability(name: str, value: object) -> object:
    if not _is_number(value) or not 0 < value < 1:
        raise ConfigError(f"{name} is {value!r}; give a number above 0 and below 1, such as 0.012")
    return value


def token_encoding(name: str, value: object) -> object:
    if isinstance(value, str):
        from tiktoken import list_encoding_names

        if value not in list_encoding_names():
            known = ", ".join(list_encoding_names())
            raise ConfigError(f"{name} is {value!r}; give one of {known}, or a callable")
    elif not callable(value):
        raise ConfigError(f"{name} is {value!r}; give a tiktoken encoding's name or a callable")
    return value


def language_code(name: str, value: object) -> object:
    if value is not None and not (isinstance(value, str) and value in LANGUAGE_CODES):
        raise ConfigError(f"{name} is {value!r}; give a two-letter code such as 'en' (ISO 639-1), or None to detect it")
    return value


def cache_store(name: str, value: object) -> object:
    if not isinstance(value, Cache | None):
        raise ConfigError(f"{name} is {_shown(value)}; give one of ctxcompress.cache, such as Cache(SqliteStore(path))")
    return value


def observer(name: str, value: object) -> object:
    if not isinstance(value, bool) and (isinstance(value, type) or not isinstance(value, Observer)):
        raise ConfigError(
            f"{name} is {_shown(value)}; give True, False, ctxcompress.telemetry.OpenTelemetry(...) or an object with "
            "observe"
        )
    if value is True and find_spec("opentelemetry") is None:
        raise MissingExtra(f"{name}=True needs opentelemetry-api; run: pip install 'ctxcompress[otel]'")
    return value


def language_model(name: str, value: object) -> object:
    selector = LLMSelector.of(value)
    if selector is not None and not selector.is_usable:
        raise ConfigError(
            f"{name} is {_shown(selector.model)}; give an object with identity and complete, to an adapter a model of "
            "its framework, or either in LLMSelector(...)"
        )
    return value


def synonym_lists(name: str, value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} is {value!r}; give a mapping from a word to a list of words")
    for word, others in value.items():
        if isinstance(others, str) or not isinstance(others, Sequence):
            raise ConfigError(f"{name}[{word!r}] is {others!r}; give a list of words")
    return {str(word): tuple(map(str, others)) for word, others in value.items()}


def kind_weights(name: str, value: object) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} is {value!r}; give a mapping from a segment kind to a factor")
    for kind, weight in value.items():
        if kind not in list(Kind):
            raise ConfigError(f"{name} names {kind!r}; the kinds are {', '.join(Kind)}")
        if not _is_number(weight) or not weight >= 0:
            raise ConfigError(f"{name}[{str(kind)!r}] is {weight!r}; give a finite number, at least 0")
    return {str(kind): float(weight) for kind, weight in value.items()}


def field_keys(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} is {value!r}; give a mapping from a field to a metadata key")
    for field in value:
        if field not in _MAPPED_FIELDS:
            raise ConfigError(f"{name} names {field!r}; it can name {', '.join(_MAPPED_FIELDS)}")
    return {str(field): str(key) for field, key in value.items()}


def closest(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the end of a message about an unknown name: the closest one there is, or `otherwise` if none is close."""
    from difflib import get_close_matches  # takes time to import, and few calls need it

    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise


def check_flag(name: str, value: object) -> None:
    """Check an argument of a call, not an option."""
    flag(name, value)


def check_count(name: str, value: object, least: int, otherwise: str = "") -> None:
    """Check an argument of a call, not an option."""
    whole_number(least, otherwise)(name, value)


def check_format(format: str, mode: str, separator: str) -> None:
    if format == "plain":
        return
    if mode != "extract":
        raise ConfigError(
            f"format={format!r} is given with mode={mode!r}, whose lines are a format of their own; "
            'give mode="extract" or format="plain"'
        )
    if separator != "\n\n":
        raise ConfigError(
            f"format={format!r} is given with separator={separator!r}, but has separators of its own; leave one of "
            "them out"
        )


def check_scores(min_score: object, threshold: object, kind: str, *, relative: bool, used: bool) -> None:
    """threshold: `score_threshold`. used: whether a stage compares scores with it."""
    if min_score is not None:
        _check_score("min_score", min_score, kind, ", or None to keep passages whatever their score", relative=relative)
    kind = kind if used else "similarity"
    _check_score("score_threshold", threshold, kind, ", such as 0.4", relative=relative)


def check_evidence_only(scorer: str, encoder: object, adaptive: object) -> None:
    if encoder is not None and (isinstance(encoder, type) or not isinstance(encoder, Encoder | Comparer)):
        raise ConfigError(
            f"encoder is {_shown(encoder)}; give one of ctxcompress.encoders, such as StaticVectors() or "
            "SentenceEncoder(...), to an adapter an embedding model of its framework, or an object with encode_query "
            "and encode_document, or with compare and compares_all"
        )
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


def _check_score(name: str, score: object, kind: str, otherwise: str, *, relative: bool) -> None:
    if not _is_number(score):
        raise ConfigError(f"{name} is {score!r}; give a number{otherwise}")
    if kind == "none":
        raise ConfigError(
            f'{name}={score!r} is given with score_kind="none"; say what the scores mean: "similarity", '
            '"distance" or "rank"'
        )
    if relative and not 0 <= score <= 1:
        raise ConfigError(
            f"{name} is {score!r}; the best score of a retrieval counts as 1.0, so give a number from 0 to 1, "
            "or normalize_scores=False to compare scores as they are"
        )


def _is_number(value: object) -> TypeGuard[int | float]:
    return not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value)


def _shown(value: object) -> str:
    """Name only the type of an object, which may hold a key to a service."""
    return repr(value) if isinstance(value, str | int | float | type) else f"an object of type {type(value).__name__}"
