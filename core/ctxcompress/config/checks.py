"""What values the options may have. Each check raises ConfigError with the value, the range and the remedy."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeGuard, get_args

from ctxcompress.cache.protocol import Cache
from ctxcompress.data.passages import Kind
from ctxcompress.encoders.encoder import Comparer, Encoder, word_vectors_of
from ctxcompress.errors import ConfigError

__all__ = [
    "check_budget",
    "check_cache",
    "check_choice",
    "check_count",
    "check_encoding",
    "check_evidence_only",
    "check_flag",
    "check_format",
    "check_language",
    "check_min_score",
    "check_probability",
    "check_score_threshold",
    "check_similarity",
    "check_text",
    "checked_metadata_map",
    "checked_synonyms",
    "checked_weights",
]

_MAPPED_FIELDS = ("title", "header_path", "doc_id", "file_path")


def check_budget(max_tokens: object, tier: object, tiers: object) -> None:
    if max_tokens is not None and tier is not None:
        raise ConfigError(f"both max_tokens={max_tokens!r} and tier={tier!r} are given; give one of them")
    is_number = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if max_tokens not in (None, "auto") and not is_number:
        raise ConfigError(f"max_tokens is {max_tokens!r}; give a whole number of tokens, at least 1, or 'auto'")
    if isinstance(max_tokens, int) and max_tokens < 1:
        raise ConfigError(f"max_tokens is {max_tokens}; it must be at least 1")
    if tier is not None and tier not in get_args(tiers):
        raise ConfigError(f"tier is {tier!r}; give one of {', '.join(get_args(tiers))}, or max_tokens")


def check_choice(name: str, value: object, choices: object) -> None:
    if value not in get_args(choices):
        raise ConfigError(f"{name} is {value!r}; give one of {', '.join(get_args(choices))}")


def check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} is {value!r}; give True or False")


def check_text(name: str, value: object, example: str) -> None:
    if not isinstance(value, str):
        raise ConfigError(f"{name} is {value!r}; give a string, such as {example!r}")


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


def check_count(name: str, value: object, least: int, otherwise: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} is {value!r}; give a whole number, at least {least}, {otherwise}")


def check_min_score(min_score: object, kind: str, *, relative: bool) -> None:
    if min_score is not None:
        _check_score("min_score", min_score, kind, ", or None to keep passages whatever their score", relative=relative)


def check_score_threshold(threshold: object, kind: str, *, relative: bool, used: bool) -> None:
    """used: whether there is a stage that compares scores with it."""
    kind = kind if used else "similarity"
    _check_score("score_threshold", threshold, kind, ", such as 0.4", relative=relative and used)


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


def check_similarity(name: str, value: object) -> None:
    if value is not None and not (_is_number(value) and 0 < value <= 1):
        raise ConfigError(f"{name} is {value!r}; give a number above 0 and at most 1, or None to leave this stage out")


def check_probability(probability: object) -> None:
    if not _is_number(probability) or not 0 < probability < 1:
        raise ConfigError(f"min_probability is {probability!r}; give a number above 0 and below 1, such as 0.012")


def check_encoding(encoding: object) -> None:
    if isinstance(encoding, str):
        from tiktoken import list_encoding_names

        if encoding not in list_encoding_names():
            known = ", ".join(list_encoding_names())
            raise ConfigError(f"encoding is {encoding!r}; give one of {known}, or a callable")
    elif not callable(encoding):
        raise ConfigError(f"encoding is {encoding!r}; give a tiktoken encoding's name or a callable")


def check_evidence_only(scorer: str, encoder: object, adaptive: object) -> None:
    if encoder is not None and (isinstance(encoder, type) or not isinstance(encoder, Encoder | Comparer)):
        raise ConfigError(
            f"encoder is {_shown(encoder)}; give one of ctxcompress.encoders, such as SentenceEncoder(...), to an "
            "adapter an embedding model of its framework, or an object with encode_query and encode_document, or with "
            "compare and cheap"
        )
    beside = word_vectors_of(encoder)
    if beside is not None and (isinstance(beside, type) or not isinstance(beside, Comparer) or not beside.compares_all):
        raise ConfigError(
            f"the encoder's word_vectors is {_shown(beside)}; give StaticVectors(), another object with compare and "
            "cheap=True, or None"
        )
    if scorer != "evidence" and (encoder is not None or adaptive):
        option = "adaptive=True" if encoder is None else "an encoder"
        raise ConfigError(f'{option} is given with scorer={scorer!r}; it needs probabilities: give scorer="evidence"')


def check_language(language: object) -> None:
    if language is not None and not (isinstance(language, str) and len(language) == 2 and language.islower()):
        raise ConfigError(f"language is {language!r}; give a two-letter code such as 'en', or None to detect it")


def check_cache(cache: object) -> None:
    if cache is not None and (isinstance(cache, type) or not isinstance(cache, Cache)):
        raise ConfigError(
            f"cache is {_shown(cache)}; give one of ctxcompress.cache, such as MemoryCache() or DiskCache(path), or an "
            "object with get and put"
        )


def checked_synonyms(synonyms: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(synonyms, Mapping):
        raise ConfigError(f"synonyms is {synonyms!r}; give a mapping from a word to a list of words")
    for word, others in synonyms.items():
        if isinstance(others, str) or not isinstance(others, Sequence):
            raise ConfigError(f"synonyms[{word!r}] is {others!r}; give a list of words")
    return {str(word): tuple(map(str, others)) for word, others in synonyms.items()}


def checked_weights(weights: object) -> dict[str, float]:
    if not isinstance(weights, Mapping):
        raise ConfigError(f"type_weights is {weights!r}; give a mapping from a segment kind to a factor")
    for kind, weight in weights.items():
        if kind not in list(Kind):
            raise ConfigError(f"type_weights names {kind!r}; the kinds are {', '.join(Kind)}")
        if not _is_number(weight) or not weight >= 0:
            raise ConfigError(f"type_weights[{str(kind)!r}] is {weight!r}; give a finite number, at least 0")
    return {str(kind): float(weight) for kind, weight in weights.items()}


def checked_metadata_map(metadata_map: object) -> dict[str, str]:
    if not isinstance(metadata_map, Mapping):
        raise ConfigError(f"metadata_map is {metadata_map!r}; give a mapping from a field to a metadata key")
    for name in metadata_map:
        if name not in _MAPPED_FIELDS:
            raise ConfigError(f"metadata_map names {name!r}; it can name {', '.join(_MAPPED_FIELDS)}")
    return {str(name): str(key) for name, key in metadata_map.items()}


def _is_number(value: object) -> TypeGuard[int | float]:
    return not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value)


def _shown(value: object) -> str:
    """Not more than the type of an object, which may hold a key to a service."""
    return repr(value) if isinstance(value, str | int | float | type) else f"an object of type {type(value).__name__}"
