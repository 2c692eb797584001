"""Texts that are made of others, and where their characters come from.

Documents are the texts that are segmented and scored. Usually a document is one passage. Overlapping chunks are joined
into one document, which has their shared text once. Paragraphs that repeat another passage are not part of any
document. A quote from kept texts is found in the original ones.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import NamedTuple

from ctxcompress.data.passages import Span, joined, places, stripped
from ctxcompress.errors import InputError
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Document", "Origins", "Piece", "Place", "Spans", "documents_as_they_are", "find_quote", "passages_of"]

_SPACE = lazy_regex(r"\n*[ \t]*")
Spans = dict[int, tuple[Span, ...]]
"""Passage number (or document number) -> spans of its text, in order."""


class Piece(NamedTuple):
    """A part of a passage."""

    passage: int
    span: Span
    filler: str = ""
    """Text before the piece that belongs to no passage: white space that the splitter removed, or white space and the
    mark of a line where tags of HTML are."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text made of pieces of passages. The pieces of one passage are adjacent and in order.

    Most documents are whole passages, and there may be a million of them, so these are made without a piece.
    """

    text: str
    passage: int
    """The number of the passage that it begins with."""
    parts: tuple[Piece, ...] = ()
    """The pieces, unless the document is one whole passage."""
    starts: tuple[int, ...] = (0,)
    """The offset in the text at which each piece begins."""
    is_passage: bool = True
    """Whether it is exactly one whole passage."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of passages that it is made of."""
        return self.parts or (Piece(self.passage, Span(0, len(self.text))),)

    @classmethod
    def of(cls, pieces: Sequence[Piece], texts: Sequence[str]) -> "Document":
        """Join pieces into a document.

        texts: the texts of all passages.
        """
        parts = [filler + texts[passage][span.start : span.end] for passage, span, filler in pieces]
        first = pieces[0].passage
        whole = len(pieces) == 1 and len(parts[0]) == len(texts[first])
        ends = accumulate(map(len, parts[:-1]), initial=0)
        starts = tuple(end + len(piece.filler) for end, piece in zip(ends, pieces, strict=True))
        return cls("".join(parts), first, tuple(pieces), starts, whole)

    def passage_at(self, offset: int) -> int:
        """Return the number of the passage that has the character at an offset."""
        return self.pieces[self._piece_at(offset)].passage

    def place(self, offset: int) -> int:
        """Return the offset in its passage of a character of the document, or of the next one that is in a passage."""
        after = self.within((Span(offset, len(self.text)),))
        return next((piece.span.start for piece in after), self.pieces[-1].span.end)

    def passage_end(self, offset: int) -> int:
        """Return the offset at which the next passage begins after an offset; the end of the text if none does."""
        passage, following = self.passage_at(offset), range(self._piece_at(offset) + 1, len(self.starts))
        ends = (self.starts[number] for number in following if self.pieces[number].passage != passage)
        return next(ends, len(self.text))

    def of_passages(self, spans: Iterable[Span]) -> Spans:
        """Convert spans of the document to spans of its passages.

        If the document is more or less than one passage, white space at either end of a passage's part is not included.
        """
        if self.is_passage:
            return {self.passage: tuple(spans)}
        parts: dict[int, list[Span]] = {}
        for number, part in self.parts_of(spans):
            parts.setdefault(self.pieces[number].passage, []).append(part)
        in_passages = {passage: self._shifted(stripped(part, self.text)) for passage, part in parts.items()}
        return {passage: found for passage, found in in_passages.items() if found}

    def in_passage(self, end: int) -> Piece:
        """Return an empty piece at the end of the character before `end`, in the passage that has this character."""
        number = self._piece_at(end - 1)
        passage, span, _ = self.pieces[number]
        place = min(max(end - self.starts[number], 0) + span.start, span.end)
        return Piece(passage, Span(place, place))

    def within(self, spans: Iterable[Span], before: Iterable[str] = repeat("")) -> Iterator[Piece]:
        """Yield the pieces that these spans are made of, each with the text before it that belongs to no passage.

        before: more such text before each span.
        """
        place, filler = 0, ""
        for (start, end), more in zip(spans, before, strict=False):
            filler += more
            for number, part in self.parts_of((Span(start, end),)):
                passage, span, _ = self.pieces[number]
                begin = span.start - self.starts[number]
                filler += self.text[max(place, start) : part.start]
                yield Piece(passage, Span(part.start + begin, part.end + begin), filler)
                place, filler = part.end, ""
            filler += self.text[max(place, start) : end]
            place = end

    def spaces(self, spans: Iterable[Span]) -> Iterator[tuple[int, int, str]]:
        """Yield (passage, offset in it, the white space before that) where these spans have white space of no passage
        between two pieces of one passage: the widest with a line break, or else a blank."""
        before = -1
        for passage, (start, _), filler in self.within(spans) if len(self.parts) > 1 else ():
            # Between the marks of empty cells is white space, too.
            if passage == before and (space := max(_SPACE.findall(filler.replace("| ", "")), key=len)):
                yield passage, start, space
            before = passage

    def _piece_at(self, offset: int) -> int:
        return max(bisect_right(self.starts, offset) - 1, 0)

    def parts_of(self, spans: Iterable[Span]) -> Iterator[tuple[int, Span]]:
        """Yield (number of a piece, what a span has of it)."""
        for start, end in spans:
            for number in range(self._piece_at(start), len(self.starts)):
                begin, span = self.starts[number], self.pieces[number].span
                if begin >= end:
                    break
                part = Span(max(start, begin), min(end, begin + span.end - span.start))
                if part.start < part.end:
                    yield number, part

    def _shifted(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Convert spans that lie within one piece each to spans of the passages' texts."""
        shifted = []
        for start, end in spans:
            number = self._piece_at(start)
            shift = self.pieces[number].span.start - self.starts[number]
            shifted.append(Span(start + shift, end + shift))
        return joined(shifted)


def documents_as_they_are(texts: Sequence[str], numbers: Iterable[int] | None = None) -> list[Document]:
    """Return one document for each passage, or for each passage with these numbers.

    texts: the texts of all passages.
    """
    chosen = range(len(texts)) if numbers is None else numbers
    return [Document(texts[number], number) for number in chosen]


def passages_of(documents: Iterable[Document]) -> set[int]:
    """Return the numbers of the passages that have a piece in these documents."""
    return {number for document in documents for number in (document.passage, *(part[0] for part in document.parts))}


_ELLIPSIS = lazy_regex(r"\[(?:\.{3}|\u2026)\]|\.{3,}+|\u2026")
_MARKS = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d` \t\r\n"
_ESCAPE = lazy_regex(r"^(\s*+)\\(?=\\*+[\[*])", re.MULTILINE)
_WORD = lazy_regex(r"\S++")
_BETWEEN = "\n\n"


Place = tuple[int, int, int]
"""The number of one of several texts, and characters ``[start, end)`` of it."""


def find_quote(texts: Sequence[str], quote: str) -> Iterator[tuple[Place, ...]]:
    """Yield each occurrence of a quote in consecutive texts, as one place for each text that it runs through.

    Any run of white space matches any other. A quote that does not occur as it is may have quotation marks around it,
    dots for parts that were dropped from it (the parts between them are then found once, in order), or what formats add
    to texts: a backslash before a line, or "&lt;". Linear in the texts. Raises InputError if it is not a string.
    """
    if not isinstance(quote, str):
        raise InputError(f"quote is a {type(quote).__name__}; give a string")
    folded_texts = _FoldedTexts(texts or [""])
    bare = quote.strip(_MARKS)
    unescaped = _ESCAPE.sub(r"\1", bare).replace("&lt;", "<")
    for parts in ([quote], [bare], _ELLIPSIS.split(bare), [unescaped]):
        found = list(folded_texts.find([folded for part in parts if (folded := " ".join(part.split()))]))
        if found:
            for ranges in found:
                yield tuple(place for start, end in ranges for place in folded_texts.places(start, end))
            return


class Origins:
    """Maps the characters of a kept text to those of its original text."""

    def __init__(self, kept: str, spans: Sequence[tuple[int, int]], markers: Sequence[tuple[int, str]]) -> None:
        """kept: the texts of the spans, with the markers between them. markers: (number of the next span, text)."""
        marked = Counter[int]()
        for before, marker in markers:
            marked[before] += len(marker)
        sizes = [end - start for start, end in spans]
        begins = accumulate((size + marked[number] for number, size in enumerate(sizes, 1)), initial=marked[0])
        pieces = tuple(Piece(0, Span(*span)) for span in spans)
        self._kept = Document(kept, 0, pieces, tuple(begins)[: len(spans)], is_passage=False)

    def at(self, start: int, end: int) -> tuple[tuple[int, int, str], ...]:
        """Return the parts of the original text that characters ``[start, end)`` come from: (start, end, text)."""
        parts = [part for _, part in self._kept.parts_of((Span(start, end),))]
        pieces = self._kept.within(parts)
        return tuple((*span, self._kept.text[slice(*part)]) for part, (_, span, _) in zip(parts, pieces, strict=True))


class _FoldedTexts:
    """Consecutive texts, joined with single spaces between all words."""

    def __init__(self, texts: Sequence[str]) -> None:
        pieces = [Piece(number, Span(0, len(text)), _BETWEEN) for number, text in enumerate(texts)]
        self._joined = Document.of(pieces, texts)
        joined = self._joined.text
        words = [match.span() for match in _WORD.finditer(joined)]
        self._folded = " ".join(joined[start:end] for start, end in words)
        self._begins = [start for start, _ in words]
        self._folded_begins = list(accumulate((end - start + 1 for start, end in words[:-1]), initial=0))

    def find(self, parts: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
        """Yield each occurrence of a single part, or the first occurrence of several parts in order."""
        if len(parts) == 1:
            yield from ([(start, start + len(parts[0]))] for start in places(parts[0], self._folded))
            return
        ranges: list[tuple[int, int]] = []
        for part in parts:
            start = self._folded.find(part, ranges[-1][1] if ranges else 0)
            if start < 0:
                return
            ranges.append((start, start + len(part)))
        if ranges:
            yield ranges

    def places(self, start: int, end: int) -> Iterator[Place]:
        """Return the place in each text that a range of the folded text covers."""
        covered = Span(self._joined_offset(start), self._joined_offset(end - 1) + 1)
        return ((number, *span) for number, span, _ in self._joined.within([covered]))

    def _joined_offset(self, folded_offset: int) -> int:
        word = bisect_right(self._folded_begins, folded_offset) - 1
        return self._begins[word] + folded_offset - self._folded_begins[word]
