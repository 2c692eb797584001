"""Encoders that use models of the sentence-transformers package."""

import importlib
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxcompress.encoders.encoder import Comparer
from ctxcompress.encoders.static import StaticVectors
from ctxcompress.errors import MissingExtra

__all__ = ["CrossEncoder", "SentenceEncoder"]


class SentenceEncoder:
    """A bi-encoder such as all-MiniLM-L6-v2, which turns each query and each text into a vector.

    model: a SentenceTransformer, or the folder or name of one. sentence-transformers downloads a named model that it
    does not find locally. Queries and texts get the prompts that the model defines for them.
    batch_size: number of texts per batch.
    word_vectors: True to compare all texts with the English `StaticVectors` too, because the model reads only some.

    Raises MissingExtra without the extra `semantic`.
    """

    def __init__(self, model: Any, *, batch_size: int = 32, word_vectors: bool = True) -> None:
        self._model = _loaded("SentenceTransformer", model)
        self._batch_size = batch_size
        self.word_vectors: Comparer | None = StaticVectors() if word_vectors else None

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer, or None."""
        return getattr(self._model, "tokenizer", None)

    def encode_query(self, text: str, /) -> NDArray[np.float32]:
        """Return the vector of a query, shape (dimensions,)."""
        found: NDArray[np.float32] = self._model.encode_query([text], show_progress_bar=False)[0]
        return found

    def encode_document(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return one vector for each text, shape (texts, dimensions)."""
        found: NDArray[np.float32] = self._model.encode_document(
            list(texts), batch_size=self._batch_size, show_progress_bar=False
        )
        return found


class CrossEncoder:
    """A cross-encoder such as ms-marco-MiniLM-L6-v2, which reads query and text together: slower but more accurate.

    model: a CrossEncoder of sentence-transformers, or the folder or name of one. batch_size: number of pairs per batch.

    Raises MissingExtra without the extra `semantic`.
    """

    compares_all = False

    def __init__(self, model: Any, *, batch_size: int = 32) -> None:
        self._model = _loaded("CrossEncoder", model)
        self._batch_size = batch_size

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer, or None."""
        return getattr(self._model, "tokenizer", None)

    def compare(self, query: str, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return the model's score of each text, shape (texts,)."""
        pairs = [(query, text) for text in texts]
        found: NDArray[np.float32] = self._model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False)
        return found


def _loaded(name: str, model: Any) -> Any:
    if not isinstance(model, str | PathLike):
        return model
    try:
        package = importlib.import_module("sentence_transformers")
    except ImportError as error:
        raise MissingExtra(
            f"{name} {model!r} needs sentence-transformers; pip install 'ctxcompress[semantic]'"
        ) from error
    return getattr(package, name)(str(model))
