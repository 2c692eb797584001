"""The transformation that fills the cache when documents are ingested, in LlamaIndex's own pipeline."""

import pytest
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.schema import NodeWithScore, TextNode

from ctxcompress.cache import Cache
from llamaindex_ctxcompress import CtxAnalysisTransformer, CtxCompressPostprocessor


def text(part: int) -> str:
    return " ".join(
        f"Pool {part}{n} opens ten connections. Its timeout is {part}{n} seconds. Log {part}{n} is kept for a week."
        for n in range(3)
    )


def pipeline(cache: Cache) -> IngestionPipeline:
    transformer = CtxAnalysisTransformer(postprocessor=CtxCompressPostprocessor(cache=cache))
    return IngestionPipeline(transformations=[TokenTextSplitter(chunk_size=64, chunk_overlap=0), transformer])


DOCUMENTS = [Document(text=f"Part {n}. {text(n)}", id_=f"doc {n}", metadata={"title": f"Part {n}"}) for n in range(3)]


async def test_nodes_are_analysed_once_when_they_are_ingested() -> None:
    cache = Cache()
    nodes = pipeline(cache).run(documents=DOCUMENTS)
    assert len(nodes) > 3
    assert cache.stats().entries == len(nodes)
    assert len(await pipeline(cache).arun(documents=DOCUMENTS)) == len(nodes)
    given = [NodeWithScore(node=node, score=0.5) for node in nodes]
    before = cache.stats()
    options = {"max_tokens": 60}
    found = CtxCompressPostprocessor(cache=cache, **options).postprocess_nodes(given, query_str="which timeout?")
    assert found == CtxCompressPostprocessor(**options).postprocess_nodes(given, query_str="which timeout?")
    assert cache.stats().hits >= before.hits + len(nodes)


def test_a_postprocessor_without_a_cache_is_refused() -> None:
    with pytest.raises(ValueError, match="cache is None"):
        CtxAnalysisTransformer(postprocessor=CtxCompressPostprocessor())([TextNode(text="text")])
