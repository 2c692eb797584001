"""How relevant a segment is."""
