"""The call sheet of a compression: the numbers that tell what other thresholds and budgets would have kept. No text."""

import json
import math
import zlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Compression
from ctxcompress.data.table import SegmentTable
from ctxcompress.errors import InputError
from ctxcompress.pipeline.presentation import Presentation
from ctxcompress.pipeline.reanalysis import Reanalysis, analysed_again
from ctxcompress.pipeline.scoring import ScoredSegments, score_segments
from ctxcompress.pipeline.task import Frame
from ctxcompress.reduce.filters import known_scores, relative_scores
from ctxcompress.select.layout import Layout, tokens_of
from ctxcompress.select.selection import select
from ctxcompress.tokens import TokenCounter

__all__ = ["BUDGETS", "CallSheet", "Evidence", "ScoredPart", "Used"]

BUDGETS = (100, 150, 200, 300, 400, 500, 700, 1_000, 1_500, 2_000, 3_000, 4_000, 5_000, 7_000, 10_000, 15_000, 20_000)
"""The budgets that are tried, in tokens."""
_VERSION = 1
_DIGITS = 4


class ScoredPart(NamedTuple):
    """A segment of a passage."""

    passage: int
    """The position of the passage in the input, from 0."""
    start: int
    end: int
    tokens: int
    probability: float | None
    """What `min_probability` is compared with; None with a scorer that gives no probabilities."""
    budget: int
    """The least budget, in tokens, from which on the segment is kept."""


class Used(NamedTuple):
    """A piece of evidence: a passage, or spans of its original text."""

    passage: int
    """The position of the passage in the input, from 0."""
    spans: tuple[Span, ...] | None = None
    """None for the passage as a whole."""


class Evidence(NamedTuple):
    """The limits up to which a piece of evidence is kept. None is a limit that is not known."""

    score: float | None
    """The greatest `min_score`, relative to the best score."""
    probability: float | None
    """The greatest `min_probability`."""
    budget: int | None
    """The least budget in tokens."""


@dataclass(frozen=True, slots=True)
class CallSheet:
    """What one compression knew about its passages and segments, in numbers."""

    budget: int
    input_tokens: int
    scores: tuple[float | None, ...]
    """Of each passage of the input, relative to the best one; None if unknown."""
    tokens: tuple[int, ...]
    """Of each passage of the input."""
    parts: tuple[ScoredPart, ...]

    @classmethod
    def of(cls, compression: Compression, *, frame: Frame | None = None) -> "CallSheet":
        """Return the sheet of a compression. Its segments are scored again, so an `encoder` is asked again.

        frame: the one that the compression was made with. Raises InputError if the result was not made by a Compressor,
        and what the encoder raises.
        """
        if not isinstance(compression.compressor, Compressor):
            raise InputError("the result was not made by a Compressor; record what compress returned")
        config = compression.compressor.config.with_options(max_tokens=compression.max_tokens)
        passages, count = compression.input_passages(), TokenCounter(config.encoding)
        total = compression.original.tokens()
        return cls(
            budget=compression.max_tokens,
            input_tokens=total,
            scores=tuple(relative_scores(known_scores(passages, config.score_kind), config.score_kind)),
            tokens=tuple(count(passage.text) for passage in passages),
            parts=tuple(_parts(compression.query, passages, config, frame, count, total)),
        )

    @property
    def has_scores(self) -> bool:
        """Whether passages can be compared by the retriever's scores."""
        return sum(score is not None for score in self.scores) > 1

    @property
    def has_probabilities(self) -> bool:
        """Whether segments have probabilities."""
        return any(part.probability is not None for part in self.parts)

    def evidence(self, used: Used) -> Evidence:
        """Return the limits up to which a piece of evidence is kept.

        Spans are kept if all segments in which they lie are. A passage counts as kept if its best segment is.
        """
        score = self.scores[used.passage]
        parts = [part for part in self.parts if part.passage == used.passage and _overlaps(part, used.spans)]
        if not parts:
            return Evidence(score, None, None)
        probabilities = [part.probability for part in parts if part.probability is not None]
        is_whole = used.spans is None
        best = max if is_whole else min
        budget = min if is_whole else max
        return Evidence(score, best(probabilities) if probabilities else None, budget(part.budget for part in parts))

    def encode(self) -> bytes:
        """Return the sheet as bytes."""
        written = [self.budget, self.input_tokens, self.scores, self.tokens, self.parts]
        return zlib.compress(json.dumps([_VERSION, *written], separators=(",", ":")).encode())

    @classmethod
    def decode(cls, data: bytes) -> "CallSheet":
        """Return the sheet that `encode` wrote. Raises ValueError if it did not write this."""
        try:
            version, budget, total, scores, tokens, parts = json.loads(zlib.decompress(data))
            if version != _VERSION:
                raise ValueError(f"version {version!r}")
            return cls(
                int(budget), int(total), tuple(scores), tuple(tokens), tuple(ScoredPart(*part) for part in parts)
            )
        except (zlib.error, TypeError, RecursionError) as error:
            raise ValueError(str(error)) from error


