"""The documents that are left after whole passages and repeated text were dropped, and why the others were."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcompress.data.documents import Document, Spans, without_passages
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Reason, StageStats
from ctxcompress.reduce.duplicates import exact_duplicates

__all__ = ["Reduction"]


@dataclass(frozen=True, slots=True)
class Reduction:
    """The documents that are left, and the passages that were dropped."""

    documents: Sequence[Document]
    reasons: Mapping[int, Reason]
    """Number of a passage -> why all of it was dropped."""
    leaders: Mapping[int, int]
    """Number of a passage that was dropped as a duplicate -> number of the passage that stands for it."""
    stages: Sequence[StageStats]
    preference: Sequence[int] = ()
    """The numbers of the passages that are left, from the best to the worst; empty if duplicates are not dropped."""
    required: Spans = field(default_factory=dict)
    """Number of a passage -> the parts of it that must be kept and are in a document."""

    def after_cuts(
        self, documents: Sequence[Document], cut: Collection[int], passages: Sequence[Passage]
    ) -> "tuple[Sequence[Document], Reduction]":
        """Drop the passages that have the same text as a better one after they were truncated.

        documents: the passages with less text. cut: the numbers of the truncated passages.
        """
        left: dict[int, str] = {}
        for document in documents:
            for number, (start, end), _ in document.pieces:
                left[number] = left.get(number, "") + passages[number].text[start:end]
        order = [number for number in self.preference if number in left]
        same = exact_duplicates([left[number] for number in order], range(len(order)))
        merged = {order[member]: order[leader] for member, leader in same.items()}
        pairs = ((member, leader) for member, leader in merged.items() if member not in self.required)
        merged = {member: leader for member, leader in pairs if member in cut or leader in cut}
        if not merged:
            return documents, self
        leaders = {member: merged.get(leader, leader) for member, leader in self.leaders.items()} | merged
        reasons = {**self.reasons, **dict.fromkeys(merged, Reason.DUPLICATE)}
        return without_passages(documents, merged, [passage.text for passage in passages]), replace(
            self, leaders=leaders, reasons=reasons
        )

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
