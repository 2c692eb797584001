"""The terms of a question: its content words, and what else they may be called."""

from collections.abc import Mapping, Sequence

from ctxcompress.text.stopwords import STOP_WORDS
from ctxcompress.text.words import Terms, split_words

__all__ = ["query_terms"]

_SYNONYM_WEIGHT = 0.5


def query_terms(
    query: str, *, language: str, terms: Terms, synonyms: Sequence[Mapping[str, Sequence[str]]] = ()
) -> dict[str, float]:
    """term -> weight, in the order of the question: 1.0 for its own terms, 0.5 for synonyms.

    Stop words are left out, unless there is nothing else.
    """
    words = split_words(query)
    stop = STOP_WORDS.get(language, frozenset())
    content = [word for word in words if word.lower() not in stop] or words
    every = dict.fromkeys((term for of_word in terms.of_words(content).values() for term in of_word), 1.0)
    own = {term: weight for term, weight in every.items() if term not in stop} or every
    return own | {term: _SYNONYM_WEIGHT for term in _other_names(words, synonyms, terms) if term not in own}


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
