"""Named features of segments: how well their words match the query. They mean the same in every kind of text: shares,
ranks and relative scores rather than counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import Matches
from ctxcompress.score.neighbours import NEIGHBOURS, neighbour_rows
from ctxcompress.score.occurrences import ranks, relative, summed
from ctxcompress.score.relevance import combined

__all__ = ["FEATURES", "features", "standardized", "table"]

FEATURES = (
    "combined",  # the score of `scorer="bm25"`, relative to the best
    *NEIGHBOURS,
    "label_covers",  # share of the query's weight in the segment's own label: speaker, keys, first cell
    "covered",  # share of the query's weight in the segment
    "covered_rank",  # 1 / rank of that
    "covered_with_label",  # and in its title and headings
    "covered_by_section",  # and in all of its section
    "section_rank",  # 1 / rank by BM25 of the section with title and headings
    "heading_covers",  # share of the query's weight in the innermost heading
    "heading_precise",  # share of that heading's words that the query has
    "heading_fits",  # product of the two
    "first",  # whether it is the first of its passage
    "length",  # log of the number of words, relative to the median
    "short",  # fewer than five words
)
"""The rows of `features`, in order."""


def features(corpus: Corpus, matches: Matches) -> Floats:
    """Return one row per name in FEATURES and one column per segment."""
    weight = matches.idf.sum() or 1.0
    section_of = matches.section_of
    together = matches.together()
    in_body, in_label_alone = matches.coverage()
    section = relative(together)[section_of]
    rows: list[NDArray[Any]] = [
        relative(combined(relative(matches.alone()), section, in_body, in_label_alone)),
        *neighbour_rows(corpus.units, matches.body, matches.lengths, matches.idf),
        _label_coverage(matches) / weight,
        in_body / weight,
        1 / (1 + ranks(in_body)),
        (in_body + in_label_alone) / weight,
        _section_coverage(matches)[section_of] / weight,
        (1 / (1 + ranks(together)))[section_of],
        *(row[section_of] for row in _heading_rows(corpus, matches)),
        corpus.begins,
        np.log(matches.lengths / _median(matches.lengths)),
        matches.lengths < 6,
    ]
    return table(rows)


def _median(values: Floats) -> float:
    """Return the median, as np.median does, with a tenth of its overhead for short arrays."""
    ascending = np.sort(values)
    return float(ascending[(values.size - 1) // 2] + ascending[values.size // 2]) / 2


def _label_coverage(matches: Matches) -> Floats:
    found = matches.own
    if not found.units:
        return np.zeros(matches.lengths.size)
    return summed(matches.idf[found.term], found.unit, found.units)


def _section_coverage(matches: Matches) -> Floats:
    found = matches.section
    return summed(matches.idf[found.term], found.unit, found.units)


def _heading_rows(corpus: Corpus, matches: Matches) -> tuple[Floats, Floats, Floats]:
    """Return three rows with one column per section: how well its innermost heading matches the query."""
    found = matches.name
    weight = matches.idf.sum() or 1.0
    covers = summed(matches.idf[found.term], found.unit, found.units) / weight
    precise = np.minimum(summed(np.ones(found.unit.size), found.unit, found.units) / corpus.name_sizes, 1.0)
    return covers, precise, covers * precise


def table(rows: Sequence[NDArray[Any]]) -> Floats:
    """Stack the rows into one array, as np.stack does, with less overhead for short rows."""
    stacked = np.empty((len(rows), rows[0].size))
    for number, row in enumerate(rows):
        stacked[number] = row
    return stacked


def standardized(values: Floats) -> Floats:
    """Return the values in standard deviations from their mean; all 0 if they are equal."""
    scaled = values / (np.abs(values).max(initial=0.0) or 1.0)  # so that no square overflows or underflows
    deviation = scaled.std() if scaled.size else 0.0
    return (scaled - scaled.mean()) / deviation if deviation > 1e-9 else np.zeros(values.shape)
