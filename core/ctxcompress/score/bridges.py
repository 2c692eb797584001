"""Features that follow the titles and rare names in the best segments to other passages.

The query "where was the director of X born?" names only X. The passage about X names the director, but the passage
about the director shares no word with the query. So a passage gains when a good segment mentions its title, or shares
rare names with it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import relative, stacked
from ctxcompress.text.words import split_each, split_unspaced

__all__ = ["BRIDGES", "Bridges", "Mentions"]

_SHORTEST_TITLE, _LONGEST_TITLE = 4, 12
"""Characters, and words: the rest of a longer title is not compared."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """The titles of documents as texts mention them, and the segments that do."""

    title: Integers
    """The number of each document's title; documents with the same title have the same."""
    titles: int
    """The number of different titles."""
    forms: Sequence[str]
    """Each document's title as it is looked for in a query; "" for one that is too short."""
    links: Integers
    """Number of a segment, number of a title, where a segment mentions a title other than its own; shape (2, links)."""

    @classmethod
    def of(cls, corpus: Corpus) -> "Mentions":
        """Find the titles of the documents; none if titles and names lead everywhere, as in a conversation."""
        if not corpus.has_titles:
            documents = len(corpus.titles)
            return cls(np.zeros(documents, np.intp), 1, [""] * documents, np.zeros((2, 0), np.intp))
        names = [_without_qualifier(title) for title in corpus.titles]
        of_names = split_each(names)
        numbers: dict[str, int] = {}
        title = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)
        of_titles = dict(zip(names, of_names, strict=True))
        links = _links(of_titles, title[corpus.table.documents].tolist(), corpus)
        return cls(
            title, len(numbers), list(map(_form, names, of_names)), np.array(list(links), np.intp).reshape(-1, 2).T
        )

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


def _is_long(title: str) -> bool:
    return len(title) >= _SHORTEST_TITLE


def _form(title: str, words: Sequence[str]) -> str:
    if not _is_long(title):
        return ""
    return f" {' '.join(words)}".lower() if title.isascii() and words else _joined_words(title)


def _links(titles: Mapping[str, Sequence[str]], own: Sequence[int], corpus: Corpus) -> Iterator[tuple[int, int]]:
    """Yield (number of a segment, number of a title) where a segment mentions a title other than its own.

    Looks only at the places of the longest word of each title, because that is a rare one.

    titles: title -> its words, in the order of their numbers. own: the number of each segment's own title.
    """
    numbers = {tuple(words[:_LONGEST_TITLE]): n for n, (title, words) in enumerate(titles.items()) if _is_long(title)}
    with_word: dict[str, list[tuple[int, int, tuple[str, ...]]]] = {}
    for words, number in numbers.items():
        longest = max(words, key=len, default="")
        if longest in corpus.concordance.vocabulary:
            with_word.setdefault(longest, []).append((number, words.index(longest), words))
    candidates = list(with_word.values())
    for segment, place, word in zip(*(each.tolist() for each in corpus.in_segments([*with_word])), strict=True):
        for title, before, words in candidates[word]:
            if title != own[segment] and place >= before:
                start = place - before
                if words == tuple(corpus.words[segment][start : start + len(words)]):
                    yield segment, title


BRIDGES = (
    "before",  # the probability from the previous pass
    "before_logit",
    "before_relative",
    "title_mentioned",  # the best segment of another passage that mentions this passage's title
    "title_mentioned_and_before",
    "mentions_title",  # the best passage whose title the segment mentions
    "title_in_query",
    "names",  # rare names shared with the best segments of other passages, relative to the greatest
    "names_log",
    "names_of_passage",
    "passage_before",  # the best segment of the same passage
)
"""The rows of `Bridges.features`, in order."""

_SOURCES, _SOURCES_OF_PASSAGE = 4, 2
"""The number of best segments whose names are used, in all and of one passage."""


