"""Which segments mention the title of another document. Nothing here depends on a query."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.data.table import Integers
from ctxcompress.score.occurrences import Found
from ctxcompress.text.words import split_each, split_unspaced

__all__ = ["Mentions"]

_SHORTEST_TITLE = 4
"""Characters."""
_LONGEST_TITLE = 12
"""Words: the rest of a longer title is not compared."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """The titles of documents as texts mention them, and the segments that do."""

    title: Integers
    """The number of each document's title; documents with the same title have the same."""
    titles: int
    """The number of different titles."""
    forms: Sequence[str]
    """Each document's title as it is looked for in a query; "" for one that is too short."""
    links: Sequence[tuple[int, int]]
    """(number of a segment, number of a title) where a segment mentions a title other than its own."""

    @classmethod
    def of(
        cls,
        titles: Sequence[str],
        words: Sequence[Sequence[str]],
        documents: Integers,
        vocabulary: Container[str],
        find: Callable[[Sequence[str]], Found],
    ) -> "Mentions":
        """Find the titles of the documents.

        words: of each segment. documents: the number of each segment's document. vocabulary: all words. find: returns
        the places of words in the segments.
        """
        names = [_without_qualifier(title) for title in titles]
        of_names = split_each(names)
        numbers: dict[str, int] = {}
        title = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)
        of_titles = dict(zip(names, of_names, strict=True))
        links = _links(of_titles, words, title[documents].tolist(), vocabulary, find)
        return cls(title, len(numbers), list(map(_form, names, of_names)), list(links))

    @classmethod
    def none(cls, documents: int) -> "Mentions":
        """Return the mentions of documents that do not mention one another. documents: their number."""
        return cls(np.zeros(documents, np.intp), 0, [""] * documents, ())

    def in_query(self, query: str) -> list[bool]:
        """Return for each document whether the query has its title."""
        asked = _joined_words(query)
        return [form != "" and form in asked for form in self.forms]


def _without_qualifier(title: str) -> str:
    """Return the title as texts mention it: "Silver Dunes" for "Silver Dunes (film)"."""
    return title[: title.rfind("(")].rstrip() if title.endswith(")") and "(" in title else title


def _joined_words(text: str) -> str:
    """Return the lower-case words of `text`, each after a space, or `text` itself where it has no words.

    So "What's My Line?" is found without its punctuation, and the last word of a title may go on in the query, as in a
    plural.
    """
    return "".join(f" {word}" for word in split_unspaced(text.lower())) or text


def _form(title: str, words: Sequence[str]) -> str:
    if len(title) < _SHORTEST_TITLE:
        return ""
    return f" {' '.join(words)}".lower() if title.isascii() and words else _joined_words(title)


def _links(
    titles: Mapping[str, Sequence[str]],
    words_of_segments: Sequence[Sequence[str]],
    own: Sequence[int],
    vocabulary: Container[str],
    find: Callable[[Sequence[str]], Found],
) -> Iterator[tuple[int, int]]:
    """Yield (number of a segment, number of a title) where a segment mentions a title other than its own.

    Looks only at the places of the longest word of each title, because that is a rare one.

    titles: title -> its words, in the order of their numbers. own: the number of each segment's own title.
    """
    words_of = (tuple(words[:_LONGEST_TITLE]) for words in titles.values())
    long_enough = (len(title) >= _SHORTEST_TITLE for title in titles)
    numbers = {words: n for n, (words, is_long) in enumerate(zip(words_of, long_enough, strict=True)) if is_long}
    with_word: dict[str, list[tuple[int, int, tuple[str, ...]]]] = {}
    for words, number in numbers.items():
        longest = max(words, key=len, default="")
        if longest in vocabulary:
            with_word.setdefault(longest, []).append((number, words.index(longest), words))
    candidates = list(with_word.values())
    if not candidates:
        return
    for segment, place, word in zip(*(each.tolist() for each in find([*with_word])), strict=True):
        for title, before, words in candidates[word]:
            if title != own[segment] and place >= before:
                start = place - before
                if words == tuple(words_of_segments[segment][start : start + len(words)]):
                    yield segment, title
