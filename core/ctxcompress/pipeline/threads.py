"""Work on other threads: compressions, so that they do not block an event loop, and questions to a language model."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ctxcompress.config.options import CompressionConfig
from ctxcompress.encoders.encoder import AsyncEncoder, OnLoop
from ctxcompress.guarded import begun, cancellable, remembered, time_limit, wait_for
from ctxcompress.language_model import Answer, LanguageModel, LLMSelector, Prompt

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["NoAnswerError", "ask", "off_loop", "on_own_thread", "on_thread"]

_Result = TypeVar("_Result")


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
    return await on_own_thread(partial(work, config.with_options(encoder=encoder, llm=llm)))


class NoAnswerError(Exception):
    """The model gave no answer. The message says why, without what the model's own error says: it may quote keys."""


def ask(model: LanguageModel, prompts: Sequence[Prompt]) -> list[Answer]:
    """Return the answers in the order of the prompts. Attempts at one work ask each prompt once.

    Raises NoAnswerError if one of the prompts has no answer in time, and CancelledError if the compression is
    cancelled. Prompts that are not answered yet are then given up, and a model that failed is not asked again.
    """
    known = remembered()
    if NoAnswerError in known:
        raise known[NoAnswerError]
    missing = [prompt for prompt in dict.fromkeys(prompts) if prompt not in known]
    try:
        known.update(zip(missing, _asked(model, missing), strict=True))
    except NoAnswerError as error:
        known[NoAnswerError] = error
        raise
    return [known[prompt] for prompt in prompts]


def _asked(model: LanguageModel, prompts: Sequence[Prompt]) -> list[Answer]:
    with time_limit() as left:
        if left <= 0:
            raise NoAnswerError("nothing is left of timeout")
        futures = begun(partial(model.complete, prompt) for prompt in prompts)
        try:
            wait_for(futures, left)
            for future in filter(Future.done, futures):
                _answer(future, left)  # an error says more than that others are not done
            return [_answer(future, left) for future in futures]
        finally:
            for future in futures:
                future.cancel()


def _answer(future: Future[Answer], seconds: float) -> Answer:
    if not future.done():
        raise NoAnswerError(f"no answer within {seconds:.3g} s")
    error = future.exception()
    if isinstance(error, Exception):
        raise NoAnswerError(f"the model raised {type(error).__name__}") from error
    answer: object = future.result()  # raises what is no Exception, such as KeyboardInterrupt
    if not isinstance(answer, Answer) or not isinstance(answer.text, str):
        raise NoAnswerError(f"the model gave a {type(answer).__name__}, not an Answer with a text")
    return answer
