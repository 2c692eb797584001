"""What a text has of what a question needs: evidence, documents, answers, and the share of its tokens that are those.

Texts are compared without regard to white space; answers also without regard to case, punctuation and articles, as
SQuAD compares them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxcompress.apps.evaluation.questions import Question
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.sentences import split_sentences
from ctxcompress.text.language import detect_language
from ctxcompress.text.words import has_unspaced

__all__ = ["Needs", "folded", "normalized"]

_SIGNS = lazy_regex(r"[^\w\s]|_")
_ARTICLES = lazy_regex(r"\b(?:a|an|the)\b")
_SHORTEST = 20
"""Characters of a sentence that tell a document: shorter ones, such as headings, stand in others too."""
_JUDGEMENTS = frozenset(("yes", "no"))
"""Answers that no text has as such."""


def folded(text: str) -> str:
    """Return the text with one space for each stretch of white space."""
    return " ".join(text.split())


def normalized(text: str) -> str:
    """Return the words of an answer as SQuAD compares them."""
    return " ".join(_ARTICLES.sub(" ", _SIGNS.sub(" ", text.lower())).split())


@dataclass(frozen=True, slots=True)
class _Piece:
    """An evidence, or a relevant document, with folded white space."""

    given: str
    text: str
    sentences: tuple[str, ...]
    is_document: bool

    @classmethod
    def of(cls, given: str, *, is_document: bool) -> "_Piece":
        text = folded(given)
        ends = split_sentences(text, 0, len(text), detect_language(text))
        sentences = (text[start:end].strip() for start, end in pairwise([0, *ends]))
        return cls(given, text, tuple(each for each in sentences if len(each) >= _SHORTEST) or (text,), is_document)

    def is_in(self, result: str) -> bool:
        if self.text in result:
            return True
        return self.is_document and any(sentence in result for sentence in self.sentences)

    def places(self, result: str) -> Iterator[tuple[int, int]]:
        """Yield where it stands, or where its sentences do if it is not whole."""
        for text in (self.text,) if self.text in result else self.sentences:
            for found in re.finditer(re.escape(text), result):
                yield found.span()


@dataclass(frozen=True, slots=True)
class Needs:
    """What the results of a question must have."""

    pieces: tuple[_Piece, ...]
    answers: tuple[str, ...]
    """Normalized."""
    given: tuple[str, ...]
    """The answers as they were given."""

    @classmethod
    def of(cls, question: Question) -> "Needs":
        pieces = [_Piece.of(text, is_document=False) for text in dict.fromkeys(question.evidence)]
        pieces += [_Piece.of(text, is_document=True) for text in dict.fromkeys(question.documents)]
        answers = {normalized(answer): answer for answer in question.answers if normalized(answer)}
        if _JUDGEMENTS & {*answers}:
            answers = {}
        return cls(tuple(pieces), tuple(answers), tuple(answers.values()))

    @property
    def count(self) -> int:
        """The number of pieces: the evidence and documents, or else the answer."""
        return len(self.pieces) or min(len(self.answers), 1)

    def missing(self, text: str) -> tuple[str, ...]:
        """Return the pieces that a text lacks, as they were given."""
        if not self.pieces:
            return self.given[:1] if self.has_answer(text) is False else ()
        result = folded(text)
        return tuple(piece.given for piece in self.pieces if not piece.is_in(result))

    def has_answer(self, text: str) -> bool | None:
        """Return whether a text has one of the answers, in whole words where there are any; None without answers."""
        if not self.answers:
            return None
        result = f" {normalized(text)} "
        return any((answer if has_unspaced(answer) else f" {answer} ") in result for answer in self.answers)

    def evidence(self, missing: Sequence[str]) -> float | None:
        """Return the share of the evidence and documents that are not missing; None if there are none."""
        return 1 - len(missing) / len(self.pieces) if self.pieces else None

    def precision(self, text: str, count: Callable[[str], int]) -> float | None:
        """Return the share of a text's tokens in evidence and documents, or in their sentences where they are not
        whole; None without any, or without text."""
        result = folded(text)
        if not self.pieces or not result:
            return None
        inside = sum(
            count(result[start:end])
            for start, end in _joined(place for piece in self.pieces for place in piece.places(result))
        )
        return min(inside / max(count(result), 1), 1.0)


def _joined(places: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
