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


def stem_words(words: Iterable[str]) -> list[str]:
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


def without_particle(stem: str) -> tuple[str, ...]:
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
