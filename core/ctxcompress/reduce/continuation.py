"""Chunks of a source file that follow one another without sharing anything: a function that two of them have a part of
is one function."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise

from ctxcompress.passages import Passage
from ctxcompress.reduce.limits import document_key
from ctxcompress.reduce.overlaps import Link
from ctxcompress.text.cuts import going_on
from ctxcompress.text.source import is_code_name, source_language

__all__ = ["with_continuations"]

_OFFSETS = ("start_index", "start_char_idx")
"""Metadata in which splitters say where in its document a chunk begins."""
_SURE = 20
"""Characters of an overlap that is no coincidence."""
_INDENT = 4
_STRIPPED = 80
"""Characters of white space that a splitter may have left out between two chunks."""


def with_continuations(
    overlaps: Sequence[Link], passages: Sequence[Passage], groups: Sequence[Hashable | None], numbers: Iterable[int]
) -> list[Link]:
    """The overlaps, and links of length 0 between those of these passages of which one goes on where the other ends. A
    short overlap, such as of a line with nothing but quotes, gives way to these; and one of two functions whose
    docstrings are the same is none, where offsets say that they stand elsewhere.

    Only passages of a file with a code's ending count. Where they say at which character they begin, that decides;
    where none does, they must have come one after the other, and not been stripped of the white space between them.
    groups: what passages of one document have in common.
    """
    files: dict[Hashable, list[int]] = {}
    for number in numbers:
        if groups[number] is not None and is_code_name(passages[number].file_path or passages[number].title):
            files.setdefault(groups[number], []).append(number)
    found = [link for of_file in files.values() if len(of_file) > 1 for link in _of_file(passages, of_file)]
    before, after = {link.before for link in found}, {link.after for link in found}
    in_files = {number for of_file in files.values() for number in of_file}
    return found + [
        link
        for link in overlaps
        if (link.length >= _SURE or not (link.before in before or link.after in after))
        and not (link.before in in_files and _is_elsewhere(link, passages))
    ]


def _is_elsewhere(link: Link, passages: Sequence[Passage]) -> bool:
    """Whether chunks say that they begin in places where they cannot overlap so."""
    start, other = _start(passages[link.before]), _start(passages[link.after])
    if start is None or other is None:
        return False
    return abs(start + len(passages[link.before].text) - link.length - other) > _STRIPPED


def _of_file(passages: Sequence[Passage], numbers: Sequence[int]) -> Iterator[Link]:
    starts = {number: start for number in numbers if (start := _start(passages[number])) is not None}
    for one, other in pairwise(sorted(starts, key=starts.__getitem__)):
        gap = starts[other] - starts[one] - len(passages[one].text)
        if 0 <= gap <= _STRIPPED and (document_key(passages[one]) or _meet(passages[one], passages[other])):
            yield Link(0, one, other, _filler(passages[one].text, gap))
    others = [number for number in numbers if number not in starts]
    texts = [passages[number].text for number in others]
    first = passages[numbers[0]]
    goes_on = going_on(texts, source_language(first.text, first.file_path or first.title))
    for (one, other), found in zip(pairwise(others), goes_on, strict=True):
        if found and other - one == 1 and (passages[one].text[-1:] == "\n" or passages[other].text[:1] == "\n"):
            yield Link(0, one, other)


def _meet(one: Passage, other: Passage) -> bool:
    """Whether chunks of which only the title is the same may be of one file."""
    return all(going_on([one.text, other.text], source_language(one.text, one.title)))


def _filler(text: str, gap: int) -> str:
    """So much white space as a line break, or several, and an indentation that goes with what stands before it."""
    if not gap:
        return ""
    tab = "\n\t" in text
    indent = next(width for width in range(gap - 1, -1, -1) if tab or width % _INDENT == 0)
    return "\n" * (gap - indent) + ("\t" if tab else " ") * indent


def _start(passage: Passage) -> int | None:
    values = (passage.metadata.get(name) for name in _OFFSETS)
    return next((value for value in values if type(value) is int and value >= 0), None)
