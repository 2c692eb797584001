"""Chunks that overlap as one text, in which what they share stands once."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ctxcompress.code.detection import continues_in_next, is_code_name, source_language
from ctxcompress.data.documents import Document, Piece, Spans, documents_as_they_are
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.spans import intersection, inverse
from ctxcompress.reduce.filters import document_key
from ctxcompress.reduce.overlaps import SENTENCE_STOPS, Link

__all__ = ["has_paragraphs", "repeated_paragraphs", "stitched", "with_continuations"]

_SHORTEST = 100
"""Bytes: what is shorter ("Deprecated since version 3.") is about what stands around it."""
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n)++")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_INDENTED = (" ", "\t")
_NO_TEXT = ("", "#", *_INDENTED)


def has_paragraphs(text: str) -> bool:
    """Whether a text is more than one paragraph."""
    return _BLANK_LINES.search(text) is not None


def repeated_paragraphs(texts: Sequence[str], kept: Sequence[Sequence[Span]], order: Sequence[int]) -> Spans:
    """Number of a text -> spans of its paragraphs that a text before it in `order` has as well.

    Only paragraphs within the spans that are `kept` count, that are long enough to be understood without what stands
    around them, and neither indented nor in a fence nor headings. White space after a paragraph belongs to it.
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
            inside = Span(span.start, span.start + len(paragraph))
            if intersection([inside], kept[number]) == (inside,) and owner.setdefault(folded, number) != number:
                again.append(span)
        if again:
            found[number] = intersection(again, kept[number])
    return found


def _paragraphs(text: str) -> Iterator[Span]:
    """Those that can be left out: nothing indented belongs to them."""
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
    goes_on = continues_in_next(texts, source_language(first.text, first.file_path or first.title))
    for (one, other), found in zip(pairwise(others), goes_on, strict=True):
        if found and other - one == 1 and (passages[one].text[-1:] == "\n" or passages[other].text[:1] == "\n"):
            yield Link(0, one, other)


def _meet(one: Passage, other: Passage) -> bool:
    """Whether chunks of which only the title is the same may be of one file."""
    return all(continues_in_next([one.text, other.text], source_language(one.text, one.title)))


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
