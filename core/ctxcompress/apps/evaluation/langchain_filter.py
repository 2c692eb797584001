"""The EmbeddingsFilter of LangChain with an encoder of this package."""

from collections.abc import Sequence

import numpy as np
from langchain_classic.retrievers.document_compressors import EmbeddingsFilter
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from ctxcompress.encoders.encoder import Encoder, PassageVectors

__all__ = ["ranked"]


class _Embeddings(Embeddings):
    def __init__(self, encoder: Encoder | PassageVectors) -> None:
        self._encoder = encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        encoder = self._encoder
        vectors = encoder.encode_document(texts) if isinstance(encoder, Encoder) else encoder.encode_passages(texts)
        return [[*map(float, vector)] for vector in np.asarray(vectors)]

    def embed_query(self, text: str) -> list[float]:
        if isinstance(self._encoder, Encoder):
            return [*map(float, np.asarray(self._encoder.encode_query(text)))]
        return self.embed_documents([text])[0]


def ranked(encoder: Encoder | PassageVectors, query: str, texts: Sequence[str]) -> list[int]:
    """Return the numbers of the texts, the best first."""
    documents = [Document(text, metadata={"place": place}) for place, text in enumerate(texts)]
    best = EmbeddingsFilter(embeddings=_Embeddings(encoder), k=len(texts))
    return [document.metadata["place"] for document in best.compress_documents(documents, query)]
