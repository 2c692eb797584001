"""The options of a compression, checked once when they are set."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict, Unpack

from ctxcompress.cache.protocol import Cache
from ctxcompress.config import checks
from ctxcompress.config.presets import PRESETS, QATBE_TYPE_WEIGHTS, Preset
from ctxcompress.config.toml import options_of
from ctxcompress.data.results import Format
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.errors import ConfigError
from ctxcompress.tokens import Encoding

__all__ = [
    "QATBE_TYPE_WEIGHTS",
    "TIERS",
    "CompressionConfig",
    "Encoding",
    "FactualCut",
    "Format",
    "Mode",
    "OnEmpty",
    "Options",
    "Order",
    "Preset",
    "ScoreKind",
    "Scorer",
    "Tier",
]

Tier = Literal["key_facts", "summary", "detailed", "complete"]
Scorer = Literal["evidence", "bm25"]
ScoreKind = Literal["similarity", "distance", "rank", "none"]
OnEmpty = Literal["keep_best", "original", "drop"]
Mode = Literal["extract", "preview"]
FactualCut = Literal["boundary", "character"]
Order = Literal["source", "relevance", "edges"]

TIERS: Mapping[Tier, int] = MappingProxyType(
    {"key_facts": 200, "summary": 1_000, "detailed": 5_000, "complete": 20_000}
)
"""Budgets by name, in tokens."""


class Options(TypedDict, total=False):
    """The options of CompressionConfig as keywords of a call."""

    max_tokens: int | Literal["auto"] | None
    tier: Tier | None
    encoding: Encoding
    separator: str
    format: Format
    mode: Mode
    order: Order
    on_empty: OnEmpty
    min_score: float | None
    score_kind: ScoreKind
    score_key: str | None
    normalize_scores: bool
    exact_dedup: bool | None
    ngram_threshold: float | None
    similarity_threshold: float | None
    max_chunks_per_doc: int
    top_n: int | None
    metadata_only: bool
    score_threshold: float
    max_length: int | None
    preserve_structure: bool
    factual_length: int | None
    factual_cut: FactualCut
    scorer: Scorer
    encoder: Encoder | Comparer | None
    adaptive: bool
    min_probability: float
    language: str | None
    synonyms: Mapping[str, Sequence[str]]
    technical_synonyms: bool
    type_weights: Mapping[str, float]
    metadata_map: Mapping[str, str]
    cache: Cache | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionConfig:
    """How to compress. Raises ConfigError on a value that cannot work.

    The final text:

    max_tokens: the budget of the final text, at least 1. Without it, `tier` says it. "auto" fits it to the question, by
        its complexity and its intent, and stops before it is full; see ctxcompress.pipeline.budget.
    tier: "key_facts" (200 tokens), "summary" (1,000; the default), "detailed" (5,000) or
        "complete" (20,000). Give `max_tokens` or `tier`, not both.
    encoding: what counts the tokens: a tiktoken encoding's name or a callable.
    separator: what stands between two passages in the final text, where `format` is "plain"; others have their own.
    format: "plain" texts, or with a number and the source of each "compact", "verbose", "json" or "xml"; see
        docs/formats.md. Headers count in the budget.
    mode: "extract", or "preview" for a line a passage with its id, headings and best sentence.
    order: of the passages in the final text: "source" as they came, "relevance" from the best to the worst, "edges"
        with the best ones first and last and the worst in the middle, where readers overlook things. The text of a
        passage always stays in its order.
    on_empty: where `min_score` would drop all passages: "keep_best" keeps the best one, "original" drops none of
        them, "drop" leaves nothing.

    Leaving whole passages out, in this order:

    min_score: the score below which a passage is left out. Unknown scores (none, no number, NaN) never are.
    score_kind: what the scores mean: "similarity" (more is better), "distance" (less is better, 0 or more), "rank"
        (1 is the best) or "none" (they mean nothing).
    score_key: the metadata key that holds the score, where passages bring none themselves.
    normalize_scores: whether `min_score` is relative to the best score of the retrieval, which counts as 1.0; see
        reduce/scores.py. Otherwise scores are compared as they are, with `min_score` as the greatest distance or rank.
    exact_dedup: whether what stands in several passages is kept once: whole passages, paragraphs, and the text that
        two chunks of a document share where one ends and the other begins. None does it where the passages do not
        fit as they are, or where other copies are left out.
    ngram_threshold: how similar two passages' words must be, as the Jaccard index of their runs of three words, for
        the worse one to be left out; None for none. They must not differ in numbers, names, negations or code.
    similarity_threshold: the same of the cosine of their embeddings, which passages carry or `encoder` makes.
    max_chunks_per_doc: how many passages of one document are kept, 0 for all. The document is the doc_id, else the
        file path or address.
    top_n: how many passages are kept; None for all.
    metadata_only: whether a line that says what it is takes the place of a passage whose score is below
        `score_threshold`. These lines come after all else in the budget.
    score_threshold: this score; what it means is as of `min_score`.

    Cutting what is left of them:

    max_length: the most characters of a passage that go on to be scored, at least 100; None for all. The head, the
        tail and what is most important in between are kept: of code signatures, of prose what the question asks for.
    preserve_structure: whether that is so; else what is over `max_length` is cut out of the middle.
    factual_length: the most characters of a passage that are kept where the question asks for a fact (an identifier, a
        command, a version; see query/intent.py), at least 20: its beginning. None for all.
    factual_cut: where that ends: at a "boundary" of sentences or words, or at the "character", be it within a word.

    What is kept of the others:

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
    metadata_map: which metadata key holds a passage's title, header_path, doc_id or file_path, where it is not one
        of the usual ones.

    cache: what remembers what was found out about passages, and what was kept of them; see ctxcompress.cache. It
        changes nothing but the time.
    """

    max_tokens: int | Literal["auto"] | None = None
    tier: Tier | None = None
    encoding: Encoding = "o200k_base"
    separator: str = "\n\n"
    format: Format = "plain"
    mode: Mode = "extract"
    order: Order = "source"
    on_empty: OnEmpty = "keep_best"
    min_score: float | None = None
    score_kind: ScoreKind = "similarity"
    score_key: str | None = None
    normalize_scores: bool = True
    exact_dedup: bool | None = None
    ngram_threshold: float | None = None
    similarity_threshold: float | None = None
    max_chunks_per_doc: int = 0
    top_n: int | None = None
    metadata_only: bool = False
    score_threshold: float = 0.4
    max_length: int | None = None
    preserve_structure: bool = True
    factual_length: int | None = None
    factual_cut: FactualCut = "boundary"
    scorer: Scorer = "evidence"
    encoder: Encoder | Comparer | None = None
    adaptive: bool = False
    min_probability: float = 0.012
    language: str | None = None
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    technical_synonyms: bool = False
    type_weights: Mapping[str, float] = field(default_factory=dict)
    metadata_map: Mapping[str, str] = field(default_factory=dict)
    cache: Cache | None = None

    def __post_init__(self) -> None:
        checks.check_budget(self.max_tokens, self.tier, Tier)
        checks.check_encoding(self.encoding)
        checks.check_text("separator", self.separator, "\n\n")
        if self.score_key is not None:
            checks.check_text("score_key", self.score_key, "relevance_score")
        for name, choices in _CHOICES.items():
            checks.check_choice(name, getattr(self, name), choices)
        checks.check_format(self.format, self.mode, self.separator)
        for name in ("normalize_scores", "metadata_only", "preserve_structure", "adaptive", "technical_synonyms"):
            checks.check_flag(name, getattr(self, name))
        if self.exact_dedup is not None:
            checks.check_flag("exact_dedup", self.exact_dedup)
        kind, relative = self.score_kind, self.normalize_scores
        checks.check_min_score(self.min_score, kind, relative=relative)
        checks.check_score_threshold(self.score_threshold, kind, relative=relative, used=self.metadata_only)
        checks.check_similarity("ngram_threshold", self.ngram_threshold)
        checks.check_similarity("similarity_threshold", self.similarity_threshold)
        checks.check_count("max_chunks_per_doc", self.max_chunks_per_doc, 0, "where 0 keeps all")
        if self.top_n is not None:
            checks.check_count("top_n", self.top_n, 1, "or None to keep all")
        if self.max_length is not None:
            checks.check_count("max_length", self.max_length, 100, "or None to cut no passage")
        if self.factual_length is not None:
            checks.check_count("factual_length", self.factual_length, 20, "or None to cut no passage")
        checks.check_evidence_only(self.scorer, self.encoder, self.adaptive or self.max_tokens == "auto")
        checks.check_probability(self.min_probability)
        checks.check_language(self.language)
        checks.check_cache(self.cache)
        object.__setattr__(self, "synonyms", checks.checked_synonyms(self.synonyms))
        object.__setattr__(self, "type_weights", checks.checked_weights(self.type_weights))
        object.__setattr__(self, "metadata_map", checks.checked_metadata_map(self.metadata_map))

    @classmethod
    def from_preset(cls, preset: Preset, **options: Unpack[Options]) -> "CompressionConfig":
        """Return the options of a preset, such as "docs", with others in place of some of them. See `PRESETS`.

        Raises ConfigError, on an unknown option with the closest one there is.
        """
        checks.check_choice("preset", preset, Preset)
        given: Any = PRESETS[preset]
        return cls(**given).with_options(**options)

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> "CompressionConfig":
        """The options that the tables [search] and [compression] of a file give; see ctxcompress.config.toml.

        `preset` in [compression] names where they start from, `encoder = "static"` means `StaticVectors()`. Raises
        ConfigError on an unknown key, with the closest one there is, or on a file that is no TOML, MissingExtra where
        the encoder is not installed, and OSError where there is no file.
        """
        try:
            tables = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{Path(path).name} is not TOML ({error}); mend it, or set options in code") from error
        options: Any = options_of(tables, ["preset", *(option.name for option in fields(cls))])
        preset = options.pop("preset", None)
        return cls(**options) if preset is None else cls.from_preset(preset, **options)

    @property
    def budget(self) -> int:
        """The budget in tokens that `max_tokens` or `tier` says; for "auto" the most that it can be."""
        if self.max_tokens == "auto":
            return TIERS["detailed"]
        return self.max_tokens if self.max_tokens is not None else TIERS[self.tier or "summary"]

    def with_options(self, **options: Unpack[Options]) -> "CompressionConfig":
        """The same with other values for some options; without any, this very object.

        A budget that is given replaces the one there was, be it `max_tokens` or `tier`. Raises ConfigError.
        """
        for name in options:
            if name not in _NAMES:
                close = get_close_matches(name, _NAMES, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"the options are {', '.join(_NAMES)}"
                raise ConfigError(f"there is no option {name!r}; {hint}")
        if not options:
            return self
        old: Any = {"max_tokens": self.max_tokens, "tier": self.tier}
        return replace(self, **_merged(old, options))

    def without_filters(self) -> "CompressionConfig":
        """Return the options without those that drop or cut passages before the budget decides."""
        return self.with_options(
            min_score=None,
            exact_dedup=False,
            ngram_threshold=None,
            similarity_threshold=None,
            max_chunks_per_doc=0,
            top_n=None,
            metadata_only=False,
            max_length=None,
            factual_length=None,
        )

    def for_expansion(self, max_tokens: int) -> "CompressionConfig":
        """Return the options for showing more of one passage: plain text, and as much of it as `max_tokens` hold."""
        return self.without_filters().with_options(
            max_tokens=max_tokens, mode="extract", format="plain", adaptive=False
        )


_CHOICES: Mapping[str, object] = MappingProxyType(
    {
        "format": Format,
        "scorer": Scorer,
        "score_kind": ScoreKind,
        "on_empty": OnEmpty,
        "mode": Mode,
        "order": Order,
        "factual_cut": FactualCut,
    }
)
_NAMES = tuple(option.name for option in fields(CompressionConfig))


def _merged(options: Options, others: Options) -> Options:
    """`options` with `others` in their place. One of `max_tokens` and `tier` takes the place of the other; None for
    one of them says nothing."""
    said: Any = {
        name: value for name, value in others.items() if value is not None or name not in ("max_tokens", "tier")
    }
    merged: Any = {**options, **said}
    if "max_tokens" in said and "tier" not in said:
        merged["tier"] = None
    elif "tier" in said and "max_tokens" not in said:
        merged["max_tokens"] = None
    return merged  # type: ignore[no-any-return]
