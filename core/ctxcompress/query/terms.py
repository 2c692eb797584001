"""The terms of a question: its content words, and what else they may be called."""

import re
from collections.abc import Mapping, Sequence

from ctxcompress.text.fold import fold
from ctxcompress.text.stems import lower_case
from ctxcompress.text.stopwords import STOP_WORDS
from ctxcompress.text.words import Terms, split_words

__all__ = ["query_terms"]

_SYNONYM_WEIGHT = 0.5
_KANA_WEIGHT = 0.5
"""Of pairs of hiragana, which are endings and particles more often than words."""
_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
_THAI_STOP_WORD = re.compile("|".join(sorted(STOP_WORDS["th"], key=len, reverse=True)))


def query_terms(
    query: str, *, language: str, terms: Terms, synonyms: Sequence[Mapping[str, Sequence[str]]] = ()
) -> dict[str, float]:
    """term -> weight, in the order of the question: 1.0 for its own terms, 0.5 for synonyms and for pairs of
    hiragana.

    Stop words are left out, unless there is nothing else.
    """
    words = split_words(query)
    content = _content(words, language) or words
    every = [term for of_word in terms.of_words(content).values() for term in of_word]
    # An Arabic root may be written as a function word is: of قبائل, "tribes", as قبل, "before".
    stop = frozenset() if language == "ar" else STOP_WORDS.get(language, frozenset())
    own = {term: _weight(term) for term in every if term not in stop} or dict.fromkeys(every, 1.0)
    return own | {term: _SYNONYM_WEIGHT for term in _other_names(words, synonyms, terms) if term not in own}


def _content(words: Sequence[str], language: str) -> list[str]:
    """The words that are no stop words."""
    if language == "th":
        return [part for word in words for part in _THAI_STOP_WORD.split(word) if len(part) > 1 or part == word]
    stop, lower = STOP_WORDS.get(language, frozenset()), lower_case(language)
    return [word for word in words if lower(word) not in stop and (word.isascii() or fold(lower(word)) not in stop)]


def _weight(term: str) -> float:
    return _KANA_WEIGHT if _HIRAGANA.fullmatch(term) else 1.0


def _other_names(words: Sequence[str], synonyms: Sequence[Mapping[str, Sequence[str]]], terms: Terms) -> list[str]:
    """Terms of the synonyms of the question's words; a synonym's key matches whatever its form ("configs")."""
    if not synonyms:
        return []
    asked = {term for of_word in terms.of_words(words).values() for term in of_word}
    others = [
        name
        for table in synonyms
        for key, names in table.items()
        if all(asked.issuperset(of_word) for of_word in terms.of_words(split_words(key)).values())
        for name in names
    ]
    found = terms.of_words(word for other in others for word in split_words(other))
    return [term for of_word in found.values() for term in of_word]
