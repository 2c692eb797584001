"""Questions and a clock for the research retrievers of both frameworks."""

from ctxcompress.encoders import StaticVectors
from ctxcompress.research import ResearchCache

ASKED, AGAIN, OTHER = (
    "What is the default timeout of the client?",
    "what's the client's default timeout",
    "What is the default timeout of the server?",
)
_ENCODER = StaticVectors()


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def research_cache(**given) -> ResearchCache:
    return ResearchCache(_ENCODER, **{"clock": Clock(), **given})
