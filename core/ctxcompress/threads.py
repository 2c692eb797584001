"""Work that must not block an event loop."""

import asyncio
import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ctxcompress.config import CompressionConfig
from ctxcompress.encoder import AsyncEncoder, OnLoop

__all__ = ["off_loop"]

_Result = TypeVar("_Result")


async def off_loop(config: CompressionConfig, work: Callable[[CompressionConfig], _Result]) -> _Result:
    """What `work` makes of the options, on another thread; an encoder that can be awaited is, on this event loop."""
    if not isinstance(config.encoder, AsyncEncoder):
        return await asyncio.to_thread(work, config)
    loop = asyncio.get_running_loop()
    on_loop = OnLoop(config.encoder, loop)
    awaited = functools.partial(work, config.with_options(encoder=on_loop))
    # A thread of its own: it waits for an encoder that may itself need one of the loop's threads.
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
    try:
        return await loop.run_in_executor(executor, contextvars.copy_context().run, awaited)
    finally:
        on_loop.cancel()
        executor.shutdown(wait=False)
