"""The postprocessor under the name that LlamaIndex's users look for. All else is in `llamaindex_ctxcompress`."""

from llamaindex_ctxcompress import CtxCompressPostprocessor

__all__ = ["CtxCompressPostprocessor"]
