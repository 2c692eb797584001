"""What the classes of LangChain and LlamaIndex share: options as fields, records in metadata, inputs of tools."""
