"""Contents and indexes: text that leads to other text, and must not displace it.

They are known by what they are, in any language: many lines in a row that end with numbers of pages, or that are only
links to places in the same text. The pages of contents do not go back, and what they name stands elsewhere. An index is
sorted, and has entries with several pages.
"""

from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["lower_navigation"]

_SHARE = 0.1
"""What contents and indexes keep of their probability. They share more words with a question than what they lead to."""
_FEWEST = 4
"""The least lines of contents or of an index."""
_LONGEST = 120
"""The most characters of such a line."""
_MOST, _SOME = 0.9, 0.3
"""The least share of lines in order, as the header of a page can be among them; and of lines on another page than the
one before, and of names that stand elsewhere, as retrieval hands over some of the sections."""
_KINDS = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.TABLE))
_LINE = lazy_regex(
    r"[\W\d_]*+(?P<name>[^\n]*[^\W\d_])(?=[^\s,]*[\s,]|\.\.)(?P<gap>[\W_]+)"
    r"(?P<pages>\d{1,4}(?:(?:, ?|-|\u2013)\d{1,4})*+)\W*"
)
_LINK = lazy_regex(r"[^\[]{0,20}\[[^\[\]]*\]\(#[^()\s]*\)\W*")
"""A line that is only a link to a place in the same text."""
_WORDS, _NUMBERS = lazy_regex(r"[^\W\d_]+"), lazy_regex(r"\d+")


class _Line(NamedTuple):
    """A line that may be part of contents or of an index."""

    segment: int
    name: str
    """Without numbers."""
    pages: list[int]
    """Empty for a link."""
    is_entry: bool = False
    """Whether a comma is before the pages, as in an index."""


def lower_navigation(table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; those of contents and indexes are a tenth of what they were."""
    runs = [run for run in _runs(table) if len(run) >= _FEWEST]
    if not runs:
        return probability
    lines = {line.segment for run in runs for line in run}
    others = (text for number, text in enumerate(table.texts) if len(text) <= _LONGEST and number not in lines)
    elsewhere = set(map(_name, others))
    lowered = probability.copy()
    lowered[list({line.segment for run in runs if _is_navigation(run, elsewhere) for line in run})] *= _SHARE
    return lowered


def _runs(table: SegmentTable) -> Iterator[Sequence[_Line]]:
    """Yield the lines of each document that may be contents, as far as they follow each other. One other line between
    two of them, such as one that refers to another entry, ends nothing."""
    run: list[_Line] = []
    previous = (-1, 0)
    for place, line in _lines(table):
        if run and (place[0] != previous[0] or place[1] > previous[1] + 2):
            yield run
            run = []
        run.append(line)
        previous = place
    yield run


def _lines(table: SegmentTable) -> Iterator[tuple[tuple[int, int], _Line]]:
    """Yield ((document, number of the line), line) for each line that may be part of contents or of an index."""
    count = 0
    for number, text in enumerate(table.texts):
        lines = text.split("\n") if table.kind[number] in _KINDS else ()
        for line in filter(None, map(str.strip, lines)):
            count += 1
            place = table.document[number], count
            if len(line) <= _LONGEST and (line[-1:].isdigit() or line[-1:] == ")"):
                found = _LINE.fullmatch(line)
                if found:
                    pages = [int(page) for page in _NUMBERS.findall(found["pages"])]
                    yield place, _Line(number, _name(found["name"]), pages, "," in found["gap"])
                elif _LINK.fullmatch(line):
                    yield place, _Line(number, "", [])
        count += not lines


def _name(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


def _is_navigation(run: Sequence[_Line], elsewhere: Container[str]) -> bool:
    is_linked = not any(line.pages for line in run)
    return is_linked or _is_index(run) or _is_contents(run, elsewhere)


def _is_index(run: Sequence[_Line]) -> bool:
    rising = _share([earlier.name < later.name for earlier, later in pairwise(run)])
    entries = _share([line.is_entry for line in run])
    return min(rising, entries) >= _MOST and any(len(line.pages) > 1 for line in run)


def _is_contents(run: Sequence[_Line], elsewhere: Container[str]) -> bool:
    back = _share([earlier.pages > later.pages for earlier, later in pairwise(run)])
    on = _share([earlier.pages < later.pages for earlier, later in pairwise(run)])
    return back <= 1 - _MOST and min(on, _share([line.name in elsewhere for line in run])) >= _SOME


def _share(of: Sequence[bool]) -> float:
    return sum(of) / len(of)
