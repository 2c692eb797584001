"""The options as keywords of a call. `make options` writes this from ctxcompress.config.options."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from ctxcompress.cache.cache import Cache
from ctxcompress.config.checks import OnEmpty, OnError, Order, ScoreKind, Scorer
from ctxcompress.config.presets import Tier
from ctxcompress.data.must_keep import MustKeep
from ctxcompress.data.results import Format
from ctxcompress.data.stats import Observer
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.language_model import LanguageModel, LLMSelector
from ctxcompress.text.tokens import Encoding

__all__ = ["Options"]


class Options(TypedDict, total=False):
    """The options of CompressionConfig as keywords of a call."""

    max_tokens: int | str | None
    tier: Tier | None
    context_window: int | None
    must_keep: Sequence[MustKeep]
    encoding: Encoding
    separator: str
    format: Format | str
    gap_markers: bool
    order: Order
    keep_all_sources: bool
    on_empty: OnEmpty
    min_score: float | None
    score_kind: ScoreKind
    ngram_threshold: float | None
    similarity_threshold: float | None
    max_chunks_per_doc: int
    top_n: int | None
    metadata_only: bool | float
    max_length: int | None
    factual_length: int | None
    scorer: Scorer
    encoder: Encoder | Comparer | str | None
    llm: LanguageModel | LLMSelector | None
    adaptive: bool | float
    language: str | None
    synonyms: Mapping[str, Sequence[str]]
    type_weights: Mapping[str, float]
    metadata_map: Mapping[str, str]
    cache: Cache | None
    on_error: OnError
    timeout: float | None
    telemetry: bool | Observer
