"""Arabic words without what is written on to them.

Snowball's stemmer takes any first letter off that could be a particle, of names and foreign words too ("تسلا",
"فنادق"), and leaves the broken plurals. Here only what is surely a particle goes, and the long vowels
within a word, in which singular and plural, and the spellings of a foreign name, differ: "مركز" and "مراكز".
"""

import re
from collections.abc import Iterable

__all__ = ["stem_words", "without_particle"]

_ARABIC = re.compile(r"[\u0620-\u064a\u0671-\u06d3]")
_LETTERS = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ی": "ي", "ؤ": "و", "ة": "ه", "ک": "ك"}
)
"""Written with and without hamza, with and without dots, by carelessness or by another keyboard."""
_ARTICLE = re.compile("(?:[وف]?لل|و?[بكف]?ال)(?=...)")
"""The article and the particles before it, if three letters are left."""
_ENDINGS = frozenset("هما تين تان يات يون يين تها ات ون ين ان وا ها هم هن كم نا يه ته ه ي ا ت".split())
"""Of number, gender and case, and the pronouns."""
_LONG_VOWELS = re.compile("[اوي]")
_FORMATIVES = "يتم"
"""Before the root: those of verbs in the present, and of what does, is done or where."""
_PARTICLES = "وفبكل"
_LEAST_ENDING = 4
_LEAST_ROOT = 3
_ROUNDS = 2


def stem_words(words: Iterable[str]) -> list[str]:
    """Each word's stem, the word itself if it is not Arabic. Points are expected to be gone."""
    return [_stem(word) if _ARABIC.match(word) else word for word in words]


def without_particle(stem: str) -> tuple[str, ...]:
    """The stem if its first letter is a particle ("for", "with", "as", "and"), which only another word can tell."""
    return (_root(stem[1:]),) if stem[0] in _PARTICLES and len(stem) > _LEAST_ROOT else ()


def _stem(word: str) -> str:
    word = word.translate(_LETTERS)
    if word[0] in _PARTICLES and word[1:].isdigit():
        return word[1:]
    return _root(_without_endings(_without_article(word)))


def _without_article(word: str) -> str:
    article = _ARTICLE.match(word)
    if article:
        return word[article.end() :]
    return word[1:] if word[0] == "و" and len(word) > _LEAST_ENDING else word


def _without_endings(word: str) -> str:
    for _ in range(_ROUNDS):
        word = _without_ending(word)
    return word


def _without_ending(word: str) -> str:
    for size in (3, 2, 1):
        if word[-size:] in _ENDINGS and len(word) - size >= _LEAST_ENDING:
            return word[:-size]
    return word


def _root(word: str) -> str:
    """The word without long vowels inside and without what is formed before the root, if enough is left."""
    if len(word) <= _LEAST_ROOT:
        return word
    root = word[0] + _LONG_VOWELS.sub("", word[1:-1]) + word[-1]
    if root[0] in _FORMATIVES and len(root) > _LEAST_ROOT:
        root = root[1:]
    return root if len(root) >= _LEAST_ROOT else word
