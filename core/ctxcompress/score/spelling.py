"""Words of a question that occur nowhere, as the texts spell them: questions are typed in haste, and names and
languages have several spellings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from ctxcompress.text.words import Terms, has_unspaced

__all__ = ["respelled"]

_SHORTEST = 6
"""Letters of a word that is looked for in another spelling: of short ones too many differ in one letter."""
_SHORTEST_CHANGED = 7
"""The same where a letter is another one: "status" is not "states"."""
_MOST = 16
"""Words of a question that are looked for so, since all texts are looked through for each."""


def respelled(
    asked: Sequence[str],
    wanted: Iterable[str],
    matching: Mapping[str, Sequence[int]],
    vocabulary: Collection[str],
    terms: Terms,
) -> dict[str, list[int]]:
    """As `Terms.matching`, for the wanted terms that no word has: the words that are one of the question's but for one
    letter, which is missing, too many, another one, or has changed places with the next. The first letter is right.

    asked: the words of the question. matching: what `Terms.matching` found in the vocabulary.
    """
    found = {number for hits in matching.values() for number in hits}
    absent = {term: number for number, term in enumerate(wanted) if number not in found}
    if not absent or not asked:
        return {}
    mistyped = {
        word.lower(): hits
        for word, of_word in terms.of_words(filter(_is_long, asked)).items()
        if (hits := [absent[term] for term in of_word if term in absent])
    }
    spelled: dict[str, list[int]] = {}
    for word, hits in islice(mistyped.items(), _MOST):
        for other in _near(word, vocabulary):
            if other not in matching:  # which is another word of the question
                spelled.setdefault(other, []).extend(hits)
    return spelled


def _is_long(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and not has_unspaced(word)


def _near(word: str, vocabulary: Iterable[str]) -> list[str]:
    begins = (word[0], word[0].upper())
    sizes = range(len(word) - 1, len(word) + 2)
    return [
        other
        for other in vocabulary
        if other[0] in begins and len(other) in sizes and other.isalpha() and _is_slip(word, other.lower())
    ]


def _is_slip(word: str, other: str) -> bool:
    """Whether two words differ in one letter, or in two neighbours that have changed places."""
    at = next((number for number, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), len(word))
    if len(word) > len(other):
        return word[at + 1 :] == other[at:]
    if len(word) < len(other):
        return word[at:] == other[at + 1 :]
    if word[at + 1 :] == other[at + 1 :]:
        return len(word) >= _SHORTEST_CHANGED
    return word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
