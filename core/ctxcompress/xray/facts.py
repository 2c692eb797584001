"""What a page about a compression is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Compression, Decision, KeptPassage, Reason

__all__ = ["MEANING", "Facts", "Scored", "Step"]

MEANING: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.SCORE: "The retriever's score is below min_score.",
        Reason.LIMIT: "Better passages fill max_chunks_per_doc or top_n.",
        Reason.METADATA: "The score is below score_threshold: a line says what the passage is.",
        Reason.TRUNCATED: "It is over max_length or factual_length.",
        Reason.DUPLICATE: "Another passage has this text, or nearly this text.",
        Reason.UNLIKELY: "It is hardly likely to be needed (adaptive).",
        Reason.BUDGET: "Other text is worth more of the budget.",
        Reason.EMPTY: "There is nothing but white space.",
    }
)
"""Why a text is left out, in the order in which the reasons apply."""


class Scored(NamedTuple):
    """A segment of a passage, and what it is worth to the question: from 0 to 1."""

    span: Span
    score: float


class Step(NamedTuple):
    """What one reason took away."""

    reason: Reason
    before: int
    after: int
    """Tokens of the text that was left, shown as the whole is."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A compression, and what was found out for the page."""

    compression: Compression
    passages: Sequence[Passage]
    """As they came in."""
    tokens_in: int
    """Their tokens."""
    question: Sequence[tuple[str, str]]
    """What is said of the question: (name, value)."""
    options: Sequence[tuple[str, str]]
    scores: Mapping[int, Sequence[Scored]]
    """Number of a passage -> its segments in order; those that were looked at."""
    scale: str
    """What the scores are."""
    levels: Sequence[float]
    """The least score of each of the ten levels in which kept text is shown, from the lowest."""
    count: Callable[[str], int]
    """The tokens of a text."""

    @property
    def kept(self) -> Mapping[int, KeptPassage]:
        """By number of the passage."""
        return {part.index: part for part in self.compression.passages}

    @property
    def dropped(self) -> Mapping[int, Sequence[Decision]]:
        """By number of the passage; empty for those that are whole."""
        found: dict[int, list[Decision]] = {number: [] for number in range(len(self.passages))}
        for decision in self.compression.dropped:
            found[decision.index].append(decision)
        return found

    @property
    def reasons(self) -> Sequence[Reason]:
        """Those that there are, in the order in which they apply."""
        found = {decision.reason for decision in self.compression.dropped}
        return [reason for reason in MEANING if reason in found]

    def steps(self) -> list[Step]:
        """The tokens that were left after each reason: of the text that remains, counted each time."""
        tokens = self.tokens_in
        steps: list[Step] = []
        for number, reason in enumerate(self.reasons, 1):
            after = self.compression.original.tokens(self._left(self.reasons[number:]))
            steps.append(Step(reason, tokens, after))
            tokens = after
        return steps

    def _left(self, reasons: Sequence[Reason]) -> dict[int, list[Span]]:
        """Number of a passage -> what is kept of it, and what is left out for these reasons."""
        found = {part.index: list(part.spans) for part in self.compression.passages if part.spans}
        for decision in self.compression.dropped:
            if decision.reason in reasons and decision.spans:
                found.setdefault(decision.index, []).extend(decision.spans)
        return {number: sorted(spans) for number, spans in found.items()}
