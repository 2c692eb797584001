"""Work that must not block an event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.stats import cancellable
from ctxcompress.encoders.encoder import AsyncEncoder, OnLoop

__all__ = ["off_loop", "on_thread"]

_Result = TypeVar("_Result")


async def on_thread(work: Callable[[], _Result], executor: Executor | None = None) -> _Result:
    """What the work returns, on another thread. Where this is cancelled, it is not begun, or ends at its next stage.

    executor: None for the loop's own.
    """
    with cancellable() as call:
        result: _Result = await asyncio.get_running_loop().run_in_executor(executor, call, work)
    return result


async def off_loop(config: CompressionConfig, work: Callable[[CompressionConfig], _Result]) -> _Result:
    """What `work` makes of the options, as `on_thread`; an encoder that can be awaited is, on this event loop."""
    if not isinstance(config.encoder, AsyncEncoder):
        return await on_thread(partial(work, config))
    on_loop = OnLoop(config.encoder, asyncio.get_running_loop())
    # A thread of its own: it waits for an encoder that may itself need one of the loop's threads.
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
    try:
        return await on_thread(partial(work, config.with_options(encoder=on_loop)), executor)
    finally:
        on_loop.cancel()
        executor.shutdown(wait=False)
