"""ctxcompress for LangChain: a document compressor, and a retriever that uses it.

from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

compressor = CtxCompressor(max_tokens=1000)
retriever = CtxCompressRetriever(base_retriever=store.as_retriever(search_kwargs={"k": 20}), compressor=compressor)
documents = retriever.invoke("what is the default timeout?")
"""

from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.retriever import CtxCompressRetriever

__all__ = ["CtxCompressRetriever", "CtxCompressor"]
