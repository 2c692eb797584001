"""Features that follow the titles and rare names in the best segments to other passages.

The query "where was the director of X born?" names only X. The passage about X names the director, but the passage
about the director shares no word with the query. So a passage gains when a good segment mentions its title, or shares
rare names with it.
"""

import math
from collections.abc import Sequence

import numpy as np

from ctxcompress.data.table import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import table
from ctxcompress.score.occurrences import relative

__all__ = ["BRIDGES", "Bridges"]

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

_SOURCES = 4
"""The number of best segments whose names are used."""
_SOURCES_OF_PASSAGE = 2
"""The number of them that may come from one passage."""


class Bridges:
    """The links between the passages of one retrieval. Built once, used in every pass."""

    def __init__(self, query: str, corpus: Corpus, ignored: frozenset[str]) -> None:
        """ignored: lower-case words that are not names (the function words of the language)."""
        self._corpus = corpus
        self._passage = corpus.passage
        self._passage_of: list[int] = corpus.passage.tolist()  # a list is faster to read item by item
        self._passages = len(corpus.titles)
        self._found = corpus.mentions
        self._in_query = np.array(self._found.in_query(query), dtype=float)
        self._ignored = ignored | set(query.lower().split())

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
        return table(
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
        """Return, for each passage, the best segment that mentions its title, and for each segment, the best passage
        that it mentions."""
        title, titles, links = self._found.title, self._found.titles, self._found.links
        if not links:
            return np.zeros(self._passages), np.zeros(before.size)
        best_of_title = np.zeros(titles)
        np.maximum.at(best_of_title, title, best)
        worth, found = best_of_title.tolist(), before.tolist()
        mentioned, mentions = [0.0] * titles, [0.0] * before.size
        for segment, number in links:
            mentioned[number] = max(mentioned[number], found[segment])
            mentions[segment] = max(mentions[segment], worth[number])
        return np.array(mentioned)[title], np.array(mentions)

    def _shared_names(self, before: Floats, sources: Sequence[int]) -> Floats:
        """Sum up, for each segment, the worth of the rare names that it shares with best segments of other passages."""
        of_name: dict[str, list[int]] = {}
        for segment in sources if self._corpus.has_titles else ():
            for name in self._names(segment):
                of_name.setdefault(name, []).append(segment)
        names = sorted(of_name)
        pairs = self._occurrences(names)
        idf = self._idf(pairs, len(names))
        worth, only = [0.0] * len(names), [-1] * len(names)
        for number, rarity in idf.items():
            segments = of_name[names[number]]
            worth[number] = rarity * max(before[segments].tolist())
            passages = {self._passage_of[segment] for segment in segments}
            only[number] = passages.pop() if len(passages) == 1 else -1
        shared = [0.0] * before.size
        for segment, number in pairs:
            if only[number] != self._passage_of[segment]:
                shared[segment] += worth[number]
        return np.array(shared)

    def _names(self, segment: int) -> set[str]:
        """Return the words of a segment that begin with a capital letter or a digit."""
        return {
            word
            for word in self._corpus.words[segment]
            if not word[0].islower()
            and len(word) > 1
            and (word[0].isupper() or word[0].isdigit())
            and word.lower() not in self._ignored
        }

    def _occurrences(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Return (number of a segment, number of a name) where a segment has a name, each pair once, in order."""
        if not names:
            return []
        found = self._corpus.in_segments(names)
        return [divmod(key, len(names)) for key in sorted(set((found.text * len(names) + found.word).tolist()))]

    def _idf(self, pairs: Sequence[tuple[int, int]], names: int) -> dict[int, float]:
        """Return the idf of each name that occurs in several passages, but not in many. pairs: `_occurrences`."""
        frequency = [0] * names
        for _, name in {(self._passage_of[segment], name) for segment, name in pairs}:
            frequency[name] += 1
        count, most = self._passages, max(3, self._passages // 4)
        return {name: math.log1p((count - n + 0.5) / (n + 0.5)) for name, n in enumerate(frequency) if 2 <= n <= most}

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
