"""Evidence by way of other evidence: what the best segments so far speak of.

A question such as "where was the director of X born?" names X only. The passage on X names the
director, and the passage on the director shares no word with the question. So the titles and the
rare names that the best segments mention count for the passages that they lead to.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import relative, table
from ctxcompress.score.matches import Floats
from ctxcompress.text.words import split_unspaced, split_words

__all__ = ["BRIDGES", "Bridges"]

BRIDGES = (
    "before",  # the probability of the pass before
    "before_logit",
    "before_relative",
    "title_mentioned",  # the best segment of another passage that mentions the title of this one
    "title_mentioned_and_before",
    "mentions_title",  # the best passage of those whose titles the segment mentions
    "title_in_query",
    "names",  # rare names shared with the best segments of other passages, relative to the most
    "names_log",
    "names_of_passage",
    "passage_before",  # the best segment of the same passage
)
"""The rows of `Bridges.features`, in order."""

_SOURCES = 4
"""How many of the best segments are looked at for names."""
_SOURCES_OF_PASSAGE = 2
_SHORTEST_TITLE = 4
_LONGEST_TITLE = 12
"""Words of a title that are compared."""


class Bridges:
    """What leads from passage to passage. Made once for a retrieval, asked for each pass."""

    def __init__(self, query: str, corpus: Corpus, ignored: frozenset[str]) -> None:
        """ignored: lower-case words that are no names (the language's function words)."""
        self._passage = corpus.passage
        self._passage_of: list[int] = corpus.passage.tolist()  # one by one, a list is read faster than an array
        self._passages = len(corpus.titles)
        titles = [_without_qualifier(title) for title in corpus.titles]
        asked = _spoken(query)
        self._in_query = np.array([len(t) >= _SHORTEST_TITLE and _spoken(t) in asked for t in titles], dtype=float)
        numbers: dict[str, int] = {}
        self._title = np.array([numbers.setdefault(title, len(numbers)) for title in titles], dtype=np.intp)
        self._titles = len(numbers)
        self._links = list(_links(list(numbers), corpus.words, self._title[corpus.passage].tolist()))
        self._words = corpus.words
        self._ignored = ignored | set(query.lower().split())

    def features(self, probability: Floats) -> Floats:
        """One row for each of BRIDGES, one column a segment, given the probabilities of the pass before."""
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
        """Of each passage the best segment that mentions its title; of each segment the best passage it mentions."""
        best_of_title = np.zeros(self._titles)
        np.maximum.at(best_of_title, self._title, best)
        worth, found = best_of_title.tolist(), before.tolist()
        mentioned, mentions = [0.0] * self._titles, [0.0] * before.size
        for segment, title in self._links:
            mentioned[title] = max(mentioned[title], found[segment])
            mentions[segment] = max(mentions[segment], worth[title])
        return np.array(mentioned)[self._title], np.array(mentions)

    def _shared_names(self, before: Floats) -> Floats:
        """Summed worth of the rare names in each segment that a best segment of another passage has."""
        sources: dict[str, list[int]] = {}
        for segment in self.sources(before):
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
        """Of a segment the words that begin with a capital letter or a digit."""
        return {
            word
            for word in self._words[segment]
            if len(word) > 1 and (word[0].isupper() or word[0].isdigit()) and word.lower() not in self._ignored
        }

    def _idf(self, common: Sequence[tuple[int, set[str]]]) -> dict[str, float]:
        """The idf over the passages of those names that several but not many of them have."""
        pairs = {(name, self._passage_of[number]) for number, names in common for name in names}
        frequency = Counter(name for name, _ in pairs)
        count, most = self._passages, max(3, self._passages // 4)
        return {name: math.log1p((count - n + 0.5) / (n + 0.5)) for name, n in frequency.items() if 2 <= n <= most}

    def sources(self, before: Floats) -> list[int]:
        """The best segments, few of each passage: what names are looked for in."""
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
    """A title as texts mention it: "Silver Dunes" of "Silver Dunes (film)"."""
    return title[: title.rfind("(")].rstrip() if title.endswith(")") and "(" in title else title


def _spoken(text: str) -> str:
    """Its words, each after a space: "What's My Line?" as it is asked for without its marks. At the end of a title the
    question's word may go on, as plurals do. A text without words is spoken as it is."""
    return "".join(f" {word}" for word in split_unspaced(text.lower())) or text


def _links(titles: Sequence[str], texts: Sequence[Sequence[str]], own: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(number of a text, number of a title) wherever a text mentions a title that is not its own, word by word.

    texts: their words. own: the number of each text's own title.
    """
    words_of = (tuple(split_words(title)[:_LONGEST_TITLE]) for title in titles)
    numbers = {words: n for n, words in enumerate(words_of) if words and len(titles[n]) >= _SHORTEST_TITLE}
    lengths: dict[str, set[int]] = {}
    for words in numbers:
        lengths.setdefault(words[0], set()).add(len(words))
    for text, said in enumerate(texts):
        if lengths.keys().isdisjoint(said):
            continue
        found = {
            tuple(said[start : start + length]) for start, word in enumerate(said) for length in lengths.get(word, ())
        }
        for title in sorted(numbers[mention] for mention in found & numbers.keys()):
            if title != own[text]:
                yield text, title
