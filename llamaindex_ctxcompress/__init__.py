"""ctxcompress for LlamaIndex: makes retrieved nodes smaller before they reach the language model.

CtxCompressPostprocessor: goes into `node_postprocessors` of any query engine or chat engine.
EmbeddingsEncoder: an embedding model with word vectors, for the option `encoder`.
cite: returns where a quote comes from, as citation blocks.
compress_tool: returns a copy of any tool, with shorter output.
format_nodes: shows nodes in a prompt, each with a number and its source.
preview_tools: returns a pair of tools with which agents browse what a retriever finds.
prompt_tokens: counts what a prompt takes of the context window, for the option `reserved_tokens`.
query_tool: returns a search tool for agents, with compressed results.
"""

from llamaindex_ctxcompress.citing import cite
from llamaindex_ctxcompress.compressed_tool import compress_tool
from llamaindex_ctxcompress.embeddings import EmbeddingsEncoder
from llamaindex_ctxcompress.formats import format_nodes
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor
from llamaindex_ctxcompress.query_tool import query_tool
from llamaindex_ctxcompress.tools import preview_tools
from llamaindex_ctxcompress.window import prompt_tokens

__all__ = [
    "CtxCompressPostprocessor",
    "EmbeddingsEncoder",
    "cite",
    "compress_tool",
    "format_nodes",
    "preview_tools",
    "prompt_tokens",
    "query_tool",
]
