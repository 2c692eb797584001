"""Rendering: the formats of the final text, and the headers of passages in it."""
