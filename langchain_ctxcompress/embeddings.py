"""LangChain's embedding models as encoders of the core."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.embeddings import Embeddings

__all__ = ["EmbeddingsEncoder", "as_encoder"]


@dataclass(frozen=True, slots=True)
class EmbeddingsEncoder:
    """An encoder that uses any `Embeddings`.

    Queries and texts go to the methods that LangChain has for each, because some models embed them differently.

    word_vectors: a cheap comparer for all texts, of which the model embeds only some: `StaticVectors()` of
    ctxcompress.encoders for English, another comparer, or None.
    """

    embeddings: Embeddings
    word_vectors: Any = None

    def encode_query(self, text: str, /) -> list[float]:
        """Return the vector of a query."""
        return self.embeddings.embed_query(text)

    def encode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector for each text."""
        return self.embeddings.embed_documents(list(texts))

    async def aencode_query(self, text: str, /) -> list[float]:
        """Do the same as `encode_query`."""
        return await self.embeddings.aembed_query(text)

    async def aencode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """Do the same as `encode_document`."""
        return await self.embeddings.aembed_documents(list(texts))


def as_encoder(encoder: object) -> Any:
    """Return an encoder of the core for an embedding model; anything else as it is, for the core to check."""
    return EmbeddingsEncoder(encoder) if isinstance(encoder, Embeddings) else encoder
