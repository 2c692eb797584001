"""Batches of many inputs: the compressions share processes, and everything else runs in LangChain's threads or tasks.

So runs, callbacks, `max_concurrency` and `return_exceptions` are LangChain's. The calls of one batch find the processes
through a context variable, which LangChain hands on to its threads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from ctxcompress.adapters.component_options import ComponentOptions

if TYPE_CHECKING:
    from ctxcompress.apps.batch import CompressionPool

__all__ = ["shared_pool", "sharing"]

_ENOUGH = 100
"""Inputs of a batch from which processes may pay. Fewer are done before the processes are started."""
_POOL: "ContextVar[tuple[object, CompressionPool] | None]" = ContextVar("ctxcompress_pool", default=None)
"""The compressor whose batch runs, and its processes."""


def shared_pool(compressor: object) -> "CompressionPool | None":
    """Return the processes of the batch that runs, if it is a batch of this compressor."""
    found = _POOL.get()
    return found[1] if found is not None and found[0] is compressor else None


@contextmanager
def sharing(compressor: ComponentOptions, inputs: int) -> Iterator[None]:
    """Let the calls of a compressor for a batch of inputs share processes, where that pays.

    Embeddings and language models are better called from many threads. A cache, an observer or a feedback log of this
    process is not that of another one.
    """
    config = compressor.config
    has_own = config.cache is not None or config.telemetry is not False or config.llm is not None
    has_own = has_own or compressor.feedback is not None
    if has_own or isinstance(compressor.encoder, Embeddings) or inputs < _ENOUGH:
        yield
        return
    from ctxcompress.apps.batch import CompressionPool  # takes time to import, and few calls are many

    with CompressionPool(config) as pool:
        before = _POOL.set((compressor, pool))
        try:
            yield
        finally:
            _POOL.reset(before)
