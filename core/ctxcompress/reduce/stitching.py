"""Chunks that overlap as one text, in which what they share stands once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ctxcompress.documents import Document, Piece, documents_as_they_are
from ctxcompress.passages import Span
from ctxcompress.reduce.overlaps import SENTENCE_STOPS, Link
from ctxcompress.reduce.paragraphs import has_paragraphs, repeated_paragraphs
from ctxcompress.spans import intersection, inverse

__all__ = ["stitched"]

_SENTENCE_ENDS = (". ", "? ", "! ", "\n", "\u3002", "\uff1f", "\uff01")
_LAST_WORD = re.compile(r"\w+\Z")
_LONGEST_WORD = 200

Chain = list[tuple[int, int]]
"""(number of a text, how many characters at its beginning the text before it has as well)."""


def stitched(
    texts: Sequence[str], numbers: Sequence[int], links: Sequence[Link], order: Sequence[int]
) -> list[Document]:
    """The texts with these numbers as documents: those that continue one another as one, repeated paragraphs not.

    links: between these texts. order: the numbers from the best text to the worst. Each text has at most one link on
    each side, long ones first, of equal ones that to what came next. Documents are in the order of their first texts.
    """
    if not links and not any(map(has_paragraphs, texts)):
        return documents_as_they_are(texts, numbers)
    after, closing = _chained(links, texts, {number: place for place, number in enumerate(numbers)})
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
    for link in after.values():
        if link.filler and pieces[link.after]:
            pieces[link.after][0] = pieces[link.after][0]._replace(filler=link.filler)
    parts = ([piece for number, _ in chain for piece in pieces[number]] for chain in chains)
    return [Document.of(of_document, texts) for of_document in parts if of_document]


def _chained(
    links: Sequence[Link], texts: Sequence[str], places: Mapping[int, int]
) -> tuple[dict[int, Link], dict[int, int]]:
    """(of each text the link to the one after it; of the last text of a chain that is a circle, how much of its end
    the first one begins with). No text has two before it."""
    after: dict[int, Link] = {}
    closing: dict[int, int] = {}
    firsts: dict[int, int] = {}  # the last text of a chain -> its first
    lasts: dict[int, int] = {}
    continued: set[int] = set()

    def preference(link: Link) -> tuple[int, bool, str, str]:
        is_next = places[link.after] - places[link.before] == 1
        return -link.length, not is_next, texts[link.before], texts[link.after]

    for link in sorted(links, key=preference):
        first, last = firsts.get(link.before, link.before), lasts.get(link.after, link.after)
        if link.before in after or link.after in continued:
            continue
        if first == link.after:
            closing[link.before] = link.length
            continue
        after[link.before] = link
        continued.add(link.after)
        firsts[last], lasts[first] = first, last
    return after, {last: length for last, length in closing.items() if last not in after}


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
        if not length:
            yield number, Span(start, len(text))
            start = 0
            continue
        text = text.rstrip()
        shared_from = len(text) - length
        end = max(shared_from + _cut(text, texts[following], length), start)
        yield number, Span(start, end)
        start = end - shared_from


def _cut(before: str, after: str, length: int) -> int:
    """How much of what two texts share the first one keeps: all, unless it ends in the middle of a sentence. Then what
    ends before that sentence, and if nothing does, what ends before the word that it may be in the middle of."""
    if before.endswith(SENTENCE_STOPS) or after[length : length + 1] in ("", "\n", "\r"):
        return length
    ends = [place + len(end) for end in _SENTENCE_ENDS if (place := after.rfind(end, 0, length)) >= 0]
    if ends:
        return max(ends)
    above = before[: len(before) - length].rstrip(" ")
    if not above or above.endswith((*SENTENCE_STOPS, "\n")):
        return 0
    word = _LAST_WORD.search(after, max(0, length - _LONGEST_WORD), length)
    return word.start() if word and after[length].isalnum() and word.start() else length
