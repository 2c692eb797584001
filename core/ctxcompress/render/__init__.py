"""What the reader sees: the kept passages in a format."""
