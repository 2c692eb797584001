"""Analyses passages outside of a compression: before the first one, for the cache, and again after one, for what the
result does not store: scores and the confidence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage
from ctxcompress.data.stats import stop_if_cancelled
from ctxcompress.errors import ConfigError
from ctxcompress.pipeline.analysis import Analyser, Analysis, AnalysisOptions, documents_as_passages
from ctxcompress.pipeline.call_cache import CallCache, Fingerprints
from ctxcompress.pipeline.long_passages import length_limit, truncate_passages, without_tags
from ctxcompress.pipeline.presentation import Presentation
from ctxcompress.pipeline.scoring import ScoredCall, confidence_in, score_segments
from ctxcompress.pipeline.task import Frame, language_of
from ctxcompress.reduce.stages import reduced
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Reanalysis", "analyse_ahead", "analysed_again", "confidence_again", "scored_again"]


@dataclass(frozen=True, slots=True)
class Reanalysis:
    """What a compression knew before it scored the segments."""

    language: str
    documents: Sequence[Document]
    passages: Sequence[Passage]
    """Each document as a passage."""
    analysis: Analysis


def analyse_ahead(passages: Sequence[Passage], config: CompressionConfig) -> None:
    """Analyse each passage by itself, and store the result in the cache. Raises ConfigError without one."""
    if config.cache is None:
        raise ConfigError("cache is None, so an analysis cannot be stored; give one, such as Cache(SqliteStore(path))")
    count = TokenCounter(config.encoding)
    for passage in passages:
        stop_if_cancelled()
        # Each with an allowance of its own: a cache may take its time here, where no query waits.
        cache = CallCache.of(config.cache)
        Analyser(cache, Fingerprints(), config.encoding, count).store(passage, language_of("", [passage], config))


def analysed_again(query: str, passages: Sequence[Passage], config: CompressionConfig, *, fits: bool) -> Reanalysis:
    """Filter, truncate and analyse the passages with these options, as the pipeline does.

    fits: whether the passages fit into the budget unchanged.
    """
    count = TokenCounter(config.encoding)
    analyser = Analyser(CallCache.of(config.cache), Fingerprints(), config.encoding, count)
    reduction = reduced(passages, config, fits=fits)
    language, limit = language_of(query, passages, config), length_limit(query, config)
    documents = reduction.documents
    if limit is not None:
        documents, _ = truncate_passages(query, documents, passages, language, config, limit, reduction.required)
    if not fits:
        documents = without_tags(documents, passages, reduction.required)
    as_passages = documents_as_passages(documents, passages)
    layout = Presentation(config, query).layout(passages, documents, analyser.count, 0)
    options = AnalysisOptions.of(language, max(config.budget - layout.tokens(""), 1))
    return Reanalysis(language, documents, as_passages, analyser.read(documents, as_passages, options))


def confidence_again(query: str, passages: Sequence[Passage], config: CompressionConfig) -> float:
    """Return the probability that the passages, as the filters leave them, answer the query; 0 without text."""
    again = analysed_again(query, passages, config, fits=False)
    if not again.analysis.table.segments:
        return 0.0
    return confidence_in(query, again.analysis, again.language, config)


def scored_again(query: str, passages: Sequence[Passage], config: CompressionConfig, frame: Frame | None) -> ScoredCall:
    """Return what a compression knew about its segments. An `encoder` is asked again.

    frame: the one that the compression was made with.
    """
    again, count = analysed_again(query, passages, config, fits=False), TokenCounter(config.encoding)
    scored = score_segments((query,), again.passages, again.analysis, again.language, config, with_likelihoods=True)
    presentation = Presentation(config, query, frame)
    layout = replace(presentation.layout(passages, again.documents, count, 0), elide=again.analysis.markers)
    return ScoredCall(again.analysis, scored, layout, presentation.of_input(passages), count)
