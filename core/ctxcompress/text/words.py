"""Splitting text into words, and turning words into the terms that a query and a passage can share."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, filterfalse, pairwise

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.stems import (
    ACCENTED,
    OtherStems,
    fold,
    is_plain,
    is_varied,
    keeps_beginnings,
    kept_beginning,
    lower_case,
    other_stems,
    stemmer,
    without_accents,
)

__all__ = ["WITHOUT_SPACES", "WORD", "Terms", "has_unspaced", "split_each", "split_unspaced", "split_words"]

_ALPHABETIC_UNSPACED = r"\u0e00-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff\u1000-\u103f\u104a-\u109f\u1780-\u17df\u17ea-\u17ff"
WITHOUT_SPACES = _ALPHABETIC_UNSPACED + r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
"""Scripts without spaces between words (Thai, Lao, Myanmar, Khmer, kana of both widths, Han), for a set in a regular
expression. Their digits are excluded: a number is a word."""
_UNSPACED = WITHOUT_SPACES + r"\uac00-\ud7af"
"""The same scripts and Hangul, whose words have particles that no stemmer here removes."""
# Marks that are parts of words although Python's \w excludes them: combining accents, Hebrew and Arabic points,
# vowel signs of Indic and other scripts (not the danda, which is punctuation), joiners.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0897-\u08ff"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u200c\u200d"
    r"\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u135d-\u135f\u1712-\u1734\u1752-\u1773"
    r"\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37"
    r"\u1cd0-\u1cd2\u1cd4-\u1dff\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\ua66f-\ua672\ua674-\ua67d\ua69e-\ua6f1"
    r"\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d"
    r"\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea\uabec\uabed\ufb1e\ufe20-\ufe2f"
)
WORD = lazy_regex(r"\w+")
# Matches the characters for which \w+ is not enough. Negating the others, the most common ones first, is faster.
_BEYOND_SIMPLE = lazy_regex(
    r"[^\x00-\u02ff\u2000-\u200b\u200e-\u2cdf\u0370-\u0482\ud7b0-\uf8ff\ufb1f-\ufe1f\ufe30-\uff65\uffa0-\U0001ffff"
    r"\U000323b0-\U0010ffff]"
)
_MARKED = lazy_regex(rf"[\w{_MARKS}]+")
# No character is in both _UNSPACED and _MARKS.
_MIXED = lazy_regex(
    rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]++(?:[{_MARKS}]++[^\W{_UNSPACED}]*+)*+|[{_MARKS}]++(?:[^\W{_UNSPACED}]++[{_MARKS}]*+)*+"
)
_UNSPACED_CHARACTER = lazy_regex(rf"[{_UNSPACED}]")
_SPECIAL = lazy_regex(rf"[{_UNSPACED}{ACCENTED}]")
_LONE_HAN = lazy_regex(r"(?<=[\u3040-\u30ff])[\u3400-\u9fff](?![\u3400-\u9fff])|^[\u3400-\u9fff](?=[\u3040-\u30ff])")
_ALPHABETIC = lazy_regex(rf"[{_ALPHABETIC_UNSPACED}]")
_PART = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def split_words(text: str) -> list[str]:
    """Return the words of `text` in order, as they are written.

    Combining marks stay in their words. A run of a script without spaces between words (Chinese, Japanese, Thai, ...)
    is one word. Latin words and numbers in it are words of their own.
    """
    return word_pattern(text).findall(text)


def word_pattern(text: str) -> re.Pattern[str]:
    """Return what finds the words of `text` and of its parts."""
    if text.isascii() or not _BEYOND_SIMPLE.search(text):
        return WORD
    return _MIXED if _UNSPACED_CHARACTER.search(text) else _MARKED


def has_unspaced(text: str) -> bool:
    """Return whether `text` has a character of a script without spaces between words."""
    return not text.isascii() and _UNSPACED_CHARACTER.search(text) is not None


def split_unspaced(text: str) -> list[str]:
    """Return the words of `text` like `split_words`, but split scripts without spaces into single characters."""
    if not has_unspaced(text):
        return split_words(text)
    return [part for word in split_words(text) for part in (word if _UNSPACED_CHARACTER.match(word) else (word,))]


class Terms:
    """A converter from the words of one language to terms.

    Terms are in lower case, in one spelling, without accents and stemmed if the language has a stemmer. An identifier
    also gives its parts. Unspaced scripts give pairs of characters, those of South-East Asia groups of three.
    """

    def __init__(self, language: str) -> None:
        self._stem = stemmer(language)
        self.other = other_stems(language)
        """Finds alternatives to a term; None in a language without any."""
        self._lower = lower_case(language)
        self._language = language

    def of_words(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return word -> its terms for every distinct word: one, or the whole and the parts of an identifier."""
        distinct = list(dict.fromkeys(words))
        lowered = list(map(self._lower, distinct))
        spelled, joined = lowered, "".join(lowered)
        if not joined.isascii() and is_varied(joined):
            spelled = [low if low.isascii() else fold(low) or low for low in lowered]
        return {
            word: (stem,)
            if is_plain(word, low) and (stem.isascii() or not _SPECIAL.search(stem))
            else self._of_special(word, low, stem)
            for word, low, stem in zip(distinct, lowered, self._stem(spelled), strict=True)
        }

    def matching(self, words: Collection[str], wanted: Collection[str]) -> dict[str, list[int]]:
        """Return word -> positions in `wanted` of its terms, for every word that has a wanted term.

        This gives the result of a search through `of_words` at a fraction of the cost, because the first letters rule
        out most words. There are two differences. In unspaced scripts a wanted term is found anywhere in a longer
        word, and overlapping occurrences count once. A term that is not found is searched by its alternatives (see
        `other_stems`).
        """
        number = {term: index for index, term in enumerate(wanted)}
        found: dict[str, list[int]] = {}
        if has_unspaced("".join(filterfalse(str.isascii, words))):
            unspaced = dict.fromkeys(filter(_UNSPACED_CHARACTER.match, words))
            found, words = _with_grams(number, list(unspaced)), list(filterfalse(unspaced.__contains__, words))
        if self.other:
            return found | self._matching_other(words, number, self.other)
        for word, terms in self.of_words(self._like(wanted, words)).items():
            hits = [number[term] for term in terms if term in number]
            if hits:
                found[word] = hits
        return found

    def _like(self, wanted: Iterable[str], words: Collection[str]) -> Collection[str]:
        """Return the words that begin like a wanted term, and all that have parts or other characters than ASCII."""
        if not keeps_beginnings(self._language):
            return words
        beginnings = tuple({kept_beginning(term, self._language) for term in wanted})
        lowered = "\n".join(words).lower().split("\n")  # all at once, which is several times as fast as word by word
        if len(lowered) != len(words):
            return words
        return [
            word
            for word, low in zip(words, lowered, strict=True)
            if low.startswith(beginnings) or not (low.isascii() and is_plain(word, low))
        ]

    def _matching_other(
        self, words: Iterable[str], number: Mapping[str, int], other: OtherStems
    ) -> dict[str, list[int]]:
        """Return `matching` for a language whose stems have alternatives.

        A wanted term matches if it is the term of the word, contains it or is contained in it.
        """
        parts: dict[str, int] = {}  # part -> the first wanted term that has it: more would make many long words slow
        for wanted, index in number.items():
            for part in other(wanted):
                parts.setdefault(part, index)
        same = {**parts, **number}
        found: dict[str, list[int]] = {}
        for word, terms in self.of_words(words).items():
            for term in terms:
                if term in same:
                    found.setdefault(word, []).append(same[term])
                elif hits := [number[part] for part in other(term) if part in number]:
                    found.setdefault(word, []).extend(hits)
        return found

    def _of_special(self, word: str, low: str, stem: str) -> tuple[str, ...]:
        if _UNSPACED_CHARACTER.match(word):
            return _grams(unicodedata.normalize("NFKC", word))
        parts = (
            []
            if is_plain(word, low)
            else [self._lower(part) for part in _PART.findall(word if word.isascii() else fold(word))]
        )
        of_parts = self._stem(parts) if len(parts) > 1 else ()
        return tuple(map(without_accents, (stem, *of_parts)))


