"""The passages that are left, as a value that filters pass on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Reason
from ctxcompress.reduce.delivered_texts import DeliveredTexts
from ctxcompress.reduce.duplicates import preference
from ctxcompress.reduce.overlaps import Link
from ctxcompress.reduce.reduction import Required

__all__ = ["Candidates"]


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
        """The numbers of the passages that are left and not blank, from the best to the worst."""
        numbers = [number for number in self.numbers if self.passages[number].text.strip()]
        left = [self.passages[number] for number in numbers]
        texts, ids = [passage.text for passage in left], [passage.id for passage in left]
        order = preference(texts, [self.stands[number] for number in numbers], ids)
        return [numbers[place] for place in order]

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
        merged = {
            member: leader
            for member, leader in leaders.items()
            if member >= first and self.required.is_in(leader, member)
        }
        if not merged:
            return self
        earlier = {member: merged.get(leader, leader) for member, leader in self.leaders.items()}
        left = self._only(set(self.numbers).difference(merged), Reason.DUPLICATE)
        return replace(left, leaders=earlier | merged)

    def with_leaders(self, instead: Mapping[int, int]) -> "Candidates":
        """Put duplicates in the place of their leaders: each becomes the leader of all duplicates.

        instead: number of a leader -> number of the duplicate that replaces it.
        """
        if not instead:
            return self
        leaders = {member: instead.get(leader, leader) for member, leader in self.leaders.items()}
        reasons = {number: reason for number, reason in self.reasons.items() if number not in instead.values()}
        return replace(
            self,
            numbers=sorted({instead.get(number, number) for number in self.numbers}),
            reasons=reasons | {leader: self.reasons[member] for leader, member in instead.items()},
            leaders={member: leader for member, leader in {**leaders, **instead}.items() if member != leader},
        )

    def with_links(self, links: Sequence[Link]) -> "Candidates":
        """Add overlaps that were found between the passages."""
        return replace(self, links=links) if links else self

    def _only(self, numbers: set[int], otherwise: Reason) -> "Candidates":
        left = [number for number in self.numbers if number in numbers]
        if len(left) == len(self.numbers):
            return self
        dropped = dict.fromkeys(set(self.numbers).difference(left), otherwise)
        return replace(self, numbers=left, reasons={**self.reasons, **dropped})
