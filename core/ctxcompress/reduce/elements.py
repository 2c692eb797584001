"""Passages that are the elements of a page, in order: a title, then the paragraphs under it, each a passage.

Some loaders make a passage of each element. A title alone answers nothing, and a paragraph alone does not say what it
is about. So a title and the passages after it become one document. Which these are is told by the order of the
passages, or where each names the element after it, by that.
"""

from collections.abc import Iterator, Sequence
from math import lgamma, log

from ctxcompress.data.metadata import NEXT_KEY
from ctxcompress.data.passages import Passage
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.reduce.filters import document_key
from ctxcompress.reduce.overlaps import Link

__all__ = ["links_of_elements"]

_TITLE = lazy_regex(r"\s*+(#{1,6})\s[^\n]*+\s*+\Z")
_CATEGORY, _TITLE_CATEGORY = "category", "Title"
"""The metadata key of loaders that tell elements apart (unstructured), and its value for titles."""
_TAG = "tag"
"""The metadata key of loaders that make a passage of each element of HTML."""
_LEVEL = 1
_CHANCE = 0.05
"""An order less likely by chance than this is no coincidence."""
_BETWEEN = "\n\n"


def links_of_elements(passages: Sequence[Passage], numbers: Sequence[int]) -> list[Link]:
    """Return links from each title to the passage after it, and on to the last passage before the next title.

    There are none unless the order of the passages is that of a page. Retrievers return the best first, so titles would
    stand anywhere. Elements of HTML that name the ones after them are linked in any order.
    numbers: of the passages that are left, ascending.
    """
    if told := _told_links(passages, numbers):
        return told
    levels = {number: level for number in numbers if (level := _level(passages[number]))}
    if not levels or any(passages[number].score is not None for number in numbers):
        return []
    left = frozenset(numbers)
    headed = [number for number in levels if number + 1 in left and number + 1 not in levels]
    is_page = all(number in headed or _is_above(number, levels) for number in levels if number + 1 in left)
    if not is_page or not _is_no_chance(len(headed), len(numbers)):
        return []
    return [link for number in headed for link in _section(passages, number, left, levels)]


def _told_links(passages: Sequence[Passage], numbers: Sequence[int]) -> list[Link]:
    """Return links between elements of HTML and the ones that they name as the next."""
    elements = {passages[number].id: number for number in numbers if _TAG in passages[number].metadata}
    following = ((number, elements.get(str(passages[number].metadata.get(NEXT_KEY)))) for number in elements.values())
    return [Link(0, number, after, _BETWEEN) for number, after in following if after is not None and after != number]


def _level(passage: Passage) -> int:
    """Return the level of the heading if the passage is nothing but a title, else 0."""
    if found := _TITLE.match(passage.text):
        return len(found[1])
    return _LEVEL if passage.metadata.get(_CATEGORY) == _TITLE_CATEGORY else 0


def _is_above(number: int, levels: dict[int, int]) -> bool:
    return levels[number] < levels.get(number + 1, 0)


def _is_no_chance(titles: int, passages: int) -> bool:
    """Tell whether a text after each of the titles is no coincidence: hardly any order of the passages has that."""
    texts = passages - titles
    return titles > 1 and texts >= titles and _log_choose(texts, titles) - _log_choose(passages, titles) < log(_CHANCE)


def _log_choose(all_: int, some: int) -> float:
    return lgamma(all_ + 1) - lgamma(some + 1) - lgamma(all_ - some + 1)


def _section(passages: Sequence[Passage], title: int, left: frozenset[int], levels: dict[int, int]) -> Iterator[Link]:
    key, number = document_key(passages[title]), title
    while number + 1 in left and number + 1 not in levels and document_key(passages[number + 1]) == key:
        yield Link(0, number, number + 1, _BETWEEN)
        number += 1
