"""ctxcompress for LlamaIndex."""
