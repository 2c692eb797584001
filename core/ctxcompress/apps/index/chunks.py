"""Splits a file into chunks and counts their terms. Sections and functions stay whole if they are short enough."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.table import Floats
from ctxcompress.segment.formats import segment
from ctxcompress.text.language import detect_language
from ctxcompress.text.words import Terms, split_words

__all__ = ["EMPTY_ANALYSIS", "Analysis", "Chunk", "Numbers", "analyse_file", "chunks_of"]

Numbers = NDArray[np.int32]

LONGEST = 1_500
"""The most characters of a chunk."""
SHORTEST = 200
"""A chunk with at least so many characters ends where the next heading or function begins."""
_SAMPLE = 4_000
"""Number of characters of a file that language detection reads."""
_LABEL_TIMES = 3
"""An occurrence in the path or the headings counts as so many in the text, as in `score.matches`."""


class Chunk(NamedTuple):
    """A part of a file."""

    id: str
    """The file and the lines: `docs/auth.md#L10-L42`, or `docs/auth.md#L10-L42-2` for a second chunk on these lines."""
    path: str
    """The path of the file within the folder, with slashes."""
    header_path: tuple[str, ...]
    """The headings, or the names of the definitions, that contain the whole chunk."""
    text: str
    """The text as it is in the file, without the white space around it."""
    above: str
    """What it needs of the text before it, such as the header of its rows, in lines of its own."""

    @property
    def whole(self) -> str:
        """The text that can be read alone."""
        return self.above + self.text


@dataclass(frozen=True, slots=True)
class Analysis:
    """The chunks of one file and their terms.

    `chunk`, `term` and `times` are parallel arrays, with one entry for each pair of a chunk and a term in it.
    """

    language: str
    chunks: Sequence[Chunk]
    lengths: Floats
    """The number of words of each chunk."""
    chunk: Numbers
    """The number of the chunk in the file."""
    term: Numbers
    """The number of the term in the vocabulary."""
    times: Floats
    """How often the chunk has the term."""


EMPTY_ANALYSIS = Analysis("en", (), np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
"""The analysis of a file that cannot be read."""


def analyse_file(text: str, path: str, vocabulary: dict[str, int], language: str | None = None) -> Analysis:
    """Split a file into chunks and count the terms of each chunk.

    vocabulary: term -> number. New terms are added. language: ISO 639-1 code; None detects it.
    """
    language = language or ("en" if is_code_name(path) else detect_language(text[:_SAMPLE]))
    chunks = chunks_of(text, path, language=language)
    words = [Counter(split_words(chunk.whole)) for chunk in chunks]
    lengths = np.array([counts.total() for counts in words], dtype=float)
    for chunk, counts in zip(chunks, words, strict=True):
        for word in split_words(" ".join((path, *chunk.header_path))):
            counts[word] += _LABEL_TIMES
    terms = Terms(language).of_words(word for counts in words for word in counts)
    numbers = {word: [vocabulary.setdefault(term, len(vocabulary)) for term in each] for word, each in terms.items()}
    times: dict[tuple[int, int], int] = {}
    for unit, counts in enumerate(words):
        for word, count in counts.items():
            for number in numbers[word]:
                times[unit, number] = times.get((unit, number), 0) + count
    pairs = np.array([*times], dtype=np.int32).reshape(-1, 2)
    return Analysis(language, chunks, lengths, pairs[:, 0], pairs[:, 1], np.array([*times.values()], dtype=float))


def chunks_of(text: str, path: str, *, language: str) -> list[Chunk]:
    """Return the chunks of a file in order. Together they are its text, except for white space between them.

    path: its extension distinguishes code from prose. language: ISO 639-1 code, for the sentence rules.
    """
    chunks: list[Chunk] = []
    ids: dict[str, int] = {}
    line, seen = 1, 0
    segments = segment(text, language=language, name=path)
    for part in _packed(_pieces(text, segments)):
        start, end = _without_space(text, part[0].start, part[-1].end)
        if start == end:
            continue
        line, seen = line + text.count("\n", seen, start), start
        last = line + text.count("\n", start, end)
        name = f"{path}#L{line}-L{last}"
        ids[name] = ids.get(name, 0) + 1
        number = f"-{ids[name]}" if ids[name] > 1 else ""
        chunks.append(Chunk(name + number, path, _common(part), text[start:end], _above(part, text, segments)))
    return chunks


class _Piece(NamedTuple):
    kind: Kind
    start: int
    end: int
    heading: tuple[str, ...]
    needs: frozenset[int]
    """The numbers of the segments that its own segments need."""


def _pieces(text: str, segments: Sequence[Segment]) -> Iterator[_Piece]:
    """Yield the blocks of a text, the segments of a block that is too long, and the parts of a segment that is."""
    for _, group in groupby(segments, key=lambda segment: segment.block):
        block = list(group)
        needs = frozenset(number for found in block for number in found.needs)
        whole = _Piece(block[0].kind, block[0].start, block[-1].end, _path(block[0]), needs)
        if whole.end - whole.start <= LONGEST:
            yield whole
            continue
        for found in block:
            for start, end in _stretches(text, found.start, found.end):
                yield _Piece(found.kind, start, end, _path(found), frozenset(found.needs))


def _path(segment: Segment) -> tuple[str, ...]:
    """Return what a segment is within: headings, or the name of a record. The labels of others, such as the speaker of
    a turn, are in their own text."""
    label = segment.label if segment.kind is Kind.RECORD else ""
    return segment.heading or tuple(filter(None, (label,)))


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield parts of at most LONGEST characters, cut after a line or a word if possible."""
    while end - start > LONGEST:
        most = start + LONGEST
        cut = next((at for mark in ("\n", " ") if (at := text.rfind(mark, start, most)) > start), most - 1) + 1
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _packed(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Yield groups of pieces, each as long as a chunk can be, but ending before a heading once it has enough text, and
    where the section ends that it is within: what stands in two sections would have the label of neither.

    A heading is grouped with the piece after it if both fit.
    """
    part: list[_Piece] = []
    for piece in pieces:
        is_full = bool(part) and piece.end - part[0].start > LONGEST
        has_enough = bool(part) and part[-1].end - part[0].start >= SHORTEST
        if is_full or (part and piece.heading != part[-1].heading and (has_enough or _is_outside(piece, part[0]))):
            last = part[-1]
            is_above = is_full and len(part) > 1 and last.kind is Kind.HEADING and piece.end - last.start <= LONGEST
            yield part[:-1] if is_above else part
            part = [last] if is_above else []
        part.append(piece)
    if part:
        yield part


def _is_outside(piece: _Piece, first: _Piece) -> bool:
    """Tell whether a piece is outside of the section that a chunk is within. first: the piece that the chunk begins
    with. If that is a heading, the chunk is within the section around it."""
    around = first.heading[: len(first.heading) - (first.kind is Kind.HEADING)]
    return piece.heading[: len(around)] != around


def _above(part: Sequence[_Piece], text: str, segments: Sequence[Segment]) -> str:
    """Return what the pieces need of the text before them, in lines of their own, as far as it is no longer than a
    chunk."""
    needed = [segments[number] for number in sorted(frozenset().union(*(piece.needs for piece in part)))]
    shown = [text[one.start : one.end].rstrip() + "\n" for one in needed if one.end <= part[0].start]
    return "".join(line for line, end in zip(shown, accumulate(map(len, shown)), strict=True) if end <= LONGEST)


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets without leading blank lines and trailing white space. The first line keeps its indentation."""
    part = text[start:end]
    bare = part.rstrip()
    blank = len(bare) - len(bare.lstrip())
    return start + bare.rfind("\n", 0, blank) + 1, start + len(bare)


def _common(part: Sequence[_Piece]) -> tuple[str, ...]:
    """Return the headings that contain all pieces, ignoring pieces that are headings themselves."""
    paths = [piece.heading for piece in part if piece.kind is not Kind.HEADING] or [part[-1].heading]
    first, last = min(paths), max(paths)
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