def _overlaps(part: ScoredPart, spans: Sequence[Span] | None) -> bool:
    return spans is None or any(part.start < end and start < part.end for start, end in spans)


def _parts(
    query: str,
    passages: Sequence[Passage],
    config: CompressionConfig,
    frame: Frame | None,
    count: Callable[[str], int],
    total: int,
) -> list[ScoredPart]:
    again = analysed_again(query, passages, config, fits=False)
    table = again.analysis.table
    if not table.segments:
        return []
    scored = score_segments((query,), again.passages, again.analysis, again.language, config)
    counts = [tokens_of(text, count) for text in table.texts]
    budgets = _budgets(scored, again, _layout(query, passages, config, frame, again, count), counts, total)
    chances = _probabilities(query, again, config)
    parts: list[ScoredPart] = []
    for number, segment in enumerate(table.segments):
        found = again.documents[table.document[number]].of_passages([Span(segment.start, segment.end)])
        for passage, spans in found.items():
            tokens = counts[number] if passage == table.passage[number] else 0
            parts.extend(
                ScoredPart(passage, start, end, tokens, chances[number], budgets[number]) for start, end in spans
            )
    return parts


def _probabilities(query: str, again: Reanalysis, config: CompressionConfig) -> Sequence[float | None]:
    if config.scorer == "bm25":
        return [None] * len(again.analysis.table.segments)
    adaptive = config.with_options(adaptive=True)
    found = score_segments((query,), again.passages, again.analysis, again.language, adaptive).likelihoods
    # Down, so that a threshold at the written value keeps the segment.
    return [math.floor(value * 10**_DIGITS) / 10**_DIGITS for value in found.tolist()]


def _layout(
    query: str,
    passages: Sequence[Passage],
    config: CompressionConfig,
    frame: Frame | None,
    again: Reanalysis,
    count: Callable[[str], int],
) -> Layout:
    layout = Presentation(config, query, frame).layout(passages, again.documents, count, 0)
    return replace(layout, elide=again.analysis.markers)


def _budgets(scored: ScoredSegments, again: Reanalysis, layout: Layout, counts: Sequence[int], total: int) -> list[int]:
    """Return for each segment the least budget from which on it is kept: one of BUDGETS, or the tokens of the input."""
    least = [total] * len(scored.table.segments)
    for budget in reversed([budget for budget in BUDGETS if budget < total]):
        chosen = select(again.analysis.structure, scored.worth, layout, budget, counts=counts)
        for number in _inside(chosen.spans, scored.table):
            if least[number] <= _next(budget, total):
                least[number] = budget
    return least


def _next(budget: int, total: int) -> int:
    """Return the budget that was tried before this one."""
    place = bisect_right(BUDGETS, budget)
    return min(BUDGETS[place] if place < len(BUDGETS) else total, total)


def _inside(spans: Mapping[int, Sequence[Span]] | Spans, table: SegmentTable) -> list[int]:
    """Return the numbers of the segments whose text lies in these spans of documents."""
    found = []
    for number, segment in enumerate(table.segments):
        kept = spans.get(table.document[number], ())
        place = bisect_right(kept, segment.start, key=lambda span: span[0]) - 1
        length = len(table.texts[number].rstrip())
        if place >= 0 and segment.start + length <= kept[place].end:
            found.append(number)
    return found
