"""From a file to chunks: sections and functions whole where they are not long, with the lines that they are on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Kind, Segment
from ctxcompress.score.matches import Floats
from ctxcompress.segment.segments import segment
from ctxcompress.text.language import detect_language
from ctxcompress.text.words import Terms, split_words

__all__ = ["NOTHING", "Analysis", "Chunk", "Numbers", "analysed", "chunks_of"]

LONGEST = 1_500
"""Characters of a chunk, at most."""
SHORTEST = 200
"""Characters from which a chunk ends where the next heading, or the next function, begins."""


class Chunk(NamedTuple):
    """A part of a file."""

    id: str
    """The file and the lines, as in `docs/auth.md#L10-L42`, or `docs/auth.md#L10-L42-2` for the second one of them."""
    path: str
    """Of the file within the folder, with slashes."""
    header_path: tuple[str, ...]
    """The headings, or the names of the definitions, that all of it stands under."""
    text: str
    """As it is in the file, but for white space around it."""


class _Piece(NamedTuple):
    kind: Kind
    start: int
    end: int
    heading: tuple[str, ...]


def chunks_of(text: str, path: str, *, language: str) -> list[Chunk]:
    """The chunks of a file, in order: together they are its text, but for white space between them.

    path: its ending tells code from prose. language: ISO 639-1 code, for the sentence rules.
    """
    chunks: list[Chunk] = []
    ids: dict[str, int] = {}
    line, seen = 1, 0
    for part in _packed(_pieces(text, segment(text, language=language, name=path))):
        start, end = _without_space(text, part[0].start, part[-1].end)
        if start == end:
            continue
        line, seen = line + text.count("\n", seen, start), start
        last = line + text.count("\n", start, end)
        name = f"{path}#L{line}-L{last}"
        ids[name] = ids.get(name, 0) + 1
        number = f"-{ids[name]}" if ids[name] > 1 else ""
        chunks.append(Chunk(name + number, path, _common(part), text[start:end]))
    return chunks


def _pieces(text: str, segments: Sequence[Segment]) -> Iterator[_Piece]:
    """Blocks; of a long block its segments; of a long segment what is between white space."""
    for _, group in groupby(segments, key=lambda segment: segment.block):
        block = list(group)
        whole = _Piece(block[0].kind, block[0].start, block[-1].end, block[0].heading)
        if whole.end - whole.start <= LONGEST:
            yield whole
            continue
        for found in block:
            for start, end in _stretches(text, found.start, found.end):
                yield _Piece(found.kind, start, end, found.heading)


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of at most LONGEST characters, cut after a line or a word where there is one."""
    while end - start > LONGEST:
        most = start + LONGEST
        cut = next((at for mark in ("\n", " ") if (at := text.rfind(mark, start, most)) > start), most - 1) + 1
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _packed(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces together as long as that is no longer than a chunk, and no heading comes after enough text. A heading goes
    with what follows it, where both fit."""
    part: list[_Piece] = []
    for piece in pieces:
        is_full = bool(part) and piece.end - part[0].start > LONGEST
        if is_full or (part and piece.heading != part[-1].heading and part[-1].end - part[0].start >= SHORTEST):
            last = part[-1]
            is_above = is_full and len(part) > 1 and last.kind is Kind.HEADING and piece.end - last.start <= LONGEST
            yield part[:-1] if is_above else part
            part = [last] if is_above else []
        part.append(piece)
    if part:
        yield part


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Without blank lines before it, whose first line keeps its indent, and white space after it."""
    part = text[start:end]
    bare = part.rstrip()
    blank = len(bare) - len(bare.lstrip())
    return start + bare.rfind("\n", 0, blank) + 1, start + len(bare)


def _common(part: Sequence[_Piece]) -> tuple[str, ...]:
    """The headings that all of it stands under, headings themselves apart."""
    paths = [piece.heading for piece in part if piece.kind is not Kind.HEADING] or [part[-1].heading]
    first, last = min(paths), max(paths)
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))


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
