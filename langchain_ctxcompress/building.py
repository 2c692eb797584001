"""One context of several retrievals, in documents, and the tools with which an agent builds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool

from ctxcompress import CompressionConfig, Passage
from ctxcompress.adapters.input_models import NoInput, SearchInput
from ctxcompress.agents.building import (
    ADD,
    STATUS,
    Addition,
    FrameworkBuilder,
    ItemPassage,
    KeptPassage,
    aadd_found,
    add_found,
    latest_context,
    plain_data,
    room_for_search,
)
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import (
    RECORD_KEY,
    check_retriever,
    compressed_document,
    copied_document,
    dropped_document,
    passages_from_documents,
)

__all__ = ["AddedDocuments", "CtxContextBuilder", "builder_tools", "latest_context"]


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
    def _config_of(options: Mapping[str, Any]) -> CompressionConfig:
        return CtxCompressor.config_of(options)

    def _write(self, item: Document) -> Any:
        return {"id": item.id, "metadata": plain_data(item.metadata)}

    def _read(self, data: Any, text: str) -> Document:
        return Document(text, id=data["id"], metadata=data["metadata"])


def builder_tools(
    builder: CtxContextBuilder,
    retriever: RetrieverLike | None = None,
    *,
    state_key: str | None = None,
    tokens_per_search: int | None = None,
) -> list[BaseTool]:
    """Return the tools `search_and_add` and `context_status`, with which an agent builds one context.

    `search_and_add(query)` searches, adds what answers the query to the context, and returns only the new text. Its
    artifact is the new documents. `context_status()` tells which sources are in the context, and how many tokens are
    left. Without a retriever there is only `context_status`.

    retriever: a retriever, or any runnable from a query to a list of documents.
    state_key: the key of the graph's state under which the context is kept as `CtxContextBuilder.to_dict` returns it.
    `builder` then only gives the options. The state needs that key, with a reducer for searches of the same step:

        class State(AgentState):
            context: NotRequired[Annotated[dict, latest_context]]

    Without a state_key the tools add to `builder` itself, which all runs of the agent then share.

    tokens_per_search: the most tokens that one search adds; None for a quarter of the budget.

    The tools raise what the retriever or an encoder raises.
    """
    most = room_for_search(builder, tokens_per_search)
    if retriever is not None:
        check_retriever(retriever)
    if state_key is not None:
        try:
            from langchain_ctxcompress.graph_state import state_tools
        except ModuleNotFoundError as error:
            raise ImportError(
                f"state_key needs langgraph, and there is no {error.name}; install ctxcompress[agents]"
            ) from error
        return state_tools(builder, retriever, state_key, most)
    status = StructuredTool.from_function(
        lambda: str(builder.status()), name="context_status", description=STATUS, args_schema=NoInput
    )
    if retriever is None:
        return [status]
    calls = _Calls(builder, retriever, most)
    add = StructuredTool(
        name="search_and_add",
        description=ADD,
        args_schema=SearchInput,
        func=calls.add,
        coroutine=calls.aadd,
        response_format="content_and_artifact",
    )
    return [add, status]


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """The calls of the tools that add to one builder."""

    builder: CtxContextBuilder
    retriever: RetrieverLike
    most: int
    """The most tokens that one search adds."""

    def add(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = self.retriever.invoke(query, {"callbacks": callbacks})
        text, added = add_found(self.builder, documents, query, self.most)
        return text, added.documents if added else []

    async def aadd(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = await self.retriever.ainvoke(query, {"callbacks": callbacks})
        text, added = await aadd_found(self.builder, documents, query, self.most)
        return text, added.documents if added else []
