"""LangChain's embedding models as what the core's option `encoder` takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.embeddings import Embeddings

from ctxcompress import Encoder

__all__ = ["EmbeddingsEncoder", "as_encoder"]


@dataclass(frozen=True, slots=True)
class EmbeddingsEncoder:
    """Any `Embeddings` as an encoder. Questions and texts each go to the method that LangChain has for them: there are
    models that embed them differently."""

    embeddings: Embeddings

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


def as_encoder(encoder: object) -> object:
    """What the core takes for an encoder that a user gave. Raises ValueError if it cannot be one."""
    if isinstance(encoder, Embeddings):
        return EmbeddingsEncoder(encoder)
    # What compares is no name that the core exports: it says itself whether it is whole.
    if encoder is None or isinstance(encoder, Encoder) or hasattr(encoder, "compare"):
        return encoder
    raise ValueError(
        f"encoder is {_shown(encoder)}; give an Embeddings object of LangChain, such as "
        "HuggingFaceEmbeddings(model_name=...), or one of ctxcompress.encoders, such as SentenceEncoder(...)"
    )


def _shown(value: object) -> str:
    """Not more than the type of an object, which may hold a key to a service."""
    return repr(value) if isinstance(value, str | int | float | type) else f"an object of type {type(value).__name__}"
