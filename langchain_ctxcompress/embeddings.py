"""LangChain's embedding models as what the core's option `encoder` takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.embeddings import Embeddings

__all__ = ["EmbeddingsEncoder", "as_encoder"]


@dataclass(frozen=True, slots=True)
class EmbeddingsEncoder:
    """Any `Embeddings` as an encoder. Questions and texts each go to the method that LangChain has for them: there are
    models that embed them differently.

    word_vectors: what compares all texts, of which the model embeds a part, for English: `StaticVectors()` of
    ctxcompress.encoders, another comparer that is cheap, or None for none.
    """

    embeddings: Embeddings
    word_vectors: Any = None

    def encode_query(self, text: str, /) -> list[float]:
        """The vector of a question."""
        return self.embeddings.embed_query(text)

    def encode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector for each text."""
        return self.embeddings.embed_documents(list(texts))

    async def aencode_query(self, text: str, /) -> list[float]:
        """As `encode_query`."""
        return await self.embeddings.aembed_query(text)

    async def aencode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """As `encode_document`."""
        return await self.embeddings.aembed_documents(list(texts))


def as_encoder(encoder: object) -> Any:
    """The encoder that the core takes for an embedding model; anything else as it is, for the core to check."""
    return EmbeddingsEncoder(encoder) if isinstance(encoder, Embeddings) else encoder
