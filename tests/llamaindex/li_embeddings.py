"""An embedding model that tests can look into: what a text means is which words it has, synonyms being one word."""

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any
from zlib import crc32

import numpy as np
from li_nodes import scored, text_node
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore

SYNONYMS = {"bill": "pay", "invoice": "pay", "paid": "pay", "fourteen": "term", "deadline": "term", "term": "term"}
DIMENSIONS = 4_096

QUESTION = "By what deadline is the bill paid?"
ANSWER = "The bill is due after fourteen days."
PARAPHRASE = "invoice term"
"""Shares no word with any of the nodes."""


def meaning(text: str) -> list[float]:
    """One number for each class of words; those that are in no class count little."""
    vector = np.zeros(DIMENSIONS)
    for word in re.findall(r"\w+", text.casefold()):
        vector[crc32(SYNONYMS.get(word, word).encode()) % DIMENSIONS] += 1.0 if word in SYNONYMS else 0.2
    return vector.tolist()


class Meanings(BaseEmbedding):
    """Embeds by `meaning` and remembers what it was asked, by method."""

    embed: Callable[[str], Any] = Field(default=meaning, exclude=True)
    embed_batch_size: int = 100
    asked: list[tuple[str, list[str]]] = Field(default_factory=list, exclude=True)

    def _get_query_embedding(self, query: str) -> list[float]:
        self.asked.append(("query", [query]))
        return self.embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        self.asked.append(("async query", [query]))
        return self.embed(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        raise AssertionError("texts are embedded in batches")

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(("texts", list(texts)))
        return [self.embed(text) for text in texts]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(("async texts", list(texts)))
        return [self.embed(text) for text in texts]

    @property
    def methods(self) -> list[str]:
        """In the order of the calls, where the same method twice in a row counts once."""
        return [method for method, _ in groupby(method for method, _ in self.asked)]

    @property
    def texts(self) -> list[str]:
        """All that were embedded as texts."""
        return [text for method, texts in self.asked if method.endswith("texts") for text in texts]


def sentences() -> list[str]:
    """Forty, of which four are on a bill and one says when it is due."""
    about = ["The harbour", "A museum", "This bridge", "The lighthouse", "One market", "The old mill", "A garden"]
    does = ["was painted in spring", "stands by the river", "needs a new roof", "is closed on Sundays", "has two doors"]
    result = [f"{about[n % 7]} {does[n % 5]} like {about[(n + 3) % 7].lower()} on page {n}." for n in range(40)]
    result[4] = "The bill was printed on grey paper."
    result[15] = "A bill for the roof came with the letter."
    result[23] = ANSWER
    result[37] = "The bill has two pages and a stamp."
    return result


def bill_nodes() -> list[NodeWithScore]:
    """Four nodes of ten sentences each, with a title and a heading."""
    return scored(
        text_node(n, " ".join(sentences()[10 * n : 10 * n + 10]), metadata={"title": f"Guide {n}", "Header 1": "Notes"})
        for n in range(4)
    )
