"""The call sheet of a compression: the numbers that tell what other thresholds and budgets would have kept. No text."""

import json
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ctxcompress.code.elision import GAP
from ctxcompress.compressor import Compressor
from ctxcompress.data.passages import Span
from ctxcompress.data.results import Compression
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.errors import InputError
from ctxcompress.pipeline.pipeline import scored_again
from ctxcompress.pipeline.scoring import ScoredCall
from ctxcompress.pipeline.task import Frame
from ctxcompress.reduce.filters import known_scores, relative_scores
from ctxcompress.select.between_segments import OF_SENTENCES
from ctxcompress.select.knapsack import LIKELY, PATIENCE, counts_of
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import Candidates, gains, ranked
from ctxcompress.select.structure import Structure

__all__ = ["BUDGETS", "CallSheet", "Evidence", "ScoredPart", "Used", "least_budgets"]


def least_budgets(
    structure: Structure, values: Floats, layout: Layout, counts: Sequence[int], budgets: Sequence[int], total: int
) -> list[int]:
    """Return for each segment the least of the budgets from which on it is kept, and `total` if that is none of them.

    Segments are chosen as `select` begins: by value and density, each with what it needs, then more that still fit. All
    budgets share one order and the counts, so this is an estimate: no text is composed, nothing chosen is exchanged,
    and text that repeats other text in part counts like new text.

    counts: the tokens of each segment. budgets: ascending; those from `total` on are not looked at.
    """
    openings = [layout.opening(passage) for passage in range(len(layout.passages))]
    steps = _Steps.of(structure, structure.with_copies_lower(values), [*counts, *openings], layout.count(f" {GAP}"))
    spent = layout.tokens("") - layout.count(layout.separator)
    below = [budget for budget in budgets if budget < total]
    tried, least = [*below, total], [total] * len(counts)
    places = [bisect_left(below, until + spent) for until in steps.until]
    for item, step in steps.step_of.items():
        if item < len(counts):
            least[item] = tried[places[step]]
    for budget, above in reversed(list(zip(below, tried[1:], strict=True))):
        for item in steps.fitting_in(budget - spent):
            if item < len(counts) and least[item] == above:
                least[item] = budget
    return least


