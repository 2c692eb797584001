"""Static word vectors: no context, no torch, a few milliseconds for all segments."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxcompress.errors import MissingExtra

__all__ = ["StaticVectors"]


class StaticVectors:
    """The word vectors that the wordllama package carries (256 dimensions, English): nothing is downloaded.

    A text is the sum of its tokens' vectors, each weighted by how rare the token is among the texts
    compared, as in Arora et al., "A simple but tough-to-beat baseline for sentence embeddings" (2017).
    Loading takes about 0.1 s and 35 MB: make one and share it; threads may.

    Raises MissingExtra without the extra `static`.
    """

    cheap = True

    def __init__(self) -> None:
        try:
            import wordllama
        except ImportError as error:
            raise MissingExtra("StaticVectors needs wordllama; pip install 'ctxcompress[static]'") from error
        # The folder of the package is where its weights are; nothing is looked for elsewhere.
        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        self._tokenizer = model.tokenizer
        self._tokenizer.no_padding()  # padding would count as words
        self._vectors: NDArray[np.float32] = np.asarray(model.embedding, dtype=np.float32)

    def compare(self, query: str, texts: Sequence[str], /) -> NDArray[np.float64]:
        """The cosine of each text with the query, shape (texts,); 0 for a text without tokens."""
        if not texts:
            return np.zeros(0)
        tokens, text_of = self._tokens([query, *texts])
        keys, times = np.unique(text_of * len(self._vectors) + tokens, return_counts=True)
        text_of, tokens = keys // len(self._vectors), keys % len(self._vectors)
        distinct, place = np.unique(tokens, return_inverse=True)
        frequency = np.bincount(place[text_of > 0], minlength=distinct.size)
        idf = np.log1p((len(texts) + 0.5 - frequency) / (frequency + 0.5))
        weighted = self._vectors[tokens] * (times * idf[place]).astype(np.float32)[:, np.newaxis]
        sums = np.zeros((len(texts) + 1, self._vectors.shape[1]))
        present = np.flatnonzero(np.diff(text_of, prepend=-1))
        sums[text_of[present]] = np.add.reduceat(weighted, present, axis=0)
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        closeness: NDArray[np.float64] = np.einsum("td,d->t", sums[1:], sums[0])
        return closeness

    def _tokens(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(token, number of the text that it is in), of all texts one after the other."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        flat = np.fromiter((token for of_text in ids for token in of_text), np.int64, int(lengths.sum()))
        return flat, np.repeat(np.arange(len(ids)), lengths)
