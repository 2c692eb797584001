"""A retriever that gives a question the nodes of an earlier one like it."""

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.storage.docstore.utils import doc_to_json, json_to_doc

from ctxcompress.adapters.records import RECORD_KEY, check_kind, with_provenance
from ctxcompress.apps.research import ContextCodec, Research, ResearchCache
from llamaindex_ctxcompress.convert import passed_through

__all__ = ["CtxResearchRetriever"]


class CtxResearchRetriever(BaseRetriever):
    """A retriever that asks another one, unless the research cache has the nodes of a question like this one.

    Reused nodes say so: `metadata["ctxcompress"]["research"]`, which no prompt shows, has the earlier "question" and
    the "similarity". A query with an image or an embedding of its own goes past the cache.
    """

    def __init__(self, retriever: BaseRetriever, research_cache: ResearchCache) -> None:
        check_kind("retriever", retriever, BaseRetriever, "a BaseRetriever")
        check_kind("research_cache", research_cache, ResearchCache, "a ResearchCache of ctxcompress.apps.research")
        self._retriever, self._cache = retriever, research_cache
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if query_bundle != QueryBundle(query_bundle.query_str):
            return self._retriever.retrieve(query_bundle)
        return _shown(self._cache.context(query_bundle.query_str, self._retriever.retrieve, _CODEC))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if query_bundle != QueryBundle(query_bundle.query_str):
            return await self._retriever.aretrieve(query_bundle)
        return _shown(await self._cache.acontext(query_bundle.query_str, self._retriever.aretrieve, _CODEC))


def _shown(research: Research[list[NodeWithScore]]) -> list[NodeWithScore]:
    shown = [passed_through(item) for item in research.context]
    for node in (item.node for item in shown if research.earlier is not None):
        node.metadata = with_provenance(node.metadata, research)
        for excluded in (node.excluded_llm_metadata_keys, node.excluded_embed_metadata_keys):
            excluded.extend({RECORD_KEY}.difference(excluded))
    return shown


_CODEC = ContextCodec[list[NodeWithScore]](
    lambda nodes: [[item.score, doc_to_json(item.node)] for item in nodes],
    lambda data: [NodeWithScore(node=json_to_doc(node), score=score) for score, node in data],
)
