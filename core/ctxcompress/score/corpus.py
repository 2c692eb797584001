"""All segments of one retrieval as the scorers see them."""

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

_LONG_PASSAGE = 3_000
"""Characters above which a passage is judged by section: more than a usual chunk, less than a page."""


def number_sections(passages: Sequence[Sequence[Segment]]) -> list[int]:
    """The section number of every segment of every passage, in order, counted from 0 over all of them.

    A short passage is one section. In a long one, and in code, segments under the same heading are one, and
    where there are no headings, those of one block.
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


KINDS = (Kind.HEADING, Kind.LIST_ITEM, Kind.TABLE, Kind.CODE, Kind.METADATA)
"""The kinds that `Corpus.kinds` tells apart."""


@dataclass(frozen=True)  # without slots: what follows from the rest is remembered for the next question
class Corpus:
    """Parallel sequences, one entry a segment in source order, unless said otherwise. No question is in it."""

    segments: Sequence[Segment]
    texts: Sequence[str]
    words: Sequence[Sequence[str]]
    passage: Integers
    """Which passage each segment is of."""
    sections: Sequence[int]
    """Which section each segment is of, ascending from 0."""
    labels: Sequence[Sequence[str]]
    """Of each section: the words of its title and of the headings that it stands under."""
    label_texts: Sequence[str]
    """Of each section: its title and headings, to be read."""
    names: Sequence[Sequence[str]]
    """Of each section: the words of the innermost heading."""
    titles: Sequence[str]
    """Of each passage; empty where there is none."""
    source: NDArray[np.bool_]
    """Which segments are source code, not in the middle of prose."""
    postings: Postings | None = None
    """Where all these words are, if more than one question is expected."""

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """Whether a segment begins its passage."""
        return np.diff(self.passage, prepend=-1) > 0

    @cached_property
    def kinds(self) -> list[NDArray[np.bool_]]:
        """For each of KINDS, which segments are of it; boilerplate is what it would be otherwise."""
        numbers = {kind: number for number, kind in enumerate(KINDS)} | {Kind.BOILERPLATE: len(KINDS)}
        kinds = np.array([numbers.get(segment[0], -1) for segment in self.segments])
        for number in np.flatnonzero(kinds == len(KINDS)).tolist():
            kinds[number] = numbers[Kind.LIST_ITEM] if after_marks(self.texts[number]) else -1
        return [kinds == number for number in range(len(KINDS))]

    @cached_property
    def name_sizes(self) -> Floats:
        """Of each section how many different words its innermost heading has, at least one."""
        return np.array([max(len(set(name)), 1) for name in self.names], dtype=float)

    def with_postings(self, terms: Terms) -> "Corpus":
        """The same, for many questions."""
        return replace(self, postings=Postings(self.words, self.labels, self.names, terms))

    @classmethod
    def of(
        cls,
        passages: Sequence[Passage],
        segmented: Sequence[Sequence[Segment]],
        texts: Sequence[str],
        words: Sequence[Sequence[str]] | None = None,
    ) -> "Corpus":
        """segmented: the segments of each passage. texts: of all segments, in order. words: theirs, if known."""
        segments = [segment for of_passage in segmented for segment in of_passage]
        passage = [index for index, of_passage in enumerate(segmented) for _ in of_passage]
        sections = number_sections(segmented)
        labels, names = _called(passages, passage, segments, sections)
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


def _called(
    passages: Sequence[Passage], passage: Sequence[int], segments: Sequence[Segment], sections: Sequence[int]
) -> tuple[list[str], list[Sequence[str]]]:
    """Of each section its title and headings, and the words of the innermost. Sections that follow one another under
    one heading share them."""
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
