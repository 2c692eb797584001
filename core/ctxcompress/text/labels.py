"""Names and paths as a part of one line: nothing in them can be taken for another line, or turn what follows around."""

import unicodedata

from ctxcompress.text.graphemes import whole_graphemes

__all__ = ["one_line", "shortened", "shortened_path"]

_LOOKED_AT = 2_000
"""Characters at the beginning of which something is shown."""


def one_line(text: str) -> str:
    """The same on one line: white space folded, nothing that cannot be seen or that turns the direction around.

    Of a very long one the beginning.
    """
    kept = (" " if c.isspace() else c for c in text[:_LOOKED_AT] if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join("".join(kept).split())


def shortened(text: str, length: int) -> str:
    """Cut between words, where that leaves something, and never in a grapheme."""
    if len(text) <= length:
        return text
    end = whole_graphemes(text, length - 1)
    between = text.rfind(" ", 0, end)
    return text[: between if between > length // 2 else end] + "…"


def shortened_path(path: str, length: int) -> str:
    """Cut where it begins: the file's name says most."""
    return path if len(path) <= length else "…" + path[1 - length :]