def _with_grams(number: Mapping[str, int], words: Sequence[str]) -> dict[str, list[int]]:
    """Return word -> numbers of the wanted terms that it contains, for words of unspaced scripts."""
    joined = unicodedata.normalize("NFKC", "\n".join(("", *words)))
    folded = joined.split("\n")[1:]
    hits: dict[int, list[int]] = {}
    for gram in filter(_UNSPACED_CHARACTER.match, number):
        for line in _lines_with(gram, joined):
            hits.setdefault(line, []).extend([number[gram]] * folded[line].count(gram))
    return {words[line]: hits[line] for line in sorted(hits)}


def _lines_with(piece: str, text: str) -> Iterator[int]:
    """Yield the numbers of the lines that have the piece. Each line has a line break before it."""
    at, number, counted = text.find(piece), -1, 0
    while at >= 0:
        number += text.count("\n", counted, at + 1)
        yield number
        counted = at + 1
        following = text.find("\n", counted)
        at = text.find(piece, following) if following >= 0 else -1


def _grams(word: str) -> tuple[str, ...]:
    """Return the pairs of characters of an unspaced word, or groups of three where a syllable takes several.

    A Chinese character alone among kana is added as a term of its own, because it is a word that would otherwise occur
    only together with the particle after it.
    """
    size = 3 if _ALPHABETIC.match(word) else 2
    grams = [word[i : i + size] for i in range(len(word) - size + 1)] or [word]
    return (*grams, *_LONE_HAN.findall(word))


