"""What a compression knew about its segments when it chose among them, for a caller who asks to hear it.

A result does not hold it: it is large, and hardly anybody needs it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ctxcompress.pipeline.analysis import Analysis
from ctxcompress.pipeline.presentation import OriginalText
from ctxcompress.pipeline.scoring import ScoredSegments
from ctxcompress.select.layout import Layout
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Listener", "ScoredCall", "current_listener", "listening"]


@dataclass(frozen=True, slots=True)
class ScoredCall:
    """The segments of a compression with their scores and likelihoods, and how the final text shows them."""

    analysis: Analysis
    scored: ScoredSegments
    layout: Layout
    original: OriginalText
    count: TokenCounter
    """Remembers what the compression has counted."""


class Listener:
    """Hears what the last compression within its block knew."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last: ScoredCall | None = None
        """None if that compression scored nothing: if everything fits, or the cache had the result."""


_LISTENER: ContextVar[Listener | None] = ContextVar("ctxcompress_listener", default=None)


@contextmanager
def listening() -> Iterator[Listener]:
    """Return a block whose listener hears of the compressions in it, also on another thread that has its context."""
    listener = Listener()
    before = _LISTENER.set(listener)
    try:
        yield listener
    finally:
        _LISTENER.reset(before)


def current_listener() -> Listener | None:
    """Return the listener of the innermost block; None outside of all."""
    return _LISTENER.get()
