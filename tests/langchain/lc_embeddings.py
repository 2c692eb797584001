"""Embeddings that tests can look into: what a text means is which words it has, synonyms being one word."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from zlib import crc32

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

SYNONYMS = {"car": "car", "automobile": "car", "sold": "price", "cost": "price", "price": "price"}
DIMENSIONS = 4_096

QUESTION = "How much does the car cost?"
ANSWER = "They sold the car for nine thousand."
PARAPHRASE = "automobile price"
"""Shares no word with any of the documents."""


def meaning(text: str) -> list[float]:
    """One number for each class of words; those that are in no class count little."""
    vector = np.zeros(DIMENSIONS)
    for word in re.findall(r"\w+", text.casefold()):
        vector[crc32(SYNONYMS.get(word, word).encode()) % DIMENSIONS] += 1.0 if word in SYNONYMS else 0.2
    return vector.tolist()


class Meanings(Embeddings):
    """Embeds by `meaning` and remembers what it was asked, by method."""

    def __init__(self, embed: Callable[[str], Sequence[float]] = meaning) -> None:
        self._embed = embed
        self.asked: list[tuple[str, list[str]]] = []

    def embed_query(self, text):
        self.asked.append(("embed_query", [text]))
        return self._embed(text)

    def embed_documents(self, texts):
        self.asked.append(("embed_documents", texts))
        return [self._embed(text) for text in texts]

    async def aembed_query(self, text):
        self.asked.append(("aembed_query", [text]))
        return self._embed(text)

    async def aembed_documents(self, texts):
        self.asked.append(("aembed_documents", texts))
        return [self._embed(text) for text in texts]

    @property
    def methods(self) -> list[str]:
        """In the order of the calls, where the same method twice in a row counts once."""
        return [method for method, _ in groupby(method for method, _ in self.asked)]

    @property
    def texts(self) -> list[str]:
        """All that were embedded as documents."""
        return [text for method, texts in self.asked if method.endswith("embed_documents") for text in texts]


def car_documents() -> list[Document]:
    """Four pages of ten sentences each. Four sentences are on a car, of which one says what it costs."""
    about = ["The harbour", "A museum", "This bridge", "The lighthouse", "One market", "The old mill", "A garden"]
    does = ["was painted in spring", "stands by the river", "needs a new roof", "is closed on Sundays", "has two doors"]
    sentences = [f"{about[n % 7]} {does[n % 5]} like {about[(n + 3) % 7].lower()} on page {n}." for n in range(40)]
    sentences[4] = "The car stood in the yard all winter."
    sentences[15] = "The red car was seen by the harbour."
    sentences[23] = ANSWER
    sentences[37] = "The car has two doors and a radio."
    return [
        Document(
            id=f"page-{n}",
            page_content=" ".join(sentences[10 * n : 10 * n + 10]),
            metadata={"title": f"Guide {n}", "Header 1": "Notes"},
        )
        for n in range(4)
    ]
