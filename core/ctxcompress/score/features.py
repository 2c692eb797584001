"""What is known of a segment before any other is judged relevant: a short vector of named numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxcompress.score.bm25 import Floats, summed
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import Matches

__all__ = ["FEATURES", "features", "ranks", "relative", "standardized", "table"]

FEATURES = (
    "alone",  # BM25 of the segment, relative to the best
    "alone_share",  # the same, relative to the weight of the question
    "section",  # BM25 of its section with title and headings, relative to the best
    "covered",  # share of the question's weight in the segment
    "covered_with_label",  # and in its title and headings
    "covered_by_section",  # and in all of its section
    "section_is_best",
    "section_rank",  # 1 / rank
    "section_log_rank",
    "section_and_alone",  # product of the two
    "first",  # whether it begins its passage
    "log_words",
    "short",  # fewer than five words
    "heading_covers",  # share of the question's weight in the innermost heading
    "heading_precise",  # share of that heading's words that the question has
    "heading_fits",  # product of the two
    "heading_is_best",
    "one_passage",  # whether all is one passage
    "one_passage_section",
    "one_passage_alone",
    "is_heading",
    "is_list_item",
    "is_table",
    "is_code",
    "is_metadata",
)
"""The rows of `features`, in order."""


def features(corpus: Corpus, matches: Matches) -> Floats:
    """One row for each of FEATURES, one column a segment, shape (features, segments)."""
    weight = matches.idf.sum() or 1.0
    section_of = matches.section_of
    alone_raw = matches.alone()
    alone = relative(alone_raw)
    together = matches.together()
    section = relative(together)[section_of]
    rank = ranks(together)[section_of]
    in_body, in_label_alone = matches.coverage()
    single = np.full(section_of.shape, float(len(corpus.titles) == 1))
    rows: list[NDArray[Any]] = [
        alone,
        alone_raw / weight,
        section,
        in_body / weight,
        (in_body + in_label_alone) / weight,
        _section_coverage(matches)[section_of] / weight,
        rank == 0,
        1 / (1 + rank),
        np.log1p(rank),
        section * alone,
        corpus.begins,
        np.log(matches.lengths),
        matches.lengths < 6,
        *(row[section_of] for row in _heading_rows(corpus, matches)),
        single,
        single * section,
        single * alone,
        *corpus.kinds,
    ]
    return table(rows)


def table(rows: Sequence[NDArray[Any]]) -> Floats:
    """The rows as one array: np.stack, at a fraction of its overhead for short rows."""
    stacked = np.empty((len(rows), rows[0].size))
    for number, row in enumerate(rows):
        stacked[number] = row
    return stacked


def relative(values: Floats) -> Floats:
    """The values relative to the greatest one, if that is positive."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else values


def standardized(values: Floats) -> Floats:
    """The values in standard deviations from their mean; 0 where all are the same."""
    scaled = values / (np.abs(values).max(initial=0.0) or 1.0)  # no square is too large, or too small
    deviation = scaled.std() if scaled.size else 0.0
    return (scaled - scaled.mean()) / deviation if deviation > 1e-9 else np.zeros(values.shape)


def ranks(values: Floats) -> Floats:
    """How many values are greater: 0 for the greatest, the same for equal ones."""
    ascending = np.sort(values)
    return (values.size - np.searchsorted(ascending, values, side="right")).astype(float)


def _section_coverage(matches: Matches) -> Floats:
    found = matches.section
    return summed(matches.idf[found.term], found.unit, found.units)


def _heading_rows(corpus: Corpus, matches: Matches) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each section: how well its innermost heading and the question are the same."""
    found = matches.name
    weight = matches.idf.sum() or 1.0
    covers = summed(matches.idf[found.term], found.unit, found.units) / weight
    precise = np.minimum(summed(np.ones(found.unit.size), found.unit, found.units) / corpus.name_sizes, 1.0)
    fits = covers * precise
    return covers, precise, fits, ((fits > 0) & (fits == fits.max(initial=0.0))).astype(float)
