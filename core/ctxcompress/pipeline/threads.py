"""Run work on another thread, so that it does not block the event loop."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.stats import cancellable
from ctxcompress.encoders.encoder import AsyncEncoder, OnLoop
from ctxcompress.language_model import LLMSelector

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["off_loop", "on_own_thread", "on_thread"]

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
    try:
        return await on_own_thread(partial(work, config.with_options(encoder=encoder, llm=llm)))
    finally:
        if isinstance(encoder, OnLoop):
            encoder.cancel()
