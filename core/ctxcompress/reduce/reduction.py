"""The passages that are left while filters run, and the documents that are left after them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Reason, StageStats
from ctxcompress.reduce.duplicates import DeliveredTexts
from ctxcompress.reduce.overlaps import Link
from ctxcompress.reduce.required import Required

__all__ = ["Candidates", "Reduction"]


@dataclass(frozen=True)  # without slots: the preference is a cached property
class Candidates:
    """The passages that are left, and why the others were dropped."""

    passages: Sequence[Passage]
    """All passages. Those at the beginning were delivered before; they stand for their duplicates."""
    numbers: Sequence[int]
    """The numbers of the passages that are left, ascending."""
    stands: Sequence[float]
    """How good the retriever found each passage: more is better, -inf if this is unknown."""
    required: Required
    """What `must_keep` names. Only a duplicate that has no more of it than its leader can be dropped."""
    delivered: DeliveredTexts
    fits: bool
    """Whether all passages fit unchanged. Then a filter drops nothing unless an option asks for it."""
    reasons: Mapping[int, Reason] = field(default_factory=dict)
    """Number of a passage -> why it was dropped."""
    leaders: Mapping[int, int] = field(default_factory=dict)
    """Number of a passage that was dropped as a duplicate -> number of the passage that stands for it."""
    links: Sequence[Link] = ()
    """The overlaps between passages."""

    @property
    def new(self) -> Sequence[Passage]:
        """The passages that were not delivered before."""
        return self.passages[self.delivered.count :]

    @cached_property
    def preferred(self) -> Sequence[int]:
        """The numbers of the passages that are left and not blank, from the best to the worst, whatever their order."""

        def standing(number: int) -> tuple[float, int, str, int, str]:
            text, id_ = self.passages[number].text, self.passages[number].id
            return -self.stands[number], -len(text), text, len(id_), id_

        return sorted((number for number in self.numbers if self.passages[number].text.strip()), key=standing)

    def keep(self, numbers: Iterable[int], otherwise: Reason) -> "Candidates":
        """Drop all passages but these and those with something that must be kept.

        otherwise: why the others are dropped.
        """
        return self._only({*numbers, *self.required.among(self.numbers)}, otherwise)

    def best(self) -> int:
        """Return the number of the passage that the retriever found best."""
        return max(self.numbers, key=self.stands.__getitem__)

    def without_duplicates(self, leaders: Mapping[int, int]) -> "Candidates":
        """Drop the members of groups of duplicates, but for those with something to keep that their leaders lack.

        leaders: number of a member -> number of its leader. A member that was delivered before stays.
        """
        first = self.delivered.count
        pairs = leaders.items()
        merged = {member: leader for member, leader in pairs if member >= first and self.required.is_in(leader, member)}
        if not merged:
            return self
        earlier = {member: merged.get(leader, leader) for member, leader in self.leaders.items()}
        left = self._only(set(self.numbers).difference(merged), Reason.DUPLICATE)
        return replace(left, leaders=earlier | merged)

    def _only(self, numbers: set[int], otherwise: Reason) -> "Candidates":
        left = [number for number in self.numbers if number in numbers]
        if len(left) == len(self.numbers):
            return self
        dropped = dict.fromkeys(set(self.numbers).difference(left), otherwise)
        return replace(self, numbers=left, reasons={**self.reasons, **dropped})


@dataclass(frozen=True, slots=True)
class Reduction:
    """The documents that are left, and the passages that were dropped."""

    documents: Sequence[Document]
    reasons: Mapping[int, Reason]
    """Number of a passage -> why all of it was dropped."""
    leaders: Mapping[int, int]
    """Number of a passage that was dropped as a duplicate -> number of the passage that stands for it."""
    stages: Sequence[StageStats]
    required: Spans = field(default_factory=dict)
    """Number of a passage -> the parts of it that must be kept and are in a document."""

    def for_others(self) -> "Reduction | None":
        """Return the reduction for calls that take no time for it; None if it warned, as they should too."""
        if any(stage.emptied or stage.doubtful for stage in self.stages):
            return None
        return replace(self, stages=tuple(replace(stage, milliseconds=0.0) for stage in self.stages))

    def __len__(self) -> int:
        """Return the number of characters that are left."""
        return sum(len(document.text) for document in self.documents)

    def is_everything(self, count: int) -> bool:
        """Tell whether all of this number of passages are left, unchanged."""
        return len(self.documents) == count and all(document.is_passage for document in self.documents)
