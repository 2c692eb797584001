"""The order in which passages are shown. The text of a passage always stays in its own."""

from collections.abc import Iterable, Mapping

from ctxcompress.config import Order
from ctxcompress.select.layout import Arrange

__all__ = ["arrangement"]


def arrangement(order: Order, relevance: Mapping[int, float]) -> Arrange:
    """How to arrange passages of that relevance: as they came, from the best to the worst, or the best at both ends.

    The last is for readers who overlook what stands in the middle: Liu et al., "Lost in the middle" (2023).
    """
    if order == "source":
        return sorted

    def by_relevance(passages: Iterable[int]) -> list[int]:
        ranked = sorted(passages, key=lambda passage: (-relevance.get(passage, 0.0), passage))
        return ranked if order == "relevance" else ranked[::2] + ranked[1::2][::-1]

    return by_relevance
