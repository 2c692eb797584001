"""A compressor as a step of a chain. LangChain's runnables take time to import, so `as_runnable` imports this."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableLambda
from typing_extensions import override

from ctxcompress.adapters.component_options import ComponentOptions
from langchain_ctxcompress.batching import sharing
from langchain_ctxcompress.convert import DocumentsAndQuery

__all__ = ["CompressionStep"]


class CompressionStep(RunnableLambda[DocumentsAndQuery, list[Document]]):
    """A compressor as a step of a chain."""

    def __init__(
        self,
        compressor: ComponentOptions,
        compress: Callable[[DocumentsAndQuery], list[Document]],
        acompress: Callable[[DocumentsAndQuery], Awaitable[list[Document]]],
    ) -> None:
        super().__init__(compress, afunc=acompress, name="compress_documents")
        self._compressor = compressor

    @override
    def batch(
        self,
        inputs: list[DocumentsAndQuery],
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
        inputs: list[DocumentsAndQuery],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[list[Document]]:
        """Do the same without blocking the event loop."""
        with sharing(self._compressor, len(inputs)):
            return await super().abatch(inputs, config, return_exceptions=return_exceptions, **kwargs)
