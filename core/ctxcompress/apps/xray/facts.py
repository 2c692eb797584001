"""The facts that the X-ray page of a compression shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Compression, Decision, KeptPassage, Reason

__all__ = ["MEANING", "Facts", "Scored", "Step"]

MEANING: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.SCORE: "The retriever's score is below min_score.",
        Reason.FILTER: "A filter of another package dropped it.",
        Reason.LIMIT: "Better passages fill max_chunks_per_doc or top_n.",
        Reason.METADATA: "The score is below the limit of metadata_only: a line says what the passage is.",
        Reason.TRUNCATED: "It is over max_length or factual_length.",
        Reason.DUPLICATE: "Another passage has this text, or nearly this text.",
        Reason.UNLIKELY: "It is hardly likely to be needed.",
        Reason.BUDGET: "Other text is worth more of the budget.",
        Reason.EMPTY: "There is nothing but white space.",
    }
)
"""Drop reason -> what it means, in the order in which the reasons apply."""


class Scored(NamedTuple):
    """A segment of a passage and its score for the query, from 0 to 1."""

    span: Span
    score: float
    along: str = ""
    """Why it may come along with a better one: that one needs it, or is completed by it."""


class Step(NamedTuple):
    """The tokens before and after text was dropped for one reason."""

    reason: Reason
    before: int
    after: int
    """Tokens of the remaining text, rendered in the same way as the input."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A compression, and what the page says about it."""

    compression: Compression
    passages: Sequence[Passage]
    """The input."""
    tokens_in: int
    """Tokens of the input."""
    question: Sequence[tuple[str, str]]
    """(name, value) pairs about the query."""
    options: Sequence[tuple[str, str]]
    """(name, value) pairs about the options."""
    scores: Mapping[int, Sequence[Scored]]
    """Number of a passage -> its scored segments, in order."""
    scale: str
    """What the scores mean."""
    levels: Sequence[float]
    """The least score of each of the ten colour levels, in ascending order."""
    count: Callable[[str], int]
    """Counts the tokens of a text."""
    required: Mapping[int, Sequence[Span]] = field(default_factory=dict)
    """Number of a passage -> what `must_keep` names in it."""

    @property
    def kept(self) -> Mapping[int, KeptPassage]:
        """Number of a passage -> the kept part of it."""
        return {part.index: part for part in self.compression.passages}

    @property
    def dropped(self) -> Mapping[int, Sequence[Decision]]:
        """Number of a passage -> what was dropped of it; empty for whole passages."""
        found: dict[int, list[Decision]] = {number: [] for number in range(len(self.passages))}
        for decision in self.compression.dropped:
            found[decision.index].append(decision)
        return found

    @property
    def reasons(self) -> Sequence[Reason]:
        """The reasons that occur, in the order in which they apply."""
        found = {decision.reason for decision in self.compression.dropped}
        return [reason for reason in MEANING if reason in found]

    def steps(self) -> list[Step]:
        """Return the tokens that are left after each reason, counted in the remaining text each time."""
        tokens = self.tokens_in
        steps: list[Step] = []
        for number, reason in enumerate(self.reasons, 1):
            after = self.compression.original.tokens(self._left(self.reasons[number:]))
            steps.append(Step(reason, tokens, after))
            tokens = after
        return steps

    def _left(self, reasons: Sequence[Reason]) -> dict[int, list[Span]]:
        """Return number of a passage -> the spans that are kept of it or dropped for these reasons."""
        found = {part.index: list(part.spans) for part in self.compression.passages if part.spans}
        for decision in self.compression.dropped:
            if decision.reason in reasons and decision.spans:
                found.setdefault(decision.index, []).extend(decision.spans)
        return {number: sorted(spans) for number, spans in found.items()}
