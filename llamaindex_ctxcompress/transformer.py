"""A transformation that analyses nodes when they are ingested, so that later compressions take less time."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict
from llama_index.core.schema import BaseNode, NodeWithScore, TransformComponent
from typing_extensions import override

from ctxcompress import Compressor
from llamaindex_ctxcompress.convert import is_text_only, passage_from_node
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["CtxAnalysisTransformer"]


class CtxAnalysisTransformer(TransformComponent):
    """A transformation that returns its nodes as they are, and fills the cache of a postprocessor.

        postprocessor = CtxCompressPostprocessor(max_tokens=1000, cache=Cache(SqliteStore("analysis.sqlite")))
        pipeline = IngestionPipeline(
            transformations=[SentenceSplitter(), CtxAnalysisTransformer(postprocessor=postprocessor)]
        )

    Put it after the node parser, and use the same postprocessor, or one with the same cache, for queries. The analysis
    is found again by the text and the metadata that the node has then. A postprocessor without a cache raises
    ConfigError, a ValueError.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    postprocessor: CtxCompressPostprocessor

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex writes the component."""
        return "CtxAnalysisTransformer"

    @override
    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Analyse the nodes, and return them."""
        config = self.postprocessor.config
        texts = [
            passage_from_node(NodeWithScore(node=node), config.metadata_map) for node in nodes if is_text_only(node)
        ]
        Compressor(config).analyse(texts)
        return nodes

    @override
    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Do the same on another thread."""
        return await asyncio.to_thread(self, nodes, **kwargs)
