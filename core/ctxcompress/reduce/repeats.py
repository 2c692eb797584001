"""Text that stands in several passages, and is to be kept once: what two chunks of a document share where one ends and
the other begins, a chunk within another, a paragraph that was copied.
"""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from ctxcompress.documents import Document, Piece, Spans, documents_as_they_are
from ctxcompress.spans import intersection, inverse
from ctxcompress.text.words import has_unspaced
from ctxcompress.types import Span

__all__ = ["Link", "Overlaps", "documents_of", "find_overlaps", "repeated_paragraphs"]

_KEY = 12
"""Characters of a chunk's beginning, from its second word on, that are looked for in the others."""
_TRIES = 32
"""Places in a chunk that are looked at closely: a text of one line a thousand times has them everywhere."""
_SHORTEST_PARAGRAPH = 100
"""Bytes: what is shorter ("Deprecated since version 3.") is about what stands around it."""
_FEW = 64
_WORD = re.compile(r"\S+")
_BEGIN = re.compile(r"\s++|\S{1,40}+\s++")
"""What comes before the key: indentation, or a first word that may be half of one."""
_UNIT = re.compile(r"[^\n.?!\u3002\uff1f\uff01]*+(?:[.?!\u3002\uff1f\uff01]++(?=\s|\Z|[^\x00-\u2fff])|[.?!]|\n\s*+|\Z)")
"""A sentence or a line, or what looks like one."""
_SHORT, _SHORT_UNITS = 200, 3
"""Characters, and sentences or lines, at the ends of texts that are compared."""
_NEAR = 3
"""How far apart texts may have come in which the same short line stands, which others have as well."""
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n)++")
_LAST_WORD = re.compile(r"\w+\Z")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_STOPS = (".", "?", "!", ":", "\u3002", "\uff1f", "\uff01")
_SENTENCE_ENDS = (". ", "? ", "! ", "\n", "\u3002", "\uff1f", "\uff01")


class Link(NamedTuple):
    """The end of one text is the beginning of another."""

    length: int
    """Characters that they share."""
    before: int
    after: int


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
    links: dict[tuple[int, int], Link] = {}
    for of_group in members.values():
        for number, other, start in _occurrences(texts, of_group):
            length = len(texts[number]) - start
            if length >= len(texts[other]):
                if texts[number].startswith(texts[other], start) and texts[other] != texts[number]:
                    within.setdefault(other, number)
            elif start and texts[other].startswith(texts[number][start:]):
                links.setdefault((number, other), Link(length, number, other))
    for number in within:
        while within[number] in within:
            within[number] = within[within[number]]
    found = [link for pair, link in links.items() if within.keys().isdisjoint(pair)]
    begun, continued = {link.before for link in found}, {link.after for link in found}
    several = [
        number
        for group, of_group in members.items()
        if group is not None and len(of_group) > 1
        for number in of_group
        if number not in within
    ]
    ends = [number for number in several if number not in begun]
    beginnings = [number for number in several if number not in continued]
    return Overlaps(within, [*found, *_short_links(texts, groups, places, ends, beginnings)])


