"""ctxcompress for LlamaIndex: retrieved nodes, made smaller before they reach the language model.

CtxCompressPostprocessor: goes into `node_postprocessors` of any query engine or chat engine.
EmbeddingsEncoder: an embedding model with word vectors beside it, for the option `encoder`.
cite: where a quote comes from, as citation blocks.
compress_tool: any tool, with shorter output.
format_nodes: shows nodes in a prompt, each with a number and where it is from.
preview_tools: a pair of tools for agents, to browse what a retriever finds.
"""

from llamaindex_ctxcompress.citing import cite
from llamaindex_ctxcompress.compressed_tool import compress_tool
from llamaindex_ctxcompress.embeddings import EmbeddingsEncoder
from llamaindex_ctxcompress.formats import format_nodes
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor
from llamaindex_ctxcompress.query_tool import query_tool
from llamaindex_ctxcompress.tools import preview_tools

__all__ = [
    "CtxCompressPostprocessor",
    "EmbeddingsEncoder",
    "cite",
    "compress_tool",
    "format_nodes",
    "preview_tools",
    "query_tool",
]
