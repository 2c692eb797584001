"""Questions for the research retrievers of both frameworks: one, the same in other words, and another."""

ASKED, AGAIN, OTHER = (
    "What is the default timeout of the client?",
    "what's the client's default timeout",
    "What is the default timeout of the server?",
)
