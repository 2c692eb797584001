"""The data that flows through the core: passages, spans, documents, the segment table, results."""