def _occurrences(texts: Sequence[str], numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(number of a text, number of another, where in the first the other may begin), for texts with these numbers."""
    if len(numbers) < 2:
        return
    heads: dict[str, list[tuple[int, int]]] = {}
    for number in numbers:
        text = texts[number]
        before = _BEGIN.match(text)
        begin = before.end() if before else 0
        if len(text) - begin >= _KEY:
            heads.setdefault(text[begin : begin + _KEY], []).append((number, begin))
    few = len(numbers) <= _FEW
    for number in numbers:
        found = _found_each(texts[number], heads) if few else _found_at_words(texts[number], heads)
        possible = (
            (number, other, start - begin)
            for start, key in found
            for other, begin in heads[key]
            if other != number and start >= begin
        )
        yield from islice(possible, _TRIES)


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
    texts: Sequence[str],
    groups: Sequence[Hashable | None],
    places: Sequence[int],
    ends: Sequence[int],
    beginnings: Sequence[int],
) -> Iterator[Link]:
    by_end: dict[tuple[Hashable, str], list[int]] = {}
    for number in ends:
        text = texts[number]
        units = list(_UNIT.finditer(text, max(0, len(text) - _SHORT)))[-_SHORT_UNITS:]
        for unit in units:
            shared = text[unit.start() :].lstrip("\r\n")
            for end in dict.fromkeys((shared, shared.lstrip())):  # a line with its indentation, or a sentence
                by_end.setdefault((groups[number], end), []).append(number)
    by_beginning: dict[tuple[Hashable, str], list[int]] = {}
    for number in beginnings:
        for unit in islice(_UNIT.finditer(texts[number], 0, _SHORT), _SHORT_UNITS):
            key = groups[number], texts[number][: unit.end()].rstrip()
            if key[1] and key in by_end and len(key[1]) < len(texts[number]):
                by_beginning.setdefault(key, []).append(number)
    for key, afters in by_beginning.items():
        befores = by_end[key]
        only = len(befores) == len(afters) == 1
        for before in befores:
            near = [after for after in afters if only or 0 < places[after] - places[before] <= _NEAR]
            after = min(near, key=places.__getitem__, default=before)
            if after != before and len(key[1]) < len(texts[before]):
                yield Link(len(key[1]), before, after)


def repeated_paragraphs(texts: Sequence[str], kept: Sequence[Sequence[Span]], order: Sequence[int]) -> Spans:
    """Number of a text -> spans of its paragraphs that a text before it in `order` has as well.

    Only paragraphs within the spans that are `kept` count, that are long enough to be understood without what stands
    around them, and neither indented nor in a fence nor headings. White space after a paragraph belongs to it.
    """
    owner: dict[str, int] = {}
    found: Spans = {}
    if not any(_BLANK_LINES.search(texts[number]) for number in order):  # they differ, and are a paragraph each
        return found
    for number in order:
        again = []
        for span in _paragraphs(texts[number]):
            folded = " ".join(texts[number][span.start : span.end].split())
            if len(folded.encode("utf-8", "replace")) < _SHORTEST_PARAGRAPH:
                continue
            inside = Span(span.start, span.start + len(texts[number][span.start : span.end].rstrip()))
            if intersection([inside], kept[number]) == (inside,) and owner.setdefault(folded, number) != number:
                again.append(span)
        if again:
            found[number] = intersection(again, kept[number])
    return found


def _paragraphs(text: str) -> Iterator[Span]:
    ends = [match.end() for match in _BLANK_LINES.finditer(text)]
    in_fence = False
    for start, end in pairwise([0, *ends, len(text)]):
        fences = len(_FENCE.findall(text, start, end)) if "``" in text or "~~" in text else 0
        if not (in_fence or fences or text[start : start + 1] in ("", " ", "\t", "#")):
            yield Span(start, end)
        in_fence ^= fences % 2 == 1


def documents_of(
    texts: Sequence[str], numbers: Sequence[int], links: Sequence[Link], order: Sequence[int]
) -> list[Document]:
    """The texts with these numbers as documents: those that continue one another as one, repeated paragraphs not.

    links: between these texts. order: the numbers from the best text to the worst. Each text has at most one link on
    each side, long ones first. Documents are in the order of their first texts.
    """
    if not links and not any(map(_BLANK_LINES.search, texts)):
        return documents_as_they_are(texts, numbers)
    after, closing = _chained(links, texts)
    chains = _chains(numbers, after)
    kept = {number: span for chain in chains for number, span in _shared_once(chain, texts, closing)}
    spans = [(kept[number],) if number in kept else () for number in range(len(texts))]
    repeated = repeated_paragraphs(texts, spans, order)
    pieces = {
        number: [Piece(number, part) for part in intersection((span,), inverse(repeated.get(number, ()), span.end))]
        for number, span in kept.items()
        if texts[number]
    }
    pieces |= {number: [Piece(number, span)] for number, span in kept.items() if not texts[number]}
    parts = ([piece for number, _ in chain for piece in pieces[number]] for chain in chains)
    return [Document.of(of_document, texts) for of_document in parts if of_document]


def _chained(links: Sequence[Link], texts: Sequence[str]) -> tuple[dict[int, Link], dict[int, int]]:
    """(of each text the link to the one after it; of the last text of a chain that is a circle, how much of its end
    the first one begins with). No text has two before it."""
    after: dict[int, Link] = {}
    closing: dict[int, int] = {}
    begin: dict[int, int] = {}  # the last text of a chain -> its first
    continued: set[int] = set()
    for link in sorted(links, key=lambda link: (-link.length, texts[link.before], texts[link.after])):
        first, last = begin.get(link.before, link.before), link.after
        if link.before in after or link.after in continued:
            continue
        if first == link.after:
            closing[link.before] = link.length
            continue
        after[link.before] = link
        continued.add(link.after)
        while last in after:
            last = after[last].after
        begin[last] = first
    return after, {last: length for last, length in closing.items() if last not in after}


Chain = list[tuple[int, int]]
"""(number of a text, how many characters at its beginning the text before it has as well)."""


def _chains(numbers: Sequence[int], after: Mapping[int, Link]) -> list[Chain]:
    continued = {link.after for link in after.values()}
    chains = []
    for number in numbers:
        if number not in continued:
            chain = [(number, 0)]
            while chain[-1][0] in after:
                link = after[chain[-1][0]]
                chain.append((link.after, link.length))
            chains.append(chain)
    return sorted(chains, key=min)


def _shared_once(chain: Chain, texts: Sequence[str], closing: Mapping[int, int]) -> Iterator[tuple[int, Span]]:
    """What each text of a chain keeps, so that together they are one text without repetition."""
    start = 0
    for (number, _), (following, length) in pairwise([*chain, (-1, 0)]):
        text = texts[number]
        if following < 0:
            end = len(text.rstrip()) - closing[number] if number in closing else len(text)
            yield number, Span(min(start, end), end)
            return
        text = text.rstrip()
        shared_from = len(text) - length
        end = max(shared_from + _cut(text, texts[following], length), start)
        yield number, Span(start, end)
        start = end - shared_from


def _cut(before: str, after: str, length: int) -> int:
    """How much of what two texts share the first one keeps: all, unless it ends in the middle of a sentence. Then what
    ends before that sentence, and if nothing does, what ends before the word that it may be in the middle of."""
    if before.endswith(_STOPS) or after[length : length + 1] in ("", "\n", "\r"):
        return length
    ends = [place + len(end) for end in _SENTENCE_ENDS if (place := after.rfind(end, 0, length)) >= 0]
    if ends:
        return max(ends)
    above = before[: len(before) - length].rstrip(" ")
    if not above or above.endswith((*_STOPS, "\n")):
        return 0
    word = _LAST_WORD.search(after, max(0, length - _SHORT), length)
    return word.start() if word and after[length].isalnum() and word.start() else length
