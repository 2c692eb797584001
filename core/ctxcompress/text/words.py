"""From text to words, and from words to the terms that a query and a passage can share."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from ctxcompress.text.stems import OtherStems, keeps_beginnings, lower_case, other_stems, stemmer

__all__ = ["WITHOUT_SPACES", "Lexicon", "Terms", "fold", "has_unspaced", "split_each", "split_unspaced", "split_words"]

# The points of Arabic and its letter stretcher, the Indic nukta, the joiners.
_MARK_CLASS = r"\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u200c\u200d"
_LEFT_OUT = re.compile(f"[{_MARK_CLASS}]")
# Accents that tell how a Russian word is stressed.
_STRESS = re.compile(r"(?<=[\u0400-\u04ff])[\u0300\u0301]")
# A nasal without a vowel before a consonant is as often written as the dot above: हिन्दी, हिंदी.
_NASAL = re.compile(r"[ङञणनम]\u094d(?=[क-ह])")
_DIGIT_ZEROS = "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u1040\u17e0"
_LETTERS = str.maketrans(
    {"ё": "е", "Ё": "Е", "\u0901": "\u0902"}
    | {chr(ord(zero) + digit): str(digit) for zero in _DIGIT_ZEROS for digit in range(10)}
)
_DIGITS = "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in _DIGIT_ZEROS)
_FOLDED = re.compile(
    rf"[{_MARK_CLASS}{_DIGITS}ёЁ\u0300-\u036f\u0901\u094d\u0958-\u095f\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc\uff00-\uff9f]"
)


def fold(word: str) -> str:
    """`word` in its commonest spelling: letters of normal width and composed, ASCII digits, without the marks
    that are left out as often as written. A word may become empty."""
    if not _FOLDED.search(word):
        return word
    composed = _STRESS.sub("", unicodedata.normalize("NFKC", word))
    return _NASAL.sub("\u0902", _LEFT_OUT.sub("", composed)).translate(_LETTERS)


_ALPHABETIC_UNSPACED = r"\u0e00-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff\u1000-\u103f\u104a-\u109f\u1780-\u17df\u17ea-\u17ff"
WITHOUT_SPACES = _ALPHABETIC_UNSPACED + r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
"""Of a set of characters in a regular expression: scripts written without spaces between words (Thai, Lao, Myanmar,
Khmer, kana of both widths, Han). Their digits are not among them: a number is a word."""
_UNSPACED = WITHOUT_SPACES + r"\uac00-\ud7af"
"""These and Hangul, whose words carry particles that no stemmer here removes."""
# Marks that Python's \w leaves out although they are parts of words: combining accents, Hebrew and
# Arabic points, the vowel signs of the Indic scripts (their danda is punctuation) and of others, the joiners.
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
_SIMPLE = re.compile(r"\w+")
_BETWEEN = "\0"
_BLANKED = re.sub(rb"[^\w\x00]", b" ", bytes(range(256)))
"""Each byte, or a space instead of what is neither in an ASCII word nor between two texts."""
# What needs another pattern than \w+: written as all that does not, the commonest first, which is searched faster.
_BEYOND_SIMPLE = re.compile(
    r"[^\x00-\u02ff\u2000-\u200b\u200e-\u2cdf\u0370-\u0482\ud7b0-\uf8ff\ufb1f-\ufe1f\ufe30-\uff65\uffa0-\U0001ffff"
    r"\U000323b0-\U0010ffff]"
)
_MARKED = re.compile(rf"[\w{_MARKS}]+")
_MIXED = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\w{_MARKS}])+")
_UNSPACED_CHARACTER = re.compile(rf"[{_UNSPACED}]")
_LONE_HAN = re.compile(r"(?<=[\u3040-\u30ff])[\u3400-\u9fff](?![\u3400-\u9fff])|^[\u3400-\u9fff](?=[\u3040-\u30ff])")
_ALPHABETIC = re.compile(rf"[{_ALPHABETIC_UNSPACED}]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_ACCENTED_LATIN = re.compile(r"[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff\ufb00-\ufb06\uff00-\uff5f]")
_ARABIC_OR_INDIC = re.compile(r"[\u0620-\u06d3\u0900-\u0dff]++")
_COMBINING = re.compile(r"[\u0300-\u036f]")


def split_words(text: str) -> list[str]:
    """The words of `text`, in order, as they are written.

    Combining marks stay in their words. A run of a script without spaces between words (Chinese,
    Japanese, Thai, ...) comes as one word, apart from the Latin words and numbers in it.
    """
    if text.isascii() or not _BEYOND_SIMPLE.search(text):
        return _SIMPLE.findall(text)
    return (_MIXED if _UNSPACED_CHARACTER.search(text) else _MARKED).findall(text)


def split_each(texts: Sequence[str]) -> list[Sequence[str]]:
    """`split_words` of each of many texts, in less than half the time: those that are ASCII at once.

    Tuples rather than lists, which the garbage collector would look into again and again.
    """
    plain = list(filter(str.isascii, texts))
    joined = _BETWEEN.join(plain)
    if joined.count(_BETWEEN) >= len(plain):  # within a text, too, or none is ASCII
        return list(map(split_words, texts))
    parts = map(tuple, map(str.split, joined.encode().translate(_BLANKED).decode().split(_BETWEEN)))
    return [next(parts) if text.isascii() else split_words(text) for text in texts]


def has_unspaced(text: str) -> bool:
    """Whether there is a character of a script without spaces between words."""
    return not text.isascii() and _UNSPACED_CHARACTER.search(text) is not None


def split_unspaced(text: str) -> list[str]:
    """The same, but of a script without spaces between words every character as a word."""
    if not has_unspaced(text):
        return split_words(text)
    return [part for word in split_words(text) for part in (word if _UNSPACED_CHARACTER.match(word) else (word,))]


class Terms:
    """Turns words into terms: lower case, in one spelling, without accents, stemmed; identifiers also in parts;
    unspaced scripts as pairs of characters, those of South-East Asia in threes.

    Languages without a stemmer are left unstemmed.
    """

    __slots__ = ("_is_english", "_keeps_beginnings", "_lower", "_other", "_stem")

    def __init__(self, language: str) -> None:
        self._stem = stemmer(language)
        self._other = other_stems(language)
        self._lower = lower_case(language)
        self._is_english = language == "en"
        self._keeps_beginnings = keeps_beginnings(language)

    def of_words(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """word -> its terms, for every distinct word. A plain word has one, an identifier the whole and its parts."""
        distinct = list(dict.fromkeys(words))
        lowered = list(map(self._lower, distinct))
        spelled = lowered
        if not "".join(lowered).isascii():
            spelled = [low if low.isascii() else fold(low) or low for low in lowered]
        return {
            word: (stem,) if stem.isascii() and _is_plain(word, low) else self._of_special(word, low, stem)
            for word, low, stem in zip(distinct, lowered, self._stem(spelled), strict=True)
        }

    @property
    def has_others(self) -> bool:
        """Whether a term of the language may be something else too."""
        return self._other is not None

    def others(self, term: str) -> Sequence[str]:
        """What else a term may be (see `other_stems`)."""
        return self._other(term) if self._other else ()

    def matching(self, words: Collection[str], wanted: Collection[str]) -> dict[str, list[int]]:
        """word -> the positions in `wanted` of those of its terms that are there, for the words that have any.

        The same as looking through `of_words`, at a fraction of its cost: most words of a text
        cannot have a wanted term, which their first letters tell. But characters of an unspaced
        script that are all there is of a word that short are found in longer ones too, and those that overlap
        themselves are counted once; and a term that is not there as it is, is looked for as
        what else it may be (see `other_stems`).
        """
        number = {term: index for index, term in enumerate(wanted)}
        found: dict[str, list[int]] = {}
        ascii_words = list(filter(str.isascii, words))
        possible = self._beginning_like(wanted, ascii_words) if ascii_words and self._keeps_beginnings else ascii_words
        if len(ascii_words) < len(words):
            others = [word for word in words if not word.isascii()]
            found = _with_grams(number, others)
            possible += [word for word in others if not _UNSPACED_CHARACTER.match(word)]
        if self._other:
            return found | self._matching_other(possible, number, self._other)
        for word, terms in self.of_words(possible).items():
            hits = [number[term] for term in terms if term in number]
            if hits:
                found[word] = hits
        return found

    def _matching_other(
        self, words: Iterable[str], number: Mapping[str, int], other: OtherStems
    ) -> dict[str, list[int]]:
        """`matching` for words of a language in which a stem may be something else too: what is wanted and is the
        term, or what the term is a part of, or what is a part of the term."""
        parts: dict[str, int] = {}  # of the first that has it: more would make many long words slow
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

    def _beginning_like(self, wanted: Collection[str], words: Sequence[str]) -> list[str]:
        """Of ASCII words those that begin as some wanted term does, and those that have parts."""
        # English stems keep two letters, but for "lie" of "lying" and its like; others may keep but one.
        size = 2 if self._is_english else 1
        beginnings = {term[:size] for term in wanted}
        if self._is_english:
            beginnings |= {term[0] + "y" for term in wanted if term[1:2] == "i"}
        joined = " ".join(words)
        lowered = joined.lower().split(" ")  # at once, which takes a fraction of word by word
        parts = "_" in joined
        return [
            word
            for word, low in zip(words, lowered, strict=True)
            if low[:size] in beginnings
            or (word != low and word[1:] != low[1:] and not word.isupper())
            or (parts and "_" in word)
        ]

    def _of_special(self, word: str, low: str, stem: str) -> tuple[str, ...]:
        if word == low and _ARABIC_OR_INDIC.fullmatch(word):  # neither parts nor accents
            return (stem,)
        if _UNSPACED_CHARACTER.match(word):
            return _grams(unicodedata.normalize("NFKC", word))
        parts = (
            []
            if _is_plain(word, low)
            else [self._lower(part) for part in _PART.findall(word if word.isascii() else fold(word))]
        )
        return tuple(map(_without_accents, (stem, *self._stem(parts if len(parts) > 1 else []))))


class Lexicon:
    """The words of texts by their terms, for many questions: what it takes to make is paid once, and then only the
    words are looked at that can have a wanted term."""

    __slots__ = ("_having", "_terms", "_unspaced")

    def __init__(self, terms: Terms, words: Collection[str]) -> None:
        self._terms = terms
        self._unspaced = [word for word in words if not word.isascii() and _UNSPACED_CHARACTER.match(word)]
        self._having: dict[str, list[str]] = {}
        for word, of_word in terms.of_words(set(words).difference(self._unspaced)).items():
            for term in of_word:
                for other in (term, *terms.others(term)):
                    self._having.setdefault(other, []).append(word)

    def matching(self, wanted: Collection[str]) -> dict[str, list[int]]:
        """The same as `Terms.matching` of all the words."""
        possible = {
            word
            for term in wanted
            for other in (term, *self._terms.others(term))
            for word in self._having.get(other, ())
        }
        return self._terms.matching([*possible, *self._unspaced], wanted)


def _with_grams(number: Mapping[str, int], words: Iterable[str]) -> dict[str, list[int]]:
    """word -> the numbers of the wanted characters that are in it, for words of unspaced scripts."""
    grams = [term for term in number if _UNSPACED_CHARACTER.match(term)]
    found: dict[str, list[int]] = {}
    for word in words:
        if grams and _UNSPACED_CHARACTER.match(word):
            folded = unicodedata.normalize("NFKC", word)
            hits = [number[gram] for gram in grams if gram in folded for _ in range(folded.count(gram))]
            if hits:
                found[word] = hits
    return found


def _grams(word: str) -> tuple[str, ...]:
    """Of a word of an unspaced script every two characters, or every three where a syllable takes several.

    And a Chinese character alone among kana: a word that would be seen with the particle after it only.
    """
    size = 3 if _ALPHABETIC.match(word) else 2
    grams = [word[i : i + size] for i in range(len(word) - size + 1)] or [word]
    return (*grams, *_LONE_HAN.findall(word))


def _is_plain(word: str, low: str) -> bool:
    """Whether a word has no parts: no underscore, and no capital letter but the first, or nothing but those."""
    return (word == low or word[1:] == low[1:] or word.isupper()) and "_" not in word


def _without_accents(term: str) -> str:
    if not _ACCENTED_LATIN.search(term):
        return term
    plain = _COMBINING.sub("", unicodedata.normalize("NFKD", term)).replace("ı", "i")
    return unicodedata.normalize("NFC", plain) or term