_BETWEEN = "\0"
_BLANKED = re.sub(rb"[^\w\x00]", b" ", bytes(range(256)))
"""A table for `bytes.translate` that replaces every byte by a space, except those of ASCII words and `_BETWEEN`."""
_AT_ONCE = 1 << 17
"""About how many characters of texts are split at once."""
_BROKEN = lazy_regex(r"\b([^\W\d_]{2,40}+)[-\u2010\u00ad][ \t]*+\r?\n[ \t>]*+([^\W\d_]{2,40}+)")
"""A word that is divided at a line end."""
_MAY_BE_BROKEN = lazy_regex(r"\n(?<=[-\u2010\u00ad \t\r]\n)")
"""A line end before which a hyphen may stand: few texts have one, and it is found much faster than the word."""


_SPACED = lazy_regex(r"\b(?:[^\W\d_] ){4,}[^\W\d_]\b")
"""A word with a space after each letter, as some headings are set."""
_MAY_BE_SPACED = lazy_regex(r" \w \w \w ")
"""A part of it, which is found much faster."""


def split_each(texts: Sequence[str]) -> list[Sequence[str]]:
    """Return `split_words` of each text, in less than half the time, because many ASCII texts are split at once.

    Their words are tuples rather than lists, because the garbage collector scans lists repeatedly. In a large input
    equal words are one object: otherwise words would take ten times the memory of the texts. A word that a hyphen
    divides at a line end is there as a whole, too, as is a word whose letters are spaced.
    """
    every = _BETWEEN.join(texts)  # which is searched once
    if _MAY_BE_BROKEN.search(every):
        texts = [_BROKEN.sub(r"\1\2 \1-\2", text) if _MAY_BE_BROKEN.search(text) else text for text in texts]
    if _MAY_BE_SPACED.search(every):
        texts = [_SPACED.sub(_with_joined, text) if _MAY_BE_SPACED.search(text) else text for text in texts]
    if sum(map(len, texts)) <= _AT_ONCE:
        return _split_together(texts)
    known: dict[str, str] = {}
    found: list[Sequence[str]] = []
    for start, end in pairwise(_bounds(texts)):
        found += [tuple(map(known.setdefault, words, words)) for words in _split_together(texts[start:end])]
    return found


def _with_joined(found: re.Match[str]) -> str:
    return f"{found[0]} {found[0].replace(' ', '')}"


def _bounds(texts: Sequence[str]) -> list[int]:
    """Return where the texts are parted into groups of about so many characters, each with one text at least."""
    groups = [end // _AT_ONCE for end in accumulate(map(len, texts))]
    return [0, *(number + 1 for number, (left, right) in enumerate(pairwise(groups)) if left < right), len(texts)]


def _split_together(texts: Sequence[str]) -> list[Sequence[str]]:
    plain = list(filter(str.isascii, texts))
    if 2 * len(plain) < len(texts):
        return list(map(word_pattern(_BETWEEN.join(texts)).findall, texts))
    joined = _BETWEEN.join(plain)
    if joined.count(_BETWEEN) >= len(plain):  # a text contains the separator, or there is none
        return list(map(split_words, texts))
    parts = map(tuple, map(str.split, joined.encode().translate(_BLANKED).decode().split(_BETWEEN)))
    return [next(parts) if text.isascii() else split_words(text) for text in texts]
