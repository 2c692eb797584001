"""What completes what: the text that a reader would read on to, once a segment answers.

A segment is *completed* by what says more of the same: the rest of its paragraph, the text under a title or after a
label, the other fields of its record, its branch of a tree. It *needs* what it cannot be understood without: see
`Segment.needs`. Only what every format gives is used: kinds, blocks, ends of sentences and indentation.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers, SegmentTable
from ctxcompress.text.lines import ends_sentence

__all__ = ["Completions", "completions_in"]

_SHARE = 0.3
"""How likely what completes a segment is needed, relative to that segment. Manuals keep the more the greater it is, and
questions of several hops lose evidence from 0.4 on."""
_SHARE_BEFORE = 0.15
"""The same for what the segment completes itself, and for the wider branch of a tree."""
_NAME = 40
"""The most characters of a name: that of what is wanted says nothing, so the text has all its probability."""
_FIELDS = 5.0
"""How many fields in all the best field of a record makes as likely as itself: a section can have hundreds."""
_LIST_ITEM, _RECORD = Kind.LIST_ITEM, Kind.RECORD  # ten times as fast as attributes of an enum
_PROSE = frozenset((Kind.PARAGRAPH, _LIST_ITEM, Kind.QUOTE))
_UNENDED = _PROSE | {Kind.HEADING}
"""The kinds that go on with the next segment, whatever it is, if their text does not end a sentence."""


@dataclass(frozen=True, slots=True)
class Completions:
    """Which segments complete which, in source order."""

    before: Integers
    """Of each two segments of which the second, the next one, completes the first: the first one."""
    share: Floats
    """How likely the second one is needed, relative to the first one. Same shape."""
    is_mutual: NDArray[np.bool_]
    """Whether the first one completes the second, too. Same shape."""
    records: Integers
    """The number of the record of each segment, -1 outside of them; empty without any. The fields of a record complete
    each other."""
    heads: Sequence[tuple[int, int]] = ()
    """Values that are records of their own, and the names or tags above them that no other such value needs."""
    parents: Sequence[int] = ()
    """The segment above each segment in a tree, -1 if it has none; empty without a tree."""

    def shared(self, probability: Floats) -> Floats:
        """Return the probabilities; that of what completes a segment is at least a share of that segment's.

        probability: of each segment, shape (segments,).
        """
        raised = probability.copy()
        np.maximum.at(raised, self.before + 1, self.share * probability[self.before])
        mutual = self.is_mutual
        np.maximum.at(raised, self.before[mutual], _SHARE_BEFORE * probability[self.before[mutual] + 1])
        fields = np.flatnonzero(self.records >= 0)
        if fields.size:
            best = np.zeros(int(self.records.max()) + 1)
            np.maximum.at(best, self.records[fields], probability[fields])
            share = np.minimum(_SHARE, _FIELDS / np.maximum(np.bincount(self.records[fields]), 1))
            np.maximum.at(raised, fields, (share * best)[self.records[fields]])
        for number, completed in self.heads:
            raised[number] = max(raised[number], _SHARE * probability[completed])
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


def completions_in(table: SegmentTable) -> Completions:
    """Return what completes each segment.

    Sentences of a paragraph complete each other. What has no sentence end, such as a title, a label or the beginning of
    a list, is completed by what follows it. If it is a passage of its own, that is the next passage, unless the same
    label stands elsewhere. The end of a longer passage is completed by the next one only if that begins with a small
    letter or a figure: it may be from anywhere.
    """
    kinds, has_records = table.kind, _RECORD in table.kinds
    mutual = [
        one == other and kind in _PROSE and document == following
        for one, other, kind, document, following in zip(
            table.block, table.block[1:], kinds[1:], table.document, table.document[1:], strict=False
        )
    ]
    times = Counter(table.texts[first] for first, end in pairwise(table.first) if end - first == 1)
    names = {number for number, is_mutual in enumerate(mutual) if not is_mutual and _is_name(table, number)}
    before = [n for n, is_mutual in enumerate(mutual) if is_mutual or n in names or _goes_on(table, n, times)]
    return Completions(
        np.array(before, np.intp),
        np.array([1.0 if number in names else _SHARE for number in before]),
        np.array([mutual[number] for number in before], bool),
        _records(table) if has_records else np.zeros(0, np.intp),
        _heads(table) if has_records else (),
        _parents(table) if _LIST_ITEM in table.kinds else (),
    )


def _is_name(table: SegmentTable, number: int) -> bool:
    """Tell whether a segment is a paragraph of one short line above longer text, whose name it may be."""
    line, block = table.texts[number].strip(), table.block
    is_above = len(line) <= _NAME < len(table.texts[number + 1].strip()) and table.kind[number + 1] in _PROSE
    is_alone = is_above and "\n" not in line and (table.begins[number] or block[number - 1] != block[number])
    return bool(is_alone and table.kind[number] is Kind.PARAGRAPH and not table.begins[number + 1])


def _goes_on(table: SegmentTable, number: int, times: Mapping[str, int]) -> bool:
    """Tell whether a segment ends no sentence, and the next one is sure to follow it.

    times: how often a passage has just this text.
    """
    if table.kind[number] not in _UNENDED or ends_sentence(table.texts[number]):
        return False
    first = table.texts[number + 1][:1]
    if table.document[number] == table.document[number + 1] or first.islower() or first.isdecimal():
        return True
    return table.is_lone(number) and times[table.texts[number]] == 1


def _records(table: SegmentTable) -> Integers:
    """Return the number of the record of each segment, -1 outside of records: one of JSON, one of XML, a stanza."""
    numbers: dict[tuple[int, int], int] = {}
    return np.array(
        [
            numbers.setdefault((table.document[number], table.block[number]), len(numbers)) if kind is _RECORD else -1
            for number, kind in enumerate(table.kind)
        ],
        np.intp,
    )


def _heads(table: SegmentTable) -> Sequence[tuple[int, int]]:
    """Return each value of data that is a record of its own with each name or tag above it that it alone needs."""
    records = [number for number, kind in enumerate(table.kind) if kind is _RECORD and table.needed[number]]
    above = [
        (number, other)
        for number in records
        for other in table.needs(number)
        if other < number and table.block[other] != table.block[number]
    ]
    times = Counter(other for _, other in above)
    return [(number, other) for number, other in above if times[other] == 1]


def _parents(table: SegmentTable) -> Sequence[int]:
    """Return the list item above each list item, which is indented less; empty if there is none."""
    found = [-1] * len(table.segments)
    above: list[tuple[int, int]] = []  # indentations and numbers
    for number, kind in enumerate(table.kind):
        if kind is not _LIST_ITEM or table.begins[number]:
            above.clear()
        if kind is _LIST_ITEM:
            text = table.texts[number]
            depth = len(text) - len(text.lstrip())
            while above and above[-1][0] >= depth:
                above.pop()
            found[number] = above[-1][1] if above else -1
            above.append((depth, number))
    return found if max(found, default=-1) >= 0 else ()
