"""The pipeline: passages in, a result out, in five steps.

1. Reduce: drop whole passages (score, duplicates, limits), join overlapping ones, truncate those that are too long.
2. Analyse: cut the remaining text into segments, and find the type of each.
3. Score: estimate how likely the query needs each segment.
4. Select: choose the segments that are worth most within the budget, or with `llm` those that a language model names.
5. Present: build the final text, and say for every passage what was kept and dropped.

If everything that is left fits, steps 2 to 4 are skipped. If the cache has the result, all steps are.

If something that was plugged in fails, the result is the one without it, or as a last resort the passages as they came,
as `on_error` and `timeout` say. It is never silent: there is a warning, and the result says so.

The first steps are also taken alone: before the first query, for the cache, and again after a compression, for what its
result does not store: scores and the confidence.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import passages_of
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Compression, KeptPassage
from ctxcompress.data.stats import Clock, Failure, StageStats, observed, observer_of
from ctxcompress.errors import ConfigError, CtxCompressError, PluginError, warn
from ctxcompress.guarded import Guard, guarding, stop_if_cancelled
from ctxcompress.pipeline.analysis import Analysed, Analyser, AnalysisOptions
from ctxcompress.pipeline.call_cache import AS_JSON, CallCache
from ctxcompress.pipeline.long_passages import Cutter, truncate_passages, without_tags
from ctxcompress.pipeline.outcome import is_worth_remembering, keys_of, present, result_of, rows_of
from ctxcompress.pipeline.reducing import reduce_passages
from ctxcompress.pipeline.scoring import ScoredCall, confidence_in, current_listener, score_segments
from ctxcompress.pipeline.selecting import all_of, choice_of_llm, select_segments
from ctxcompress.pipeline.task import Frame, Presentation, Task, language_of
from ctxcompress.plugins import part_of
from ctxcompress.reduce.stages import reduced as reduction_of
from ctxcompress.text.tokens import TokenCounter

__all__ = ["analyse_ahead", "analysed_again", "confidence_again", "run_pipeline", "scored_again", "without_failures"]


T = TypeVar("T")

_STAGES = ("threshold", "semantic", "limit")
"""The stages that every result has: `Stats` names them."""


def run_pipeline(task: Task) -> Compression:
    """Compress the passages of a task, or take the result from the cache.

    If a part of the context was delivered before, the final text begins with it, and the positions of passages in the
    result begin with the number of delivered parts. Chunks that continue one another are then in document order.
    """
    config = task.config
    with observed(observer_of(config.telemetry), forgives=config.on_error != "raise") as report:
        listener = current_listener()
        if listener is not None:
            listener.last = None
        result = _forgiving(task, _cached)
        report(result.observation)
    return result


def _cached(task: Task) -> Compression:
    stop_if_cancelled()
    cache = CallCache(task.config.cache)
    keys = keys_of(task, cache)
    rows = cache.get(keys.outcome, AS_JSON)
    if rows is not None:
        return result_of(rows, task, cache.use(is_outcome=True))
    result = _run(task, cache, keys.without_query)
    if keys.outcome and is_worth_remembering(result):
        cache.put(keys.outcome, rows_of(result), AS_JSON)
    return result


def _run(task: Task, cache: CallCache, key: str | None) -> Compression:
    """key: see `reduce_passages`."""
    encoding = task.config.encoding
    # What was delivered before is counted only once.
    analyser = Analyser(cache, encoding, task.delivered.counter(encoding) if task.delivered else None)
    reduced = reduce_passages(task, analyser, key)
    clock, listener = Clock(), current_listener()
    choice = all_of(task, reduced)
    if choice is None:
        documents, budget = reduced.layout.documents, reduced.budget - reduced.layout.tokens("")
        found = analyser.read(documents, task.passages, AnalysisOptions.of(task.language, budget))
        segments = len(found.analysis.table.segments)
        clock.lap("segment", len(passages_of(documents)), segments)
        is_heard = listener is not None
        scored = score_segments(task.queries, found, task.config, with_likelihoods=is_heard, ranked=task.ranked)
        clock.lap("score", segments, int(np.count_nonzero(scored.scores)))
        choice = select_segments(task, reduced, found.analysis, scored, analyser)
        clock.lap("select", segments, len(choice.selection.spans))
        choice = choice_of_llm(task, choice, found.passages, analyser)
        if choice.llm is not None:
            clock.lap("llm", choice.llm.candidates, choice.llm.named, choice.llm.outcome)
        if listener is not None:
            listener.last = ScoredCall(found.analysis, scored, choice.layout, task.original, analyser.count)
    return present(task, reduced, choice, analyser, clock.laps)


def _forgiving(task: Task, run: Callable[[Task], Compression]) -> Compression:
    """Run a task; if something that was plugged in fails, run it without that, as far as the options say so.

    Raises PluginError where they do not, or where it cannot be done without.
    """
    failures, last = list[Failure](), [task]

    def attempt(config: CompressionConfig) -> Compression:
        last[0] = task if config is task.config else replace(task, config=config)
        return run(last[0])

    try:
        result = without_failures(task.config, attempt, failures)
    except Exception as error:
        if task.config.on_error != "original" or _is_of_caller(error):
            raise
        failures.append(_failure_of(error))
        result = _as_they_came(last[0], failures[-1])
    for failure in failures:
        warn(failure.warning())
    failures += _endured(result)
    return replace(result, failures=tuple(failures)) if failures else result


def without_failures(config: CompressionConfig, work: Callable[[CompressionConfig], T], failures: list[Failure]) -> T:
    """Return the result of work with these options, and without what fails, which is added to `failures`.

    Raises PluginError where the options do not want that, or where it cannot be done without.
    """
    with guarding(Guard.within(config.timeout, forgives=config.on_error != "raise")) as guard:
        while True:
            try:
                return work(config)
            except PluginError as error:
                simpler = _without(error, config, guard)
                if simpler is None:
                    raise
                failures.append(Failure(error.part, error.reason))
                config = simpler


def _without(error: PluginError, config: CompressionConfig, guard: Guard) -> CompressionConfig | None:
    """Return the options without what failed; None if that is not wanted, or cannot be."""
    if not (guard.forgives or error.is_late):
        return None
    if error.part == "encoder" and config.own_encoder is not None:
        return config.with_options(encoder="words")
    if error.part == part_of("ctxcompress.renderers", config.format):
        return config.with_options(format="plain")
    if error.part.startswith(("filter ", "format ")) and error.part not in guard.left_out:
        guard.left_out |= {error.part}
        return config
    return None


def _is_of_caller(error: Exception) -> bool:
    """Tell whether an error is about what the caller gave, or the caller's own wish."""
    is_about_given = isinstance(error, CtxCompressError) and not isinstance(error, PluginError)
    return is_about_given or isinstance(error, CancelledError)


