"""The texts that are scored and cut, and how their parts are parts of the passages.

A document is mostly one passage. Chunks that overlap make one document together, in which what they share stands once;
and paragraphs that another passage has are not in it.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from ctxcompress.data.passages import Span
from ctxcompress.data.spans import joined, stripped

__all__ = ["Document", "Piece", "Spans", "documents_as_they_are", "passages_of"]

Spans = dict[int, tuple[Span, ...]]
"""Number of a passage (or of a document) -> spans of its text, in order."""


class Piece(NamedTuple):
    """A part of a passage."""

    passage: int
    span: Span
    filler: str = ""
    """White space that stood before it where it was cut out, and that is in no passage."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text made of pieces of passages. The pieces of one passage are in its order, and next to each other."""

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]
    """Where each piece begins in the text."""
    is_passage: bool
    """Whether it is one passage, and all of it."""

    @classmethod
    def of(cls, pieces: Sequence[Piece], texts: Sequence[str]) -> "Document":
        """texts: of all passages."""
        parts = [filler + texts[passage][span.start : span.end] for passage, span, filler in pieces]
        whole = len(pieces) == 1 and len(parts[0]) == len(texts[pieces[0].passage])
        ends = accumulate(map(len, parts[:-1]), initial=0)
        starts = tuple(end + len(piece.filler) for end, piece in zip(ends, pieces, strict=True))
        return cls("".join(parts), tuple(pieces), starts, whole)

    def passage_at(self, offset: int) -> int:
        """The number of the passage that a character is of."""
        return self.pieces[bisect_right(self.starts, offset) - 1].passage

    def place(self, offset: int) -> int:
        """Where in the text of its passage a character is."""
        number = bisect_right(self.starts, offset) - 1
        span = self.pieces[number].span
        return min(span.start + offset - self.starts[number], span.end)

    def piece_end(self, offset: int) -> int:
        """Where in the text the piece ends that a character is of."""
        following = bisect_right(self.starts, offset)
        return self.starts[following] if following < len(self.starts) else len(self.text)

    def of_passages(self, spans: Iterable[Span]) -> Spans:
        """Passage number -> spans of the passages' texts that these spans of the document are.

        Where a passage is not all of the document, white space at the ends of what is of it is not included.
        """
        if self.is_passage:
            return {self.pieces[0].passage: tuple(spans)}
        parts: dict[int, list[Span]] = {}
        for start, end in spans:
            first = bisect_right(self.starts, start) - 1
            for (passage, span, _), begin in zip(self.pieces[first:], self.starts[first:], strict=True):
                if begin >= end:
                    break
                part = Span(max(start, begin), min(end, begin + span.end - span.start))
                if part.start < part.end:
                    parts.setdefault(passage, []).append(part)
        return {passage: found for passage, of in parts.items() if (found := self._shifted(stripped(of, self.text)))}

    def in_passage(self, end: int) -> Piece:
        """The passage that the character before `end` is of, and an empty span of its text: where that character
        ends."""
        number = bisect_right(self.starts, end - 1) - 1
        passage, span, _ = self.pieces[number]
        place = min(end + span.start - self.starts[number], span.end)
        return Piece(passage, Span(place, place))

    def _shifted(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """The spans as such of the passages' texts. None of them goes beyond a piece."""
        shifted = []
        for start, end in spans:
            number = bisect_right(self.starts, start) - 1
            shift = self.pieces[number].span.start - self.starts[number]
            shifted.append(Span(start + shift, end + shift))
        return joined(shifted)


def documents_as_they_are(texts: Sequence[str], numbers: Iterable[int] | None = None) -> list[Document]:
    """The passages with these texts, or those of them with these numbers, each as a document."""
    chosen = range(len(texts)) if numbers is None else numbers
    whole = {length: Span(0, length) for length in set(map(len, texts))}  # one for many small texts
    return [Document(texts[n], (Piece(n, whole[len(texts[n])]),), (0,), True) for n in chosen]


def passages_of(documents: Iterable[Document]) -> set[int]:
    """The numbers of the passages of which something is in these."""
    return {piece.passage for document in documents for piece in document.pieces}
