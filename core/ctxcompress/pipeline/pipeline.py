"""The pipeline: composition only, no algorithm of its own.

passages -> normalize -> reduce -> segment -> score -> select -> assemble
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxcompress.cache.protocol import Fingerprints
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document, Spans, documents_as_they_are, passages_of
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression, DeliveredContext, Reason, ResultOperations, StageStats
from ctxcompress.data.stats import Clock, stop_if_given_up
from ctxcompress.pipeline.analysis import Analyser, Analysis, AnalysisOptions, documents_as_passages
from ctxcompress.pipeline.long_passages import Gaps, escapes_of, limit_of, lines_about, shortened
from ctxcompress.pipeline.outcome import OutcomeBuilder
from ctxcompress.pipeline.presentation import Frame, Presentation
from ctxcompress.pipeline.remembered import Outcome, ResultCodec, is_worth_remembering, key_of_outcome
from ctxcompress.pipeline.scoring import language_of, score_segments
from ctxcompress.reduce.filters import standing
from ctxcompress.reduce.reduction import Reduction, reduced
from ctxcompress.select.delivered_segments import Delivered, all_unknown, delivered_segments
from ctxcompress.select.layout import Arrange, Layout, arrangement
from ctxcompress.select.previews import Lines, previews
from ctxcompress.select.qatbe import Selection, select
from ctxcompress.tokens import TokenCounter

__all__ = ["compressed"]

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is kept and how it is laid out, how relevant each passage is, what was hardly needed, and what of the
    passages the reader has."""

    selection: Selection
    layout: Layout
    relevance: Mapping[int, float]
    unlikely: Spans
    known: Spans
    laps: Sequence[StageStats] = ()


def compressed(
    query: str,
    input_passages: Sequence[Passage],
    config: CompressionConfig,
    operations: ResultOperations,
    frame: Frame | None = None,
    delivered: DeliveredContext | None = None,
) -> Compression:
    """`Compressor.compress` of passages after what was promised, which the final text begins with.

    In the result the passages count from the number of parts that were promised: before come these. Where something
    can be promised, chunks that continue one another are in the order of their document.
    """
    stop_if_given_up()
    fingerprint = Fingerprints()
    analyser = Analyser(config.cache, fingerprint, config.encoding, TokenCounter(config.encoding))
    # Of what a frame adds nobody knows what it depends on.
    key = (
        None
        if config.cache is None or frame or delivered
        else key_of_outcome(query, input_passages, config, fingerprint)
    )
    if analyser.cache is None or key is None or delivered is not None:
        return _worked_out(query, input_passages, config, operations, frame, delivered, analyser)
    codec = ResultCodec(input_passages)
    outcome = analyser.cache.get(key, codec)
    if outcome is not None:
        return outcome.compression(
            query, input_passages, config.budget, Presentation(config, query).as_they_came(input_passages), operations
        )
    compression = _worked_out(query, input_passages, config, operations, None, None, analyser)
    if is_worth_remembering(compression):
        analyser.cache.put(key, Outcome.of(compression), codec)
    return compression


def _worked_out(
    query: str,
    input_passages: Sequence[Passage],
    config: CompressionConfig,
    operations: ResultOperations,
    frame: Frame | None,
    delivered: DeliveredContext | None,
    analyser: Analyser,
) -> Compression:
    """`compressed`, whether it was before or not."""
    arrange: Arrange = sorted if delivered is None else list
    delivered = delivered or DeliveredContext()
    items, held = (*delivered.passages(), *input_passages), len(delivered.parts)
    presentation = Presentation(config, query, frame)
    original = presentation.as_they_came(input_passages)
    tokens = analyser.fits(untouched := original.text, config.budget)
    reduction = reduced(items, config, fits=tokens is not None, held=held)
    clock = Clock()
    documents, gaps, reduction = _cut(query, items, reduction, config, clock)
    layout = presentation.layout(items, documents, analyser.count, held)
    layout = replace(layout, arrange=arrange, before=delivered.text, gaps=gaps, escapes=escapes_of(items, config))
    lines, reduction = _lines(items, reduction, delivered, config)
    budget = config.budget - lines.reserve(layout, config.budget)
    came_whole = reduction.is_everything(len(items)) and not (held or gaps or layout.escapes)
    whole = None if came_whole and tokens is None else _whole(layout, untouched, tokens, analyser, budget)
    if whole is not None and not held and config.order == "source" and config.mode == "extract":
        choice = _Choice(whole, layout, dict.fromkeys(range(len(items)), 1.0), {}, {})
    else:
        choice = _chosen(query, items, layout, config, analyser, delivered, budget, fits=whole is not None)
    selection, layout = lines.beside(choice.selection, choice.layout, config.budget)
    choice = replace(choice, selection=selection, layout=layout)
    outcome = OutcomeBuilder(items, reduction, choice.layout, choice.selection, choice.unlikely, choice.known)
    is_nothing = not outcome.spans and not held and reduction.documents
    if is_nothing and any(not item.text.isspace() for item in items if item.text):
        _log.warning(
            "nothing of %d passages fits into max_tokens=%d, not even one character of one: give more",
            len(items),
            config.budget,
        )
    text, tokens = choice.layout.final(choice.selection.text), choice.selection.tokens
    if tokens > config.budget:  # not even what a format puts around nothing fits
        text, tokens = "", 0
    return Compression(
        query=query,
        text=text,
        passages=tuple(outcome.kept(choice.relevance, analyser.count)),
        dropped=tuple(decision for decision in outcome.dropped() if decision.index >= held),
        tokens=tokens,
        max_tokens=config.budget,
        stages=(*reduction.stages, *clock.laps, *choice.laps),
        input_count=len(input_passages),
        original=original,
        compressor=operations,
    )


