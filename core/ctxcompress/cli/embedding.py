"""An embedding without a model: which words a text has, weighted by how rare they are."""

import re
from collections.abc import Iterable
from zlib import crc32

import numpy as np

__all__ = ["HashedWords"]

_WORD = re.compile(r"\w+")


class HashedWords:
    """Embeds texts for LangChain's vector stores. Two texts are similar if they share rare words.

    A vector has `dimensions` numbers, of which a word counts in the one that its checksum says:
    the same in every process. How rare a word is, `corpus` says.
    """

    def __init__(self, corpus: Iterable[str], dimensions: int = 4_096) -> None:
        self._dimensions = dimensions
        present = [self._counts(text) > 0 for text in corpus]
        self._rarity = np.log((1 + len(present)) / (1 + np.sum(present, axis=0))) + 1

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = (np.sqrt(self._counts(text)) * self._rarity).tolist()
        return vector

    def _counts(self, text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        words = _WORD.findall(text.casefold())
        return np.bincount([crc32(word.encode()) % self._dimensions for word in words], minlength=self._dimensions)
