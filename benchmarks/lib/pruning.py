"""How well `adaptive=True` prunes without a budget: precision and recall of the kept segments."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress import Compression, CompressionConfig, Compressor
from ctxcompress.data.passages import Span
from lib.examples import Example
from lib.markdown_blocks import share, table

__all__ = ["THRESHOLDS", "Pruned", "pruned", "pruning"]

THRESHOLDS = (CompressionConfig(adaptive=True).adaptive, 0.05, 0.2)
"""The values of `adaptive`."""
_UNLIMITED = 1_000_000


class Pruned(NamedTuple):
    """What is kept of a case without a budget."""

    found: int
    """Kept segments that are evidence."""
    kept: int
    """Kept segments."""
    left: float
    """Share of the characters that is left."""
    of_others: float
    """The same for the passages of another question, with `on_empty="drop"`."""


def pruned(case: Example, other: Example) -> tuple[Pruned, ...]:
    """Prune one case and, for the same question, the passages of another, at each of THRESHOLDS."""
    return tuple(_pruned_at(case, other, threshold) for threshold in THRESHOLDS)


def _pruned_at(case: Example, other: Example, threshold: float) -> Pruned:
    compressor = Compressor(CompressionConfig(max_tokens=_UNLIMITED, adaptive=threshold, on_empty="drop"))
    spans = {part.index: part.spans for part in compressor.compress(case.query, case.passages).passages}
    kept = np.array([_is_kept(case, number, spans) for number in range(case.needed.size)])
    left = [_characters(compressor.compress(case.query, of.passages)) / _size(of) for of in (case, other)]
    return Pruned(int((kept & case.needed).sum()), int(kept.sum()), *left)


def _is_kept(case: Example, number: int, spans: Mapping[int, Sequence[Span]]) -> bool:
    """Tell whether most of a segment is kept."""
    segment, document = case.table.segments[number], case.documents[case.table.document[number]]
    parts = document.of_passages([Span(segment.start, segment.end)])
    kept = sum(
        max(0, min(part.end, end) - max(part.start, start))
        for passage, of_passage in parts.items()
        for part in of_passage
        for start, end in spans.get(passage, ())
    )
    return 2 * kept > segment.end - segment.start


def _characters(result: Compression) -> int:
    return sum(end - start for part in result.passages for start, end in part.spans)


def _size(case: Example) -> int:
    return sum(len(passage.text) for passage in case.passages)


def pruning(found: Mapping[str, Sequence[tuple[Sequence[Pruned], NDArray[np.bool_]]]]) -> str:
    """Return a table of precision, recall and F2 of the kept segments, and of the share of the text that is pruned, of
    the case's own passages and of others.

    found: name of a set -> what `pruned` returns for each case, and which of its segments are evidence.
    """
    header = ["set", "`adaptive`", "precision", "recall", "F2", "pruned", "pruned of other passages"]
    rows = [
        [name, *_row(threshold, [of_case[column] for of_case, _ in of_set], sum(int(n.sum()) for _, n in of_set))]
        for name, of_set in found.items()
        for column, threshold in enumerate(THRESHOLDS)
    ]
    return table(header, rows)


def _row(threshold: float, cases: Sequence[Pruned], needed: int) -> list[str]:
    right = sum(case.found for case in cases)
    precision, recall = right / max(sum(case.kept for case in cases), 1), right / max(needed, 1)
    f2 = 5 * precision * recall / max(4 * precision + recall, 1e-9)
    pruned = (1 - mean(case.left for case in cases), 1 - mean(case.of_others for case in cases))
    return [f"{threshold:g}", share(precision), share(recall), share(f2), *(f"{100 * value:.0f} %" for value in pruned)]
