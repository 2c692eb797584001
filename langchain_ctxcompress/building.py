"""One context of several retrievals, in documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import run_in_executor
from typing_extensions import override

from ctxcompress import CompressionConfig, Passage
from ctxcompress.agents.building import Addition, FrameworkBuilder, ItemPassage, KeptPassage, plain_data
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import (
    RECORD_KEY,
    compressed_document,
    copied_document,
    dropped_document,
    passages_from_documents,
)

__all__ = ["AddedDocuments", "CtxContextBuilder"]


@dataclass(frozen=True, slots=True)
class AddedDocuments:
    """What one add kept and dropped."""

    query: str
    text: str
    """The text added to the context, without the separator before it; after a rebalance, the whole context."""
    documents: list[Document]
    """The kept documents: copies with the kept text, as CtxCompressor makes them. Positions ("index", "stands_for")
    count all documents that were ever added."""
    dropped: list[Document]
    """Copies with the dropped text. The metadata key "ctxcompress" has its "spans", "index" and "reason"."""
    tokens: int
    """The tokens by which the context grew."""
    remaining: int
    """The tokens left in the budget."""

    @property
    def reasons(self) -> list[str]:
        """The drop reasons, one for each of `dropped`."""
        return [document.metadata[RECORD_KEY]["reason"] for document in self.dropped]


class CtxContextBuilder(FrameworkBuilder[Document]):
    """Builds one context from the documents of several retrievals, such as an agent's, under a hard budget.

        builder = CtxContextBuilder(max_tokens=4000)
        added = builder.add(retriever.invoke(query), query=query)

    `render()` never has more than `max_tokens` tokens. Without `rebalance`, earlier content never changes, so that a
    prompt cache stays valid. Text that the context already has is not added again. Threads and tasks can share it.

    `to_dict()` can be kept in the state of a graph or in a store. The options are those of CtxCompressor other than
    `trace_to`; the formats "json", "xml" and "preview" are refused. Raises ValueError for a wrong value.
    """

    _TYPE = "langchain_ctxcompress.context"

    @property
    def documents(self) -> list[Document]:
        """The kept documents in the order of the context. One is listed again if a later add kept more of it."""
        return self._documents(self._builder.passages)

    def add(
        self,
        documents: Sequence[Document],
        query: str | None = None,
        *,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> AddedDocuments:
        """Add the parts of `documents` that best answer `query` and are not in the context yet.

        New documents that fit are added unchanged. Without a query, the beginning of the documents is added.

        max_tokens: the maximum for this add; None for all that remains. rebalance: compress all documents that were
        ever added again, for all queries together and within the whole budget; earlier content may change.

        Raises TypeError for anything but Documents. If this raises, the context is unchanged.
        """
        passages = self._passages(documents)
        return self._added(self._builder.add(passages, query=query, max_tokens=max_tokens, rebalance=rebalance))

    async def aadd(
        self,
        documents: Sequence[Document],
        query: str | None = None,
        *,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> AddedDocuments:
        """Do the same on another thread. Embeddings are awaited on this event loop."""
        passages = await run_in_executor(None, self._passages, documents)
        added = await self._builder.aadd(passages, query=query, max_tokens=max_tokens, rebalance=rebalance)
        return await run_in_executor(None, self._added, added)

    def _passages(self, documents: Sequence[Document]) -> list[Passage]:
        passages = passages_from_documents(documents, self._config)
        pairs = zip(documents, passages, strict=True)
        return [ItemPassage.of(passage, copied_document(document)) for document, passage in pairs]

    def _added(self, added: Addition) -> AddedDocuments:
        return AddedDocuments(
            added.query,
            added.text,
            self._documents(added.passages),
            [dropped_document(document, found) for document, found in self._dropped(added.dropped)],
            added.tokens,
            added.remaining,
        )

    def _documents(self, parts: Sequence[KeptPassage]) -> list[Document]:
        return [compressed_document(document, part, self._config) for document, part in self._kept(parts)]

    @staticmethod
    @override
    def _config_of(options: Mapping[str, Any]) -> CompressionConfig:
        return CtxCompressor.config_of(options)

    @override
    def _write(self, item: Document) -> Any:
        return {"id": item.id, "metadata": plain_data(item.metadata)}

    @override
    def _read(self, data: Any, text: str) -> Document:
        return Document(text, id=data["id"], metadata=data["metadata"])
