"""What texts mean in tests: which words they have, synonyms being one word."""

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any
from zlib import crc32

import numpy as np

SYNONYMS = {"car": "car", "automobile": "car", "sold": "price", "cost": "price", "price": "price"}
DIMENSIONS = 4_096
QUESTION = "How much does the car cost?"
ANSWER = "They sold the car for nine thousand."
PARAPHRASE = "automobile price"
"""Shares no word with any of the pages."""


def meaning(text: str) -> list[float]:
    """One number for each class of words; those that are in no class count little."""
    vector = np.zeros(DIMENSIONS)
    for word in re.findall(r"\w+", text.casefold()):
        vector[crc32(SYNONYMS.get(word, word).encode()) % DIMENSIONS] += 1.0 if word in SYNONYMS else 0.2
    return vector.tolist()


def sentences() -> list[str]:
    """Forty sentences, of which four are on a car and one says what it costs."""
    about = ["The harbour", "A museum", "This bridge", "The lighthouse", "One market", "The old mill", "A garden"]
    does = ["was painted in spring", "stands by the river", "needs a new roof", "is closed on Sundays", "has two doors"]
    made = [f"{about[n % 7]} {does[n % 5]} like {about[(n + 3) % 7].lower()} on page {n}." for n in range(40)]
    made[4] = "The car stood in the yard all winter."
    made[15] = "The red car was seen by the harbour."
    made[23] = ANSWER
    made[37] = "The car has two doors and a radio."
    return made


class Asked:
    """What an embedding model was asked, by method."""

    asked: list[tuple[str, list[str]]]

    @property
    def methods(self) -> list[str]:
        """In the order of the calls, where the same method twice in a row counts once."""
        return [method for method, _ in groupby(method for method, _ in self.asked)]

    @property
    def texts(self) -> list[str]:
        """All that were embedded as texts."""
        return [text for method, texts in self.asked if method.endswith("texts") for text in texts]


class Spelled:
    """An encoder of the core."""

    def encode_query(self, text: str) -> Any:
        return meaning(text)

    def encode_document(self, texts: list[str]) -> Any:
        return [meaning(text) for text in texts]


class Encoding:
    """An encoder of the core by a function of a text, which remembers what it was asked at each call."""

    def __init__(self, embed: Callable[[str], Any]) -> None:
        self.embed, self.asked = embed, list[list[str]]()

    def encode_query(self, text: str) -> Any:
        return self.encode_document([text])[0]

    def encode_document(self, texts: list[str]) -> Any:
        self.asked.append(list(texts))
        return np.array([self.embed(text) for text in texts], dtype=float)


class Comparing:
    """What compares, as a cross-encoder or word vectors do, and remembers the texts."""

    def __init__(self, *, compares_all: bool = False) -> None:
        self.compares_all, self.texts = compares_all, list[str]()

    def compare(self, query: str, texts: list[str]) -> list[float]:
        self.texts += texts
        return [len(set(query) & set(text)) if self.compares_all else -len(text) for text in texts]
