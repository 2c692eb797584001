"""The pipeline: passages in, a result out, in five steps.

1. Reduce: drop whole passages (score, duplicates, limits), join those that overlap, cut those that are too long.
2. Analyse: cut what is left into segments, and find out what each of them is.
3. Score: find out how likely the question needs each segment.
4. Select: choose the segments that are worth most within the budget.
5. Present: put the final text together, and say what became of every passage.

Where everything that is left fits, steps 2 to 4 are skipped. Where a cache has the result, all are.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxcompress.cache.protocol import Fingerprints
from ctxcompress.data.documents import Spans, documents_as_they_are, passages_of
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression
from ctxcompress.data.stats import Clock, stop_if_cancelled
from ctxcompress.pipeline.analysis import Analyser, Analysis, AnalysisOptions, documents_as_passages
from ctxcompress.pipeline.outcome import OutcomeBuilder
from ctxcompress.pipeline.presentation import Presentation
from ctxcompress.pipeline.reducing import Reduced, reduce_passages
from ctxcompress.pipeline.result_cache import Outcome, ResultCodec, is_worth_remembering, key_of_outcome
from ctxcompress.pipeline.scoring import ScoredSegments, score_segments
from ctxcompress.pipeline.task import Task
from ctxcompress.select.delivered_segments import Delivered, all_unknown, delivered_segments
from ctxcompress.select.layout import Layout, arrangement
from ctxcompress.select.previews import previews
from ctxcompress.select.qatbe import Selection, select
from ctxcompress.tokens import TokenCounter

__all__ = ["compressed"]

_log = logging.getLogger("ctxcompress")


def compressed(task: Task) -> Compression:
    """Compress the passages of a task, or take the result from the cache.

    The final text begins with what was delivered before. In the result passages count from the number of delivered
    parts. In a context that is built step by step, chunks that continue one another are in the order of their document.
    """
    stop_if_cancelled()
    config, fingerprint = task.config, Fingerprints()
    analyser = Analyser(config.cache, fingerprint, config.encoding, TokenCounter(config.encoding))
    key = _key(task, fingerprint)
    if analyser.cache is None or key is None:
        return _run(task, analyser)
    codec = ResultCodec(task.input_passages)
    outcome = analyser.cache.get(key, codec)
    if outcome is not None:
        original = Presentation(config, task.query).of_input(task.input_passages)
        return outcome.compression(task.query, task.input_passages, config.budget, original, task.operations)
    result = _run(task, analyser)
    if is_worth_remembering(result):
        analyser.cache.put(key, Outcome.of(result), codec)
    return result


def _key(task: Task, fingerprint: Fingerprints) -> str | None:
    """Return the key of the result in the cache; None where there is no cache, or no key can tell what the result
    depends on, such as a frame."""
    if task.config.cache is None or task.frame or task.delivered is not None:
        return None
    return key_of_outcome(task.query, task.input_passages, task.config, fingerprint)


def _run(task: Task, analyser: Analyser) -> Compression:
    reduced = reduce_passages(task, analyser)
    clock = Clock()
    if reduced.whole is not None and _shows_all(task):
        choice = _Choice(reduced.whole, reduced.layout, dict.fromkeys(range(len(task.passages)), 1.0))
    else:
        documents = documents_as_passages(reduced.layout.documents, task.passages)
        analysis = _analyse(task, reduced, documents, analyser)
        clock.lap("segment", len(passages_of(reduced.layout.documents)), len(analysis.table.segments))
        scored = score_segments(task.query, documents, analysis, task.language, task.config)
        clock.lap("score", len(analysis.table.segments), int(np.count_nonzero(scored.scores)))
        choice = _select(task, reduced, analysis, scored, analyser)
        clock.lap("select", len(analysis.table.segments), len(choice.selection.spans))
    return _present(task, reduced, choice, analyser, clock)


def _shows_all(task: Task) -> bool:
    """Tell whether passages that fit are shown untouched, in source order."""
    return not task.held and task.config.order == "source" and task.config.mode == "extract"


def _analyse(task: Task, reduced: Reduced, documents: Sequence[Passage], analyser: Analyser) -> Analysis:
    """Cut the documents into segments. Functions that would take most of the budget are cut, too."""
    layout = reduced.layout
    room = max(reduced.budget - layout.tokens(""), 1)
    return analyser.read(layout.documents, documents, AnalysisOptions.of(task.language, room))


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is kept, and how it is laid out."""

    selection: Selection
    layout: Layout
    relevance: Mapping[int, float]
    """Of each passage."""
    unlikely: Spans | None = None
    """Spans of documents that the question hardly needs."""
    delivered: Spans | None = None
    """Spans of passages that were delivered before."""


