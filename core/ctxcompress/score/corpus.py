"""All segments of one retrieval as the scorers see them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.score.bm25 import Integers
from ctxcompress.score.sections import number_sections
from ctxcompress.text.words import split_words
from ctxcompress.types import Passage, Segment

__all__ = ["Corpus"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Parallel sequences, one entry a segment in source order, unless said otherwise."""

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

    @classmethod
    def of(cls, passages: Sequence[Passage], segmented: Sequence[Sequence[Segment]], texts: Sequence[str]) -> "Corpus":
        """segmented: the segments of each passage. texts: of all segments, in order."""
        segments = [segment for of_passage in segmented for segment in of_passage]
        passage = [index for index, of_passage in enumerate(segmented) for _ in of_passage]
        sections = number_sections(segmented)
        labels: list[str] = []
        names: list[list[str]] = []
        for number, section in enumerate(sections):
            if section == len(labels):
                heading = segments[number].heading
                item = passages[passage[number]]
                labels.append(" › ".join(filter(None, (item.title, *(item.header_path or ()), *heading))))
                names.append(split_words(heading[-1]) if heading else [])
        return cls(
            segments=segments,
            texts=texts,
            words=[split_words(text) for text in texts],
            passage=np.array(passage, dtype=np.intp),
            sections=sections,
            labels=[split_words(label) for label in labels],
            label_texts=labels,
            names=names,
            titles=[item.title or "" for item in passages],
            source=np.array([segment.unit is not None for segment in segments], dtype=bool),
        )
