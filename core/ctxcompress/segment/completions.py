"""Finds what completes each segment: see `data.completions`.

Only what every format gives is used: kinds, blocks, ends of sentences and indentation.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ctxcompress.data.completions import Completions
from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Integers, SegmentTable
from ctxcompress.text.lines import ends_sentence

__all__ = ["completions_in"]

_PARAGRAPH, _LIST_ITEM, _QUOTE, _HEADING, _RECORD = (
    Kind.PARAGRAPH,
    Kind.LIST_ITEM,
    Kind.QUOTE,
    Kind.HEADING,
    Kind.RECORD,
)  # ten times as fast as attributes of an enum
_PROSE = frozenset((_PARAGRAPH, _LIST_ITEM, _QUOTE))
_UNENDED = _PROSE | {_HEADING}
"""The kinds that go on with the next segment, whatever it is, if their text does not end a sentence."""


def completions_in(table: SegmentTable) -> Completions:
    """Return what completes each segment.

    Sentences of a paragraph complete each other. What has no sentence end, such as a title, a label or the beginning of
    a list, is completed by what follows it. If it is a passage of its own, that is the next passage, unless the same
    label stands elsewhere. The end of a longer passage is not completed: the next passage may be from anywhere.
    """
    mutual = [_is_in_paragraph(table, number) for number in range(len(table.segments) - 1)]
    times = Counter(text for number, text in enumerate(table.texts) if table.is_lone(number))
    before = [
        number
        for number, is_mutual in enumerate(mutual)
        if is_mutual or (_is_unended(table, number) and _has_next(table, number, times))
    ]
    return Completions(
        np.array(before, np.intp),
        np.array([mutual[number] for number in before], bool),
        _records(table),
        _parents(table),
    )


def _is_in_paragraph(table: SegmentTable, number: int) -> bool:
    """Tell whether the next segment goes on with the paragraph of this one."""
    return (
        table.block[number] == table.block[number + 1]
        and table.kind[number + 1] in _PROSE
        and table.document[number] == table.document[number + 1]
    )


def _has_next(table: SegmentTable, number: int, times: Mapping[str, int]) -> bool:
    """Tell whether the next segment is sure to follow a segment. times: how often a passage has just this text."""
    if table.document[number] == table.document[number + 1]:
        return True
    return table.is_lone(number) and times[table.texts[number]] == 1


def _is_unended(table: SegmentTable, number: int) -> bool:
    return table.kind[number] in _UNENDED and not ends_sentence(table.texts[number])


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
