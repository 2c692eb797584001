"""What two chunks of a document share where one ends and the other begins, and chunks that are a part of another."""

import re
from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from ctxcompress.reduce.differences import NEGATIONS
from ctxcompress.text.words import has_unspaced

__all__ = ["SENTENCE_STOPS", "Link", "Overlaps", "find_overlaps", "neighbours"]

SENTENCE_STOPS = (".", "?", "!", ":", "\u3002", "\uff1f", "\uff01")
_KEY = 12
"""Characters near a chunk's beginning that are looked for in the others."""
_BEGIN = re.compile(r"\s++|\S{1,40}+\s++")
"""What comes before them: indentation, or a first word that may be half of one."""
_TRIES = 128
"""Places in a chunk that are looked at closely: a text of one line a thousand times has them everywhere."""
_LONG = 32
"""Characters of an overlap that may begin or end within a word: a splitter that counts characters makes long ones."""
_LONGEST_WORD = 60
_EDGES = "()[]{}<>'\"`*_.,;:?!\u2018\u2019\u201c\u201d"
_FEW = 64
"""Chunks of a document that are looked for one by one."""
_WORD = re.compile(r"\S+")
_UNIT = re.compile(
    r"(?:[^\n.?!\u3002\uff1f\uff01]++|[.?!](?!\s|\Z|[^\x00-\u2fff]))*+(?:[.?!\u3002\uff1f\uff01]++|\n\s*+|\Z)"
)
"""A sentence or a line, or what looks like one."""
_SHORT, _SHORT_UNITS = 200, 3
"""Characters, and sentences or lines, at the ends of texts that are compared."""
_NEAR = 3
"""How far apart texts may have come in which the same short line stands, which others have as well."""


class Link(NamedTuple):
    """The end of one text is the beginning of another."""

    length: int
    """Characters that they share."""
    before: int
    after: int
    filler: str = ""
    """White space between them that neither has, where they share nothing."""


class Overlaps(NamedTuple):
    """What texts share with others of their group."""

    within: dict[int, int]
    """Number of a text -> number of one that it is a part of, which is in none itself."""
    links: list[Link]


