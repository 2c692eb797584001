"""Paragraphs that stand in several passages."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.documents import Spans
from ctxcompress.passages import Span
from ctxcompress.spans import intersection

__all__ = ["has_paragraphs", "repeated_paragraphs"]

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
