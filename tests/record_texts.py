"""The segments of data that fit a budget: what remains of data can be parsed if any does."""

from ctxcompress.data.passages import Segment
from ctxcompress.pipeline.analysis import AnalysisOptions
from ctxcompress.segment.formats import data_outline, segment_outlined
from ctxcompress.select.between_segments import assemble
from ctxcompress.text.tokens import TokenCounter

_MOST_TRIED = 64
"""The number of segments that are tried whole. Of more, the best are."""


def record_segments_of(text: str, budget: int, name: str | None = None) -> list[Segment]:
    """Return the segments of data as a call with this budget cuts them."""
    whole = AnalysisOptions.of("en", budget).whole
    return segment_outlined(text, data_outline(text, name), whole=whole)


def are_all_tried(text: str, budget: int, name: str | None = None) -> bool:
    """Tell whether each segment is tried whole before one is cut."""
    return len(record_segments_of(text, budget, name)) <= _MOST_TRIED


def fitting(text: str, budget: int, name: str | None = None) -> list[str]:
    """Return each value that fits into the budget with the lines or brackets around it and the names of its record."""
    segments = record_segments_of(text, budget, name)
    count = TokenCounter("o200k_base")
    needed = {other for part in segments for other in part.needs}
    headers = {number for number in needed if not segments[number].needs}  # which are not kept alone
    found = []
    for number, part in enumerate(segments):
        if number in headers:
            continue
        kept = sorted({number, *part.needs})
        if not any(number in segments[other].needs for other in part.needs):
            alone = "".join(text[start:end] for start, end in assemble(text, segments, kept))
            found += [alone] if count(alone) <= budget else []
    return found
