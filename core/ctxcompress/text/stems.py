"""Words in one form: their spelling, and stemmers for each language with what else a stem can be."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence

import Stemmer

from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "ACCENTED",
    "OtherStems",
    "fold",
    "is_plain",
    "is_varied",
    "keeps_beginnings",
    "kept_beginning",
    "lower_case",
    "other_stems",
    "stemmer",
    "without_accents",
]

# Arabic vowel points and the tatweel.
_ARABIC_MARKS = r"\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
_HEBREW_POINTS = r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
# The same, the Indic nukta, the joiners.
_OPTIONAL_MARKS = rf"{_ARABIC_MARKS}{_HEBREW_POINTS}\u093c\u200c\u200d"
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
    r"\uff00-\uff9f\u2460-\u24ff\U0001d400-\U0001d7ff"
)
_FOLDED = lazy_regex(f"[{_VARIED}]")
ACCENTED = r"\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff\ufb00-\ufb06\uff00-\uff5f"
"""Latin letters with accents and of other widths, for a set in a regular expression."""
_ACCENTED_LATIN = lazy_regex(f"[{ACCENTED}]")
_COMBINING = lazy_regex(r"[\u0300-\u036f]")


def fold(word: str) -> str:
    """Return `word` in its most common spelling: composed letters of normal width, ASCII digits, no optional marks.

    The result may be empty.
    """
    if not is_varied(word):
        return word
    composed = _STRESS.sub("", unicodedata.normalize("NFKC", word))
    return _NASAL.sub("\u0902", _OPTIONAL_MARK.sub("", composed)).translate(_LETTERS)


def is_varied(text: str) -> bool:
    """Return whether `fold` may change `text`."""
    return _FOLDED.search(text) is not None


def is_plain(word: str, low: str) -> bool:
    """Return whether a word has no parts: no underscore, and no capital letter after the first, or only these."""
    return (word == low or word[1:] == low[1:] or word.isupper()) and "_" not in word


def without_accents(term: str) -> str:
    """Return `term` without the accents of Latin letters, if it has other letters than accents."""
    if not _ACCENTED_LATIN.search(term):
        return term
    bare = _COMBINING.sub("", unicodedata.normalize("NFKD", term)).replace("ı", "i")
    return unicodedata.normalize("NFC", bare) or term


_STEMMERS = """
    ca catalan, cs czech, da danish, de german, el greek, en english, es spanish, et estonian, eu basque, fa
    persian, fi finnish, fr french, ga irish, hi hindi, hu hungarian, hy armenian, id indonesian, it
    italian, lt lithuanian, ne nepali, nl dutch, no norwegian, pl polish, pt portuguese, ro romanian, ru
    russian, sr serbian, sv swedish, ta tamil, tr turkish, yi yiddish
