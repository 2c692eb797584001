"""Work on other threads: compressions, so that they do not block an event loop, and questions to a language model."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from ctxcompress.config.options import CompressionConfig
from ctxcompress.encoders.encoder import AsyncEncoder, OnLoop
from ctxcompress.guarded import cancellable, stop_if_cancelled, time_limit
from ctxcompress.language_model import Answer, LanguageModel, LLMSelector, ModelOnLoop, Prompt, RememberedModel

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["NoAnswerError", "ask", "off_loop", "on_own_thread", "on_thread"]

_Result = TypeVar("_Result")

_AT_ONCE = 8
"""The most threads that ask at the same time."""
_POLL_INTERVAL = 0.05
"""Seconds between looks at whether the compression is cancelled."""


async def on_thread(work: Callable[[], _Result], executor: "Executor | None" = None) -> _Result:
    """Run `work` on another thread and return its result. If this is cancelled, the work stops at its next stage.

    executor: where to run it; None for the event loop's own executor.
    """
    from asyncio import get_running_loop  # takes time to import, which calls without a loop do not need

    with cancellable() as call:
        result: _Result = await get_running_loop().run_in_executor(executor, call, work)
    return result


async def on_own_thread(work: Callable[[], _Result]) -> _Result:
    """Do the same on a thread that nothing else uses, for work that waits for something on this event loop.

    What it waits for may need one of the loop's own threads.
    """
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
    try:
        return await on_thread(work, executor)
    finally:
        executor.shutdown(wait=False)


async def off_loop(config: CompressionConfig, work: Callable[[CompressionConfig], _Result]) -> _Result:
    """Run `work` with the options on another thread, but an async encoder and an async language model on this event
    loop: see `on_thread`."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    encoder = OnLoop(config.encoder, loop) if isinstance(config.encoder, AsyncEncoder) else config.encoder
    selector = LLMSelector.of(config.llm)
    llm = selector and selector.on_loop(loop)
    if encoder is config.encoder and llm is selector:
        return await on_thread(partial(work, config))
    try:
        return await on_own_thread(partial(work, config.with_options(encoder=encoder, llm=llm)))
    finally:
        if isinstance(encoder, OnLoop):
            encoder.cancel()


class NoAnswerError(Exception):
    """The model gave no answer. The message says why, without what the model's own error says: it may quote keys."""


def ask(
    model: LanguageModel, prompts: Sequence[Prompt], seconds: float, *, clock: Callable[[], float] = monotonic
) -> list[Answer]:
    """Return the answers in the order of the prompts.

    seconds: the time limit for all of them together.

    Raises NoAnswerError if one of the prompts has no answer in time, and CancelledError if the compression is
    cancelled. Prompts that are not answered yet are then given up.
    """
    if isinstance(model, RememberedModel):
        return _ask_once(model, prompts, seconds, clock)
    with time_limit() as left:
        if left <= 0:
            raise NoAnswerError("nothing is left of timeout")
        return _asked(model, prompts, min(seconds, left), clock)


def _asked(model: LanguageModel, prompts: Sequence[Prompt], seconds: float, clock: Callable[[], float]) -> list[Answer]:
    end = clock() + seconds
    futures = [*map(model.start, prompts)] if isinstance(model, ModelOnLoop) else _on_threads(model, prompts)
    try:
        _wait(futures, end, clock)
        for future in filter(Future.done, futures):
            _answer(future, seconds)  # an error says more than that others are not done
        return [_answer(future, seconds) for future in futures]
    finally:
        for future in futures:
            future.cancel()


def _ask_once(
    remembered: RememberedModel, prompts: Sequence[Prompt], seconds: float, clock: Callable[[], float]
) -> list[Answer]:
    """Ask what is not known yet. Raises again what was raised before."""
    if remembered.failures:
        raise remembered.failures[0]
    answers = remembered.answers
    missing = [prompt for prompt in dict.fromkeys(prompts) if prompt not in answers]
    try:
        answers.update(zip(missing, ask(remembered.model, missing, seconds, clock=clock), strict=True))
    except NoAnswerError as error:
        remembered.failures.append(error)
        raise
    return [answers[prompt] for prompt in prompts]


def _wait(futures: Sequence[Future[Answer]], end: float, clock: Callable[[], float]) -> None:
    """Wait until all are done, one has failed, or it is `end`."""
    pending = set(futures)
    while pending and (left := end - clock()) > 0:
        done, pending = wait(pending, min(left, _POLL_INTERVAL), FIRST_EXCEPTION)
        stop_if_cancelled()
        if any(future.cancelled() or future.exception() is not None for future in done):
            return


def _answer(future: Future[Answer], seconds: float) -> Answer:
    if future.cancelled():
        raise NoAnswerError("the model was cancelled")
    if not future.done():
        raise NoAnswerError(f"no answer within {seconds:g} s")
    error = future.exception()
    if isinstance(error, Exception):
        raise NoAnswerError(f"the model raised {type(error).__name__}") from error
    answer: object = future.result()  # raises what is no Exception, such as KeyboardInterrupt
    if not isinstance(answer, Answer) or not isinstance(answer.text, str):
        raise NoAnswerError(f"the model gave a {type(answer).__name__}, not an Answer with a text")
    return answer


def _on_threads(model: LanguageModel, prompts: Sequence[Prompt]) -> list[Future[Answer]]:
    """Ask on threads that see the caller's context variables, so that traces know where they belong.

    The threads are daemons: a model that never answers does not keep the program from ending.
    """
    waiting = deque((Future[Answer](), partial(copy_context().run, model.complete, prompt)) for prompt in prompts)
    futures = [future for future, _ in waiting]
    for _ in futures[:_AT_ONCE]:
        Thread(target=_work_off, args=(waiting,), name="ctxcompress-llm", daemon=True).start()
    return futures


def _work_off(waiting: deque[tuple[Future[Answer], Callable[[], Answer]]]) -> None:
    with suppress(IndexError):  # of the empty deque: whatever the model raises goes to the future
        while True:
            _settle(*waiting.popleft())


def _settle(future: Future[Answer], work: Callable[[], Answer]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        answer = work()
    except BaseException as error:  # noqa: BLE001 - told to the thread that waits
        future.set_exception(error)
    else:
        future.set_result(answer)
