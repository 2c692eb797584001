"""What completes what: the text that a reader would read on to, once a segment answers.

A segment is *completed* by what says more of the same: the rest of its paragraph, the text under a title or after a
label, the other fields of its record, its branch of a tree. It *needs* what it cannot be
understood without: see `Segment.needs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats, Integers

__all__ = ["Completions"]

_SHARE = 0.3
"""How likely what completes a segment is needed, relative to that segment. Manuals keep the more the greater it is, and
questions of several hops lose evidence from 0.4 on."""
_SHARE_BEFORE = 0.15
"""The same for what the segment completes itself, and for the wider branch of a tree."""


@dataclass(frozen=True, slots=True)
class Completions:
    """Which segments complete which, in source order."""

    before: Integers
    """Of each two segments of which the second completes the first: the first one."""
    is_mutual: NDArray[np.bool_]
    """Whether the first one completes the second, too. Same shape."""
    records: Integers
    """The number of the record of each segment, -1 outside of records. The fields of a record complete each other."""
    parents: Sequence[int] = ()
    """The segment above each segment in a tree, -1 if it has none; empty without a tree."""

    def shared(self, probability: Floats) -> Floats:
        """Return the probabilities; that of what completes a segment is at least a share of that segment's.

        probability: of each segment, shape (segments,).
        """
        raised = probability.copy()
        _raise(raised, self.before + 1, _SHARE * probability[self.before])
        mutual = self.before[self.is_mutual]
        _raise(raised, mutual, _SHARE_BEFORE * probability[mutual + 1])
        fields = np.flatnonzero(self.records >= 0)
        if fields.size:
            best = np.zeros(int(self.records.max()) + 1)
            np.maximum.at(best, self.records[fields], probability[fields])
            _raise(raised, fields, _SHARE * best[self.records[fields]])
        return np.maximum(raised, self._of_branches(probability)) if self.parents else raised

    def _of_branches(self, probability: Floats) -> Floats:
        """Return what each segment gets from those above it, which give what their children and grandchildren say."""
        found = [0.0] * len(self.parents)
        for parent, chance in zip(self.parents, probability.tolist(), strict=True):
            if parent >= 0:
                found[parent] = max(found[parent], _SHARE * chance)
                above = self.parents[parent]
                if above >= 0:
                    found[above] = max(found[above], _SHARE_BEFORE * chance)
        for number, parent in enumerate(self.parents):  # those above come first
            if parent >= 0:
                found[number] = max(found[number], found[parent])
        return np.array(found)


def _raise(values: Floats, places: Integers, least: Floats) -> None:
    """Raise the values at these places to at least these. No place may be given twice."""
    values[places] = np.maximum(values[places], least)
