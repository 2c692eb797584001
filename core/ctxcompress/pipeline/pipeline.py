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
from ctxcompress.data.results import Compression, Expands, Promised, Reason, StageStats
from ctxcompress.data.stats import Clock, stop_if_given_up
from ctxcompress.pipeline.analysis import Manner, Reader, Reading, titled
from ctxcompress.pipeline.long_passages import Gaps, escapes_of, limit_of, lines_about, shortened
from ctxcompress.pipeline.outcome import Account
from ctxcompress.pipeline.presentation import Frame, Presentation
from ctxcompress.pipeline.remembered import Outcome, OutcomeForm, is_worth_it, key_of_outcome
from ctxcompress.pipeline.scoring import judge, language_of
from ctxcompress.reduce.filters import standing
from ctxcompress.reduce.reduction import Reduction, reduced
from ctxcompress.select.delivered_segments import Known, all_unknown, known_segments
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
    came: Sequence[Passage],
    config: CompressionConfig,
    operations: Expands,
    frame: Frame | None = None,
    promised: Promised | None = None,
) -> Compression:
    """`Compressor.compress` of passages after what was promised, which the final text begins with.

    In the result the passages count from the number of parts that were promised: before come these. Where something
    can be promised, chunks that continue one another are in the order of their document.
    """
    stop_if_given_up()
    fingerprint = Fingerprints()
    reader = Reader(config.cache, fingerprint, config.encoding, TokenCounter(config.encoding))
    # Of what a frame adds nobody knows what it depends on.
    key = None if config.cache is None or frame or promised else key_of_outcome(query, came, config, fingerprint)
    if reader.cache is None or key is None or promised is not None:
        return _worked_out(query, came, config, operations, frame, promised, reader)
    form = OutcomeForm(came)
    outcome = reader.cache.get(key, form)
    if outcome is not None:
        return outcome.compression(
            query, came, config.budget, Presentation(config, query).as_they_came(came), operations
        )
    compression = _worked_out(query, came, config, operations, None, None, reader)
    if is_worth_it(compression):
        reader.cache.put(key, Outcome.of(compression), form)
    return compression


def _worked_out(
    query: str,
    came: Sequence[Passage],
    config: CompressionConfig,
    operations: Expands,
    frame: Frame | None,
    promised: Promised | None,
    reader: Reader,
) -> Compression:
    """`compressed`, whether it was before or not."""
    arrange: Arrange = sorted if promised is None else list
    promised = promised or Promised()
    items, held = (*promised.passages(), *came), len(promised.parts)
    presentation = Presentation(config, query, frame)
    original = presentation.as_they_came(came)
    tokens = reader.fits(untouched := original.text, config.budget)
    reduction = reduced(items, config, fits=tokens is not None, held=held)
    clock = Clock()
    documents, gaps, reduction = _cut(query, items, reduction, config, clock)
    layout = presentation.layout(items, documents, reader.count, held)
    layout = replace(layout, arrange=arrange, before=promised.text, gaps=gaps, escapes=escapes_of(items, config))
    lines, reduction = _lines(items, reduction, promised, config)
    budget = config.budget - lines.reserve(layout, config.budget)
    came_whole = reduction.is_everything(len(items)) and not (held or gaps or layout.escapes)
    whole = None if came_whole and tokens is None else _whole(layout, untouched, tokens, reader, budget)
    if whole is not None and not held and config.order == "source" and config.mode == "extract":
        choice = _Choice(whole, layout, dict.fromkeys(range(len(items)), 1.0), {}, {})
    else:
        choice = _chosen(query, items, layout, config, reader, promised, budget, fits=whole is not None)
    selection, layout = lines.beside(choice.selection, choice.layout, config.budget)
    choice = replace(choice, selection=selection, layout=layout)
    account = Account(items, reduction, choice.layout, choice.selection, choice.unlikely, choice.known)
    is_nothing = not account.spans and not held and reduction.documents
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
        passages=tuple(account.kept(choice.relevance, reader.count)),
        dropped=tuple(decision for decision in account.dropped() if decision.index >= held),
        tokens=tokens,
        max_tokens=config.budget,
        stages=(*reduction.stages, *clock.laps, *choice.laps),
        input_count=len(came),
        original=original,
        compressor=operations,
    )