"""
_SNOWBALL = dict(map(str.split, _STEMMERS.split(",")))
"""The code of a language -> the name of its stemmer."""
_WITH_ENGLISH = frozenset(("ar", "el", "fa", "he", "hi", "hy", "ja", "ko", "ne", "ru", "ta", "th", "yi", "zh"))
"""Languages without Latin letters. Latin words in their texts are names or English."""
_TWICE = frozenset(("de", "es", "ru"))
"""Languages whose words are stemmed twice. This joins more forms of a word (Spanish "ciudades" and "ciudad") and hardly
any unrelated words."""
_COMPOUNDING = frozenset(("da", "de", "nl", "no", "sv"))
_LEAST_PART, _LEAST_REST, _LONGEST_COMPOUND = 5, 4, 50
_TURKISH_LETTERS = 5
"""The length of Turkish stems. The first five letters work as well as a lemmatizer (Can et al., "Information Retrieval
on Turkish Texts", JASIST 2008), while Snowball's stemmer does not join the forms of verbs."""
_CHANGES_ENDS = frozenset(("bg", "ca", "cs", "en", "es", "fr", "hu", "it", "pl", "pt", "ro", "ru", "uk"))
"""Languages whose stems begin with all letters of the word, but for two at the end of the stem."""
_CHANGES_BEGINNINGS = frozenset(("fa", "ga", "id", "nl", "sr", "tr"))

Stem = Callable[[Sequence[str]], list[str]]
"""A function from lower-case words to their stems, one for each word."""
OtherStems = Callable[[str], Sequence[str]]
"""A function from a stem to the other stems that the word may have."""


def stemmer(language: str) -> Stem:
    """Return the stemmer of `language`, or one that changes nothing if there is none."""
    stem = _own_stemmer(language)
    if language not in _WITH_ENGLISH:
        return stem
    english = Stemmer.Stemmer("english").stemWord
    return lambda words: [english(word) if word.isascii() else word for word in stem(words)]


def other_stems(language: str) -> OtherStems | None:
    """Return the function that finds alternatives to a stem, for when the stem itself is not found."""
    if language == "ar":
        return _without_arabic_particle
    return _compound_parts if language in _COMPOUNDING else None


def keeps_beginnings(language: str) -> bool:
    """Return whether every ASCII word of `language` begins with the same letter as its stems."""
    return language not in _CHANGES_BEGINNINGS and language not in _COMPOUNDING


def kept_beginning(stem: str, language: str) -> str:
    """Return how every ASCII word of `language` with this stem begins, where `keeps_beginnings` holds. At most the last
    letters of a stem differ from its words, but for "lie" of "lying"."""
    keeps_more = language in _CHANGES_ENDS or language in _WITH_ENGLISH
    return stem[: max(2, len(stem) - 2) if keeps_more and stem[1:2] != "i" else 1]


def lower_case(language: str) -> Callable[[str], str]:
    """Return the function that lower-cases words of `language`. In Turkish, I is the capital of ı, not of i."""
    return (lambda word: word.replace("İ", "i").replace("I", "ı").lower()) if language == "tr" else str.lower


def _own_stemmer(language: str) -> Stem:
    if language == "ar":
        return _arabic_stems
    if language == "tr":
        turkish = _snowball("tr")
        return lambda words: [stem[:_TURKISH_LETTERS] if stem.isalpha() else stem for stem in turkish(words)]
    # Releases before 3.1 have fewer languages, and others may need such a release.
    stem = _snowball(language) if _SNOWBALL.get(language) in Stemmer.algorithms() else list
    return (lambda words: stem(stem(words))) if language in _TWICE else stem


def _snowball(language: str) -> Stem:
    stem: Stem = Stemmer.Stemmer(_SNOWBALL[language]).stemWords
    return stem


def _compound_parts(stem: str) -> list[str]:
    """Return every prefix and suffix of a long word that could be a word of its own."""
    if not _LEAST_PART + _LEAST_REST <= len(stem) <= _LONGEST_COMPOUND:
        return []
    beginnings = [stem[:size] for size in range(_LEAST_PART, len(stem) - _LEAST_REST + 1)]
    return beginnings + [stem[start:] for start in range(_LEAST_REST, len(stem) - _LEAST_PART + 1)]


# --- Arabic: removing the particles, endings and pronouns that are attached to a word

_ARABIC = lazy_regex(r"[\u0620-\u064a\u0671-\u06d3]")
_ARABIC_SPELLINGS = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ی": "ي", "ؤ": "و", "ة": "ه", "ک": "ك"}
"""Letters with hamza or dots that writers often omit, or that another keyboard lacks -> the plain letter."""
_LONG_VOWELS = "اوي"
_PREFIX = lazy_regex(r"(?<![^\n])(?:(?:[وف]?لل|و?[بكف]?ال)(?=[^\n]{3})|و(?=[^\n]{4})|[وفبكل](?=[0-9]+(?![^\n])))")
"""The article and particles before three letters, "and" alone before four, any particle before a number."""
_ENDINGS = "|".join("هما تين تان يات يون يين تها ات ون ين ان وا ها هم هن كم نا يه ته ه ي ا ت".split())
_ENDING = lazy_regex(rf"(?<=[^\n]{{4}})(?:{_ENDINGS})(?![^\n])")
"""Endings of number, gender and case, and pronouns, if four letters remain."""
_INNER_LONG_VOWEL = lazy_regex(rf"(?<=[^\n])[{_LONG_VOWELS}](?=[^\n])")
_FORMATIVES = "يتم"
"""Letters before the root: the prefixes of present-tense verbs, and of nouns of agent, patient and place."""
_PARTICLES = "وفبكل"
_LEAST_ROOT, _ROUNDS = 3, 2


def _arabic_stems(words: Iterable[str]) -> list[str]:
    """Return the stem of each word, or the word itself if it is not Arabic. The words must have no vowel points."""
    given = list(words)
    if not given:
        return []
    # All words at once, one per line, because a call per word costs more. Not separated by spaces: the word "ﷺ" has
    # some when it is spelled out.
    joined = "\n".join(given)
    for written, plain in _ARABIC_SPELLINGS.items():
        joined = joined.replace(written, plain)  # several times as fast as a table, which looks up each letter
    joined = _PREFIX.sub("", joined)
    for _ in range(_ROUNDS):
        joined = _ENDING.sub("", joined)
    roots = _INNER_LONG_VOWEL.sub("", joined).split("\n")
    return [
        _root(stem, root) if _ARABIC.match(word) else word
        for word, stem, root in zip(given, joined.split("\n"), roots, strict=True)
    ]


def _without_arabic_particle(stem: str) -> tuple[str, ...]:
    """Return the stem without its first letter if that may be a particle ("for", "with", "as", "and").

    Only the other words of the text can tell whether it is one.
    """
    if stem[0] not in _PARTICLES or len(stem) <= _LEAST_ROOT:
        return ()
    rest = stem[1:]
    return (_root(rest, _INNER_LONG_VOWEL.sub("", rest)),)


def _root(stem: str, root: str) -> str:
    """Return `root`, also without its formative prefix, if enough letters remain; else `stem`.

    root: the stem without its inner long vowels.
    """
    if len(stem) <= _LEAST_ROOT:
        return stem
    if root[0] in _FORMATIVES and len(root) > _LEAST_ROOT:
        root = root[1:]
    return root if len(root) >= _LEAST_ROOT else stem
