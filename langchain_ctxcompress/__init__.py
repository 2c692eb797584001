"""ctxcompress for LangChain."""
