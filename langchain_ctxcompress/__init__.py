"""ctxcompress for LangChain: a document compressor, a retriever that uses it, a prompt helper, and browsing tools.

    from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, format_documents, preview_tools

    compressor = CtxCompressor(max_tokens=1000)
    retriever = CtxCompressRetriever(base_retriever=store.as_retriever(search_kwargs={"k": 20}), compressor=compressor)
    documents = retriever.invoke("what is the default timeout?")
    context = format_documents(documents)  # "[1] docs/client.md § Timeouts" before each text

    agent_tools = preview_tools(store.as_retriever(search_kwargs={"k": 20}), max_tokens=500)
"""

from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.formats import format_documents
from langchain_ctxcompress.retriever import CtxCompressRetriever
from langchain_ctxcompress.tools import preview_tools

__all__ = ["CtxCompressRetriever", "CtxCompressor", "format_documents", "preview_tools"]
