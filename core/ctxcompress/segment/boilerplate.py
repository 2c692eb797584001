"""Detection of boilerplate: lines and sentences that are notices become segments of their own kind.

A word that may be a link ("About") counts only next to other notices. A notice about cookies counts only if the text is
not about cookies itself.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise
from operator import itemgetter

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.text.notices import Notice, has_notice, is_title_of_links, notice_of

__all__ = ["mark_boilerplate", "mark_each", "notice_cuts"]

_PROSE = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE))
_START = itemgetter(1)
_EDGE = 4_000
"""Number of characters at each end of a text in which notices are searched."""
_MOST_WORDS = 14
"""The most words of an item in a list of links."""
_ABOUT_COOKIES = 3
"""A text is about cookies if it mentions them this often outside of notices."""


def notice_cuts(text: str, start: int, end: int) -> list[int]:
    """Return where the lines of a paragraph that are notices begin and end: ascending offsets, the last one `end`."""
    if text.find("\n", start, end - 2) < 0 or _EDGE <= start <= len(text) - _EDGE:
        return [end]
    lines = text[start:end].rstrip().split("\n")
    if not has_notice(lines):
        return [end]
    bounds = [*accumulate((len(line) + 1 for line in lines[:-1]), initial=start), end]
    cuts: set[int] = set()
    for (begin, until), is_marked in zip(pairwise(bounds), _among_others(list(map(notice_of, lines))), strict=True):
        goes_on = text[until : until + 1].islower() or (text[begin].islower() and begin not in {start} | cuts)
        if is_marked and not goes_on:
            cuts |= {begin, until}
    return sorted((cuts | {end}) - {start})


def mark_each(texts: Sequence[str], segmented: list[list[Segment]]) -> list[list[Segment]]:
    """Return `mark_boilerplate` of each text. The segments of all texts are looked at together."""
    pairs = list(zip(texts, segmented, strict=True))
    if not has_notice([text[part[1] : part[2]] for text, segments in pairs for part in segments]):
        return segmented
    return [mark_boilerplate(text, segments) for text, segments in pairs]


def mark_boilerplate(text: str, segments: list[Segment]) -> list[Segment]:
    """Return the segments, with notices at the beginning and the end of the text marked as boilerplate."""
    if len(text) <= 2 * _EDGE:
        return _marked(text, segments)
    head = bisect_left(segments, _EDGE, key=_START)
    tail = bisect_left(segments, len(text) - _EDGE, lo=head, key=_START)
    return [*_marked(text, segments[:head]), *segments[head:tail], *_marked(text, segments[tail:])]


def _marked(text: str, segments: list[Segment]) -> list[Segment]:
    texts = [text[segment[1] : segment[2]] for segment in segments]
    if not has_notice(texts):
        return segments
    found = [notice_of(each) if part[0] in _PROSE else None for part, each in zip(segments, texts, strict=True)]
    notices = _with_links(text, segments, found)
    if Notice.COOKIES in notices and _is_about_cookies(text, segments, notices):
        notices = [None if notice is Notice.COOKIES else notice for notice in notices]
    return [
        segment._replace(kind=Kind.BOILERPLATE) if is_marked else segment
        for segment, is_marked in zip(segments, _among_others(notices), strict=True)
    ]


def _is_about_cookies(text: str, segments: Sequence[Segment], notices: Sequence[Notice | None]) -> bool:
    in_notices = [text[part.start : part.end] for part, notice in zip(segments, notices, strict=True) if notice]
    return text.lower().count("cookie") - "".join(in_notices).lower().count("cookie") >= _ABOUT_COOKIES


def _with_links(text: str, segments: Sequence[Segment], found: Sequence[Notice | None]) -> list[Notice | None]:
    """Return `found` with the list items below a title of links added as links."""
    marked: list[Notice | None] = []
    below = False
    for (kind, start, end, _, heading, *_rest), notice in zip(segments, found, strict=True):
        if kind is Kind.HEADING:
            below = bool(heading) and is_title_of_links(heading[-1])
        elif kind is not Kind.LIST_ITEM:
            below = notice is Notice.LINKS and is_title_of_links(text[start:end])
        is_link = below and kind is Kind.LIST_ITEM and _is_title(text[start:end])
        marked.append((notice or (Notice.LINKS if is_link else None)) if kind in _PROSE else None)
    return marked


def _is_title(item: str) -> bool:
    bare = item.strip()
    return len(bare.split()) <= _MOST_WORDS and bare[-1] not in ".!:;" and "\n" not in bare


def _among_others(found: Sequence[Notice | None]) -> list[bool]:
    """Return whether each notice counts. Words that may be links count only in a row with a definite notice."""
    marked: list[bool] = []
    for is_notice, group in groupby(found, key=lambda notice: notice is not None):
        run = list(group)
        marked += [is_notice and any(notice is not Notice.WORD for notice in run)] * len(run)
    return marked
