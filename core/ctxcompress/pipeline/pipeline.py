"""The pipeline: passages in, a result out, in five steps.

1. Reduce: drop whole passages (score, duplicates, limits), join overlapping ones, truncate those that are too long.
2. Analyse: cut the remaining text into segments, and find the type of each.
3. Score: estimate how likely the query needs each segment.
4. Select: choose the segments that are worth most within the budget, or with `llm` those that a language model names.
5. Present: build the final text, and say for every passage what was kept and dropped.

If everything that is left fits, steps 2 to 4 are skipped. If the cache has the result, all steps are.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from ctxcompress.cache.protocol import Fingerprints
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans, passages_of
from ctxcompress.data.observer import Observation, observed
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression
from ctxcompress.data.stats import Clock, LLMStats, stop_if_cancelled
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.analysis import Analyser, Analysis, AnalysisOptions, documents_as_passages
from ctxcompress.pipeline.call_cache import CallCache
from ctxcompress.pipeline.llm_selection import Choices, not_asked, select_by_llm
from ctxcompress.pipeline.outcome import OutcomeBuilder
from ctxcompress.pipeline.presentation import Presentation
from ctxcompress.pipeline.reducing import Reduced, reduce_passages
from ctxcompress.pipeline.result_cache import Outcome, ResultCodec, is_worth_remembering, key_of_outcome
from ctxcompress.pipeline.scoring import ScoredSegments, score_segments
from ctxcompress.pipeline.task import Task, description_of
from ctxcompress.reduce.required import places_in_documents
from ctxcompress.select.delivered_segments import Delivered, all_unknown, delivered_segments
from ctxcompress.select.dropped_lines import with_dropped_lines
from ctxcompress.select.kept_first import Match, matches_in, select_kept_first
from ctxcompress.select.layout import Elide, Layout, arrangement
from ctxcompress.select.previews import previews
from ctxcompress.select.selection import Selection, select
from ctxcompress.telemetry import observer_of

__all__ = ["run_pipeline"]

_log = logging.getLogger("ctxcompress")


def run_pipeline(task: Task) -> Compression:
    """Compress the passages of a task, or take the result from the cache.

    If a part of the context was delivered before, the final text begins with it, and the positions of passages in the
    result begin with the number of delivered parts. Chunks that continue one another are then in document order.
    """
    with observed(observer_of(task.config.telemetry)) as report:
        result = _cached(task)
        report(partial(Observation.of, result))
    return result


def _cached(task: Task) -> Compression:
    stop_if_cancelled()
    config, fingerprint = task.config, Fingerprints()
    cache = CallCache.of(config.cache, task.passages)
    analyser = Analyser(cache, fingerprint, config.encoding, task.before.counter(config.encoding))
    if cache is None:
        return _run(task, analyser)
    codec, key = ResultCodec(task.input_passages), _cache_key(task, fingerprint)
    outcome = cache.get(key, codec) if key else None
    if outcome is not None:
        return outcome.compression(
            task, Presentation.of(task).of_input(task.input_passages), cache.use(is_outcome=True)
        )
    result = _run(task, analyser)
    if key and is_worth_remembering(result):
        cache.put(key, Outcome.of(result), codec)
    return replace(result, cache=cache.use())


def _cache_key(task: Task, fingerprint: Fingerprints) -> str | None:
    """Return the key of the result in the cache, or None if the result depends on something that a key cannot hold."""
    if task.delivered is not None:
        return None
    frame = "" if task.frame is None else description_of(task.frame)
    return None if frame is None else key_of_outcome(task.query, task.input_passages, task.config, frame, fingerprint)


def _run(task: Task, analyser: Analyser) -> Compression:
    reduced = reduce_passages(task, analyser)
    clock = Clock()
    if reduced.whole is not None and _shows_all(task):
        llm = None if task.config.llm is None else not_asked("everything fits")
        choice = _Choice(reduced.whole, reduced.layout, dict.fromkeys(range(len(task.passages)), 1.0), llm=llm)
    else:
        documents = documents_as_passages(reduced.layout.documents, task.passages)
        analysis = _analyse(task, reduced, documents, analyser)
        clock.lap("segment", len(passages_of(reduced.layout.documents)), len(analysis.table.segments))
        scored = score_segments(task.query, documents, analysis, task.language, task.config)
        clock.lap("score", len(analysis.table.segments), int(np.count_nonzero(scored.scores)))
        choice = _select(task, reduced, analysis, scored, analyser)
        clock.lap("select", len(analysis.table.segments), len(choice.selection.spans))
        choice = _asked(task, reduced, analysis, scored, analyser, choice)
        if choice.llm is not None:
            clock.lap("llm", choice.llm.candidates, choice.llm.named, choice.llm.outcome)
    return _present(task, reduced, choice, analyser, clock)


def _shows_all(task: Task) -> bool:
    """Tell whether passages that fit are shown untouched, in source order."""
    config = task.config
    is_plain = config.order == "source" and config.mode == "extract" and not config.adaptive
    return is_plain and not task.delivered_count and not _asks_if_fits(config)


def _asks_if_fits(config: CompressionConfig) -> bool:
    selector = LLMSelector.of(config.llm)
    return selector is not None and selector.ask_if_fits


def _analyse(task: Task, reduced: Reduced, documents: Sequence[Passage], analyser: Analyser) -> Analysis:
    """Cut the documents into segments, and functions that would take most of the budget into several."""
    layout = reduced.layout
    room = max(reduced.budget - layout.tokens(""), 1)
    return analyser.read(layout.documents, documents, AnalysisOptions.of(task.language, room))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The kept parts and their layout."""

    selection: Selection
    layout: Layout
    relevance: Mapping[int, float]
    """Passage number -> the best score of its segments."""
    unlikely: Spans | None = None
    """Spans of documents that the query hardly needs."""
    delivered: Spans | None = None
    """Spans of passages that were delivered before."""
    is_emptied: bool = False
    """Whether nothing is kept because nothing is wanted, and not because nothing fits."""
    is_all: bool = False
    """Whether everything that is new fits and is kept."""
    known: frozenset[int] = frozenset()
    """Numbers of the segments that were delivered before."""
    counts: Sequence[int] | None = None
    """The tokens of each segment, if known."""
    is_held: bool = False
    """Whether there is text that must be kept."""
    llm: LLMStats | None = None


