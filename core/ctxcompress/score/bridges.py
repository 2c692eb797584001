"""Features that follow the titles and rare names in the best segments to other passages.

The query "where was the director of X born?" names only X. The passage about X names the director, but the passage
about the director shares no word with the query. So a passage gains when a good segment mentions its title, or shares
rare names with it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ctxcompress.data.table import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import table
from ctxcompress.score.occurrences import relative
from ctxcompress.text.words import split_unspaced, split_words

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
_SHORTEST_TITLE = 4
"""Characters."""
_LONGEST_TITLE = 12
"""Words: the rest of a longer title is not compared."""


class Bridges:
    """The links between the passages of one retrieval. Built once, used in every pass."""

    def __init__(self, query: str, corpus: Corpus, ignored: frozenset[str]) -> None:
        """ignored: lower-case words that are not names (the function words of the language)."""
        self._passage = corpus.passage
        self._passage_of: list[int] = corpus.passage.tolist()  # a list is faster to read item by item
        self._passages = len(corpus.titles)
        titles = [_without_qualifier(title) for title in corpus.titles]
        asked = _joined_words(query)
        self._in_query = np.array(
            [corpus.has_titles and len(t) >= _SHORTEST_TITLE and _joined_words(t) in asked for t in titles], dtype=float
        )
        numbers: dict[str, int] = {}
        self._title = np.array([numbers.setdefault(title, len(numbers)) for title in titles], dtype=np.intp)
        self._titles = len(numbers)
        own = self._title[corpus.passage].tolist()
        self._has_titles = corpus.has_titles
        """Whether titles and names lead to other passages. In a conversation they lead everywhere."""
        self._links = list(_links(list(numbers), corpus.words, own)) if corpus.has_titles else []
        self._words = corpus.words
        self._ignored = ignored | set(query.lower().split())

    def features(self, probability: Floats) -> Floats:
        """Return one row per name in BRIDGES and one column per segment.

        probability: of each segment, from the previous pass.
        """
        before = relative(probability)
        best = self._best_of_passage(before)
        mentioned, mentions = self._mentions(before, best)
        shared = self._shared_names(before)
        names = relative(shared)
        return table(
            [
                probability,
                np.log((probability + 1e-9) / (1 - probability + 1e-9)),
                before,
                mentioned[self._passage],
                mentioned[self._passage] * before,
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
        best_of_title = np.zeros(self._titles)
        np.maximum.at(best_of_title, self._title, best)
        worth, found = best_of_title.tolist(), before.tolist()
        mentioned, mentions = [0.0] * self._titles, [0.0] * before.size
        for segment, title in self._links:
            mentioned[title] = max(mentioned[title], found[segment])
            mentions[segment] = max(mentions[segment], worth[title])
        return np.array(mentioned)[self._title], np.array(mentions)

    def _shared_names(self, before: Floats) -> Floats:
        """Sum up, for each segment, the worth of the rare names that it shares with best segments of other passages."""
        sources: dict[str, list[int]] = {}
        for segment in self.sources(before) if self._has_titles else ():
            for name in self._names(segment):
                sources.setdefault(name, []).append(segment)
        names = sources.keys()
        common = [(number, names & words) for number, words in enumerate(self._words) if not names.isdisjoint(words)]
        idf = self._idf(common)
        worth = {name: idf[name] * max(before[sources[name]].tolist()) for name in idf}
        passages = {name: {self._passage_of[source] for source in sources[name]} for name in idf}
        shared = np.zeros(before.size)
        for number, of_segment in common:
            own = {self._passage_of[number]}
            shared[number] = sum(worth[name] for name in sorted(of_segment & worth.keys()) if passages[name] != own)
        return shared

    def _names(self, segment: int) -> set[str]:
        """Return the words of a segment that begin with a capital letter or a digit."""
        return {
            word
            for word in self._words[segment]
            if len(word) > 1 and (word[0].isupper() or word[0].isdigit()) and word.lower() not in self._ignored
        }

    def _idf(self, common: Sequence[tuple[int, set[str]]]) -> dict[str, float]:
        """Return the idf of each name that occurs in several passages, but not in many."""
        pairs = {(name, self._passage_of[number]) for number, names in common for name in names}
        frequency = Counter(name for name, _ in pairs)
        count, most = self._passages, max(3, self._passages // 4)
        return {name: math.log1p((count - n + 0.5) / (n + 0.5)) for name, n in frequency.items() if 2 <= n <= most}

    def sources(self, before: Floats) -> list[int]:
        """Return the best segments, few per passage: their names are followed."""
        sources: list[int] = []
        taken: Counter[int] = Counter()
        for segment in np.argsort(-before, kind="stable").tolist():
            passage = self._passage_of[segment]
            if taken[passage] < _SOURCES_OF_PASSAGE:
                sources.append(segment)
                taken[passage] += 1
            if len(sources) == _SOURCES:
                break
        return sources


def _without_qualifier(title: str) -> str:
    """Return the title as texts mention it: "Silver Dunes" for "Silver Dunes (film)"."""
    return title[: title.rfind("(")].rstrip() if title.endswith(")") and "(" in title else title


def _joined_words(text: str) -> str:
    """Return the lower-case words of `text`, each after a space, or `text` itself where it has no words.

    So "What's My Line?" is found without its punctuation, and the last word of a title may go on in the query, as in a
    plural.
    """
    return "".join(f" {word}" for word in split_unspaced(text.lower())) or text


def _links(titles: Sequence[str], texts: Sequence[Sequence[str]], own: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (number of a text, number of a title) where a text mentions a title other than its own.

    texts: the words of each text. own: the number of each text's own title.
    """
    words_of = (tuple(split_words(title)[:_LONGEST_TITLE]) for title in titles)
    numbers = {words: n for n, words in enumerate(words_of) if words and len(titles[n]) >= _SHORTEST_TITLE}
    lengths: dict[str, set[int]] = {}
    for words in numbers:
        lengths.setdefault(words[0], set()).add(len(words))
    for text, words_in_text in enumerate(texts):
        if lengths.keys().isdisjoint(words_in_text):
            continue
        starts = [start for start, word in enumerate(words_in_text) if word in lengths]
        found = {
            tuple(words_in_text[start : start + length]) for start in starts for length in lengths[words_in_text[start]]
        }
        for title in sorted(numbers[mention] for mention in found & numbers.keys()):
            if title != own[text]:
                yield text, title
