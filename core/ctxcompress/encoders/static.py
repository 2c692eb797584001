"""Static word vectors: a fast encoder that needs no torch and a few milliseconds for all segments."""

import importlib
import logging
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxcompress.errors import MissingExtra

__all__ = ["StaticVectors"]

_BLOCK = 500
"""Number of texts that are summed at a time, so that memory does not grow with the number of texts."""


class StaticVectors:
    """An encoder with the word vectors of the wordllama package (English, 256 dimensions). Nothing is downloaded.

    For comparison with a query, the vector of a text is the sum of its tokens' vectors, weighted by how rare each token
    is among the compared texts, as in Arora et al., "A simple but tough-to-beat baseline for sentence embeddings"
    (2017). For finding duplicates, the vector of a passage is the sum of the vectors of its distinct tokens.

    Loading takes about 0.1 s and 35 MB, so make one object and share it. It is thread-safe.

    Raises MissingExtra without the extra `static`.
    """

    compares_all = True
    language = "en"

    def __init__(self) -> None:
        wordllama = _wordllama()
        # The weights are in the folder of the package. No other place is searched.
        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        self._tokenizer = model.tokenizer
        self._tokenizer.no_padding()  # padding would count as words
        self._vectors: NDArray[np.float32] = np.asarray(model.embedding, dtype=np.float32)

    def compare(self, query: str, texts: Sequence[str], /) -> NDArray[np.float64]:
        """Return the cosine of each text with the query, shape (texts,), and 0 for a text without tokens."""
        closeness: NDArray[np.float64] = self.compare_each([query], texts)[0]
        return closeness

    def compare_each(self, queries: Sequence[str], texts: Sequence[str], /) -> NDArray[np.float64]:
        """Return `compare` for each query, shape (queries, texts), while encoding the texts only once."""
        closeness = np.zeros((len(queries), len(queries) + len(texts)))
        if not texts or not queries:
            return closeness[:, len(queries) :]
        tokens, text_of = self._tokens([*queries, *texts])
        keys, times = np.unique(text_of * len(self._vectors) + tokens, return_counts=True)
        text_of, tokens = keys // len(self._vectors), keys % len(self._vectors)
        distinct, place = np.unique(tokens, return_inverse=True)
        frequency = np.bincount(place[text_of >= len(queries)], minlength=distinct.size)
        idf = np.log1p((len(texts) + 0.5 - frequency) / (frequency + 0.5))
        weights = (times * idf[place]).astype(np.float32)
        first_text = int(np.searchsorted(text_of, len(queries)))
        asked, vectors = self._sums(tokens[:first_text], weights[:first_text], text_of[:first_text])
        starts = np.searchsorted(text_of, np.arange(len(queries), closeness.shape[1] + _BLOCK, _BLOCK))
        for start, end in pairwise(starts.tolist()):
            texts_of_block, sums = self._sums(tokens[start:end], weights[start:end], text_of[start:end])
            for number, vector in zip(asked.tolist(), vectors, strict=True):
                closeness[number, texts_of_block] = np.einsum("td,d->t", sums, vector)
        return closeness[:, len(queries) :]

    def encode_passages(self, texts: Sequence[str], /) -> NDArray[np.float64]:
        """Return vectors of length 1 for passages, shape (texts, 256), and zeros for a text without tokens.

        A token counts once, however often it occurs. Measured on 12,000 pairs of English passages of eight kinds, a
        threshold on the cosine of these vectors agrees best with the same threshold for all-MiniLM-L6-v2, from 0.7 to
        0.95 (at 0.85: precision .92, recall .82).
        """
        vectors = np.zeros((len(texts), self._vectors.shape[1]))
        for start in range(0, len(texts), _BLOCK):
            tokens, text_of = self._tokens(texts[start : start + _BLOCK])
            text_of, tokens = np.divmod(np.unique(text_of * len(self._vectors) + tokens), len(self._vectors))
            numbers, sums = self._sums(tokens, np.ones(tokens.size, dtype=np.float32), text_of)
            vectors[start + numbers] = sums
        return vectors

    def _sums(
        self, tokens: NDArray[np.int64], weights: NDArray[np.float32], text_of: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return (numbers of the texts that have tokens, their weighted sums of vectors scaled to length 1)."""
        first = np.flatnonzero(np.diff(text_of, prepend=-1))
        if not first.size:
            return first, np.zeros((0, self._vectors.shape[1]))
        weighted = self._vectors[tokens] * weights[:, np.newaxis]
        sums = np.empty((first.size, weighted.shape[1]))
        for number, (start, end) in enumerate(pairwise([*first.tolist(), tokens.size])):
            sums[number] = np.add.reduce(weighted[start:end], axis=0)  # twenty times as fast as one `reduceat`
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        return text_of[first], sums

    def __reduce__(self) -> tuple[type["StaticVectors"], tuple[()]]:
        # The vectors are loaded from the package, not pickled.
        return StaticVectors, ()

    def _tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the tokens of all texts in order, and for each token the number of its text."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        flat = np.fromiter((token for of_text in ids for token in of_text), np.int64, int(lengths.sum()))
        return flat, np.repeat(np.arange(len(ids)), lengths)


def _wordllama() -> Any:
    """Import wordllama and undo its changes to the root logger, which belongs to the program."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return importlib.import_module("wordllama")
    except ImportError as error:
        raise MissingExtra("StaticVectors needs wordllama; pip install 'ctxcompress[static]'") from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