def _select(task: Task, reduced: Reduced, analysis: Analysis, scored: ScoredSegments, analyser: Analyser) -> _Choice:
    """Choose the segments to keep within the budget."""
    config, table, budget = task.config, analysis.table, reduced.budget
    matches = _matches(task, reduced, analysis)
    held = chain.from_iterable(match.segments for match in matches)
    delivered = _delivered(task, reduced, analysis, analyser).without(held)
    known = frozenset(delivered.numbers)
    relevance = scored.relevance_of(len(task.passages))
    arrange = reduced.layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    elide: Elide = analysis.markers
    if config.mark_dropped_lines:
        elide = with_dropped_lines(elide, table, [document.text for document in reduced.layout.documents])
    layout = replace(reduced.layout, arrange=arrange, elide=elide, relevance=relevance)
    if config.mode == "preview":
        return _preview(config, scored, relevance, layout, budget, matches)
    simple = _without_packing(task, reduced, scored, delivered, layout, matches)
    if simple is not None:
        is_emptied = config.adaptive and len(scored.unlikely) > 0
        unlikely = table.spans(scored.unlikely) if is_emptied else None
        return _Choice(simple, layout, relevance, unlikely, delivered.spans, is_emptied, not is_emptied, known)
    unlikely = table.spans(scored.unlikely)
    if matches:
        selection = select_kept_first(
            matches, analysis.structure, scored.worth, layout, config.budget, known, others=budget
        )
        return _Choice(selection, layout, relevance, unlikely, delivered.spans, is_held=True)
    counts = analyser.counts(analysis, reduced.layout.documents)
    selection = select(analysis.structure, scored.worth, layout, budget, known, counts=counts)
    return _Choice(selection, layout, relevance, unlikely, delivered.spans, known=known, counts=counts)


def _asked(
    task: Task, reduced: Reduced, analysis: Analysis, scored: ScoredSegments, analyser: Analyser, choice: _Choice
) -> _Choice:
    """Return the choice of the language model of the options; the given one if there is none, or it does not answer."""
    selector = LLMSelector.of(task.config.llm)
    if selector is None:
        return choice
    reason = _why_not_asked(task, choice)
    if reason:
        return replace(choice, llm=not_asked(reason))
    choices = Choices(analysis.structure, scored.worth, choice.layout, reduced.budget, choice.known, choice.counts)
    documents = documents_as_passages(reduced.layout.documents, task.passages)
    found = select_by_llm(selector, task.query, choices, documents, analyser.cache, analyser.count)
    if found.selection is None:
        return replace(choice, llm=found.stats)
    unlikely = {number: tuple(spans) for number, spans in (choice.unlikely or {}).items()}
    for number, spans in found.left_out.items():
        unlikely[number] = tuple(sorted((*unlikely.get(number, ()), *spans)))
    return replace(choice, selection=found.selection, unlikely=unlikely, llm=found.stats)


