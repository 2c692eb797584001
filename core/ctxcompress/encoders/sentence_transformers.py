"""Models of the sentence-transformers package, from this machine or as it finds them."""

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
    """A bi-encoder, such as all-MiniLM-L6-v2: questions and texts become vectors one by one.

    model: a SentenceTransformer, or the folder or name of one. sentence-transformers downloads what it is given a
    name of and does not find. Questions and texts get the prompts that the model has for them.
    batch_size: how many texts at a time.
    word_vectors: whether the English `StaticVectors` compare all texts, of which the model reads a part.

    Raises MissingExtra without the extra `semantic`.
    """

    def __init__(self, model: Any, *, batch_size: int = 32, word_vectors: bool = True) -> None:
        self._model = _loaded("SentenceTransformer", model)
        self._batch_size = batch_size
        self.word_vectors: Comparer | None = StaticVectors() if word_vectors else None

    def encode_query(self, text: str, /) -> NDArray[np.float32]:
        """The vector of a question, shape (dimensions,)."""
        found: NDArray[np.float32] = self._model.encode_query([text], show_progress_bar=False)[0]
        return found

    def encode_document(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """One vector for each text, shape (texts, dimensions)."""
        found: NDArray[np.float32] = self._model.encode_document(
            list(texts), batch_size=self._batch_size, show_progress_bar=False
        )
        return found


class CrossEncoder:
    """A model that reads question and text together, such as ms-marco-MiniLM-L6-v2: slower, and more exact.

    model: a CrossEncoder of sentence-transformers, or the folder or name of one. batch_size: how many pairs at a
    time.

    Raises MissingExtra without the extra `semantic`.
    """

    compares_all = False

    def __init__(self, model: Any, *, batch_size: int = 32) -> None:
        self._model = _loaded("CrossEncoder", model)
        self._batch_size = batch_size

    def compare(self, query: str, texts: Sequence[str], /) -> NDArray[np.float32]:
        """What the model says of each text, shape (texts,)."""
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
