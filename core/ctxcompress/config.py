"""The options of a compression, checked once when they are set."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

from ctxcompress.encoder import Comparer, Encoder
from ctxcompress.errors import ConfigError
from ctxcompress.types import Kind

__all__ = ["QATBE_TYPE_WEIGHTS", "TIERS", "CompressionConfig", "Encoding", "Scorer", "Tier"]

Tier = Literal["key_facts", "summary", "detailed", "complete"]

Scorer = Literal["evidence", "bm25"]

TIERS: Mapping[Tier, int] = MappingProxyType(
    {"key_facts": 200, "summary": 1_000, "detailed": 5_000, "complete": 20_000}
)
"""Budgets by name, in tokens."""

QATBE_TYPE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        Kind.CODE: 1.5,
        Kind.TABLE: 1.4,
        Kind.HEADING: 1.3,
        Kind.LIST_ITEM: 1.1,
        Kind.PARAGRAPH: 1.0,
        Kind.QUOTE: 0.9,
        Kind.METADATA: 0.5,
    }
)
"""The published weights of QATBE. Not the default: on pages that mix prose and code they cost evidence."""

Encoding = str | Callable[[str], int | Sized]
"""A tiktoken encoding's name, or a function from a text to its tokens or to their number."""

_MAPPED_FIELDS = ("title", "header_path", "doc_id", "file_path", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionConfig:
    """How to compress. Raises ConfigError on a value that cannot work.

    max_tokens: the budget of the final text, at least 1. Without it, `tier` says it.
    tier: "key_facts" (200 tokens), "summary" (1,000; the default), "detailed" (5,000) or
        "complete" (20,000). Give `max_tokens` or `tier`, not both.
    encoding: what counts the tokens: a tiktoken encoding's name or a callable.
    separator: what stands between two passages in the final text.
    scorer: what says how much a segment matters: "evidence", learned, or "bm25", QATBE's plain two levels of it.
    encoder: what tells the scorer "evidence" how close texts are in meaning; see ctxcompress.encoders.
    adaptive: whether to stop before the budget is full, at the segments that are hardly needed. What fits as it is
        stays as it is.
    min_probability: how likely needed a segment must be for `adaptive` to keep it, above 0 and below 1.
    language: ISO 639-1 code of the texts ("en", "de"); None detects it.
    synonyms: query word -> other words that mean the same.
    technical_synonyms: whether a small built-in table for technical English is used as well.
    type_weights: segment kind -> factor on its score, for kinds where it is not 1.0; QATBE_TYPE_WEIGHTS has
        the published ones.
    metadata_map: which metadata key holds a passage's title, header_path, doc_id, file_path or
        score, where it is not one of the usual ones.
    """

    max_tokens: int | None = None
    tier: Tier | None = None
    encoding: Encoding = "o200k_base"
    separator: str = "\n\n"
    scorer: Scorer = "evidence"
    encoder: Encoder | Comparer | None = None
    adaptive: bool = False
    min_probability: float = 0.01
    language: str | None = None
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    technical_synonyms: bool = False
    type_weights: Mapping[str, float] = field(default_factory=dict)
    metadata_map: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_budget(self.max_tokens, self.tier)
        _check_encoding(self.encoding)
        if not isinstance(self.separator, str):
            raise ConfigError(f"separator is {self.separator!r}; give a string, such as '\\n\\n'")
        if self.scorer not in get_args(Scorer):
            raise ConfigError(f"scorer is {self.scorer!r}; give one of {', '.join(get_args(Scorer))}")
        _check_evidence_only(self.scorer, self.encoder, self.adaptive)
        _check_probability(self.min_probability)
        _check_language(self.language)
        for name in ("adaptive", "technical_synonyms"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; give True or False")
        object.__setattr__(self, "synonyms", _checked_synonyms(self.synonyms))
        object.__setattr__(self, "type_weights", _checked_weights(self.type_weights))
        object.__setattr__(self, "metadata_map", _checked_metadata_map(self.metadata_map))

    @property
    def budget(self) -> int:
        """The budget in tokens that `max_tokens` or `tier` says."""
        return self.max_tokens if self.max_tokens is not None else TIERS[self.tier or "summary"]

    def with_budget(self, *, max_tokens: int | None = None, tier: Tier | None = None) -> "CompressionConfig":
        """The same options with another budget; without arguments, this very object."""
        if max_tokens is None and tier is None:
            return self
        return replace(self, max_tokens=max_tokens, tier=tier)


def _check_budget(max_tokens: object, tier: object) -> None:
    if max_tokens is not None and tier is not None:
        raise ConfigError(f"both max_tokens={max_tokens!r} and tier={tier!r} are given; give one of them")
    if max_tokens is not None and (isinstance(max_tokens, bool) or not isinstance(max_tokens, int)):
        raise ConfigError(f"max_tokens is {max_tokens!r}; give a whole number of tokens, at least 1")
    if isinstance(max_tokens, int) and max_tokens < 1:
        raise ConfigError(f"max_tokens is {max_tokens}; it must be at least 1")
    if tier is not None and tier not in get_args(Tier):
        raise ConfigError(f"tier is {tier!r}; give one of {', '.join(get_args(Tier))}, or max_tokens")


def _check_encoding(encoding: object) -> None:
    if isinstance(encoding, str):
        from tiktoken import list_encoding_names

        if encoding not in list_encoding_names():
            known = ", ".join(list_encoding_names())
            raise ConfigError(f"encoding is {encoding!r}; give one of {known}, or a callable")
    elif not callable(encoding):
        raise ConfigError(f"encoding is {encoding!r}; give a tiktoken encoding's name or a callable")


def _check_evidence_only(scorer: str, encoder: object, adaptive: object) -> None:
    if encoder is not None and (isinstance(encoder, type) or not isinstance(encoder, Encoder | Comparer)):
        raise ConfigError(
            f"encoder is {_shown(encoder)}; give one of ctxcompress.encoders, such as SentenceEncoder(...), to an "
            "adapter an embedding model of its framework, or an object with encode_query and encode_document, or with "
            "compare and cheap"
        )
    if scorer != "evidence" and (encoder is not None or adaptive):
        option = "adaptive=True" if encoder is None else "an encoder"
        raise ConfigError(f'{option} is given with scorer={scorer!r}; it needs probabilities: give scorer="evidence"')


def _shown(value: object) -> str:
    """Not more than the type of an object, which may hold a key to a service."""
    return repr(value) if isinstance(value, str | int | float | type) else f"an object of type {type(value).__name__}"


def _check_probability(probability: object) -> None:
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 < probability < 1:
        raise ConfigError(f"min_probability is {probability!r}; give a number above 0 and below 1, such as 0.01")


def _check_language(language: object) -> None:
    if language is not None and not (isinstance(language, str) and len(language) == 2 and language.islower()):
        raise ConfigError(f"language is {language!r}; give a two-letter code such as 'en', or None to detect it")


def _checked_synonyms(synonyms: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(synonyms, Mapping):
        raise ConfigError(f"synonyms is {synonyms!r}; give a mapping from a word to a list of words")
    for word, others in synonyms.items():
        if isinstance(others, str) or not isinstance(others, Sequence):
            raise ConfigError(f"synonyms[{word!r}] is {others!r}; give a list of words")
    return {str(word): tuple(map(str, others)) for word, others in synonyms.items()}


def _checked_weights(weights: object) -> dict[str, float]:
    if not isinstance(weights, Mapping):
        raise ConfigError(f"type_weights is {weights!r}; give a mapping from a segment kind to a factor")
    for kind, weight in weights.items():
        if kind not in list(Kind):
            raise ConfigError(f"type_weights names {kind!r}; the kinds are {', '.join(Kind)}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise ConfigError(f"type_weights[{str(kind)!r}] is {weight!r}; give a finite number, at least 0")
    return {str(kind): float(weight) for kind, weight in weights.items()}


def _checked_metadata_map(metadata_map: object) -> dict[str, str]:
    if not isinstance(metadata_map, Mapping):
        raise ConfigError(f"metadata_map is {metadata_map!r}; give a mapping from a field to a metadata key")
    for name in metadata_map:
        if name not in _MAPPED_FIELDS:
            raise ConfigError(f"metadata_map names {name!r}; it can name {', '.join(_MAPPED_FIELDS)}")
    return {str(name): str(key) for name, key in metadata_map.items()}
