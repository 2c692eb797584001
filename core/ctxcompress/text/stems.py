"""Stemmers, language by language: one stem for all forms of a word."""

import re
from collections.abc import Callable, Iterable, Sequence

import Stemmer

__all__ = [
    "OtherStems",
    "Stem",
    "keeps_beginnings",
    "lower_case",
    "other_stems",
    "stemmer",
]

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
        return _without_arabic_particle
    return _compound_parts if language in _COMPOUNDING else None


def keeps_beginnings(language: str) -> bool:
    """Whether every ASCII word begins as all of its stems do."""
    return language not in _CHANGES_BEGINNINGS and language not in _COMPOUNDING


def lower_case(language: str) -> Callable[[str], str]:
    """How words are put in lower case: in Turkish, I is the capital of ı, not of i."""
    return _turkish_lower if language == "tr" else str.lower


def _own_stemmer(language: str) -> Stem:
    if language == "ar":
        return _arabic_stems
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


# Arabic: words without what is written on to them

_ARABIC = re.compile(r"[\u0620-\u064a\u0671-\u06d3]")
_LETTERS = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ی": "ي", "ؤ": "و", "ة": "ه", "ک": "ك"}
)
"""Written with and without hamza, with and without dots, by carelessness or by another keyboard."""
_PREFIX = re.compile(r"(?<![^\n])(?:(?:[وف]?لل|و?[بكف]?ال)(?=[^\n]{3})|و(?=[^\n]{4})|[وفبكل](?=[0-9]+(?![^\n])))")
"""The article and the particles before it, if three letters are left; "and" alone, if four are; any before a number."""
_ENDINGS = "|".join("هما تين تان يات يون يين تها ات ون ين ان وا ها هم هن كم نا يه ته ه ي ا ت".split())
_ENDING = re.compile(rf"(?<=[^\n]{{4}})(?:{_ENDINGS})(?![^\n])")
"""Of number, gender and case, and the pronouns, if four letters are left."""
_INNER_LONG_VOWEL = re.compile(r"(?<=[^\n])[اوي](?=[^\n])")
_FORMATIVES = "يتم"
"""Before the root: those of verbs in the present, and of what does, is done or where."""
_PARTICLES = "وفبكل"
_LEAST_ROOT = 3
_ROUNDS = 2


def _arabic_stems(words: Iterable[str]) -> list[str]:
    """Each word's stem, the word itself if it is not Arabic. Points are expected to be gone."""
    given = list(words)
    if not given:
        return []
    # All at once, a line each: a regular expression for each word costs more. "ﷺ" spelled out has spaces.
    joined = _PREFIX.sub("", "\n".join(given).translate(_LETTERS))
    for _ in range(_ROUNDS):
        joined = _ENDING.sub("", joined)
    roots = _INNER_LONG_VOWEL.sub("", joined).split("\n")
    return [
        _root(stem, root) if _ARABIC.match(word) else word
        for word, stem, root in zip(given, joined.split("\n"), roots, strict=True)
    ]


def _without_arabic_particle(stem: str) -> tuple[str, ...]:
    """The stem if its first letter is a particle ("for", "with", "as", "and"), which only another word can tell."""
    if stem[0] not in _PARTICLES or len(stem) <= _LEAST_ROOT:
        return ()
    rest = stem[1:]
    return (_root(rest, _INNER_LONG_VOWEL.sub("", rest)),)


def _root(stem: str, root: str) -> str:
    """The stem without long vowels inside, which is `root`, and without what is formed before, if enough is left."""
    if len(stem) <= _LEAST_ROOT:
        return stem
    if root[0] in _FORMATIVES and len(root) > _LEAST_ROOT:
        root = root[1:]
    return root if len(root) >= _LEAST_ROOT else stem