def _whole(layout: Layout, untouched: str, tokens: int | None, reader: Reader, budget: int) -> Selection | None:
    """All of the documents, if that fits. untouched: the passages as they came; tokens: of these, if they fit."""
    whole = Selection.everything(layout)
    if (final := layout.final(whole.text)) != untouched:
        tokens = reader.fits(final, budget)
    return replace(whole, tokens=tokens) if tokens is not None and tokens <= budget else None


def _cut(
    query: str, items: Sequence[Passage], reduction: Reduction, config: CompressionConfig, clock: Clock
) -> tuple[Sequence[Document], Gaps, Reduction]:
    """Cut passages that are too long: what is left of the documents, what was cut out of the passages, and the
    reduction with those that are duplicates then."""
    limit = limit_of(query, config)
    if limit is None:
        return reduction.documents, {}, reduction
    came = len(passages_of(reduction.documents))
    language = language_of(query, items, config)
    documents, gaps = shortened(query, reduction.documents, items, language, config, limit)
    documents, reduction = reduction.after_cuts(documents, gaps, items)
    clock.lap("truncate", came, len(passages_of(documents)), f"{len(gaps)} of over {limit.characters:,} characters")
    return documents, gaps, reduction


def _chosen(
    query: str,
    items: Sequence[Passage],
    layout: Layout,
    config: CompressionConfig,
    reader: Reader,
    promised: Promised,
    budget: int,
    *,
    fits: bool,
) -> _Choice:
    """What is kept within the budget where not all stays as it came. fits: whether all of it may be kept."""
    clock = Clock()
    language = language_of(query, items, config)
    room = max(budget - layout.tokens(""), 1)
    documents = titled(layout.documents, items)
    reading = reader.read(layout.documents, documents, Manner.of(language, room))
    candidates = reading.candidates
    known = Known()
    if promised.parts and config.exact_dedup is not False:
        known = _known(reading, items, layout, promised, reader)
    clock.lap("segment", len(passages_of(layout.documents)), len(candidates.segments))
    judged = judge(query, documents, reading, language, config)
    relevance = judged.relevance_of(len(items))
    arrange = layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    layout = replace(layout, arrange=arrange, elide=reading.markers, relevance=relevance)
    clock.lap("score", len(candidates.segments), int(np.count_nonzero(judged.scores)))
    whole = all_unknown(candidates, known, layout) if fits or known.numbers else None
    unlikely: Spans = {}
    if config.mode == "preview":
        selection = previews(candidates, judged.worth, relevance, layout, budget)
    elif whole is not None and whole.tokens <= budget:
        selection = whole
    else:
        counts = reader.counts(reading)
        selection = select(reading.structure, judged.worth, layout, budget, known.numbers, counts=counts)
        unlikely = candidates.spans(judged.unlikely)
    clock.lap("select", len(candidates.segments), len(selection.spans))
    return _Choice(selection, layout, relevance, unlikely, known.spans, clock.laps)


def _known(reading: Reading, items: Sequence[Passage], layout: Layout, promised: Promised, reader: Reader) -> Known:
    """What of the candidates was promised."""
    documents = documents_as_they_are([item.text for item in items[: len(promised.parts)]])
    of_promised = reader.candidates(documents, titled(documents, items), reading.manner)
    return known_segments(reading.candidates, layout, of_promised, promised.spans(items))


def _lines(
    items: Sequence[Passage], reduction: Reduction, promised: Promised, config: CompressionConfig
) -> tuple[Lines, Reduction]:
    """The lines about the passages of a low score; those that the reader has already are copies."""
    low = [number for number, reason in reduction.reasons.items() if reason is Reason.METADATA]
    if not low:
        return Lines({}, ()), reduction
    texts = lines_about(items, low)
    had = {part.text: number for number, part in enumerate(promised.parts) if part.metadata_only}
    leaders = {number: had[line] for number, line in texts.items() if line in had}
    reasons = {**reduction.reasons, **dict.fromkeys(leaders, Reason.DUPLICATE)}
    reduction = replace(reduction, reasons=reasons, leaders={**reduction.leaders, **leaders})
    stands = standing(items, config.score_kind)
    order = sorted(set(low).difference(leaders), key=lambda number: (-stands[number], number))
    return Lines(texts, order), reduction
