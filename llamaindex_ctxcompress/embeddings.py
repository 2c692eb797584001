"""LlamaIndex's embedding models as what the core's option `encoder` takes, and how an encoder is written down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings.loading import RECOGNIZED_EMBEDDINGS, load_embed_model

__all__ = ["EmbeddingsEncoder", "as_encoder", "read_back", "written_down"]


@dataclass(frozen=True, slots=True)
class EmbeddingsEncoder:
    """Any `BaseEmbedding` as an encoder. Questions and texts each go to the method that LlamaIndex has for them: there
    are models that embed them differently.

    The question is embedded although retrieval may have left its vector in the query bundle: nothing there says of
    which model that is, and the index may have another one. An `embeddings_cache` saves embedding it twice.

    word_vectors: what compares all texts, of which the model embeds a part, for English: `StaticVectors()` of
    ctxcompress.encoders, another comparer that is cheap, or None for none.
    """

    model: BaseEmbedding
    word_vectors: Any = None

    def encode_query(self, text: str, /) -> list[float]:
        """The vector of a question."""
        return self.model.get_query_embedding(text)

    def encode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector for each text."""
        return self.model.get_text_embedding_batch(list(texts))

    async def aencode_query(self, text: str, /) -> list[float]:
        """As `encode_query`."""
        return await self.model.aget_query_embedding(text)

    async def aencode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """As `encode_document`."""
        return await self.model.aget_text_embedding_batch(list(texts))


def as_encoder(encoder: object) -> Any:
    """The encoder that the core takes for an embedding model; anything else as it is, for the core to check."""
    return EmbeddingsEncoder(encoder) if isinstance(encoder, BaseEmbedding) else encoder


def written_down(encoder: object) -> object:
    """A `BaseEmbedding` as LlamaIndex writes it; of another encoder the name in brackets, which is no encoder."""
    if isinstance(encoder, BaseEmbedding):
        return encoder.to_dict()
    return None if encoder is None else f"<encoder {type(encoder).__qualname__}>"


def read_back(encoder: object) -> object:
    """The embedding model that LlamaIndex makes of what it wrote; anything else as it is.

    Raises ValueError for a model whose class LlamaIndex does not know by its name.
    """
    if not isinstance(encoder, Mapping):
        return encoder
    name = encoder.get("class_name")
    if name not in RECOGNIZED_EMBEDDINGS:  # what else is in it may be an API key, and stays out of the message
        raise ValueError(
            f"encoder is the description of a {name!r}, which LlamaIndex does not load by its name; give the "
            "embedding model itself: from_dict(data, encoder=...)"
        )
    return load_embed_model(dict(encoder))
