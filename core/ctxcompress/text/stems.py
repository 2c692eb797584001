"""Stemmers: what makes the forms of a word one, language by language."""

from collections.abc import Callable, Sequence

import Stemmer

from ctxcompress.text import arabic

__all__ = ["OtherStems", "Stem", "keeps_beginnings", "lower_case", "other_stems", "stemmer"]

_SNOWBALL = {
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
_WITH_ENGLISH = frozenset(("ar", "el", "fa", "he", "hi", "hy", "ja", "ko", "ne", "ru", "ta", "th", "yi", "zh"))
"""Written in other letters: what is in Latin ones is a name or English."""
_TWICE = frozenset(("de", "es", "ru"))
"""Stemmed again, which joins more forms of a word (Spanish "ciudades" and "ciudad") and hardly any other words."""
_COMPOUNDING = frozenset(("da", "de", "nl", "no", "sv"))
_LEAST_PART = 5
_LEAST_REST = 4
_LONGEST_COMPOUND = 50
_TURKISH_LETTERS = 5
"""Of a Turkish stem: its first five letters do as well as a lemmatizer (Can et al., "Information Retrieval on Turkish
Texts", JASIST 2008), where Snowball's stemmer leaves the forms of verbs apart."""
_CHANGES_BEGINNINGS = frozenset(("fa", "ga", "id", "nl", "sr", "tr"))

Stem = Callable[[Sequence[str]], list[str]]
"""From words in lower case to their stems, one each."""
OtherStems = Callable[[str], Sequence[str]]


def stemmer(language: str) -> Stem:
    """The stemmer of a language; one that changes nothing, where there is none."""
    stem = _own_stemmer(language)
    if language not in _WITH_ENGLISH:
        return stem
    english = _snowball("en")
    return lambda words: english(stem(words))  # neither touches the letters of the other


def other_stems(language: str) -> OtherStems | None:
    """What else the stem of a word may be: looked for where the stem itself is not found."""
    if language == "ar":
        return arabic.without_particle
    return _compound_parts if language in _COMPOUNDING else None


def keeps_beginnings(language: str) -> bool:
    """Whether every ASCII word begins as all of its stems do."""
    return language not in _CHANGES_BEGINNINGS and language not in _COMPOUNDING


def lower_case(language: str) -> Callable[[str], str]:
    """How words are put in lower case: in Turkish, I is the capital of ı, not of i."""
    return _turkish_lower if language == "tr" else str.lower


def _own_stemmer(language: str) -> Stem:
    if language == "ar":
        return arabic.stem_words
    if language == "tr":
        turkish = _snowball("tr")
        return lambda words: [stem[:_TURKISH_LETTERS] if stem.isalpha() else stem for stem in turkish(words)]
    stem = _snowball(language) if language in _SNOWBALL else list
    return (lambda words: stem(stem(words))) if language in _TWICE else stem


def _snowball(language: str) -> Stem:
    stem: Stem = Stemmer.Stemmer(_SNOWBALL[language]).stemWords
    return stem


def _turkish_lower(word: str) -> str:
    return word.replace("İ", "i").replace("I", "ı").lower()


def _compound_parts(stem: str) -> list[str]:
    """Every beginning and end of a long word that could be a word of its own."""
    if not _LEAST_PART + _LEAST_REST <= len(stem) <= _LONGEST_COMPOUND:
        return []
    beginnings = [stem[:size] for size in range(_LEAST_PART, len(stem) - _LEAST_REST + 1)]
    return beginnings + [stem[start:] for start in range(_LEAST_REST, len(stem) - _LEAST_PART + 1)]
