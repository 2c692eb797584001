"""What goes through the core: passages, spans, the table of segments, results."""
