"""The texts of the command `demo`: the descriptions of the installed packages, in chunks, in a LangChain store."""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, distributions
from typing import TYPE_CHECKING, NamedTuple, cast
from zlib import crc32

import numpy as np

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["RETRIEVED", "Chunk", "HashedWords", "installed_documentation", "retriever_of", "split_markdown"]

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever

CHUNK_CHARACTERS = 1_500
RETRIEVED = 20

_READABLE = ("text/markdown", "text/plain")
_FENCES = ("```", "~~~")
_HEADING = "#"
_WORD = lazy_regex(r"\w+")


class Chunk(NamedTuple):
    """A part of a package's description."""

    package: str
    number: int
    text: str


def retriever_of(chunks: Sequence[Chunk]) -> "BaseRetriever":
    """Return a retriever of LangChain that finds the chunks with the most words of a question in common."""
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    embedding = HashedWords(chunk.text for chunk in chunks)
    # A cast instead of a subclass, so that importing this module imports no framework.
    store = InMemoryVectorStore(cast("Embeddings", embedding))
    store.add_documents(
        [
            Document(chunk.text, id=f"{chunk.package}:{chunk.number}", metadata={"title": chunk.package})
            for chunk in chunks
        ]
    )
    return store.as_retriever(search_kwargs={"k": RETRIEVED})


def installed_documentation() -> list[Chunk]:
    """Return chunks of the Markdown and plain-text descriptions of the installed packages, sorted by package."""
    described = {name: text for name, text in map(_description, distributions()) if text.strip()}
    return [
        Chunk(name, number, text)
        for name, description in sorted(described.items())
        for number, text in enumerate(split_markdown(description))
    ]


def split_markdown(text: str, limit: int = CHUNK_CHARACTERS) -> Iterator[str]:
    """Split a text into parts of about `limit` characters.

    A part ends before each heading and at blank lines, never inside a fenced block. It is longer than `limit` only if
    it is a single paragraph or fenced block.
    """
    part = ""
    for block in _blocks(text):
        if part and (block.startswith(_HEADING) or len(part) + len(block) > limit):
            yield part
            part = ""
        part += block
    if part:
        yield part


def _blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs with the blank lines after them. A fenced block is never split."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines(keepends=True):
        if lines and lines[-1].isspace() and not line.isspace() and not fenced:
            yield "".join(lines)
            lines = []
        fenced ^= line.lstrip().startswith(_FENCES)
        lines.append(line)
    if lines:
        yield "".join(lines)


def _description(distribution: Distribution) -> tuple[str, str]:
    said = distribution.metadata.json
    name, kind, text = (str(said.get(key, "")) for key in ("name", "description_content_type", "description"))
    return name, text if kind.partition(";")[0].strip().lower() in _READABLE else ""


class HashedWords:
    """An embedding model for LangChain's vector stores. Two texts are similar if they share words that are rare in
    `corpus`.

    Each word counts in one of the `dimensions`, chosen by its checksum and therefore the same in every process.
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
