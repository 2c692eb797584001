"""Stitches chunks into documents: overlapping or adjacent chunks become one text, without repeated paragraphs."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ctxcompress.code.detection import continues_in_next, is_code_name, source_language
from ctxcompress.data.documents import Document, Piece, Spans, documents_as_they_are
from ctxcompress.data.metadata import MOST_STRIPPED, offset_of
from ctxcompress.data.passages import Passage, Span, intersection, inverse
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.reduce.filters import group_of
from ctxcompress.reduce.overlaps import SENTENCE_STOPS, Link

__all__ = ["continuations", "stitched"]

Chain = list[tuple[int, int]]
"""(number of a text, how many characters at its beginning overlap with the text before)."""
_SHORTEST = 100
"""Bytes: a shorter paragraph, such as "Deprecated since version 3.", depends on the text around it."""
_BLANK_LINES = lazy_regex(r"\n(?:[^\S\n]*+\n)++")
_FENCE = lazy_regex(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_INDENTED = (" ", "\t")
_NO_TEXT = ("", "#", *_INDENTED)
_SENTENCE_ENDS = (". ", "? ", "! ", "\n", "\u3002", "\uff1f", "\uff01")
_HEADING = lazy_regex(r"#{1,6} ")
_LAST_WORD = lazy_regex(r"\w+\Z")
_LONGEST_WORD, _INDENT = 200, 4
_OPENING, _CLOSING = tuple("{([:"), tuple("})]")


def stitched(
    texts: Sequence[str], numbers: Sequence[int], links: Sequence[Link], order: Sequence[int]
) -> list[Document]:
    """Return the texts with these numbers as documents, without repeated paragraphs.

    Texts that continue one another become one document. Each text has at most one link on each side: the longest, and
    of equal ones the link to its neighbour in the input. Documents are in the order of their first texts.
    links: between these texts. order: the numbers from the best text to the worst.
    """
    if not links and not any(_BLANK_LINES.search(texts[number]) for number in numbers):
        return documents_as_they_are(texts, numbers)
    after = _chosen_links(links, texts, {number: place for place, number in enumerate(numbers)})
    chains = _chains(numbers, after)
    kept = {number: span for chain in chains for number, span in _kept_spans(chain, texts)}
    spans = [(kept[number],) if number in kept else () for number in range(len(texts))]
    repeated = _repeated_paragraphs(texts, spans, order)
    pieces = {
        number: [Piece(number, part) for part in _without(repeated.get(number, ()), span)]
        for number, span in kept.items()
    }
    for link in after.values():
        if link.filler and pieces[link.after]:
            pieces[link.after][0] = pieces[link.after][0]._replace(filler=link.filler)
    parts = ([piece for number, _ in chain for piece in pieces[number]] for chain in chains)
    return [Document.of(of_document, texts) for of_document in parts if of_document]


def _without(repeated: Sequence[Span], span: Span) -> Sequence[Span]:
    """Return what is left of a span without repeated parts."""
    return intersection((span,), inverse(repeated, span.end)) if repeated else (span,)


def _chosen_links(links: Sequence[Link], texts: Sequence[str], places: Mapping[int, int]) -> dict[int, Link]:
    """Choose at most one link on each side of a text, and none that makes a circle.

    Returns number of a text -> the link to the next text.
    """
    after: dict[int, Link] = {}
    firsts: dict[int, int] = {}  # last text of a chain -> its first text
    lasts: dict[int, int] = {}
    continued: set[int] = set()

    def preference(link: Link) -> tuple[int, bool, str, str]:
        is_next = places[link.after] - places[link.before] == 1
        return -link.length, not is_next, texts[link.before], texts[link.after]

    for link in sorted(links, key=preference):
        first, last = firsts.get(link.before, link.before), lasts.get(link.after, link.after)
        if not (link.before in after or link.after in continued or first == link.after):
            after[link.before] = link
            continued.add(link.after)
            firsts[last], lasts[first] = first, last
    return after


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


def _kept_spans(chain: Chain, texts: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """Yield (number, the span to keep) of each text in a chain, so that nothing is repeated."""
    start = 0
    for (number, _), (following, length) in pairwise([*chain, (-1, 0)]):
        text = texts[number]
        if not length:
            yield number, Span(start, len(text))
            start = 0
            continue
        text = text.rstrip()
        shared_from = len(text) - length
        end = max(shared_from + _kept_of_overlap(text, texts[following], length), start)
        yield number, Span(start, end)
        start = end - shared_from


def _kept_of_overlap(before: str, after: str, length: int) -> int:
    """Return how many characters of an overlap the first text keeps.

    That is all, unless the overlap ends with a heading, whose text is in the second one, or within a sentence. Then it
    is the text before that, or if there is none, the text before the word that may be cut.
    """
    last = after[:length].rstrip().rpartition("\n")[2]
    if _HEADING.match(last):
        return after.rfind(last, 0, length)
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


def _repeated_paragraphs(texts: Sequence[str], kept: Sequence[Sequence[Span]], order: Sequence[int]) -> Spans:
    """Return number of a text -> spans of its paragraphs that a text before it in `order` also has.

    Only paragraphs within the `kept` spans count. They must be long enough to be understood alone, and neither
    indented, nor in a fence, nor headings. White space after a paragraph belongs to it.
    """
    owner: dict[str, int] = {}
    found: Spans = {}
    for number in order:
        again = []
        for span in _paragraphs(texts[number]):
            paragraph = texts[number][span.start : span.end].rstrip()
            if len(paragraph) < _SHORTEST and paragraph.isascii():
                continue
            folded = " ".join(paragraph.split())
            if len(folded.encode("utf-8", "replace")) < _SHORTEST:
                continue
            is_kept = any(start <= span.start and span.start + len(paragraph) <= end for start, end in kept[number])
            if is_kept and owner.setdefault(folded, number) != number:
                again.append(span)
        if again:
            found[number] = intersection(again, kept[number])
    return found


def _paragraphs(text: str) -> Iterator[Span]:
    """Yield the paragraphs that can be dropped: those to which nothing indented belongs."""
    ends = [match.end() for match in _BLANK_LINES.finditer(text)]
    has_fences = "```" in text or "~~~" in text
    fence = ""
    for start, end in pairwise([0, *ends, len(text)]):
        was_open = fence
        for marker in _FENCE.findall(text, start, end) if has_fences else ():
            if not fence:
                fence = marker
            elif marker.startswith(fence):
                fence = ""
        begins, follows = text[start : start + 1], text[end : end + 1]
        is_of_fence = has_fences and (was_open or fence or _FENCE.search(text, start, end))
        if not is_of_fence and begins not in _NO_TEXT and follows not in _INDENTED:
            yield Span(start, end)


def continuations(passages: Sequence[Passage], numbers: Iterable[int]) -> Iterator[Link]:
    """Yield links of length 0 between passages of one document that continue one another.

    The offsets in their metadata decide. Text is linked only to its neighbour in the input: a heading that came after
    its text, or stood over another passage, would mislead. Source code is linked wherever it stands, also without
    offsets to its neighbour if the white space between them is not stripped.
    """
    files: dict[Hashable, list[int]] = {}
    for number in numbers:
        if group := group_of(passages[number]):
            files.setdefault(group, []).append(number)
    for of_file in files.values():
        if len(of_file) > 1:
            yield from _in_file(passages, of_file)


def _in_file(passages: Sequence[Passage], numbers: Sequence[int]) -> Iterator[Link]:
    first = passages[numbers[0]]
    is_code = is_code_name(first.file_name)
    starts = {number: start for number in numbers if (start := offset_of(passages[number])) is not None}
    for one, other in pairwise(sorted(starts, key=starts.__getitem__)):
        gap = starts[other] - starts[one] - len(passages[one].text)
        if 0 <= gap <= MOST_STRIPPED and (is_code or other - one == 1):
            yield Link(0, one, other, _filler(passages[one].text, passages[other].text, gap))
    others = [number for number in numbers if is_code and number not in starts]
    texts = [passages[number].text for number in others]
    goes_on = continues_in_next(texts, source_language(first.text, first.file_name))
    for (one, other), found in zip(pairwise(others), goes_on, strict=True):
        if found and other - one == 1 and (passages[one].text[-1:] == "\n" or passages[other].text[:1] == "\n"):
            yield Link(0, one, other)


def _filler(before: str, after: str, gap: int) -> str:
    """Return line breaks and an indentation of `gap` characters that fit the texts before and after."""
    if not gap:
        return ""
    tab = "\n\t" in before or "\n\t" in after
    likely = _indentation(after, 1 if tab else _INDENT)
    widths = [width for width in range(gap - 1, -1, -1) if tab or width % _INDENT == 0]
    width = min(widths, key=lambda width: abs(width - likely))
    return "\n" * (gap - width) + ("\t" if tab else " ") * width


def _indentation(text: str, step: int) -> int:
    """Return how far the first line of a chunk probably was indented before it was stripped: as far as the line right
    below, a step less if it opens a block, and a step more if that one closes one."""
    first, _, others = text.partition("\n")
    below = others.partition("\n")[0]
    if not below.strip():
        return MOST_STRIPPED
    width = len(below) - len(below.lstrip())
    return max(width + step * (below.lstrip().startswith(_CLOSING) - first.rstrip().endswith(_OPENING)), 0)
