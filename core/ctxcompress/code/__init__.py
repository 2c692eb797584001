"""Source code: how it is told from prose, its outline, gap markers for what is left out of it."""
