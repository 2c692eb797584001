"""Retrievers: one searches for the parts of a question at once and compresses the nodes, one asks a research cache."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import NoneType
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.storage.docstore.utils import doc_to_json, json_to_doc
from typing_extensions import override

from ctxcompress.adapters.component_options import check_flag
from ctxcompress.adapters.records import RECORD_KEY, adecompose, check_kind, decompose, fused, with_provenance
from ctxcompress.apps.research import ContextCodec, Research, ResearchCache
from llamaindex_ctxcompress.convert import passed_through
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["CtxCompressRetriever", "CtxResearchRetriever"]


class CtxCompressRetriever(BaseRetriever):
    """A retriever that searches for the parts of a question, and compresses the nodes of another one.

        retriever = CtxCompressRetriever(index.as_retriever(similarity_top_k=20), max_tokens=1000)

    A question that is not simple becomes up to four searches, by its complexity, or one for each aspect that it names.
    They run at the same time. Their nodes are merged by rank and compressed once for the whole question, as by
    CtxCompressPostprocessor. It raises what the other retriever or the compression raises.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        *,
        postprocessor: CtxCompressPostprocessor | None = None,
        decompose: bool = True,
        llm: LLM | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        """Make the retriever.

        retriever: any retriever. postprocessor: what compresses its nodes; None to make one of `options`, which are
        those of CtxCompressPostprocessor. decompose: whether to split questions. llm: a language model that writes the
        searches; where it fails or refuses, there is a warning and rules make them.

        Raises ValueError for a wrong value, and if both `postprocessor` and options are given, and TypeError for an
        argument of another kind.
        """
        check_kind("retriever", retriever, BaseRetriever, "a BaseRetriever")
        check_kind("postprocessor", postprocessor, (CtxCompressPostprocessor, NoneType), "a CtxCompressPostprocessor")
        check_kind("llm", llm, (LLM, NoneType), "an LLM of LlamaIndex")
        check_flag("decompose", decompose)
        super().__init__(callback_manager=callback_manager)
        if postprocessor is not None and options:
            raise ValueError(f"{next(iter(options))} is given beside a postprocessor; give it to the postprocessor")
        self.retriever, self.decompose, self.llm = retriever, decompose, llm
        self.postprocessor = postprocessor or CtxCompressPostprocessor(**options)

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        searches = decompose(query, self.llm) if self.decompose else [query]
        nodes = self._search(searches, query_bundle)
        return self.postprocessor.postprocess_nodes(nodes, query_bundle)

    @override
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        searches = _bundles(await self._asearches(query_bundle.query_str), query_bundle)
        rankings = await asyncio.gather(*map(self.retriever.aretrieve, searches))
        return await self.postprocessor.apostprocess_nodes(_merged(rankings), query_bundle)

    def _search(self, searches: Sequence[str], asked: QueryBundle) -> list[NodeWithScore]:
        bundles = _bundles(searches, asked)
        if len(bundles) == 1:
            return self.retriever.retrieve(bundles[0])
        with ThreadPoolExecutor(len(bundles), thread_name_prefix="ctxcompress") as executor:
            # With the context, in which LlamaIndex keeps the span that these searches are part of.
            running = [executor.submit(copy_context().run, self.retriever.retrieve, bundle) for bundle in bundles]
            return _merged([search.result() for search in running])

    async def _asearches(self, query: str) -> Sequence[str]:
        if not self.decompose:
            return [query]
        return await adecompose(query, None if self.llm is None else self.llm.acomplete)


def _bundles(searches: Sequence[str], asked: QueryBundle) -> list[QueryBundle]:
    """Return the searches as LlamaIndex takes them. The question itself keeps what came with it, as an embedding."""
    return [asked if search == asked.query_str else QueryBundle(search) for search in searches]


def _merged(rankings: Sequence[Sequence[NodeWithScore]]) -> list[NodeWithScore]:
    if len(rankings) == 1:
        return list(rankings[0])
    return fused(rankings, lambda item: (item.node.node_id, item.node.get_content(MetadataMode.NONE)))


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
