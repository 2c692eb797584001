"""From text to words, and from words to the terms that a query and a passage can share."""

import re
import unicodedata
from collections.abc import Iterable

import Stemmer

__all__ = ["Terms", "split_words"]

# Scripts written without spaces between words (Thai, Lao, Myanmar, Khmer, kana, Han), and Hangul,
# whose words carry particles that no stemmer here removes.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U000323af"
)
# Marks that Python's \w leaves out although they are parts of words: combining accents, Hebrew and
# Arabic points, the vowel signs of the Indic scripts (their danda is punctuation), the joiners.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0897-\u08ff"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
_SIMPLE = re.compile(r"\w+")
_BEYOND_SIMPLE = re.compile(r"[\u0300-\u036f\u0483-\u1fff\u200c\u200d\u2e80-\ud7af\uf900-\ufaff\U00020000-\U000323af]")
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\w{_MARKS}])+")
_STARTS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_COMBINING = re.compile(r"[\u0300-\u036f]")

_STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def split_words(text: str) -> list[str]:
    """The words of `text`, in order, as they are written.

    Combining marks stay in their words. A run of a script without spaces between words (Chinese,
    Japanese, Thai, ...) comes as one word, apart from the Latin words and numbers in it.
    """
    if text.isascii() or not _BEYOND_SIMPLE.search(text):
        return _SIMPLE.findall(text)
    return _WORD.findall(text)


class Terms:
    """Turns words into terms: lower case, without accents, stemmed; identifiers also in parts;
    unspaced scripts as pairs of characters.

    Stemming is Snowball's, for the languages that it has; other languages are left unstemmed.
    """

    __slots__ = ("_stem",)

    def __init__(self, language: str) -> None:
        algorithm = _STEMMERS.get(language)
        self._stem = Stemmer.Stemmer(algorithm).stemWords if algorithm else None

    def of_words(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """word -> its terms, for every distinct word. A plain word has one, an identifier the whole and its parts."""
        distinct = list(dict.fromkeys(words))
        lowered = [word.lower() for word in distinct]
        stems = self._stem(lowered) if self._stem else lowered
        terms = {
            word: (stem,) if stem.isascii() else self._of_foreign(word, stem)
            for word, stem in zip(distinct, stems, strict=True)
        }
        for word, low in zip(distinct, lowered, strict=True):
            if word != low and not word[1:].islower() or "_" in word:
                self._add_parts(word, terms)
        return terms

    def _of_foreign(self, word: str, stem: str) -> tuple[str, ...]:
        if _STARTS_UNSPACED.match(word):
            folded = unicodedata.normalize("NFKC", word)
            return tuple(folded[i : i + 2] for i in range(len(folded) - 1)) or (folded,)
        plain = _COMBINING.sub("", unicodedata.normalize("NFKD", stem)).replace("ı", "i")
        return (unicodedata.normalize("NFC", plain),)

    def _add_parts(self, word: str, terms: dict[str, tuple[str, ...]]) -> None:
        parts = [part.lower() for part in _PART.findall(word)]
        if len(parts) > 1:
            stems = self._stem(parts) if self._stem else parts
            terms[word] = (*terms[word], *stems)
