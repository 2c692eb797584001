"""Remembers calls of a component for feedback, from what their compressions knew already."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from ctxcompress.data.results import Compression

if TYPE_CHECKING:
    from ctxcompress.apps.feedback import FeedbackLog
    from ctxcompress.pipeline.task import Frame

__all__ = ["Remember", "remembering"]

Remember: TypeAlias = "Callable[[Compression, Frame | None], str | None]"
"""(the result of the last compression, its frame) -> the id under which the log remembers it; None without a log."""


@contextmanager
def remembering(feedback: "FeedbackLog | None") -> Iterator[Remember]:
    """Return a block around the compressions of one call. It yields the function that remembers the last of them."""
    if feedback is None:
        yield lambda *_: None
        return
    from ctxcompress.pipeline.scoring import listening  # takes time to import, and only a call needs it

    with listening() as listener:

        def remember(result: Compression, frame: "Frame | None") -> str | None:
            return feedback.remember(result, frame=frame, call=listener.last)

        yield remember