def _whole(layout: Layout, untouched: str, tokens: int | None, analyser: Analyser, budget: int) -> Selection | None:
    """All of the documents, if that fits. untouched: the passages as they came; tokens: of these, if they fit."""
    whole = Selection.everything(layout)
    if (final := layout.final(whole.text)) != untouched:
        tokens = analyser.fits(final, budget)
    return replace(whole, tokens=tokens) if tokens is not None and tokens <= budget else None


def _cut(
    query: str, items: Sequence[Passage], reduction: Reduction, config: CompressionConfig, clock: Clock
) -> tuple[Sequence[Document], Gaps, Reduction]:
    """Cut passages that are too long: what is left of the documents, what was cut out of the passages, and the
    reduction with those that are duplicates then."""
    limit = limit_of(query, config)
    if limit is None:
        return reduction.documents, {}, reduction
    input_passages = len(passages_of(reduction.documents))
    language = language_of(query, items, config)
    documents, gaps = shortened(query, reduction.documents, items, language, config, limit)
    documents, reduction = reduction.after_cuts(documents, gaps, items)
    clock.lap(
        "truncate", input_passages, len(passages_of(documents)), f"{len(gaps)} of over {limit.characters:,} characters"
    )
    return documents, gaps, reduction


def _chosen(
    query: str,
    items: Sequence[Passage],
    layout: Layout,
    config: CompressionConfig,
    analyser: Analyser,
    delivered: DeliveredContext,
    budget: int,
    *,
    fits: bool,
) -> _Choice:
    """What is kept within the budget where not all stays as it came. fits: whether all of it may be kept."""
    clock = Clock()
    language = language_of(query, items, config)
    room = max(budget - layout.tokens(""), 1)
    documents = documents_as_passages(layout.documents, items)
    analysis = analyser.read(layout.documents, documents, AnalysisOptions.of(language, room))
    table = analysis.table
    known = Delivered()
    if delivered.parts and config.exact_dedup is not False:
        known = _known(analysis, items, layout, delivered, analyser)
    clock.lap("segment", len(passages_of(layout.documents)), len(table.segments))
    scored = score_segments(query, documents, analysis, language, config)
    relevance = scored.relevance_of(len(items))
    arrange = layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    layout = replace(layout, arrange=arrange, elide=analysis.markers, relevance=relevance)
    clock.lap("score", len(table.segments), int(np.count_nonzero(scored.scores)))
    whole = all_unknown(table, known, layout) if fits or known.numbers else None
    unlikely: Spans = {}
    if config.mode == "preview":
        selection = previews(table, scored.worth, relevance, layout, budget)
    elif whole is not None and whole.tokens <= budget:
        selection = whole
    else:
        counts = analyser.counts(analysis)
        selection = select(analysis.structure, scored.worth, layout, budget, known.numbers, counts=counts)
        unlikely = table.spans(scored.unlikely)
    clock.lap("select", len(table.segments), len(selection.spans))
    return _Choice(selection, layout, relevance, unlikely, known.spans, clock.laps)


def _known(
    analysis: Analysis, items: Sequence[Passage], layout: Layout, delivered: DeliveredContext, analyser: Analyser
) -> Delivered:
    """What of the candidates was promised."""
    documents = documents_as_they_are([item.text for item in items[: len(delivered.parts)]])
    of_promised = analyser.table(documents, documents_as_passages(documents, items), analysis.options)
    return delivered_segments(analysis.table, layout, of_promised, delivered.spans(items))


def _lines(
    items: Sequence[Passage], reduction: Reduction, delivered: DeliveredContext, config: CompressionConfig
) -> tuple[Lines, Reduction]:
    """The lines about the passages of a low score; those that the reader has already are copies."""
    low = [number for number, reason in reduction.reasons.items() if reason is Reason.METADATA]
    if not low:
        return Lines({}, ()), reduction
    texts = lines_about(items, low)
    had = {part.text: number for number, part in enumerate(delivered.parts) if part.metadata_only}
    leaders = {number: had[line] for number, line in texts.items() if line in had}
    reasons = {**reduction.reasons, **dict.fromkeys(leaders, Reason.DUPLICATE)}
    reduction = replace(reduction, reasons=reasons, leaders={**reduction.leaders, **leaders})
    stands = standing(items, config.score_kind)
    order = sorted(set(low).difference(leaders), key=lambda number: (-stands[number], number))
    return Lines(texts, order), reduction
