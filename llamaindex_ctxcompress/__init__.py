"""ctxcompress for LlamaIndex: retrieved nodes, made smaller before they reach the language model.

CtxCompressPostprocessor: goes into `node_postprocessors` of any query engine or chat engine.
"""

from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["CtxCompressPostprocessor"]