def _select(task: Task, reduced: Reduced, analysis: Analysis, scored: ScoredSegments, analyser: Analyser) -> _Choice:
    """Choose what is kept within the budget."""
    config, table, budget = task.config, analysis.table, reduced.budget
    delivered = _delivered(task, reduced, analysis, analyser)
    relevance = scored.relevance_of(len(task.passages))
    arrange = reduced.layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    layout = replace(reduced.layout, arrange=arrange, elide=analysis.markers, relevance=relevance)
    if config.mode == "preview":
        selection = previews(table, scored.worth, relevance, layout, budget)
        return _Choice(selection, layout, relevance, delivered=delivered.spans)
    if reduced.whole is not None or delivered.numbers:
        whole = all_unknown(table, delivered, layout)
        if whole.tokens <= budget:
            return _Choice(whole, layout, relevance, delivered=delivered.spans)
    counts = analyser.counts(analysis)
    selection = select(analysis.structure, scored.worth, layout, budget, delivered.numbers, counts=counts)
    return _Choice(selection, layout, relevance, table.spans(scored.unlikely), delivered.spans)


def _delivered(task: Task, reduced: Reduced, analysis: Analysis, analyser: Analyser) -> Delivered:
    """Find the segments that were delivered before."""
    parts = task.before.parts
    if not parts or task.config.exact_dedup is False:
        return Delivered()
    documents = documents_as_they_are([passage.text for passage in task.passages[: len(parts)]])
    before = analyser.table(documents, documents_as_passages(documents, task.passages), analysis.options)
    return delivered_segments(analysis.table, reduced.layout, before, task.before.spans(task.passages))


def _present(task: Task, reduced: Reduced, choice: _Choice, analyser: Analyser, clock: Clock) -> Compression:
    """Put the final text together, and say what became of every passage."""
    budget = task.config.budget
    selection, layout = reduced.lines.beside(choice.selection, choice.layout, budget)
    outcome = OutcomeBuilder(
        task.passages, reduced.reduction, layout, selection, choice.unlikely or {}, choice.delivered or {}
    )
    _warn_of_nothing(task, reduced, outcome)
    text, tokens = layout.final(selection.text), selection.tokens
    if tokens > budget:  # not even what a format puts around nothing fits
        text, tokens = "", 0
    return Compression(
        query=task.query,
        text=text,
        passages=tuple(outcome.kept(choice.relevance, analyser.count)),
        dropped=tuple(decision for decision in outcome.dropped() if decision.index >= task.held),
        tokens=tokens,
        max_tokens=budget,
        stages=(*reduced.stages, *clock.laps),
        input_count=len(task.input_passages),
        original=reduced.original,
        compressor=task.operations,
    )


def _warn_of_nothing(task: Task, reduced: Reduced, outcome: OutcomeBuilder) -> None:
    is_nothing = not outcome.spans and not task.held and reduced.reduction.documents
    if is_nothing and any(not passage.text.isspace() for passage in task.passages if passage.text):
        _log.warning(
            "nothing of %d passages fits into max_tokens=%d, not even one character of one: give more",
            len(task.passages),
            task.config.budget,
        )
