"""The event that handlers of LlamaIndex's instrumentation get for each compression."""

from collections.abc import Mapping

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.dispatcher import Dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import NullEventHandler
from llama_index.core.instrumentation.events import BaseEvent

from ctxcompress import Compression

__all__ = ["CompressionEvent", "tell"]

_dispatcher = get_dispatcher(__name__)


class CompressionEvent(BaseEvent):
    """The end of a compression. It comes before the ReRankEndEvent of the same call."""

    stats: Mapping[str, object]
    """The result of `Stats.to_dict`."""
    confidence: float
    """The probability that the nodes answer the query at all."""

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which handlers see it."""
        return "CompressionEvent"


def tell(compression: Compression) -> None:
    """Send the statistics to the event handlers, if there are any: counting the tokens of the input takes time."""
    if _is_heard():
        _dispatcher.event(CompressionEvent(stats=compression.stats.to_dict(), confidence=compression.confidence))


def _is_heard() -> bool:
    dispatcher: Dispatcher | None = _dispatcher
    while dispatcher is not None:
        if any(not isinstance(handler, NullEventHandler) for handler in dispatcher.event_handlers):
            return True
        dispatcher = dispatcher.parent if dispatcher.propagate else None
    return False
