"""A block: a stretch of a text that is one paragraph, heading, list item, table or piece of code."""

from typing import NamedTuple

from ctxcompress.passages import Kind

__all__ = ["Block"]


class Block(NamedTuple):
    """Half-open offsets; the blocks of a text partition it."""

    kind: Kind
    start: int
    end: int
    heading: tuple[str, ...] = ()