def find_overlaps(texts: Sequence[str], groups: Sequence[Hashable | None], places: Sequence[int]) -> Overlaps:
    """The overlaps of texts of the same group. Linear in what the texts are together.

    They have some 20 characters or more, or are whole sentences or lines that no other texts of a group that is not
    None have there, or that texts have which came one after the other. White space at the end of a text does not
    count. No two texts may be the same. places: where each text came.
    """
    texts = [text.rstrip() for text in texts]
    members: dict[Hashable, list[int]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(number)
    within: dict[int, int] = {}
    links: list[Link] = []
    for group, numbers in members.items():
        if len(numbers) > 1:
            parts, found = _compared(texts, numbers)
            if group is not None:
                ends = sorted(set(numbers) - {link.before for link in found})
                beginnings = sorted(set(numbers) - {link.after for link in found})
                found += _short_links(texts, ends, beginnings, places)
            parts = _without_place(parts, found)
            within |= parts
            links += [link for link in found if not {link.before, link.after} & parts.keys()]
    return Overlaps(within, links)


def _without_place(parts: Mapping[int, int], links: Iterable[Link]) -> dict[int, int]:
    """Those parts that stand in no other place than what they are a part of: that overlap only with what overlaps
    with this too, or is a part of it."""
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


def neighbours(texts: Sequence[str], groups: Sequence[Hashable | None], number: int) -> int:
    """How many of the texts that came shortly before and shortly after one, of its group, share text with it where they
    meet: 0 to 2, one on each side. Between them there may be copies that belong elsewhere."""
    text, group = texts[number], groups[number]
    around = range(max(0, number - _NEAR), min(len(texts), number + _NEAR + 1))
    near = [other for other in around if texts[other] != text and groups[other] == group]
    is_after = any(_meet(texts[other], text, by_unit=group is not None) for other in near if other < number)
    return is_after + any(_meet(text, texts[other], by_unit=group is not None) for other in near if other > number)


def _meet(before: str, after: str, *, by_unit: bool) -> bool:
    """Whether one text ends with what the other begins with; by_unit: or with a short line or sentence."""
    before, key = before.rstrip(), after[:_KEY]
    if key in before:  # which it mostly is not
        starts = (start for start, _ in islice(_found_each(before, [key]), _TRIES))
        if any(after.startswith(before[start:]) for start in starts):
            return True
    return by_unit and any(map(after.startswith, _last_units(before)))


def _compared(texts: Sequence[str], numbers: Sequence[int]) -> tuple[dict[int, int], list[Link]]:
    """(what is a part of what, what continues what) of the texts with these numbers."""
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
    """Whether a part of a text says there what it says alone: whole sentences and lines do, other parts if long."""
    begins = not start or text[:start][-3:].rstrip(" ").endswith((*SENTENCE_STOPS, "\n"))
    ends = text[end : end + 1] in ("", "\r", "\n") or (text[end - 1] in SENTENCE_STOPS and text[end].isspace())
    return (begins and ends) or (end - start >= _LONG and _is_beginning(text, start) and _is_end(text, end))


def _is_overlap(before: str, after: str, length: int) -> bool:
    """Whether what one text ends with and the other one begins with is more than a coincidence."""
    is_long = length >= _LONG
    return _is_beginning(before, len(before) - length, may_cut=is_long) and _is_end(after, length, may_cut=is_long)


def _is_beginning(text: str, place: int, *, may_cut: bool = True) -> bool:
    """Whether what begins at a place in a text means the same without what stands before it there: "allowed" does not
    after "not". may_cut: in a word as well."""
    above = text[max(0, place - _LONGEST_WORD) : place]
    if not (above[-1:].isspace() or text[place].isspace()):
        return not above or _is_joint(text, place, may_cut=may_cut)
    line = above[above.rfind("\n") + 1 :]
    return not NEGATIONS.intersection(word.lower() for word in line.split()[-1:])


def _is_end(text: str, place: int, *, may_cut: bool = True) -> bool:
    """Whether what ends at a place in a text means the same without what follows there."""
    below = text[place : place + _LONGEST_WORD]
    if not below[:1].isspace():
        return not below or _is_joint(text, place, may_cut=may_cut)
    following = (word.strip(_EDGES).lower() for word in below.partition("\n")[0].split()[:1])
    return text[place - 1] in SENTENCE_STOPS or not NEGATIONS.intersection(following)


def _is_joint(text: str, place: int, *, may_cut: bool) -> bool:
    """Whether a splitter may have cut a text at a place: between words, or if need be in one, but in no number and
    nothing like it: "port 80" is no beginning of "port 8080"."""
    above, below = text[place - 1], text[place]
    if has_unspaced(above + below):
        return not (above.isdigit() or below.isdigit())
    head = text[max(0, place - _LONGEST_WORD) : place].split()[-1].lstrip(_EDGES)
    tail = text[place : place + _LONGEST_WORD].split()[0].rstrip(_EDGES)
    return not head or not tail or (may_cut and head.isalpha() and tail.isalpha())


def _occurrences(texts: Sequence[str], numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(number of a text, number of another, where in the first the other may begin), for texts with these numbers."""
    heads: dict[str, list[tuple[int, int]]] = {}
    for number in numbers:
        text = texts[number]
        before = _BEGIN.match(text)
        begin = before.end() if before else 0
        if len(text) - begin >= _KEY:
            heads.setdefault(text[begin : begin + _KEY], []).append((number, begin))
    few = len(numbers) <= _FEW
    for number in numbers if heads else ():
        found = _found_each(texts[number], heads) if few else _found_at_words(texts[number], heads)
        others = ((start, *head) for start, key in found for head in heads[key] if head[0] != number)
        for start, other, begin in islice(others, _TRIES):
            if start >= begin:
                yield number, other, start - begin


def _found_each(text: str, keys: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Where each key is in a text: the quickest way for a few keys."""
    for key in keys:
        start = text.find(key)
        while start >= 0:
            yield start, key
            start = text.find(key, start + 1)


def _found_at_words(text: str, keys: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where there are keys in a text, at the beginnings of its words: as quick for many keys as for a few."""
    starts = range(len(text)) if has_unspaced(text) else (match.start() for match in _WORD.finditer(text))
    for start in starts:
        if (key := text[start : start + _KEY]) in keys:
            yield start, key


def _short_links(
    texts: Sequence[str], ends: Sequence[int], beginnings: Sequence[int], places: Sequence[int]
) -> Iterator[Link]:
    """Links by whole sentences or lines at the ends and the beginnings of the texts with these numbers."""
    by_end: dict[str, list[int]] = {}
    for number in ends:
        for unit in _last_units(texts[number]):
            by_end.setdefault(unit, []).append(number)
    by_beginning: dict[str, list[int]] = {}
    for number in beginnings:
        for match in islice(_UNIT.finditer(texts[number], 0, _SHORT), _SHORT_UNITS):
            unit = texts[number][: match.end()].rstrip()
            if unit in by_end and len(unit) < len(texts[number]):
                by_beginning.setdefault(unit, []).append(number)
    for unit, afters in by_beginning.items():
        afters.sort(key=places.__getitem__)
        only = len(by_end[unit]) == len(afters) == 1
        for before in by_end[unit]:
            following = 0 if only else bisect_right(afters, places[before], key=places.__getitem__)
            for after in afters[following : following + 1]:
                is_near = only or places[after] - places[before] <= _NEAR
                if is_near and after != before and len(unit) < len(texts[before]):
                    yield Link(len(unit), before, after)


def _last_units(text: str) -> Iterator[str]:
    """The last sentences or lines of a text, each with all that follows: lines with their indentation and without."""
    for match in list(_UNIT.finditer(text, max(0, len(text) - _SHORT)))[-_SHORT_UNITS:]:
        unit = text[match.start() :].lstrip("\r\n")
        yield from dict.fromkeys(found for found in (unit, unit.lstrip()) if found)