class Bridges:
    """The links between the passages of one retrieval. Built once, used in every pass."""

    def __init__(self, query: str, corpus: Corpus, ignored: frozenset[str]) -> None:
        """ignored: lower-case words that are not names (the function words of the language)."""
        self._corpus = corpus
        self._passage = corpus.table.documents
        self._passage_of: list[int] = corpus.table.documents.tolist()  # a list is faster to read item by item
        self._passages = len(corpus.titles)
        self._found = corpus.once(Mentions.of)
        self._in_query = np.array(self._found.in_query(query), dtype=float)
        self._ignored = ignored | set(query.lower().split())
        self._with_name: dict[str, set[int]] = {}
        """Name -> the segments that have it, of the names that were looked for."""
        self._rarity: dict[str, float] = {}
        """The same name -> how rare it is among passages; 0 if it leads nowhere."""

    def features(self, probability: Floats, sources: Sequence[int] | None = None) -> Floats:
        """Return one row per name in BRIDGES and one column per segment.

        probability: of each segment, from the previous pass. sources: `sources` of it, if they are known.
        """
        before = relative(probability)
        best = self._best_of_passage(before)
        mentioned, mentions = self._mentions(before, best)
        mentioned = mentioned[self._passage]
        shared = self._shared_names(before, self.sources(probability) if sources is None else sources)
        names = relative(shared)
        return stacked(
            [
                probability,
                np.log((probability + 1e-9) / (1 - probability + 1e-9)),
                before,
                mentioned,
                mentioned * before,
                mentions,
                self._in_query[self._passage],
                names,
                np.log1p(shared),
                self._best_of_passage(names)[self._passage],
                best[self._passage],
            ]
        )

    def _best_of_passage(self, values: Floats) -> Floats:
        best = np.zeros(self._passages)
        np.maximum.at(best, self._passage, values)
        return best

    def _mentions(self, before: Floats, best: Floats) -> tuple[Floats, Floats]:
        """Return the best segment that mentions the title of each passage, and the best passage that each mentions."""
        title, (segment, number) = self._found.title, self._found.links
        best_of_title, mentioned, mentions = *np.zeros((2, self._found.titles)), np.zeros(before.size)
        np.maximum.at(best_of_title, title, best)
        np.maximum.at(mentioned, number, before[segment])
        np.maximum.at(mentions, segment, best_of_title[number])
        return mentioned[title], mentions

    def _shared_names(self, before: Floats, sources: Sequence[int]) -> Floats:
        """Sum up, for each segment, the worth of the rare names that it shares with best segments of other passages."""
        of_name: dict[str, list[int]] = {}
        for segment in sources if self._corpus.has_titles else ():
            for name in self._names(segment):
                of_name.setdefault(name, []).append(segment)
        self._find([name for name in of_name if name not in self._rarity])
        shared, probability, passage = [0.0] * before.size, before.tolist(), self._passage_of
        for name in sorted(name for name in of_name if self._rarity[name]):
            worth = self._rarity[name] * max(map(probability.__getitem__, of_name[name]))
            own = {passage[segment] for segment in of_name[name]}
            for segment in self._with_name[name]:
                if own != {passage[segment]}:
                    shared[segment] += worth
        return np.array(shared)

    def _names(self, segment: int) -> set[str]:
        """Return the words of a segment that begin with a capital letter or a digit."""
        return {
            word
            for word in self._corpus.words[segment]
            if (word[0].isupper() or word[0].isdigit()) and len(word) > 1 and word.lower() not in self._ignored
        }

    def _find(self, names: Sequence[str]) -> None:
        """Find the segments with each of these names, and how rare it is. One in many passages leads nowhere."""
        self._with_name |= {name: set() for name in names}
        found = self._corpus.in_segments(names) if names else None
        for segment, number in zip(found.text.tolist(), found.word.tolist(), strict=True) if found else ():
            self._with_name[names[number]].add(segment)
        count, most = self._passages, max(3, self._passages // 4)
        for name in names:
            frequency = len({self._passage_of[segment] for segment in self._with_name[name]})
            is_rare = 2 <= frequency <= most
            self._rarity[name] = math.log1p((count - frequency + 0.5) / (frequency + 0.5)) if is_rare else 0.0

    def sources(self, before: Floats) -> list[int]:
        """Return the best segments, few per passage: their names are followed."""
        sources: list[int] = []
        taken = [0] * self._passages
        for segment in (-before).argsort(kind="stable").tolist():
            passage = self._passage_of[segment]
            if taken[passage] < _SOURCES_OF_PASSAGE:
                sources.append(segment)
                taken[passage] += 1
            if len(sources) == _SOURCES:
                break
        return sources
