"""The segments of one retrieval with their words, sections and labels, as the scorers need them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ctxcompress.data.passages import Kind, Passage, Segment
from ctxcompress.data.table import Floats, Integers, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.occurrences import Concordance, Found
from ctxcompress.text.words import split_each, split_words

__all__ = ["Corpus", "segment_words"]

_T = TypeVar("_T")
_RECORD = Kind.RECORD
_ESCAPE = lazy_regex(r"\\++(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_SURROGATES = lazy_regex(r"[\ud800-\udbff][\udc00-\udfff]")
_FEW = 2
"""Documents: so few do not lead to one another."""
_OWN_TITLES = 0.75
"""The least share of distinct titles with which a title names its document."""


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

    @property
    def segments(self) -> Sequence[Segment]:
        return self.table.segments

    @property
    def texts(self) -> Sequence[str]:
        return self.table.texts

    @property
    def sections(self) -> Sequence[int]:
        return self.table.sections

    @property
    def passage(self) -> Integers:
        """The document of each segment."""
        return self.table.documents

    @cached_property
    def has_titles(self) -> bool:
        """Whether there are several documents, and nearly all have a title of their own."""
        titles = [title for title in self.titles if title]
        return len(self.titles) > _FEW and len(set(titles)) >= _OWN_TITLES * len(self.titles)

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
    def of(
        cls, documents: Sequence[Passage], table: SegmentTable, words: Sequence[Sequence[str]] | None = None
    ) -> "Corpus":
        """Build the corpus of a table. documents: as passages. words: of each segment, if they are known."""
        labels, names = _section_labels(documents, table.document, table.segments, table.sections)
        return cls(
            table=table,
            words=segment_words(table.segments, table.texts) if words is None else words,
            labels=split_each(labels),
            label_texts=labels,
            names=names,
            titles=[document.title or "" for document in documents],
            own=_own_labels(table.segments),
        )


def segment_words(segments: Sequence[Segment], texts: Sequence[str]) -> list[Sequence[str]]:
    """Return the words of each segment: of records with escaped characters as they are, and of turns without the label
    that the text begins with."""
    pairs = zip(segments, texts, strict=True)
    texts = [_unescaped(text) if "\\" in text and segment.kind is _RECORD else text for segment, text in pairs]
    if not any(segment.label for segment in segments):
        return split_each(texts)
    return split_each([_without_label(segment, text) for segment, text in zip(segments, texts, strict=True)])


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return _SURROGATES.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), plain)


def _own_labels(segments: Sequence[Segment]) -> Sequence[Sequence[str]]:
    labels = [segment.label for segment in segments]
    return split_each(labels) if any(labels) else ()


def _without_label(segment: Segment, text: str) -> str:
    return text.removeprefix(segment.label) if segment.kind is Kind.TURN else text


def _section_labels(
    passages: Sequence[Passage], passage: Sequence[int], segments: Sequence[Segment], sections: Sequence[int]
) -> tuple[list[str], list[Sequence[str]]]:
    """Return the title and headings of each section, and the words of its innermost heading. Neighbouring sections
    under one heading share them."""
    labels, names = list[str](), list[Sequence[str]]()
    last: tuple[int, Sequence[str]] | None = None
    for number, section in enumerate(sections):
        if section == len(labels):
            under = passage[number], segments[number].heading
            if under == last:
                labels.append(labels[-1])
                names.append(names[-1])
            else:
                item, heading = passages[under[0]], under[1]
                labels.append(" › ".join(filter(None, (item.title, *(item.header_path or ()), *heading))))
                names.append(tuple(split_words(heading[-1])) if heading else ())
            last = under
    return labels, names
