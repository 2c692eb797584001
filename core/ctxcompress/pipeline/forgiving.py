"""What becomes of a compression if something that was plugged in fails: the result without it, or as a last resort the
passages as they came, as `on_error` and `timeout` say. It is never silent: there is a warning, and the result says so.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import TypeVar

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Span
from ctxcompress.data.results import Compression, KeptPassage
from ctxcompress.data.stats import Failure, StageStats
from ctxcompress.errors import CtxCompressError, PluginError, warn
from ctxcompress.guarded import Guard, guarding
from ctxcompress.pipeline.task import Task
from ctxcompress.plugins import part_of
from ctxcompress.text.tokens import TokenCounter

__all__ = ["forgiving", "without_failures"]

T = TypeVar("T")

_STAGES = ("threshold", "semantic", "limit")
"""The stages that every result has: `Stats` names them."""
_CARRIED = "o200k_base"
"""The encoding that counts where the one of the options fails."""


def forgiving(task: Task, run: Callable[[Task], Compression]) -> Compression:
    """Run a task; if something that was plugged in fails, run it without that, as far as the options say so.

    Raises PluginError where they do not, or where it cannot be done without.
    """
    failures, last = list[Failure](), [task]

    def attempt(config: CompressionConfig) -> Compression:
        last[0] = replace(task, config=config)
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
    return replace(result, failures=(*failures, *_endured(result)))


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
        task = replace(task, config=task.config.with_options(encoding=_CARRIED))
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
