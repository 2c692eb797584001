"""Overlaps of chunks: text that one chunk ends and another begins with, and chunks that are a part of another."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.reduce.duplicates import NEGATIONS
from ctxcompress.text.words import has_unspaced

__all__ = ["SENTENCE_STOPS", "Link", "Overlaps", "find_overlaps"]

SENTENCE_STOPS = (".", "?", "!", ":", "\u3002", "\uff1f", "\uff01")
_KEY_LENGTH = 12
"""Characters near the beginning of a chunk that are searched for in the others."""
_SKIPPED = lazy_regex(r"\s++|\S{1,40}+\s++")
"""What to skip before them: indentation, or a first word that may be cut."""
_TRIES = 128
"""The most places in a chunk to compare: a text that repeats one line has matches everywhere."""
_LONG = 32
"""Characters: an overlap this long may begin or end within a word, as a splitter that counts characters leaves it."""
_LONGEST_WORD = 60
_EDGES = "()[]{}<>'\"`*_.,;:?!\u2018\u2019\u201c\u201d"
_KEYS = lazy_regex(rf"(?=(.{{{_KEY_LENGTH}}}))\S++", re.DOTALL)
"""So many characters from the beginning of each word on."""
_KEYS_ANYWHERE = lazy_regex(rf"(?=(.{{{_KEY_LENGTH}}}))", re.DOTALL)


class Link(NamedTuple):
    """An overlap: the end of one text is the beginning of another."""

    length: int
    """Characters that they share."""
    before: int
    after: int
    filler: str = ""
    """White space that belongs between them, if they share nothing."""


class Overlaps(NamedTuple):
    """The overlaps within groups of texts."""

    within: dict[int, int]
    """Number of a text -> number of the text that it is a part of, which is part of no other."""
    links: list[Link]


def find_overlaps(texts: Sequence[str], groups: Sequence[Hashable | None]) -> Overlaps:
    """Find the overlaps of texts of the same group, in time linear in the length of all texts.

    An overlap has about 20 characters or more. White space at the end of a text does not count. No two texts may be the
    same.
    """
    texts = [text.rstrip() for text in texts]
    members: dict[Hashable, list[int]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(number)
    within: dict[int, int] = {}
    links: list[Link] = []
    for numbers in members.values():
        if len(numbers) > 1:
            parts, found = _find_in_group(texts, numbers)
            parts = _redundant(parts, found)
            within |= parts
            links += [link for link in found if not {link.before, link.after} & parts.keys()]
    return Overlaps(within, links)


def _redundant(parts: Mapping[int, int], links: Iterable[Link]) -> dict[int, int]:
    """Return the parts that overlap only with texts that also overlap with the whole, or are part of it. Others stand
    in a place of their own."""
    beside: dict[int, set[int]] = {}
    for _, before, after, _ in links:
        beside.setdefault(before, set()).add(after)
        beside.setdefault(after, set()).add(before)
    return {
        part: whole
        for part, whole in parts.items()
        if all(
            other == whole or parts.get(other) == whole or other in beside.get(whole, ())
            for other in beside.get(part, ())
        )
    }


def _find_in_group(texts: Sequence[str], numbers: Sequence[int]) -> tuple[dict[int, int], list[Link]]:
    """Return what is a part of what, and what continues what, among the texts with these numbers."""
    within: dict[int, int] = {}
    links: dict[tuple[int, int], Link] = {}
    for number, other, start in _occurrences(texts, numbers):
        text, part = texts[number], texts[other]
        length = len(text) - start
        if length >= len(part):
            if text.startswith(part, start) and part != text and _is_whole(text, start, start + len(part)):
                within.setdefault(other, number)
        elif start and part.startswith(text[start:]) and _is_overlap(text, part, length):
            links.setdefault((number, other), Link(length, number, other))
    for number in within:
        while within[number] in within:
            within[number] = within[within[number]]
    return within, list(links.values())


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether a part of a text means the same alone. Whole sentences and lines do, and other long parts."""
    begins = not start or text[:start][-3:].rstrip(" ").endswith((*SENTENCE_STOPS, "\n"))
    ends = text[end : end + 1] in ("", "\r", "\n") or (text[end - 1] in SENTENCE_STOPS and text[end].isspace())
    return (begins and ends) or (end - start >= _LONG and _is_beginning(text, start) and _is_end(text, end))


def _is_overlap(before: str, after: str, length: int) -> bool:
    """Tell whether the shared end and beginning of two texts are more than a coincidence."""
    is_long = length >= _LONG
    return _is_beginning(before, len(before) - length, may_cut=is_long) and _is_end(after, length, may_cut=is_long)


def _is_beginning(text: str, place: int, *, may_cut: bool = True) -> bool:
    """Tell whether the text from a place on means the same without the text before it: "allowed" after "not" does not.

    may_cut: whether the place may be within a word.
    """
    above = text[max(0, place - _LONGEST_WORD) : place]
    if not (above[-1:].isspace() or text[place].isspace()):
        return not above or _is_joint(text, place, may_cut=may_cut)
    line = above[above.rfind("\n") + 1 :]
    return not NEGATIONS.intersection(word.lower() for word in line.split()[-1:])


def _is_end(text: str, place: int, *, may_cut: bool = True) -> bool:
    """Tell whether the text up to a place means the same without the text after it."""
    below = text[place : place + _LONGEST_WORD]
    if not below[:1].isspace():
        return not below or _is_joint(text, place, may_cut=may_cut)
    following = (word.strip(_EDGES).lower() for word in below.partition("\n")[0].split()[:1])
    return text[place - 1] in SENTENCE_STOPS or not NEGATIONS.intersection(following)


def _is_joint(text: str, place: int, *, may_cut: bool) -> bool:
    """Tell whether a splitter may have cut a text at a place: between words, or with `may_cut` within a word, but not
    within a number: "port 80" is no beginning of "port 8080"."""
    above, below = text[place - 1], text[place]
    if has_unspaced(above + below):
        return not (above.isdigit() or below.isdigit())
    head = text[max(0, place - _LONGEST_WORD) : place].split()[-1].lstrip(_EDGES)
    tail = text[place : place + _LONGEST_WORD].split()[0].rstrip(_EDGES)
    return not head or not tail or (may_cut and head.isalpha() and tail.isalpha())


def _occurrences(texts: Sequence[str], numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (number of a text, number of another text, place in the first where the other may begin)."""
    heads: dict[str, list[tuple[int, int]]] = {}
    for number in numbers:
        before = _SKIPPED.match(texts[number])
        begin = before.end() if before else 0
        if len(head := texts[number][begin : begin + _KEY_LENGTH]) == _KEY_LENGTH:
            heads.setdefault(head, []).append((number, begin))
    for number in numbers if heads else ():
        found = _places(texts[number], heads)
        others = ((start, *head) for start, key in found for head in heads[key] if head[0] != number)
        for start, other, begin in islice(others, _TRIES):
            if start >= begin:
                yield number, other, start - begin


def _places(text: str, heads: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield (place, head) of the heads at the beginnings of words in a text."""
    is_unspaced, place = has_unspaced(text), -1
    keys = (_KEYS_ANYWHERE if is_unspaced else _KEYS).findall(text)
    for head in filter(heads.__contains__, keys):  # few are: to look for their places again is faster
        place = text.find(head, place + 1)
        while not (is_unspaced or place == 0 or text[place - 1].isspace()):
            place = text.find(head, place + 1)
        yield place, head
