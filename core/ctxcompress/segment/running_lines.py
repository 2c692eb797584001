"""Running heads and feet of pages within a text: what each page repeats, which stands in the middle of sentences where
the pages were put together.

They are known by repetition, in any language: blocks that are the same but for a number that goes up, and that
interrupt sentences.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ctxcompress.data.passages import Kind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.markdown import Block
from ctxcompress.text.lines import ends_sentence

__all__ = ["without_running_lines"]

_FEWEST = 4
"""The least pages of a text with such blocks."""
_LONGEST = 200
"""The most characters of a foot and a head together."""
_PAGE = 1_000
"""The least characters of a page, for most of them. Formulas are numbered, too."""
_INTERRUPTING = 0.2
"""The least share of the blocks that stand in the middle of a sentence. "Step 2" stands between sentences."""
_NUMBER = lazy_regex(r"\d{1,9}")


def without_running_lines(text: str, blocks: Iterable[Block]) -> Sequence[Block]:
    """Return the blocks; heads and feet of pages are boilerplate."""
    blocks = list(blocks)
    found = (places for places in _repeated(text, blocks) if _are_running(text, blocks, places))
    running = {number for places in found for number in places}
    if not running:
        return blocks
    return [block._replace(kind=Kind.BOILERPLATE) if n in running else block for n, block in enumerate(blocks)]


def _repeated(text: str, blocks: Sequence[Block]) -> Iterable[Sequence[int]]:
    """Return the numbers of the blocks that are the same but for their numbers, if there are enough of them."""
    alike = defaultdict[str, list[int]](list)
    for number, block in enumerate(blocks):
        if block.kind is Kind.PARAGRAPH and block.end - block.start <= _LONGEST:
            words = " ".join(text[block.start : block.end].split())
            masked = _NUMBER.sub("0", words)
            if masked != words or "0" in words:
                alike[masked].append(number)
    return (places for places in alike.values() if len(places) >= _FEWEST)


def _are_running(text: str, blocks: Sequence[Block], places: Sequence[int]) -> bool:
    """Tell whether one of the numbers always goes up, and the blocks are a page apart and
    interrupt sentences."""
    texts = [text[blocks[place].start : blocks[place].end] for place in places]
    counted = zip(*([int(number) for number in _NUMBER.findall(each)] for each in texts), strict=True)
    goes_up = any(all(one < other for one, other in pairwise(numbers)) for numbers in counted)
    before = (blocks[place - 1] for place in places if place)
    open_ = sum(each.kind is Kind.PARAGRAPH and not ends_sentence(text[each.start : each.end]) for each in before)
    pages = sorted(blocks[other].start - blocks[place].start for place, other in pairwise(places))
    return goes_up and pages[len(pages) // 2] >= _PAGE and open_ >= _INTERRUPTING * len(places)
