"""Text that repeats other text: that of a kept segment, or what the language model was given before, word for word."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import chain

from ctxcompress.data.documents import Spans, documents_as_they_are
from ctxcompress.data.passages import Kind, Segment, Span, intersection, joined
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.layout import Layout

__all__ = [
    "SHORTEST_REPEATED",
    "Delivered",
    "DeliveredRuns",
    "Novelty",
    "Repeats",
    "Runs",
    "all_unknown",
    "delivered_segments",
    "unit_texts",
]

_RUN = 8
"""The words of a run."""
SHORTEST_REPEATED = 12
"""Characters: a shorter text, such as "yes" in a list, may be repeated."""
_FRESH, _PARTLY_NEW = 0.85, 0.3
"""An item with a smaller share of new text is a repeat; with less than a third of it new, it comes after all others."""
_OF_FORM = 1e-6
"""The factor on the worth of an item that repeats others by its form."""
_BY_BLOCK = frozenset((Kind.TABLE, Kind.CODE))
"""Two tables may have the same row, and two functions the same statement. So a table or a code block is delivered only
as a whole; a sentence is on its own."""


class Runs:
    """The hashes of the runs of eight words in each text, computed on demand and cached."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._known: dict[int, frozenset[int]] = {}

    def of(self, item: int) -> frozenset[int]:
        """Return the runs of a text; none for items beyond the texts."""
        runs = self._known.get(item)
        if runs is None:
            text = self._texts[item] if item < len(self._texts) else ""
            runs = self._known[item] = frozenset(_runs_in(_words_in(text, has_bars="|" in text)))
        return runs


class Novelty:
    """The runs of eight words of the kept texts, to tell what would only repeat them.

    Texts shorter than eight words, and scripts without spaces, always count as new.
    """

    def __init__(self, runs: Runs, before: Collection[int] = (), by_form: Container[int] = ()) -> None:
        """before: the runs of text that was kept before. by_form: items that others are like by their form, as records
        and rows are."""
        self._before, self.by_form = before, by_form
        self._runs = runs.of
        self._seen: set[int] = set()

    def copy(self) -> "Novelty":
        """Return an independent copy."""
        novelty = copy(self)
        novelty._seen = set(self._seen)
        return novelty

    def share(self, items: Collection[int]) -> float:
        """Return the share of the runs in the items' texts that no taken text has, 0 to 1."""
        if not self._before and all(map(self._seen.isdisjoint, map(self._runs, items))):
            return 1.0
        runs: set[int] = set().union(*map(self._runs, items))
        return len((runs - self._seen).difference(self._before)) / len(runs) if runs else 1.0

    def take(self, items: Collection[int]) -> None:
        """Add the runs of the items' texts."""
        self._seen.update(*map(self._runs, items))