def _failure_of(error: Exception) -> Failure:
    """Return the failure after which only the passages as they came are left."""
    if isinstance(error, PluginError):
        return Failure(error.part, error.reason, is_original=True)
    return Failure("compression", f"it raised {type(error).__name__}", is_original=True)


def _as_they_came(task: Task, failure: Failure) -> Compression:
    """Return the result that has all passages unchanged, whatever the budget."""
    if failure.part == "encoding":
        task = replace(task, config=task.config.with_options(encoding="o200k_base"))  # which is carried
    config, passages = task.config, task.input_passages
    count = TokenCounter(config.encoding)
    text = config.separator.join(filter(None, (task.delivered_context.text, task.original.text)))
    kept = (
        KeptPassage(number, passage, passage.text, (Span(0, len(passage.text)),), count(passage.text), 1.0)
        for number, passage in enumerate(passages, task.delivered_count)
    )
    return Compression(
        query=task.query,
        text=text,
        passages=tuple(kept),
        dropped=(),
        tokens=count(text),
        max_tokens=config.budget,
        stages=tuple(StageStats(name, len(passages), len(passages), 0.0) for name in _STAGES),
        input_count=len(passages),
        original=task.original,
        compressor=task.operations(config),
    )


def _endured(result: Compression) -> Iterator[Failure]:
    """Yield the failures of what is always done without if it fails."""
    if result.llm is not None and result.llm.outcome.startswith("failed: "):
        yield Failure("llm", result.llm.outcome.removeprefix("failed: "))
    if result.cache.failure:
        yield Failure("cache", result.cache.failure)


def analyse_ahead(passages: Sequence[Passage], config: CompressionConfig) -> None:
    """Analyse each passage by itself, and store the result in the cache. Raises ConfigError without one."""
    if config.cache is None:
        raise ConfigError("cache is None, so an analysis cannot be stored; give one, such as Cache(SqliteStore(path))")
    count = TokenCounter(config.encoding)
    for passage in passages:
        stop_if_cancelled()
        # Each with an allowance of its own: a cache may take its time here, where no query waits.
        analyser = Analyser(CallCache(config.cache), config.encoding, count)
        analyser.store(passage, language_of("", [passage], config))


def analysed_again(query: str, passages: Sequence[Passage], config: CompressionConfig, *, fits: bool) -> Analysed:
    """Filter, truncate and analyse the passages with these options, as a compression does.

    fits: whether the passages fit into the budget unchanged.
    """
    analyser = Analyser(CallCache(config.cache), config.encoding)
    reduction, language = reduction_of(passages, config, fits=fits), language_of(query, passages, config)
    cutter, required = Cutter.of(query, language, config), reduction.required
    documents, _ = truncate_passages(cutter, reduction.documents, passages, required)
    if not fits:
        documents = without_tags(documents, passages, required)
    layout = Presentation(config, query).layout(passages, documents, analyser.count)
    return analyser.read(documents, passages, AnalysisOptions.of(language, config.budget - layout.tokens("")))


def confidence_again(query: str, passages: Sequence[Passage], config: CompressionConfig) -> float:
    """Return the probability that the passages, as the filters leave them, answer the query; 0 without text."""
    return confidence_in(query, analysed_again(query, passages, config, fits=False).analysis, config)


def scored_again(query: str, passages: Sequence[Passage], config: CompressionConfig, frame: Frame | None) -> ScoredCall:
    """Return what a compression knew about its segments. An `encoder` is asked again.

    frame: the one that the compression was made with.
    """
    found = analysed_again(query, passages, config, fits=False)
    scored = score_segments((query,), found, config, with_likelihoods=True)
    presentation, count = Presentation(config, query, frame), TokenCounter(config.encoding)
    layout = replace(presentation.layout(passages, found.documents, count), elide=found.analysis.markers)
    return ScoredCall(found.analysis, scored, layout, presentation.of_input(passages), count)
