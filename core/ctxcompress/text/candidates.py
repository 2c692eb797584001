"""Finds the words that can have a wanted stem, without stemming them.

Stemming a word costs ten times as much as finding out that it cannot have a wanted stem. So the words are joined to one
text, and the text is searched for each wanted stem. It is searched for an outline of the stem: the part of it that
every word with this stem has.

- English: the stem, except perhaps for its last letter, begins the word.
- Languages that change some of the last letters: all letters of the stem except the last two, and at least two, begin
  the word, both without accents.
- Compounding languages: the stem begins the word. A long stem may stand anywhere in it, because it may be a part.
- Arabic: particles before the stem are removed, endings, and long vowels inside of it. So the stem without long vowels
  stands in the word without long vowels.
- All others: the first letter, or nothing that is known.

An outline may find too many words, never too few. A word with parts (`getValue`) is always found.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, count
from operator import ne

from ctxcompress.text.stems import (
    arabic_consonants,
    fold_lines,
    is_plain,
    keeps_beginnings,
    other_stems,
    plain_lines,
    stems_like_english,
    without_arabic_marks,
)

__all__ = ["Candidates", "lines_with"]

_KEEPS_TWO = frozenset(("bg", "ca", "cs", "es", "fr", "hu", "it", "pl", "pt", "ro", "ru", "uk"))
"""Languages whose stems begin with two letters of the word, or all it has, and differ from it in two at the end."""
_CHANGED_AT_END = 2
_COMPOUNDING = frozenset(("da", "de", "no", "sv"))
"""Languages with compounds whose stems begin the word. Dutch has prefixes that are removed."""
_LEAST_INSIDE = 5
"""The least letters of a stem that is a part of a compound."""
_CHANGED_LETTERS = ("i", "e", "l", "y")
"""The last letters of English stems that can differ from what the word has at this place."""

Pieces = Callable[[Sequence[str], Sequence[str]], Iterable[str]]
"""A function from wanted stems and their outlines to what a word with one of these stems has. A line break at its
beginning stands for the beginning of the word."""


@dataclass(frozen=True, slots=True)
class _Outline:
    """What the words and the stems of a language have in common."""

    of_lines: Callable[[str], str]
    pieces: Pieces

    def candidates(self, words: Sequence[str], stems: Sequence[str]) -> list[str]:
        """Return the words that can have one of the stems, in order."""
        if not words:
            return []
        joined = "\n".join((*stems, *words))
        if joined.count("\n") >= len(stems) + len(words):  # no word of a text has a line break
            return list(words)
        lowered = joined.lower()
        *outlines, text = self.of_lines(lowered).split("\n", len(stems))
        numbers = set(_with_parts(words, lowered.split("\n")[len(stems) :]) if lowered != joined else ())
        if "_" in joined:
            numbers.update(number for number, word in enumerate(words) if "_" in word)
        text = f"\n{text}"
        for piece in set(self.pieces(stems, outlines)):
            numbers.update(lines_with(piece, text))
        return [words[number] for number in sorted(numbers)]


class Candidates:
    """A search for the words of one language that can have wanted stems."""

    __slots__ = ("_is_english", "_keeps_beginnings", "_other", "_outline")

    def __init__(self, language: str) -> None:
        self._outline = _outline(language)
        self._other = other_stems(language)
        self._is_english = stems_like_english(language)
        self._keeps_beginnings = keeps_beginnings(language)

    def among(self, plain: Sequence[str], others: Sequence[str], wanted: Collection[str]) -> list[str]:
        """Return the words that can match one of the wanted stems, or be matched by an alternative to it.

        plain: words of ASCII characters.
        others: words with others, but none of unspaced scripts.
        """
        if self._outline is None:
            return [*(self._beginning_like(wanted, plain) if plain else ()), *others]
        parts = (part for stem in wanted for part in self._other(stem)) if self._other else ()
        return self._outline.candidates([*plain, *others], list(dict.fromkeys((*wanted, *parts))))

    def _beginning_like(self, wanted: Collection[str], words: Sequence[str]) -> Sequence[str]:
        """Return the ASCII words that begin like a wanted term, and those with parts that may."""
        if not self._keeps_beginnings:
            return words
        if self._is_english:
            return _beginning_with(_english_beginnings(wanted), words)
        beginnings = {term[:1] for term in wanted}  # other languages may keep only one letter
        joined = " ".join(words)
        lowered = joined.lower().split(" ")  # all at once, which is several times as fast as word by word
        parts = "_" in joined
        return [
            word
            for word, low in zip(words, lowered, strict=True)
            if low[:1] in beginnings
            or (word != low and word[1:] != low[1:] and not word.isupper())
            or (parts and "_" in word)
        ]


def _outline(language: str) -> _Outline | None:
    if language == "ar":
        return _Outline(_arabic_letters, _consonants)
    if language in _COMPOUNDING:
        return _Outline(_compound_letters, _beginnings_or_parts)
    return _Outline(plain_lines, _first_letters) if language in _KEEPS_TWO else None


def _arabic_letters(lines: str) -> str:
    return plain_lines(arabic_consonants(fold_lines(without_arabic_marks(lines))))


def _consonants(_: Sequence[str], outlines: Sequence[str]) -> Iterable[str]:
    return _english_beginnings(outlines)


def _first_letters(_: Sequence[str], outlines: Sequence[str]) -> Iterable[str]:
    for outline in outlines:
        yield "\n" + outline[: max(2, len(outline) - _CHANGED_AT_END)]
        if outline[1:2] == "i":  # English "lie" of "lying"
            yield f"\n{outline[0]}y"


def _compound_letters(lines: str) -> str:
    """Return the words without what German writes in two ways: "ue" or "ü", "ss" or "ß"."""
    return plain_lines(lines).replace("ß", "ss").replace("e", "")


def _beginnings_or_parts(stems: Sequence[str], outlines: Sequence[str]) -> Iterable[str]:
    return (
        outline if len(stem) >= _LEAST_INSIDE else f"\n{outline}" for stem, outline in zip(stems, outlines, strict=True)
    )


def _with_parts(words: Sequence[str], lowered: Sequence[str]) -> Iterable[int]:
    """Return the numbers of the words with capital letters inside."""
    capitalized = compress(count(), map(ne, words, lowered))
    return (number for number in capitalized if not is_plain(words[number], lowered[number]))


def lines_with(piece: str, text: str) -> Iterable[int]:
    """Return the numbers of the lines that have the piece. Each line has a line break before it."""
    at, number, counted = text.find(piece), -1, 0
    while at >= 0:
        number += text.count("\n", counted, at + 1)
        yield number
        counted = at + 1
        following = text.find("\n", counted)
        at = text.find(piece, following) if following >= 0 else -1


def _english_beginnings(stems: Iterable[str]) -> set[str]:
    """Return how words with these stems begin: like the stem, except perhaps for its last letter ("happi" of "happy",
    "hope" of "hoping", "probabl" of "probability", "sky" of "skies"). "lie" of "lying" and the like are the only
    others."""
    beginnings: set[str] = set()
    for stem in stems:
        beginnings.add(stem[: max(2, len(stem) - 1)] if stem.endswith(_CHANGED_LETTERS) else stem)
        if stem[1:2] == "i":
            beginnings.add(stem[0] + "y")
    return beginnings


def _beginning_with(beginnings: Iterable[str], words: Iterable[str]) -> list[str]:
    """Return the ASCII words that begin like this, in any case, and those with parts that contain it."""
    joined = " ".join(words)
    lowered = joined.lower()
    found: list[str] = []
    for beginning in beginnings:
        at = lowered.find(beginning)  # in all words at once, which is several times as fast as word by word
        while at >= 0:
            start, end = lowered.rfind(" ", 0, at) + 1, lowered.find(" ", at)
            end = end if end >= 0 else len(joined)
            word = joined[start:end]
            if at == start or not is_plain(word, lowered[start:end]):
                found.append(word)
            at = lowered.find(beginning, end + 1)
    return found
