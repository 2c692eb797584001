"""What adapters share: the tools for agents, options as fields, records in metadata, and the outputs of tools."""
