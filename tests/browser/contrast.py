"""A script that finds the least contrast of text and what is behind it, for each kind of element."""

from pathlib import Path

__all__ = ["LEAST_CONTRAST"]

LEAST_CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
