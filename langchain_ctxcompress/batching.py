"""Batches of many inputs: the compressions share processes, and everything else runs in LangChain's threads or tasks.

So runs, callbacks, `max_concurrency` and `return_exceptions` are LangChain's. The calls of one batch find the processes
through a context variable, which LangChain hands on to its threads.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig, RunnableLambda
from typing_extensions import override

from ctxcompress.batch import CompressionPool
from ctxcompress.tools.component_options import ComponentOptions

if TYPE_CHECKING:
    from langchain_ctxcompress.compressor import DocumentsAndQuery

__all__ = ["CompressionStep", "shared_pool", "sharing"]

_ENOUGH = 100
"""Inputs of a batch from which processes may pay. Fewer are done before the processes are started."""
_POOL: ContextVar[tuple[object, CompressionPool] | None] = ContextVar("ctxcompress_pool", default=None)
"""The compressor whose batch runs, and its processes."""


def shared_pool(compressor: object) -> CompressionPool | None:
    """Return the processes of the batch that runs, if it is a batch of this compressor."""
    found = _POOL.get()
    return found[1] if found is not None and found[0] is compressor else None


@contextmanager
def sharing(compressor: ComponentOptions, inputs: int) -> Iterator[None]:
    """Let the calls of a compressor for a batch of inputs share processes, where that pays.

    Embeddings and language models are better called from many threads. A cache or an observer of this process is not
    that of another one.
    """
    config = compressor.config
    has_own = config.cache is not None or config.telemetry is not False or config.llm is not None
    if has_own or isinstance(compressor.encoder, Embeddings) or inputs < _ENOUGH:
        yield
        return
    with CompressionPool(config) as pool:
        before = _POOL.set((compressor, pool))
        try:
            yield
        finally:
            _POOL.reset(before)


class CompressionStep(RunnableLambda["DocumentsAndQuery", list[Document]]):
    """A compressor as a step of a chain."""

    def __init__(
        self,
        compressor: ComponentOptions,
        compress: Callable[["DocumentsAndQuery"], list[Document]],
        acompress: Callable[["DocumentsAndQuery"], Awaitable[list[Document]]],
    ) -> None:
        super().__init__(compress, afunc=acompress, name="compress_documents")
        self._compressor = compressor

    @override
    def batch(
        self,
        inputs: list["DocumentsAndQuery"],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[list[Document]]:
        """Compress for many queries, in several processes if that pays."""
        with sharing(self._compressor, len(inputs)):
            return super().batch(inputs, config, return_exceptions=return_exceptions, **kwargs)

    @override
    async def abatch(
        self,
        inputs: list["DocumentsAndQuery"],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[list[Document]]:
        """Do the same without blocking the event loop."""
        with sharing(self._compressor, len(inputs)):
            return await super().abatch(inputs, config, return_exceptions=return_exceptions, **kwargs)
