"""LlamaIndex's embedding models as encoders of the core."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

__all__ = ["EmbeddingsEncoder", "as_encoder"]


@dataclass(frozen=True, slots=True)
class EmbeddingsEncoder:
    """An encoder that uses any `BaseEmbedding`.

    Queries and texts go to the methods that LlamaIndex has for each, because some models embed them differently. The
    query is embedded even if retrieval left its vector in the query bundle: the bundle does not say which model the
    vector is of. An `embeddings_cache` saves embedding it twice.

    word_vectors: a cheap comparer for all texts, of which the model embeds only some: `StaticVectors()` of
    ctxcompress.encoders for English, another comparer, or None.
    """

    model: BaseEmbedding
    word_vectors: Any = None

    def encode_query(self, text: str, /) -> list[float]:
        """Return the vector of a query."""
        return self.model.get_query_embedding(text)

    def encode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector for each text."""
        return self.model.get_text_embedding_batch(list(texts))

    async def aencode_query(self, text: str, /) -> list[float]:
        """Do the same as `encode_query`."""
        return await self.model.aget_query_embedding(text)

    async def aencode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """Do the same as `encode_document`."""
        return await self.model.aget_text_embedding_batch(list(texts))


def as_encoder(encoder: object) -> Any:
    """Return an encoder of the core for an embedding model; anything else as it is, for the core to check."""
    return EmbeddingsEncoder(encoder) if isinstance(encoder, BaseEmbedding) else encoder
