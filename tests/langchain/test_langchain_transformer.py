"""The transformer that fills the cache when documents are indexed, with a splitter and a store."""

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from ctxcompress.cache import Cache
from langchain_ctxcompress import CtxAnalysisTransformer, CtxCompressor, CtxCompressRetriever


def text(part: int) -> str:
    return "\n\n".join(
        f"Pool {part}{n} opens ten connections. Its timeout is {part}{n} seconds. Log {part}{n} is kept for a week."
        for n in range(3)
    )


async def test_chunks_are_analysed_once_when_they_are_indexed() -> None:
    cache = Cache()
    compressor = CtxCompressor(max_tokens=30, cache=cache)
    splitter = RecursiveCharacterTextSplitter(chunk_size=200, chunk_overlap=0)
    given = [
        Document(f"# Part {n}\n\n{text(n)}", metadata={"source": f"{n}.md", "title": f"Part {n}"}) for n in range(3)
    ]
    chunks = splitter.split_documents(given)
    transformer = CtxAnalysisTransformer(compressor)
    assert transformer.transform_documents(chunks) is chunks
    assert cache.stats().entries == len(chunks)
    assert await transformer.atransform_documents(chunks) is chunks
    assert cache.stats().entries == len(chunks)
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(chunks)
    plain = CtxCompressor(max_tokens=30)
    cached = CtxCompressor(max_tokens=30, cache=cache)
    base = store.as_retriever(search_kwargs={"k": 4})
    before = cache.stats()
    found = CtxCompressRetriever(base_retriever=base, compressor=cached).invoke("what is the timeout?")
    assert found == CtxCompressRetriever(base_retriever=base, compressor=plain).invoke("what is the timeout?")
    assert cache.stats().hits >= before.hits + 4


def test_a_compressor_without_a_cache_is_refused() -> None:
    with pytest.raises(ValueError, match="cache is None"):
        CtxAnalysisTransformer(CtxCompressor()).transform_documents([Document("text")])
