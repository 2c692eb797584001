"""The segments of one retrieval with their words, sections and labels, as the scorers need them."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.metadata import MOST_STRIPPED, offset_of
from ctxcompress.data.passages import Kind, Passage, Segment
from ctxcompress.data.table import Floats, Integers, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import split_each, split_words

__all__ = ["Concordance", "Corpus", "Found", "of_kinds", "segment_words"]

_T = TypeVar("_T")
_RECORD, _TURN = Kind.RECORD, Kind.TURN  # ten times as fast as attributes of an enum
_ESCAPE = lazy_regex(r"\\++(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_SURROGATES = lazy_regex(r"[\ud800-\udbff][\udc00-\udfff]")
_FEW, _OWN_TITLES = 2, 0.75
"""Documents that do not lead to one another, and the least share of distinct titles that name documents."""


class Found(NamedTuple):
    """The places of some words, in the order of the texts: parallel arrays."""

    text: Integers
    """The number of the text."""
    place: Integers
    """The number of the word in the text, from 0."""
    word: Integers
    """The number of the word among those that were looked for."""


class Concordance:
    """Where each word of some texts stands."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """texts: the words of each."""
        words = list(chain.from_iterable(texts))
        self.vocabulary: dict[str, int] = {}
        """Word -> its number."""
        # Half the memory of np.intp: there is one for each word.
        self._numbers = np.fromiter(map(self.vocabulary.setdefault, words, count()), np.int32, len(words))
        self._begin = np.zeros(len(texts) + 1, np.intp)
        np.fromiter(map(len, texts), np.intp, len(texts)).cumsum(out=self._begin[1:])

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self._begin.size - 1

    def find(self, words: Sequence[str], first: int = 0) -> Found:
        """Return all places of these words, which are different ones of the vocabulary.

        first: the number of the first text to look in; texts count from it.
        """
        numbers, begin = [self.vocabulary[word] for word in words], self._begin[first]
        is_wanted, which = np.zeros(self._numbers.size, bool), np.empty(self._numbers.size, np.intp)
        is_wanted[numbers], which[numbers] = True, range(len(words))
        places = is_wanted[self._numbers[begin:]].nonzero()[0] + begin
        text = self._begin.searchsorted(places, side="right") - 1
        return Found(text - first, places - self._begin[text], which[self._numbers[places]])


@dataclass(frozen=True)  # no slots: cached properties serve the next query
class Corpus:
    """The segment table, and the words of its segments, sections and documents. It depends on no query."""

    table: SegmentTable
    words: Sequence[Sequence[str]]
    """The words of each segment."""
    labels: Sequence[Sequence[str]]
    """The words of each section's title and headings."""
    label_texts: Sequence[str]
    """Each section's title and headings as text."""
    names: Sequence[Sequence[str]]
    """The words of each section's innermost heading."""
    titles: Sequence[str]
    """The title of each document; "" for none."""
    own: Sequence[Sequence[str]] = ()
    """The words of each segment's label; empty if no segment has one."""
    _known: dict[Callable[["Corpus"], Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, find: Callable[["Corpus"], _T]) -> _T:
        """Return what a function finds in the corpus. It is called once, and the next query has the same."""
        if find not in self._known:
            self._known[find] = find(self)
        found: _T = self._known[find]
        return found

    @cached_property
    def has_titles(self) -> bool:
        """Whether there are several documents, and nearly all have a title of their own."""
        titles = [title for title in self.titles if title]
        return len(self.titles) > _FEW and len(set(titles)) >= _OWN_TITLES * len(self.titles)

    @cached_property
    def turns(self) -> NDArray[np.bool_]:
        """Whether each segment is part of a turn of a conversation."""
        return of_kinds(self.table, (_TURN,))

    @cached_property
    def name_sizes(self) -> Floats:
        """The number of distinct words in each section's innermost heading, at least 1."""
        return np.array([max(len(set(name)), 1) for name in self.names], dtype=float)

    @cached_property
    def concordance(self) -> Concordance:
        """Where each word stands: in the labels of sections, in innermost headings, in the labels of segments and in
        segments, one level after the other."""
        return Concordance((*self.labels, *self.names, *self.own, *self.words))

    def in_segments(self, words: Sequence[str]) -> Found:
        """Return all places of these words in the segments. All of them must occur in the corpus."""
        return self.concordance.find(words, self.concordance.texts - len(self.words))

    @classmethod
    def of(cls, documents: Sequence[Passage], table: SegmentTable) -> "Corpus":
        """Build the corpus of a table. documents: as passages."""
        labels, names = _section_labels(documents, table)
        return cls(
            table=table,
            words=segment_words(table.segments, table.texts),
            labels=split_each(labels),
            label_texts=labels,
            names=names,
            titles=[document.title or "" for document in documents],
            own=split_each(table.label) if any(table.label) else (),
        )


def segment_words(segments: Sequence[Segment], texts: Sequence[str]) -> list[Sequence[str]]:
    """Return the words of each segment: of records with escaped characters as they are, and of turns without the label
    that the text begins with."""
    pairs = zip(segments, texts, strict=True)
    texts = [_unescaped(text) if "\\" in text and segment.kind is _RECORD else text for segment, text in pairs]
    if any(segment.label for segment in segments):
        pairs = zip(segments, texts, strict=True)
        texts = [text.removeprefix(segment.label) if segment.kind is _TURN else text for segment, text in pairs]
    return split_each(texts)


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return _SURROGATES.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), plain)


def _section_labels(passages: Sequence[Passage], table: SegmentTable) -> tuple[list[str], list[Sequence[str]]]:
    """Return the title and headings of each section, and the words of its innermost heading."""
    firsts = [number for number, (one, other) in enumerate(pairwise([-1, *table.sections])) if one != other]
    before = _headings_before(passages, table)
    places = [(table.document[number], table.segments[number].heading) for number in firsts]
    under = [(passages[document], heading or before.get(document, ())) for document, heading in places]
    labels = [" › ".join(filter(None, (item.title, *(item.header_path or ()), *heading))) for item, heading in under]
    words = {heading: tuple(split_words(heading[-1])) if heading else () for _, heading in under}
    return labels, [words[heading] for _, heading in under]


def _headings_before(passages: Sequence[Passage], table: SegmentTable) -> dict[int, tuple[str, ...]]:
    """Return number of a chunk -> the headings above its beginning, for chunks right after another one of the same
    document, by the offsets that splitters write. Chunks can be in any order: a retriever gives the best one first."""
    starts: dict[str, list[tuple[int, int]]] = {}
    for number, passage in enumerate(passages):
        name, start = passage.doc_id or passage.file_path, offset_of(passage)
        if name and start is not None and not passage.header_path:
            starts.setdefault(name, []).append((start, number))
    found: dict[int, tuple[str, ...]] = {}
    for of_document in starts.values():
        for (start, one), (following, other) in pairwise(sorted(of_document)):
            if 0 <= following - start - len(passages[one].text) <= MOST_STRIPPED:
                last = table.heading[table.first[one + 1] - 1] if passages[one].text else ()
                found[other] = last or found.get(one, ())
    return found


def of_kinds(table: SegmentTable, kinds: Collection[Kind]) -> NDArray[np.bool_]:
    """Return whether each segment is of one of these kinds."""
    if table.kinds.isdisjoint(kinds):
        return np.zeros(len(table.segments), dtype=bool)
    return np.fromiter((kind in kinds for kind in table.kind), bool, len(table.segments))
