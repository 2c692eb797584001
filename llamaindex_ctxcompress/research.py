"""A retriever that gives a question the nodes of an earlier one that asks the same."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.storage.docstore.utils import doc_to_json, json_to_doc

from ctxcompress.adapters.records import check_kind
from ctxcompress.adapters.research_contexts import RECORD_KEY, ContextCodec, Research, ResearchCache, with_provenance
from llamaindex_ctxcompress.convert import copy_node, passed_through

__all__ = ["CtxResearchRetriever"]


class CtxResearchRetriever(BaseRetriever):
    """A retriever that asks another one, unless the research cache has the nodes of a question that asks the same.

    Reused nodes say so: `metadata["ctxcompress"]["research"]`, which no prompt shows, has the earlier "question", the
    "similarity" and the "age" in seconds. Nodes are copies. An empty retrieval is not stored.

    retriever: any retriever. research_cache: a cache of ctxcompress.research. node_postprocessors: applied to what the
    retriever finds; with a `CtxCompressPostprocessor` here, and not in the engine, compressed nodes are reused. A store
    outside the process, such as `DiskCache`, holds nodes that JSON can hold; others stay in memory. A query with an
    image or an embedding of its own neither reads nor writes the cache.

    Use it in an engine with `RetrieverQueryEngine.from_args(retriever)`.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        research_cache: ResearchCache,
        *,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        callback_manager: CallbackManager | None = None,
    ) -> None:
        check_kind("retriever", retriever, BaseRetriever, "a BaseRetriever")
        check_kind("research_cache", research_cache, ResearchCache, "a ResearchCache of ctxcompress.research")
        self._retriever, self._postprocessors = retriever, tuple(node_postprocessors)
        self._cache = research_cache
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if _is_more_than_text(query_bundle):
            return self._searched(query_bundle)
        found = self._cache.context(query_bundle.query_str, lambda _: self._searched(query_bundle), codec=_NodesCodec())
        return _shown(found)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if _is_more_than_text(query_bundle):
            return await self._asearched(query_bundle)
        found = await self._cache.acontext(
            query_bundle.query_str, lambda _: self._asearched(query_bundle), codec=_NodesCodec()
        )
        return _shown(found)

    def _searched(self, query: QueryBundle) -> list[NodeWithScore]:
        nodes = self._retriever.retrieve(query)
        for postprocessor in self._postprocessors:
            nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query)
        return nodes

    async def _asearched(self, query: QueryBundle) -> list[NodeWithScore]:
        nodes = await self._retriever.aretrieve(query)
        for postprocessor in self._postprocessors:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=query)
        return nodes


class _NodesCodec(ContextCodec[list[NodeWithScore]]):
    def to_json(self, context: list[NodeWithScore]) -> object:
        return [[item.score, doc_to_json(item.node)] for item in context]

    def from_json(self, data: Any) -> list[NodeWithScore]:
        return [NodeWithScore(node=json_to_doc(node), score=score) for score, node in data]


def _is_more_than_text(query: QueryBundle) -> bool:
    return query.embedding is not None or query.image_path is not None or bool(query.custom_embedding_strs)


def _shown(research: Research[list[NodeWithScore]]) -> list[NodeWithScore]:
    """Return copies of the nodes that say where they come from."""
    if not research.is_reused:
        return [passed_through(item) for item in research.context]
    return [item.model_copy(update={"node": _marked(item, research)}) for item in research.context]


def _marked(item: NodeWithScore, research: Research[list[NodeWithScore]]) -> Any:
    node = copy_node(item.node)
    node.metadata = with_provenance(node.metadata, research)
    for excluded in (node.excluded_llm_metadata_keys, node.excluded_embed_metadata_keys):
        if RECORD_KEY not in excluded:
            excluded.append(RECORD_KEY)
    return node