@dataclass(frozen=True, slots=True)
class _Steps:
    """All choices, one after the other, as if there were room for everything."""

    closures: list[Collection[int]]
    """What is chosen, with all that it needs."""
    until: list[int]
    """The tokens of all choices up to this one."""
    least: list[int]
    """The tokens of what is chosen without what it needs."""
    step_of: dict[int, int]
    """Item -> the number of the first choice that has it."""
    costs: list[int]
    """The tokens of every segment, then of the opening of every passage; of what is chosen, with the gap markers that
    it added."""
    table: SegmentTable
    marker: int
    """The tokens of a gap marker."""
    begun: set[int]
    """The documents with something chosen."""

    @classmethod
    def of(cls, structure: Structure, values: Floats, costs: list[int], marker: int) -> "_Steps":
        candidates = Candidates.of(structure, values, ranked(structure, values))
        coherence, chances = candidates.coherence, gains(candidates.values)
        steps = cls([], [], [], {}, costs, structure.table, marker, set())
        order = candidates.worth_choosing or candidates.order[:1]
        for number in (*order, *order):  # what stood beside nothing kept may have a neighbour the second time
            if number in steps.step_of or (needed := coherence.companions(number, steps.step_of)) is None:
                continue
            wanted = {number, *needed}.difference(steps.step_of)
            if chances[number] >= LIKELY or not steps.closures or not coherence.is_orphan(wanted, steps.step_of):
                steps.choose(number, (number, *needed))
        return steps

    def choose(self, number: int, closure: Collection[int]) -> None:
        """Add a choice."""
        step, tokens = len(self.closures), self.until[-1] if self.until else 0
        for item in closure:
            if item not in self.step_of:
                self.costs[item] += self.marker * self._markers(item)
                self.step_of[item] = step
                tokens += self.costs[item]
        self.until.append(tokens)
        self.least.append(self.costs[number])
        self.closures.append(closure)

    def _markers(self, number: int) -> int:
        """Count the gaps that a segment leaves in its document, less the one that it was in."""
        if number >= len(self.table.segments) or self.table.kind[number] not in OF_SENTENCES:
            return 0
        document = self.table.document[number]
        numbers = range(self.table.first[document], self.table.first[document + 1])
        left = sum(other in numbers and other not in self.step_of for other in (number - 1, number + 1))
        is_first = document not in self.begun
        self.begun.add(document)
        return left if is_first else left - 1

    def fitting_in(self, room: int) -> Iterator[int]:
        """Yield what still fits into this much room after the first choices have filled it."""
        first = bisect_right(self.until, room)
        room -= self.until[first - 1] if first else 0
        extra: set[int] = set()
        misses = 0
        for closure, least in zip(self.closures[first:], self.least[first:], strict=True):
            if room <= 0 or misses > PATIENCE:
                return
            misses += 1
            if least > room:
                continue  # so for most
            wanted = {item for item in closure if self.step_of[item] >= first and item not in extra}
            price = sum([self.costs[item] for item in wanted])
            if price <= room:
                room, misses = room - price, 0
                extra.update(wanted)
                yield from wanted


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
    """What `adaptive` is compared with; None with a scorer that gives no probabilities."""
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
    """The greatest `adaptive`."""
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
    def of(cls, compression: Compression, *, frame: Frame | None = None, call: ScoredCall | None = None) -> "CallSheet":
        """Return the sheet of a compression.

        call: what the compression knew; without it, the segments are scored again, and an `encoder` is asked again.
        frame: the one that the compression was made with, needed only without `call`. Raises InputError if the result
        was not made by a Compressor, and what the encoder raises.
        """
        if not isinstance(compression.compressor, Compressor):
            raise InputError("the result was not made by a Compressor; record what compress returned")
        config = compression.compressor.config.with_options(max_tokens=compression.max_tokens)
        passages = compression.input_passages()
        known = call or scored_again(compression.query, passages, config, frame)
        total = known.count(known.original.text)
        return cls(
            budget=compression.max_tokens,
            input_tokens=total,
            scores=tuple(relative_scores(known_scores(passages, config.score_kind), config.score_kind)),
            tokens=tuple(known.count(passage.text) for passage in passages),
            parts=tuple(_parts(compression, known, total, has_probabilities=config.scorer == "evidence")),
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
        parts = [part for part in self.parts if part.passage == used.passage]
        if used.spans is not None:
            parts = [part for part in parts if any(part.start < end and start < part.end for start, end in used.spans)]
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
        return zlib.compress(json.dumps([_VERSION, *written], separators=(",", ":")).encode(), level=1)

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


def _parts(compression: Compression, known: ScoredCall, total: int, *, has_probabilities: bool) -> Iterator[ScoredPart]:
    """Yield the segments. total: the tokens of the input."""
    table, documents = known.analysis.table, known.layout.documents
    if not table.segments:
        return
    counts = counts_of(table.texts, known.count)
    budgets = least_budgets(known.analysis.structure, known.scored.worth, known.layout, counts, BUDGETS, total)
    # Rounded down, so that a threshold at the written value keeps the segment.
    rounded = (np.floor(known.scored.likelihoods * 10**_DIGITS) / 10**_DIGITS).tolist()
    chances = rounded if has_probabilities else [None] * len(counts)
    kept = {part.index: part.spans for part in compression.passages}
    given = min(next((budget for budget in BUDGETS if budget >= compression.max_tokens), total), total)
    for number, (segment, text, budget) in enumerate(zip(table.segments, table.texts, budgets, strict=True)):
        for passage, spans in documents[table.document[number]].of_passages([Span(segment.start, segment.end)]).items():
            tokens = counts[number] if passage == table.passage[number] else 0
            for start, end in spans:
                is_kept = budget > given and _was_kept(kept.get(passage, ()), start, end, text)
                yield ScoredPart(passage, start, end, tokens, chances[number], given if is_kept else budget)


def _was_kept(kept: Sequence[Span], start: int, end: int, text: str) -> bool:
    """Tell whether a segment with this text is in the kept spans, but for the white space at its end."""
    place = bisect_right(kept, start, key=lambda span: span.start) - 1
    return place >= 0 and start < kept[place].end and end - len(text) + len(text.rstrip()) <= kept[place].end
