"""LlamaIndex's embedding models as encoders of the core, and how an encoder is serialized."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings.loading import RECOGNIZED_EMBEDDINGS, load_embed_model

__all__ = ["EmbeddingsEncoder", "as_encoder", "read_back", "written_down"]


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


def written_down(encoder: object) -> object:
    """Return an encoder as JSON can hold it: a `BaseEmbedding` as LlamaIndex writes it, of others the class's name.

    The name is in brackets, so that reading it back is refused.
    """
    if isinstance(encoder, BaseEmbedding):
        return encoder.to_dict()
    return None if encoder is None else f"<encoder {type(encoder).__qualname__}>"


def read_back(encoder: object) -> object:
    """Return the embedding model that LlamaIndex reads from its own description; anything else as it is.

    Raises ValueError for a model whose class LlamaIndex does not know by name.
    """
    if not isinstance(encoder, Mapping):
        return encoder
    name = encoder.get("class_name")
    if name not in RECOGNIZED_EMBEDDINGS:  # the rest may contain an API key, and stays out of the message
        raise ValueError(
            f"encoder is the description of a {name!r}, which LlamaIndex does not load by its name; give the "
            "embedding model itself: from_dict(data, encoder=...)"
        )
    return load_embed_model(dict(encoder))
