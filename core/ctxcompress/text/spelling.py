"""The spellings of a word: which of them is the most common one, and the letters without accents."""

import unicodedata

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["fold", "fold_lines", "is_plain", "is_varied", "plain_lines", "without_accents", "without_arabic_marks"]

# Arabic vowel points and the tatweel.
_ARABIC_MARKS = r"\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
_ARABIC_MARK = lazy_regex(f"[{_ARABIC_MARKS}]++")
# The same, the Indic nukta, the joiners.
_OPTIONAL_MARKS = rf"{_ARABIC_MARKS}\u093c\u200c\u200d"
_OPTIONAL_MARK = lazy_regex(f"[{_OPTIONAL_MARKS}]")
# Accents that show where a Russian word is stressed.
_STRESS = lazy_regex(r"(?<=[\u0400-\u04ff])[\u0300\u0301]")
# A nasal before a consonant is written as a letter or as a dot above: हिन्दी, हिंदी.
_NASAL = lazy_regex(r"[ङञणनम]\u094d(?=[क-ह])")
_DIGIT_ZEROS = "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u1040\u17e0"
_LETTERS = str.maketrans(
    {"ё": "е", "Ё": "Е", "\u0901": "\u0902"}
    | {chr(ord(zero) + digit): str(digit) for zero in _DIGIT_ZEROS for digit in range(10)}
)
_DIGITS = "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in _DIGIT_ZEROS)
_VARIED = (
    rf"{_OPTIONAL_MARKS}{_DIGITS}ёЁ\u0300-\u036f\u0901\u094d\u0958-\u095f\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc"
    r"\uff00-\uff9f"
)
_FOLDED = lazy_regex(f"[{_VARIED}]")
_FOLDED_LINE = lazy_regex(rf"(?<![^\n])[^\n{_VARIED}]*+[{_VARIED}][^\n]*+")
_ACCENTED_LATIN = lazy_regex(r"[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff\ufb00-\ufb06\uff00-\uff5f]")
_COMBINING = lazy_regex(r"[\u0300-\u036f]")


def fold(word: str) -> str:
    """Return `word` in its most common spelling: composed letters of normal width, ASCII digits, no optional marks.

    The result may be empty.
    """
    if not is_varied(word):
        return word
    composed = _STRESS.sub("", unicodedata.normalize("NFKC", word))
    return _NASAL.sub("\u0902", _OPTIONAL_MARK.sub("", composed)).translate(_LETTERS)


def fold_lines(lines: str) -> str:
    """Return the lines, each with one word, in their most common spelling. A word of optional marks stays as it is."""
    return _FOLDED_LINE.sub(lambda line: fold(line[0]) or line[0], lines) if is_varied(lines) else lines


def is_varied(text: str) -> bool:
    """Return whether `fold` may change `text`."""
    return _FOLDED.search(text) is not None


def is_plain(word: str, low: str) -> bool:
    """Return whether a word has no parts: no underscore, and either no capital letter after the first or only
    capitals."""
    return (word == low or word[1:] == low[1:] or word.isupper()) and "_" not in word


def without_accents(term: str) -> str:
    """Return `term` without the accents of Latin letters, if it has other letters than accents."""
    if not _ACCENTED_LATIN.search(term):
        return term
    return unicodedata.normalize("NFC", _decomposed(term)) or term


def plain_lines(lines: str) -> str:
    """Return the lines, each with one word, in their most common spelling and without accents. This makes some letters
    equal that `without_accents` does not: it is for comparing words with stems roughly and fast."""
    try:
        western = lines.encode(_WESTERN)
    except UnicodeEncodeError:
        return _decomposed(fold_lines(lines))
    return western.translate(_WESTERN_PLAIN).decode(_WESTERN)


def without_arabic_marks(text: str) -> str:
    """Return `text` in composed letters of normal width, without vowel points. A hamza that is written as a mark is one
    of them."""
    return unicodedata.normalize("NFKC", _ARABIC_MARK.sub("", text))


def _decomposed(text: str) -> str:
    """Return `text` in single letters without accents, if it has accented Latin letters."""
    return _base_letters(text) if _ACCENTED_LATIN.search(text) else text


def _base_letters(text: str) -> str:
    return _COMBINING.sub("", unicodedata.normalize("NFKD", text)).replace("ı", "i")


_WESTERN = "iso8859-15"
"""The encoding of the letters of Western languages, a byte each. `fold` changes none of them. It lacks the signs that
several characters stand for, such as ½."""
_WESTERN_PLAIN = bytes(
    ord(base) if (base := _base_letters(letter)).isascii() and len(base) == 1 else byte
    for byte, letter in enumerate(bytes(range(256)).decode(_WESTERN))
)