def _why_not_asked(task: Task, choice: _Choice) -> str:
    """Return why the language model has nothing to decide; "" if it has."""
    if task.config.mode == "preview":
        return "previews are chosen without it"
    if not task.query.strip():
        return "there is no query"
    if choice.is_emptied:
        return "nothing is wanted"
    if choice.is_held:
        return "what must be kept is chosen without it"
    return "everything fits" if choice.is_all and not _asks_if_fits(task.config) else ""


def _preview(
    config: CompressionConfig,
    scored: ScoredSegments,
    relevance: Mapping[int, float],
    layout: Layout,
    budget: int,
    matches: Sequence[Match],
) -> _Choice:
    """Choose the best sentence of each passage, with `adaptive` of those that the query may need."""
    unlikely = scored.unlikely if config.adaptive else ()
    keeps_best = config.on_empty != "drop"
    selection = previews(
        scored.table, scored.worth, relevance, layout, budget, unlikely, matches, keeps_best=keeps_best
    )
    is_emptied = not keeps_best and not matches and len(unlikely) == len(scored.table.segments)
    return _Choice(selection, layout, relevance, scored.table.spans(unlikely), is_emptied=is_emptied)


def _matches(task: Task, reduced: Reduced, analysis: Analysis) -> list[Match]:
    """Return what must be kept and was not delivered before."""
    documents = reduced.layout.documents
    required = places_in_documents(reduced.reduction.required, documents)
    found = matches_in(analysis.table, required, [document.text for document in documents]) if required else []
    new = {text for text in {match.text for match in found} if text not in task.before.context.text}
    return [match for match in found if match.text in new]


def _without_packing(
    task: Task,
    reduced: Reduced,
    scored: ScoredSegments,
    delivered: Delivered,
    layout: Layout,
    matches: Sequence[Match],
) -> Selection | None:
    """Return nothing if nothing is wanted, or everything that is new if that is wanted and fits; None otherwise."""
    config, table = task.config, scored.table
    if config.adaptive and scored.unlikely:
        is_emptied = config.on_empty == "drop" and len(scored.unlikely) == len(table.segments) and not matches
        return Selection.nothing(layout) if is_emptied else None
    if reduced.whole is None and not delivered.numbers:
        return None
    whole = all_unknown(table, delivered, layout)
    return whole if whole.tokens <= reduced.budget else None


def _delivered(task: Task, reduced: Reduced, analysis: Analysis, analyser: Analyser) -> Delivered:
    """Find the segments that were delivered before."""
    before = task.before
    if not before.passages or task.config.exact_dedup is False:
        return Delivered()
    had = before.spans_of(enumerate(task.input_passages, task.delivered_count))
    return delivered_segments(analysis.table, reduced.layout, before.unit_texts(analyser, analysis.options), had)


def _present(task: Task, reduced: Reduced, choice: _Choice, analyser: Analyser, clock: Clock) -> Compression:
    """Build the result: the final text, and what was kept and dropped of every passage."""
    budget = task.config.budget
    selection, layout = reduced.lines.beside(choice.selection, choice.layout, budget)
    outcome = OutcomeBuilder(
        task.passages,
        reduced.reduction,
        layout,
        selection,
        choice.unlikely or {},
        choice.delivered or {},
        task.delivered_count,
    )
    if not choice.is_emptied:
        _warn_if_nothing_fits(task, reduced, outcome)
    text, tokens = layout.final(selection.text), selection.tokens
    if tokens > budget:  # even an empty text does not fit with what the format puts around it
        text, tokens = "", 0
    return Compression(
        query=task.query,
        text=text,
        passages=tuple(outcome.kept(choice.relevance, analyser.count)),
        dropped=tuple(outcome.dropped()),
        tokens=tokens,
        max_tokens=budget,
        stages=(*reduced.stages, *clock.laps),
        input_count=len(task.input_passages),
        original=reduced.original,
        compressor=task.operations,
        llm=choice.llm,
    )


def _warn_if_nothing_fits(task: Task, reduced: Reduced, outcome: OutcomeBuilder) -> None:
    is_empty = not outcome.spans and not task.delivered_count and reduced.reduction.documents
    if is_empty and any(not passage.text.isspace() for passage in task.passages if passage.text):
        _log.warning(
            "none of %d passages fits into max_tokens=%d, not even one character; give a greater max_tokens",
            len(task.passages),
            task.config.budget,
        )
