"""Overlaps of chunks: text that one chunk ends and another begins with, and chunks that are a part of another."""

from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.reduce.differences import NEGATIONS
from ctxcompress.text.words import has_unspaced

__all__ = [
    "SENTENCE_STOPS",
    "Link",
    "Overlaps",
    "find_overlaps",
    "head_of",
    "heads_in",
    "units_at_ends",
]

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
_FEW = 64
"""Up to this number of chunks in a group, each key is searched for separately."""
_WORD = lazy_regex(r"\S+")
_UNIT = lazy_regex(
    r"(?:[^\n.?!\u3002\uff1f\uff01]++|[.?!](?!\s|\Z|[^\x00-\u2fff]))*+(?:[.?!\u3002\uff1f\uff01]++|\n\s*+|\Z)"
)
"""A sentence or a line."""
_SHORT, _SHORT_UNITS = 200, 3
"""How many characters, and how many sentences or lines, at the ends of texts are compared."""
_NONE: Mapping[Hashable, int] = MappingProxyType({})
_NEAR = 3
"""The greatest distance in the input between two texts that share a short line which other texts have, too."""


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


def find_overlaps(
    texts: Sequence[str],
    groups: Sequence[Hashable | None],
    places: Sequence[int],
    others: Mapping[Hashable, int] = _NONE,
) -> Overlaps:
    """Find the overlaps of texts of the same group, in time linear in the length of all texts.

    An overlap has about 20 characters or more. In a group other than None it may also be shorter, if it is a whole
    sentence or line that no other text has there, or that neighbours in the input share. White space at the end of a
    text does not count. No two texts may be the same. places: the position of each text in the input.
    others: how many more texts each group has, which are known to overlap with none of these.
    """
    texts = [text.rstrip() for text in texts]
    members: dict[Hashable, list[int]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(number)
    within: dict[int, int] = {}
    links: list[Link] = []
    for group, numbers in members.items():
        if len(numbers) > 1:
            parts, found = _find_in_group(texts, numbers, len(numbers) + others.get(group, 0))
            if group is not None:
                ends = sorted(set(numbers) - {link.before for link in found})
                beginnings = sorted(set(numbers) - {link.after for link in found})
                found += _short_links(texts, ends, beginnings, places)
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


def _find_in_group(texts: Sequence[str], numbers: Sequence[int], size: int) -> tuple[dict[int, int], list[Link]]:
    """Return what is a part of what, and what continues what, among the texts with these numbers.

    size: the number of all texts of the group.
    """
    within: dict[int, int] = {}
    links: dict[tuple[int, int], Link] = {}
    for number, other, start in _occurrences(texts, numbers, size):
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


def _occurrences(texts: Sequence[str], numbers: Sequence[int], size: int) -> Iterator[tuple[int, int, int]]:
    """Yield (number of a text, number of another text, place in the first where the other may begin)."""
    heads: dict[str, list[tuple[int, int]]] = {}
    for number in numbers:
        head, begin = head_of(texts[number])
        if head:
            heads.setdefault(head, []).append((number, begin))
    for number in numbers if heads else ():
        found = heads_in(texts[number], heads, size)
        others = ((start, *head) for start, key in found for head in heads[key] if head[0] != number)
        for start, other, begin in islice(others, _TRIES):
            if start >= begin:
                yield number, other, start - begin


def head_of(text: str) -> tuple[str, int]:
    """Return the characters by which a text is found in others, and where they begin; "" for a short text."""
    before = _SKIPPED.match(text)
    begin = before.end() if before else 0
    head = text[begin : begin + _KEY_LENGTH]
    return (head if len(head) == _KEY_LENGTH else ""), begin


def heads_in(text: str, heads: Collection[str], size: int) -> Iterator[tuple[int, str]]:
    """Yield (place, head) of the heads of other texts in a text. size: the number of all texts."""
    return _found_each(text, heads) if size <= _FEW else _found_at_words(text, heads)


def _found_each(text: str, keys: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (place, key) of each key in a text. Fastest for a few keys."""
    for key in keys:
        start = text.find(key)
        while start >= 0:
            yield start, key
            start = text.find(key, start + 1)


def _found_at_words(text: str, keys: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield (place, key) of the keys at the beginnings of words in a text. As fast for many keys as for a few."""
    starts = range(len(text)) if has_unspaced(text) else (match.start() for match in _WORD.finditer(text))
    for start in starts:
        if (key := text[start : start + _KEY_LENGTH]) in keys:
            yield start, key


def _short_links(
    texts: Sequence[str], ends: Sequence[int], beginnings: Sequence[int], places: Sequence[int]
) -> Iterator[Link]:
    """Find links by whole sentences or lines at the ends and the beginnings of the texts with these numbers."""
    by_end = _by_unit((unit, number) for number in ends for unit in _last_units(texts[number]))
    first_units = ((unit, number) for number in beginnings for unit in _first_units(texts[number]))
    by_beginning = _by_unit(pair for pair in first_units if pair[0] in by_end and pair[0] != texts[pair[1]])
    for unit, afters in by_beginning.items():
        afters.sort(key=places.__getitem__)
        only = len(by_end[unit]) == len(afters) == 1
        for before in by_end[unit]:
            following = 0 if only else bisect_right(afters, places[before], key=places.__getitem__)
            for after in afters[following : following + 1]:
                is_near = only or places[after] - places[before] <= _NEAR
                if is_near and after != before and len(unit) < len(texts[before]):
                    yield Link(len(unit), before, after)


def _by_unit(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return the numbers of the texts for each unit."""
    numbers: dict[str, list[int]] = {}
    for unit, number in pairs:
        numbers.setdefault(unit, []).append(number)
    return numbers


def units_at_ends(text: str) -> set[str]:
    """Return the whole sentences and lines at both ends of a text by which it may overlap with others."""
    return {*_first_units(text), *_last_units(text)}


def _first_units(text: str) -> Iterator[str]:
    """Yield the beginnings of a text up to each of its first sentences or lines."""
    for match in islice(_UNIT.finditer(text, 0, _SHORT), _SHORT_UNITS):
        yield text[: match.end()].rstrip()


def _last_units(text: str) -> Iterator[str]:
    """Yield the ends of a text from each of its last sentences or lines on, with indentation and without."""
    for match in list(_UNIT.finditer(text, max(0, len(text) - _SHORT)))[-_SHORT_UNITS:]:
        unit = text[match.start() :].lstrip("\r\n")
        yield from dict.fromkeys(found for found in (unit, unit.lstrip()) if found)
