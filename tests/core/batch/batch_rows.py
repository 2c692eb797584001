"""Rows for batches, and options that only some processes can use."""

import os
from collections.abc import Sequence

import numpy as np

from ctxcompress import Passage

SENTENCES = (
    "The pool opens {} connections when the client starts.",
    "The default timeout is {} seconds.",
    "Logs are kept for {} weeks.",
    "Section {} says how backups are made.",
)


def rows(count: int, passages: int = 4) -> list[tuple[str, list[str]]]:
    """Rows of which each asks for a number of its own."""
    return [
        (
            f"what is the timeout of pool {row}?",
            [" ".join(line.format(row * number) for line in SENTENCES) for number in range(passages)],
        )
        for row in range(count)
    ]


class EndsTheProcess:
    """A passage's metadata that ends the process that it is sent to."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (9,)


def deadly_row() -> tuple[str, list[Passage]]:
    return "what ends it?", [Passage("a", "This passage ends a process.", metadata={"end": EndsTheProcess()})]


class NoEncoder:
    """An encoder that fails for one query."""

    def encode_query(self, text: str) -> np.ndarray:
        if "fails" in text:
            raise ZeroDivisionError("the encoder has failed")
        return np.ones(2)

    def encode_document(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 2))