class Repeats:
    """The items that repeat taken text, and when their turn is.

    What repeats in part may be what matters: the item of a list that says "must not" has nearly all words of the one
    that says "must". So it is worth its probability times the square of its new share. What is like
    others by its form, as records, rows and code are, comes after all that is likely.
    """

    def __init__(self, novelty: Novelty, chances: Sequence[float], least: float) -> None:
        """chances: the probability that each item is needed, if known. least: of items that are needed for themselves,
        by their new share alone."""
        self._novelty, self._chances, self._least = novelty, chances, least
        self._waiting: list[tuple[float, int]] = []
        """A heap of (worth, negated; item)."""
        self._turn = -1
        self.rest: list[int] = []
        """The items of which little is new, or that are hardly needed."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self.rest)

    def in_turn(self, order: Iterable[int]) -> Iterator[int]:
        """Yield the items of an order, and each that waits before the first that is less likely than it is worth."""
        for item, chance in chain(((item, self._chance(item)) for item in order), ((-1, 0.0),)):
            while self._waiting and -self._waiting[0][0] >= chance:
                self._turn = heappop(self._waiting)[1]
                worth = self._worth(self._turn)  # less than before, if more was taken
                if worth and worth >= chance:
                    yield self._turn
                else:
                    self._wait(self._turn, worth)
            if item >= 0:
                yield item

    def holds(self, item: int, wanted: Collection[int]) -> bool:
        """Tell whether an item, with all that it needs, mostly repeats taken text; then it waits for its turn."""
        if item == self._turn or self._novelty.share(wanted) >= _FRESH:
            return False
        self._wait(item, self._worth(item))
        return True

    def _chance(self, item: int) -> float:
        return self._chances[item] if self._chances else 0.0

    def _worth(self, item: int) -> float:
        share, chance = self._novelty.share((item,)), self._chance(item)
        if share < _PARTLY_NEW or share * chance < self._least:
            return 0.0
        return share**2 * chance * (_OF_FORM if item in self._novelty.by_form else 1.0)

    def _wait(self, item: int, worth: float) -> None:
        if worth:
            heappush(self._waiting, (-worth, item))
        else:
            self.rest.append(item)


@dataclass(frozen=True, slots=True)
class DeliveredRuns:
    """The runs of words of a text that grows at its end."""

    text: str = ""
    hashes: Collection[int] = frozenset()
    """Of the runs."""
    last_words: tuple[str, ...] = ()
    """The words with which the next run may begin."""

    def extended(self, text: str) -> "DeliveredRuns":
        """Return the runs of `text`, of which only what follows the known text is read where that is possible."""
        if text == self.text:
            return self
        known, more = self, text[len(self.text) :]
        joins_word = not (more[:1].isspace() or self.text[-1:].isspace())
        if not text.startswith(self.text) or joins_word or ("|" in more and "|" not in self.text):
            known, more = DeliveredRuns(), text
        words = [*known.last_words, *_words_in(more, has_bars="|" in text)]
        return DeliveredRuns(text, {*known.hashes, *_runs_in(words)}, tuple(words[1 - _RUN :]))


def _runs_in(words: Sequence[str]) -> Iterator[int]:
    """Return the hashes of the runs of these words. Numbers take much less memory than tuples of words."""
    return map(hash, zip(*(words[shift:] for shift in range(_RUN)), strict=False))


def _words_in(text: str, *, has_bars: bool) -> list[str]:
    """Return the words in lower case.

    has_bars: whether to leave out the marks between the cells of a table, of which all tables are full.
    """
    words = text.lower().split()
    return [word for word in words if word.strip("|-:")] if has_bars else words


@dataclass(frozen=True, slots=True)
class Delivered:
    """The candidates that were delivered before."""

    numbers: frozenset[int] = frozenset()
    """Of the segments."""
    spans: Spans = field(default_factory=dict)
    """Number of a passage -> the spans of its text that were delivered."""

    def without(self, numbers: Iterable[int]) -> "Delivered":
        """Return the same without these segments, which have more than what was delivered."""
        return replace(self, numbers=self.numbers.difference(numbers))


def delivered_segments(
    table: SegmentTable, layout: Layout, delivered: Collection[str], had: Mapping[int, Sequence[Span]]
) -> Delivered:
    """Find the candidates that were delivered before.

    A heading counts as delivered if all text under it was.
    delivered: the texts of the delivered segments, see `unit_texts`. had: number of a passage that was delivered in
    part -> the spans that were; a segment within such a passage counts if any of its text was delivered.
    """
    by_text = {number for numbers, text in _units(table) if text in delivered for number in numbers}
    by_place = {number: found for number, found in _delivered_in_part(table, layout, had) if number not in by_text}
    by_text |= _headings(table, by_text | by_place.keys())
    spans: dict[int, list[Span]] = {}
    for part in chain([layout.of_passages(table.spans(sorted(by_text)))], by_place.values()):
        for passage, of_part in part.items():
            spans.setdefault(passage, []).extend(of_part)
    return Delivered(
        frozenset(by_text | by_place.keys()), {passage: joined(sorted(found)) for passage, found in spans.items()}
    )


def unit_texts(text: str, segments: Sequence[Segment]) -> list[str]:
    """Return what is compared of a text: its sentences, whole tables and code blocks, with normalized white space."""
    return [unit for _, unit in _units(SegmentTable.of(documents_as_they_are([text]), [segments]))]


def all_unknown(table: SegmentTable, known: Delivered, layout: Layout) -> Spans:
    """Return the spans of everything that was not delivered, with the delivered segments that it needs."""
    if not known.numbers:
        return layout.everything
    others = {number for number in range(len(table.segments)) if number not in known.numbers}
    return layout.spans(table, others.union(*map(table.needs, others)))


def _headings(table: SegmentTable, known: Collection[int]) -> set[int]:
    """Return the headings that have only delivered text under them."""
    of_known, of_others = set[int](), set[int]()
    for number, segment in enumerate(table.segments):
        if segment.kind is not Kind.HEADING:
            (of_known if number in known else of_others).update(table.headings_of(number))
    return of_known - of_others


def _units(table: SegmentTable) -> Iterator[tuple[list[int], str]]:
    """Yield (numbers of segments, text with normalized white space) of sentences, whole tables and code blocks."""
    units: dict[tuple[int, ...], list[int]] = {}
    for number, kind in enumerate(table.kind):
        if kind is not Kind.HEADING:
            key = (table.document[number], table.block[number]) if kind in _BY_BLOCK else (number,)
            units.setdefault(key, []).append(number)
    for numbers in units.values():
        text = " ".join("".join(table.texts[number] for number in numbers).split())
        if len(text) >= SHORTEST_REPEATED:
            yield numbers, text


def _delivered_in_part(
    table: SegmentTable, layout: Layout, had: Mapping[int, Sequence[Span]]
) -> Iterator[tuple[int, Spans]]:
    """Yield (number of a segment, its delivered spans by passage) for segments that were delivered in part."""
    for number, segment in enumerate(table.segments if had else ()):
        document = layout.documents[table.document[number]]
        of_segment = document.of_passages((Span(segment.start, segment.end),))
        found = {passage: intersection(spans, had[passage]) for passage, spans in of_segment.items() if passage in had}
        texts = (layout.passages[passage][start:end] for passage, spans in found.items() for start, end in spans)
        if segment.kind is not Kind.HEADING and any(text.strip() for text in texts):
            yield number, found
