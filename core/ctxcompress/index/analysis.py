"""What the index knows of a file: its chunks, and which terms they have how often."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.index.chunks import Chunk, chunks_of
from ctxcompress.score.bm25 import Floats
from ctxcompress.text.language import detect_language
from ctxcompress.text.source import is_code_name
from ctxcompress.text.words import Terms, split_words

__all__ = ["NOTHING", "Analysis", "Numbers", "analysed"]

Numbers = NDArray[np.int32]

_SAMPLE = 4_000
"""Characters of a file that its language is told from."""
_LABEL_TIMES = 3
"""How many occurrences in the text one in the path or the headings is worth, as in `score.matches`."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """One file. The arrays are parallel: each pair of a chunk and a term once."""

    language: str
    chunks: Sequence[Chunk]
    lengths: Floats
    """Words of each chunk."""
    chunk: Numbers
    """Number of the chunk in the file."""
    term: Numbers
    """Number of the term in the vocabulary."""
    times: Floats


NOTHING = Analysis("en", (), np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
"""Of a file that is not for reading."""


def analysed(text: str, path: str, vocabulary: dict[str, int], language: str | None = None) -> Analysis:
    """vocabulary: term -> number; new terms are added. language: None tells it from the text."""
    language = language or ("en" if is_code_name(path) else detect_language(text[:_SAMPLE]))
    chunks = chunks_of(text, path, language=language)
    words = [Counter(split_words(chunk.text)) for chunk in chunks]
    lengths = np.array([counts.total() for counts in words], dtype=float)
    for chunk, counts in zip(chunks, words, strict=True):
        for word in split_words(" ".join((path, *chunk.header_path))):
            counts[word] += _LABEL_TIMES
    numbers = _numbered(Terms(language).of_words(word for counts in words for word in counts), vocabulary)
    times: dict[tuple[int, int], int] = {}
    for unit, counts in enumerate(words):
        for word, count in counts.items():
            for number in numbers[word]:
                times[unit, number] = times.get((unit, number), 0) + count
    pairs = np.array([*times], dtype=np.int32).reshape(-1, 2)
    return Analysis(language, chunks, lengths, pairs[:, 0], pairs[:, 1], np.array([*times.values()], dtype=float))


def _numbered(terms: dict[str, tuple[str, ...]], vocabulary: dict[str, int]) -> dict[str, list[int]]:
    """word -> the numbers of its terms."""
    return {word: [vocabulary.setdefault(term, len(vocabulary)) for term in of_word] for word, of_word in terms.items()}
