"""The terms of a question: its content words, and what else they may be called."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.stems import lower_case
from ctxcompress.text.words import Terms, fold, split_words

__all__ = ["TECHNICAL_SYNONYMS", "clauses", "query_terms"]

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


_GROUPS = (
    "auth authentication authorization login sign-in",
    "config configuration settings options preferences",
    "db database",
    "delete remove erase drop",
    "create add make new",
    "update change modify edit",
    "error exception failure fault",
    "bug defect issue",
    "function method procedure routine",
    "parameter argument option flag",
    "install setup installation",
    "repo repository",
    "directory folder path",
    "env environment",
    "k8s kubernetes",
    "js javascript",
    "ts typescript",
    "py python",
    "api interface endpoint",
    "url link address uri",
    "credential password secret token key",
    "start launch run execute begin",
    "stop terminate kill halt end",
    "timeout deadline expiry",
    "limit maximum cap quota",
    "default standard preset",
    "fast quick performance speed",
    "memory ram",
    "cpu processor",
    "docs documentation manual guide",
    "deploy deployment release rollout",
    "log logging trace",
    "test testing spec",
    "dependency package library module",
    "async asynchronous concurrent",
    "cache caching memoize",
    "doc document file",
    "fetch get retrieve load",
    "send post submit push",
    "encrypt encryption cipher",
)

TECHNICAL_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {word: tuple(other for other in group.split() if other != word) for group in _GROUPS for word in group.split()}
)
"""Word -> other words for the same thing."""


_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s$", re.IGNORECASE)
_MARK = re.compile(r"[,;:?!\u060c\u061f]")
_MOST = 8
"""Clauses of a question, so that a long one does not cost many times what a short one does."""


def clauses(query: str, ignored: frozenset[str]) -> list[str]:
    """Runs of two words or more without function words, and any two neighbouring runs with what stands between.

    Of "What is the birthplace of the director of Silver Dunes?": "Silver Dunes", "birthplace of the director",
    "director of Silver Dunes".

    ignored: the language's function words, in lower case. Scripts without spaces have no clauses.
    """
    runs: list[tuple[int, int]] = []
    end, joined = 0, False
    for found in _WORD.finditer(query):
        word = _POSSESSIVE.sub("", found.group())
        is_content = word.lower() not in ignored
        if is_content:
            continues = joined and not _MARK.search(query, end, found.start())
            start = runs.pop()[0] if continues else found.start()
            runs.append((start, found.start() + len(word)))
        joined = is_content and len(word) == len(found.group())
        end = found.end()
    pairs = [(first[0], second[1]) for first, second in pairwise(runs)]
    texts = dict.fromkeys(query[start:end] for start, end in [*runs, *pairs])
    return [text for text in texts if len(text.split()) > 1 and text != query][:_MOST]
