"""ctxcompress for LangChain: a document compressor, a retriever that uses it, a prompt helper, and tools and middleware
for agents.

    from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, format_documents, preview_tools

    compressor = CtxCompressor(max_tokens=1000)
    retriever = CtxCompressRetriever(base_retriever=store.as_retriever(search_kwargs={"k": 20}), compressor=compressor)
    documents = retriever.invoke("what is the default timeout?")
    context = format_documents(documents)  # "[1] docs/client.md § Timeouts" before each text

    agent_tools = preview_tools(store.as_retriever(search_kwargs={"k": 20}), max_tokens=500)
    search = compress_tool(TavilySearch(), max_tokens=500)
    agent = create_agent(model, tools, middleware=[CtxCompressMiddleware(max_tokens=1000)])  # extra "agents"
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ctxcompress.plugins import lazy_names

if TYPE_CHECKING:
    from langchain_ctxcompress.building import CtxContextBuilder, builder_tools, latest_context
    from langchain_ctxcompress.chat_models import LLMSelector
    from langchain_ctxcompress.compressed_tool import compress_tool
    from langchain_ctxcompress.compressor import CtxCompressor
    from langchain_ctxcompress.elision import expand_tool
    from langchain_ctxcompress.embeddings import EmbeddingsEncoder
    from langchain_ctxcompress.feedback import record
    from langchain_ctxcompress.formats import cite, format_documents
    from langchain_ctxcompress.middleware import CtxCompressMiddleware as CtxCompressMiddleware
    from langchain_ctxcompress.research import CtxResearchRetriever
    from langchain_ctxcompress.retriever import CtxCompressRetriever
    from langchain_ctxcompress.tools import preview_tools, query_tool
    from langchain_ctxcompress.transformer import CtxAnalysisTransformer
    from langchain_ctxcompress.window import prompt_tokens

__all__ = [
    "CtxAnalysisTransformer",
    "CtxCompressRetriever",
    "CtxCompressor",
    "CtxContextBuilder",
    "CtxResearchRetriever",
    "EmbeddingsEncoder",
    "LLMSelector",
    "builder_tools",
    "cite",
    "compress_tool",
    "expand_tool",
    "format_documents",
    "latest_context",
    "preview_tools",
    "prompt_tokens",
    "query_tool",
    "record",
]

if find_spec("langchain") is not None:
    __all__ += ["CtxCompressMiddleware"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CtxAnalysisTransformer": "langchain_ctxcompress.transformer",
        "CtxCompressMiddleware": "langchain_ctxcompress.middleware",
        "CtxCompressRetriever": "langchain_ctxcompress.retriever",
        "CtxCompressor": "langchain_ctxcompress.compressor",
        "CtxContextBuilder": "langchain_ctxcompress.building",
        "CtxResearchRetriever": "langchain_ctxcompress.research",
        "EmbeddingsEncoder": "langchain_ctxcompress.embeddings",
        "LLMSelector": "langchain_ctxcompress.chat_models",
        "builder_tools": "langchain_ctxcompress.building",
        "cite": "langchain_ctxcompress.formats",
        "compress_tool": "langchain_ctxcompress.compressed_tool",
        "expand_tool": "langchain_ctxcompress.elision",
        "format_documents": "langchain_ctxcompress.formats",
        "latest_context": "langchain_ctxcompress.building",
        "preview_tools": "langchain_ctxcompress.tools",
        "prompt_tokens": "langchain_ctxcompress.window",
        "query_tool": "langchain_ctxcompress.tools",
        "record": "langchain_ctxcompress.feedback",
    },
    {"langchain_core": "langchain", "langchain": "agents", "langgraph": "agents"},
)
