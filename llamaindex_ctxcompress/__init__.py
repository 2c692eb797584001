"""ctxcompress for LlamaIndex: makes retrieved nodes smaller before they reach the language model.

CtxCompressFunctionAgent: a FunctionAgent that reads its messages within a number of tokens, also in a long turn.
CtxCompressCodeActAgent, CtxCompressReActAgent: the same of CodeActAgent and ReActAgent.
CtxCompressMemoryBlock: goes into `Memory.from_defaults(memory_blocks=[...])`.
CtxAnalysisTransformer: goes into the transformations of an ingestion pipeline, and fills a cache.
CtxCompressPostprocessor: goes into `node_postprocessors` of any query engine or chat engine.
CtxCompressRetriever: a retriever that searches for the parts of a question at once.
CtxContextBuilder: builds one context from several retrievals.
CtxContextSerializer: writes a workflow's context in the middle of a turn, so that a run can go on from there.
EmbeddingsEncoder: an embedding model with word vectors, for the option `encoder`.
ContextStore: keeps whole outputs in a workflow's context, for `expand_tool`.
builder_tools: returns tools with which agents build their context.
LLMSelector: an LLM and how it is asked, for the option `llm`.
cite: returns where a quote comes from, as citation blocks.
compress_tool: returns a copy of any tool, with shorter output.
expand_tool: returns the tool with which agents read what was left out.
format_nodes: shows nodes in a prompt, each with a number and its source.
preview_tools: returns a pair of tools with which agents browse what a retriever finds.
prompt_tokens: counts what a prompt takes of the context window, to be left out of `context_window`.
query_tool: returns a search tool for agents, with compressed results.
record: records which nodes an answer used, for tuning.
CtxResearchRetriever: gives a question the nodes of an earlier one like it.
"""

from typing import TYPE_CHECKING

from ctxcompress.plugins import lazy_names

if TYPE_CHECKING:
    from llamaindex_ctxcompress.agents import (
        CtxCompressCodeActAgent,
        CtxCompressFunctionAgent,
        CtxCompressReActAgent,
        CtxContextSerializer,
    )
    from llamaindex_ctxcompress.building import CtxContextBuilder, builder_tools
    from llamaindex_ctxcompress.compressed_tool import compress_tool
    from llamaindex_ctxcompress.elision import ContextStore, expand_tool
    from llamaindex_ctxcompress.feedback import record
    from llamaindex_ctxcompress.formats import cite, format_nodes
    from llamaindex_ctxcompress.memory import CtxCompressMemoryBlock
    from llamaindex_ctxcompress.models import EmbeddingsEncoder, LLMSelector, prompt_tokens
    from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor
    from llamaindex_ctxcompress.retriever import CtxCompressRetriever, CtxResearchRetriever
    from llamaindex_ctxcompress.tools import preview_tools, query_tool
    from llamaindex_ctxcompress.transformer import CtxAnalysisTransformer

__all__ = [
    "ContextStore",
    "CtxAnalysisTransformer",
    "CtxCompressCodeActAgent",
    "CtxCompressFunctionAgent",
    "CtxCompressMemoryBlock",
    "CtxCompressPostprocessor",
    "CtxCompressReActAgent",
    "CtxCompressRetriever",
    "CtxContextBuilder",
    "CtxContextSerializer",
    "CtxResearchRetriever",
    "EmbeddingsEncoder",
    "LLMSelector",
    "builder_tools",
    "cite",
    "compress_tool",
    "expand_tool",
    "format_nodes",
    "preview_tools",
    "prompt_tokens",
    "query_tool",
    "record",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ContextStore": "llamaindex_ctxcompress.elision",
        "CtxAnalysisTransformer": "llamaindex_ctxcompress.transformer",
        "CtxCompressCodeActAgent": "llamaindex_ctxcompress.agents",
        "CtxCompressFunctionAgent": "llamaindex_ctxcompress.agents",
        "CtxCompressMemoryBlock": "llamaindex_ctxcompress.memory",
        "CtxCompressPostprocessor": "llamaindex_ctxcompress.postprocessor",
        "CtxCompressReActAgent": "llamaindex_ctxcompress.agents",
        "CtxCompressRetriever": "llamaindex_ctxcompress.retriever",
        "CtxContextBuilder": "llamaindex_ctxcompress.building",
        "CtxContextSerializer": "llamaindex_ctxcompress.agents",
        "CtxResearchRetriever": "llamaindex_ctxcompress.retriever",
        "EmbeddingsEncoder": "llamaindex_ctxcompress.models",
        "LLMSelector": "llamaindex_ctxcompress.models",
        "builder_tools": "llamaindex_ctxcompress.building",
        "cite": "llamaindex_ctxcompress.formats",
        "compress_tool": "llamaindex_ctxcompress.compressed_tool",
        "expand_tool": "llamaindex_ctxcompress.elision",
        "format_nodes": "llamaindex_ctxcompress.formats",
        "preview_tools": "llamaindex_ctxcompress.tools",
        "prompt_tokens": "llamaindex_ctxcompress.models",
        "query_tool": "llamaindex_ctxcompress.tools",
        "record": "llamaindex_ctxcompress.feedback",
    },
    {"llama_index": "llamaindex"},
)
