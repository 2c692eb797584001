"""The segments of one retrieval with their words, sections and labels, as the scorers need them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind, Passage, Segment
from ctxcompress.score.matches import Floats, Integers, Postings
from ctxcompress.text.lines import after_marks
from ctxcompress.text.words import Terms, split_each, split_words

__all__ = ["KINDS", "Corpus", "number_sections"]

KINDS = (Kind.HEADING, Kind.LIST_ITEM, Kind.TABLE, Kind.CODE, Kind.METADATA)
"""The kinds that `Corpus.kinds` distinguishes."""
_LONG_PASSAGE = 3_000
"""Characters: a longer passage is scored by section. More than a usual chunk, less than a page."""


@dataclass(frozen=True)  # no slots: cached properties serve the next query
class Corpus:
    """The segments of one retrieval, whatever the query.

    Parallel sequences with one entry per segment in source order, unless said otherwise.
    """

    segments: Sequence[Segment]
    texts: Sequence[str]
    words: Sequence[Sequence[str]]
    passage: Integers
    """The number of the passage that each segment belongs to."""
    sections: Sequence[int]
    """The number of the section that each segment belongs to, ascending from 0."""
    labels: Sequence[Sequence[str]]
    """The words of each section's title and headings."""
    label_texts: Sequence[str]
    """Each section's title and headings as text."""
    names: Sequence[Sequence[str]]
    """The words of each section's innermost heading."""
    titles: Sequence[str]
    """The title of each passage; "" for none."""
    source: NDArray[np.bool_]
    """Which segments are source code of its own, not code within prose."""
    postings: Postings | None = None
    """An index of all these words, if several queries are expected."""

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """Which segments are the first of their passage."""
        return np.diff(self.passage, prepend=-1) > 0

    @cached_property
    def kinds(self) -> list[NDArray[np.bool_]]:
        """Which segments are of each of KINDS. Boilerplate counts as the kind that it would otherwise have."""
        numbers = {kind: number for number, kind in enumerate(KINDS)} | {Kind.BOILERPLATE: len(KINDS)}
        kinds = np.array([numbers.get(segment[0], -1) for segment in self.segments])
        for number in np.flatnonzero(kinds == len(KINDS)).tolist():
            kinds[number] = numbers[Kind.LIST_ITEM] if after_marks(self.texts[number]) else -1
        return [kinds == number for number in range(len(KINDS))]

    @cached_property
    def name_sizes(self) -> Floats:
        """The number of distinct words in each section's innermost heading, at least 1."""
        return np.array([max(len(set(name)), 1) for name in self.names], dtype=float)

    def with_postings(self, terms: Terms) -> "Corpus":
        """Return the corpus with an index of its words, for many queries."""
        return replace(self, postings=Postings(self.words, self.labels, self.names, terms))

    @classmethod
    def of(
        cls,
        passages: Sequence[Passage],
        segmented: Sequence[Sequence[Segment]],
        texts: Sequence[str],
        words: Sequence[Sequence[str]] | None = None,
    ) -> "Corpus":
        """Build the corpus.

        segmented: the segments of each passage. texts: of all segments, in order. words: of all segments, if known.
        """
        segments = [segment for of_passage in segmented for segment in of_passage]
        passage = [index for index, of_passage in enumerate(segmented) for _ in of_passage]
        sections = number_sections(segmented)
        labels, names = _section_labels(passages, passage, segments, sections)
        return cls(
            segments=segments,
            texts=texts,
            words=split_each(texts) if words is None else words,
            passage=np.array(passage, dtype=np.intp),
            sections=sections,
            labels=split_each(labels),
            label_texts=labels,
            names=names,
            titles=[item.title or "" for item in passages],
            source=np.array([segment.unit is not None for segment in segments], dtype=bool),
        )


def number_sections(passages: Sequence[Sequence[Segment]]) -> list[int]:
    """Return the section number of every segment, counted from 0 over all passages.

    A short passage is one section. In a long passage, and in code, the segments under one heading are a section; where
    there are no headings, the segments of one block are.
    """
    numbers: list[int] = []
    section = -1
    for segments in passages:
        whole = not segments or segments[-1].end <= _LONG_PASSAGE
        code = Kind.CODE
        previous: object = -1
        for segment in segments:
            key = None if whole and segment.kind is not code else segment.heading or segment.block
            section += key != previous
            previous = key
            numbers.append(section)
    return numbers


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
