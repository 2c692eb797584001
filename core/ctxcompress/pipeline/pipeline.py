"""The pipeline: passages in, a result out, in five steps.

1. Reduce: drop whole passages (score, duplicates, limits), join overlapping ones, truncate those that are too long.
2. Analyse: cut the remaining text into segments, and find the type of each.
3. Score: estimate how likely the query needs each segment.
4. Select: choose the segments that are worth most within the budget, or with `llm` those that a language model names.
5. Present: build the final text, and say for every passage what was kept and dropped.

If everything that is left fits, steps 2 to 4 are skipped. If the cache has the result, all steps are.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import passages_of
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression
from ctxcompress.data.stats import Clock, observed, stop_if_cancelled
from ctxcompress.errors import warn
from ctxcompress.pipeline.analysis import Analyser, Analysis, AnalysisOptions, documents_as_passages
from ctxcompress.pipeline.call_cache import CallCache, Fingerprints
from ctxcompress.pipeline.llm_selection import not_asked
from ctxcompress.pipeline.long_passages import without_tags
from ctxcompress.pipeline.presentation import OutcomeBuilder, Presentation
from ctxcompress.pipeline.reducing import Reduced, reduce_passages
from ctxcompress.pipeline.result_cache import (
    Keys,
    Outcome,
    ResultCodec,
    is_worth_remembering,
    key_of_outcome,
)
from ctxcompress.pipeline.scoring import ScoredCall, current_listener, score_segments
from ctxcompress.pipeline.selecting import Choice, asks_if_fits, choice_of_llm, select_segments
from ctxcompress.pipeline.task import Task, description_of
from ctxcompress.telemetry import observer_of
from ctxcompress.text.tokens import TokenCounter

__all__ = ["run_pipeline"]


def run_pipeline(task: Task) -> Compression:
    """Compress the passages of a task, or take the result from the cache.

    If a part of the context was delivered before, the final text begins with it, and the positions of passages in the
    result begin with the number of delivered parts. Chunks that continue one another are then in document order.
    """
    with observed(observer_of(task.config.telemetry)) as report:
        listener = current_listener()
        if listener is not None:
            listener.last = None
        result = _cached(task)
        report(result.observation)
    return result


def _counter(task: Task) -> TokenCounter:
    """Return a counter, which counts what was delivered before only once."""
    encoding = task.config.encoding
    return task.delivered.counter(encoding) if task.delivered else TokenCounter(encoding)


def _cached(task: Task) -> Compression:
    stop_if_cancelled()
    config, fingerprint = task.config, Fingerprints()
    cache = CallCache.of(config.cache)
    analyser = Analyser(cache, fingerprint, config.encoding, _counter(task))
    if cache is None:
        return _run(task, analyser)
    codec, keys = ResultCodec(task.input_passages), _cache_keys(task, fingerprint)
    outcome = cache.get(keys.outcome, codec) if keys else None
    if outcome is not None:
        return outcome.compression(
            task, Presentation.of(task).of_input(task.input_passages), cache.use(is_outcome=True)
        )
    result = _run(task, analyser, keys)
    if keys and is_worth_remembering(result):
        cache.put(keys.outcome, Outcome.of(result), codec)
    return replace(result, cache=cache.use())


def _cache_keys(task: Task, fingerprint: Fingerprints) -> Keys | None:
    """Return the keys of the result in the cache, or None if the result depends on something that a key cannot hold."""
    if task.delivered is not None:
        return None
    frame = "" if task.frame is None else description_of(task.frame)
    if frame is None:
        return None
    return key_of_outcome(task.query, task.input_passages, task.config, f"{frame} {task.ranked}", fingerprint)


def _run(task: Task, analyser: Analyser, keys: Keys | None = None) -> Compression:
    reduced = reduce_passages(task, analyser, keys.without_query if keys else None)
    clock = Clock()
    if reduced.whole is not None and _shows_all(task):
        llm = None if task.config.llm is None else not_asked("everything fits")
        choice = Choice(reduced.whole, reduced.layout, dict.fromkeys(range(len(task.passages)), 1.0), llm=llm)
    else:
        reduced = _readable(task, reduced)
        documents = documents_as_passages(reduced.layout.documents, task.passages)
        analysis = _analyse(task, reduced, documents, analyser)
        clock.lap("segment", len(passages_of(reduced.layout.documents)), len(analysis.table.segments))
        queries, listener = task.queries or (task.query,), current_listener()
        scored = score_segments(
            queries,
            documents,
            analysis,
            task.language,
            task.config,
            with_likelihoods=listener is not None,
            ranked=task.ranked,
        )
        clock.lap("score", len(analysis.table.segments), int(np.count_nonzero(scored.scores)))
        choice = select_segments(task, reduced, analysis, scored, analyser)
        clock.lap("select", len(analysis.table.segments), len(choice.selection.spans))
        choice = choice_of_llm(task, reduced, analysis, scored, analyser, choice)
        if choice.llm is not None:
            clock.lap("llm", choice.llm.candidates, choice.llm.named, choice.llm.outcome)
        if listener is not None:
            listener.last = ScoredCall(analysis, scored, choice.layout, reduced.original, analyser.count)
    return _present(task, reduced, choice, analyser, clock)


def _shows_all(task: Task) -> bool:
    """Tell whether passages that fit are shown untouched, in source order."""
    return task.config.order == "source" and not task.delivered_count and not _drops_what_fits(task.config)


def _drops_what_fits(config: CompressionConfig) -> bool:
    return config.format == "preview" or config.adaptive is not False or asks_if_fits(config)


def _readable(task: Task, reduced: Reduced) -> Reduced:
    """Return the documents without the tags of HTML, unless all stay as they are."""
    if reduced.whole is not None and not _drops_what_fits(task.config):
        return reduced
    documents = without_tags(reduced.layout.documents, task.passages, reduced.reduction.required)
    return replace(reduced, layout=replace(reduced.layout, documents=documents))


def _analyse(task: Task, reduced: Reduced, documents: Sequence[Passage], analyser: Analyser) -> Analysis:
    """Cut the documents into segments, and functions that would take most of the budget into several."""
    layout = reduced.layout
    room = max(reduced.budget - layout.tokens(""), 1)
    return analyser.read(layout.documents, documents, AnalysisOptions.of(task.language, room))


def _present(task: Task, reduced: Reduced, choice: Choice, analyser: Analyser, clock: Clock) -> Compression:
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
        warn(f"no passage fits into max_tokens={task.config.budget}, not even one character; give a greater max_tokens")
