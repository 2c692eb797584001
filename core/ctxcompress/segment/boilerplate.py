"""What pages put around their text, told from it: lines and sentences that are notices are segments of their own kind.

A word that may be a link ("About") counts only among others, a notice about cookies only where else there is little
about them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise
from operator import itemgetter

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.text.notices import Notice, has_notice, is_title_of_links, notice_of

__all__ = ["cuts_at_notices", "with_boilerplate"]

_PROSE = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE))
_START = itemgetter(1)
_EDGE = 4_000
"""Characters at both ends of a text in which notices are looked for."""
_MOST_WORDS = 14
"""Words of an item in a list of links."""
_ABOUT_COOKIES = 3
"""Times that a text mentions cookies elsewhere if it is about them."""


def cuts_at_notices(text: str, start: int, end: int) -> list[int]:
    """Where lines of a paragraph that are notices begin and end: ascending offsets, the last one `end`."""
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


def with_boilerplate(text: str, segments: list[Segment]) -> list[Segment]:
    """The segments, those of them as boilerplate that are notices at the beginning or the end of the text."""
    if len(text) <= 2 * _EDGE:
        return _marked(text, segments)
    head = bisect_left(segments, _EDGE, key=_START)
    tail = bisect_left(segments, len(text) - _EDGE, lo=head, key=_START)
    return [*_marked(text, segments[:head]), *segments[head:tail], *_marked(text, segments[tail:])]


def _marked(text: str, segments: list[Segment]) -> list[Segment]:
    texts = [text[segment[1] : segment[2]] for segment in segments]
    if not has_notice(texts):
        return segments
    found = [notice_of(of) if part[0] in _PROSE else None for part, of in zip(segments, texts, strict=True)]
    notices = _with_links(text, segments, found)
    if Notice.COOKIES in notices and _is_about_cookies(text, segments, notices):
        notices = [None if notice is Notice.COOKIES else notice for notice in notices]
    return [
        segment._replace(kind=Kind.BOILERPLATE) if is_marked else segment
        for segment, is_marked in zip(segments, _among_others(notices), strict=True)
    ]


def _is_about_cookies(text: str, segments: Sequence[Segment], notices: Sequence[Notice | None]) -> bool:
    said = [text[part.start : part.end] for part, notice in zip(segments, notices, strict=True) if notice]
    return text.lower().count("cookie") - "".join(said).lower().count("cookie") >= _ABOUT_COOKIES


def _with_links(text: str, segments: Sequence[Segment], found: Sequence[Notice | None]) -> list[Notice | None]:
    """What was found, with the items of lists that stand below a title of links."""
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
    """Whether each counts: words that may be links only in a row with what surely is a notice."""
    marked: list[bool] = []
    for is_notice, group in groupby(found, key=lambda notice: notice is not None):
        run = list(group)
        marked += [is_notice and any(notice is not Notice.WORD for notice in run)] * len(run)
    return marked
