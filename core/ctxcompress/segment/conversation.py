"""Finds the turns of conversations: transcripts, chat exports, role-tagged messages, comments of tickets.

A text is a conversation if its lines begin with speakers, and if the speakers and what they say look like it. A list of
keys and values, a log or a page of documentation is none.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.speakers import (
    Turn,
    are_recurring_names,
    has_title,
    is_handle,
    is_plain_name,
    is_prompt,
    is_role,
    is_said,
    is_speaker,
    speaker_name,
)

__all__ = ["LoneTurn", "begins_with_speaker", "lone_turn", "turns_of"]

LoneTurn = tuple[str, Turn]
"""The speaker and the turn of a text that may be a single turn."""


class _Head(NamedTuple):
    """The beginning of a turn."""

    start: int
    body: int
    end: int
    """The end of its first line with text."""
    speaker: str


_WEEKDAY = r"(?:Mon|Tue|Wednes|Thurs|Fri|Satur|Sun)day"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DATE = (
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}|{_WEEKDAY}|Today|Yesterday"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th|\.)?[ -])?{_MONTH}(?:[ -]\d{{1,2}}(?:st|nd|rd|th)?)?(?:,?[ -]\d{{2,4}})?)"
)
_CLOCK = (
    r"(?:\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?|\d{1,2}\.\d{2}(?=[ \u202f\u00a0]?[AaPp]))"
    r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\b\.?)?"
)
_STAMP = (
    rf"(?:{_DATE}(?:,?[ \u202fT]| at | um | a las )\s?+)?{_CLOCK}"
    rf"(?:,?(?: on)? {_DATE})?(?: ?(?:Uhr|UTC|Z|[+-]\d{{2}}:?\d{{2}}))?"
)
_INVISIBLE = r"[\u200e\u200f\u202a\ufeff]{0,2}"
"""What exports of WhatsApp begin lines with."""
_PLAIN = r"[^\n:：<>\[\]|]"
"""A character of a name."""
_COLON = r"[:：](?:[ \t\u00a0]++|(?=\n|\Z)|(?<=：))"
_LINE_END = r"[ \t]*+(?=\n|\Z)"
_STAMPED_TURN = lazy_regex(
    rf"\n(?=[\d\[(\u200e\u200f\u202a\ufeff]){_INVISIBLE}(?:\[{_STAMP}\]|\({_STAMP}\)|{_STAMP})"
    rf"(?:[ \u202f]?[-–—|]|\t| ){{1,2}}+[ \t]*+{_INVISIBLE}"
    rf"(?:<[@+%~&]?(?P<nick>[^\s<>:/]{{1,32}})>[ ]?"
    rf"|(?:From )?(?P<name>{_PLAIN}{{1,90}}?)(?: to {_PLAIN}{{1,60}})? ?{_COLON})?"
)
"""A time stamp, and a name in angle brackets or before a colon: exports of WhatsApp, IRC and Zoom."""
_IRC_TURN = lazy_regex(r"\n<[@+%~& ]?(?P<nick>[^\s<>:/]{1,32})>[ \t]")
_TIMED_LINE = lazy_regex(r"\n(?=[^ \t])[^\n:]{0,90}+:\d\d[^\n]{0,70}+(?=\n|\Z)")
"""A short line with a time stamp: only these are searched for a name, because that takes longer."""
_HEADLINE = lazy_regex(
    rf"\n{_INVISIBLE}(?:\*\*)?(?P<name>{_PLAIN}{{1,60}}?)(?:\*\*)?"
    rf"(?:[ \t]*[—–|,-]|[ \t]*[\[(]|[ \t]+(?:APP[ \t]+)?)[ \t]*[_(\[]?{_STAMP}[_)\]]{{0,2}}[ \t]*"
    rf"(?:\(edited\))?{_LINE_END}"
    rf"|\n{_INVISIBLE}[\[(]{_STAMP}[\])][ \t]+(?P<after>{_PLAIN}{{1,60}})(?=\n|\Z)"
)
"""A name and a time stamp on a line of their own: Slack, Discord, Teams."""
_COMMENT = lazy_regex(
    rf"\n[ \t]*+(?:[*_#]{{1,4}} ?)?(?:"
    rf"(?P<name>{_PLAIN}{{1,60}}?)[*_]{{0,2}}(?: <[^>\n]{{1,80}}>)? (?:commented|replied|wrote|added a comment)"
    rf"(?: [^\n]{{0,60}})?:?"
    rf"|Comment(?: #?\d+)? (?:by|from) (?P<by>[^\n<\[(|,]{{1,60}}?)"
    rf"(?:[ \t]*[\[<(|,][^\n]{{0,80}}| (?:on|at) [^\n]{{0,60}})?"
    rf"|-{{2,}} Comment #\d+ from (?P<bugzilla>[^\n<]{{1,60}}?)(?: <[^\n>]{{0,80}}>)?[ \d:-]*(?:[A-Z]{{3,4}})? -{{2,}}"
    rf")[*_]{{0,2}}{_LINE_END}"
)
"""The line above a comment of a ticket."""
_COMMENT_SIGNS = (" commented", " replied", " wrote", " added a comment", "Comment ")
_COMMENT_SIGN = lazy_regex("|".join(_COMMENT_SIGNS))
_ROLE_TURN = lazy_regex(
    rf"\n[ \t]*+(?:#{{1,6}} +(?:\*\*)?(?P<heading>\w{{1,20}})(?:\*\*)?[ \t]*:?{_LINE_END}"
    r"|<\|(?:im_start\|>|start_header_id\|>)?[ ]?(?P<token>\w{1,20})(?:\|>|<\|end_header_id\|>)?[ \t]*"
    r"|\[(?P<bracket>[A-Za-z]{2,20})\]:?[ \t]*|<(?P<tag>[a-z]{2,20})>[ \t]*)"
)
"""A role of a prompt as a heading, in the special tokens of a model or in brackets."""
_SPOKEN_TURN = lazy_regex(
    rf"\n[ \t]*+(?P<name>[^\s:：|<>{{}}=\[(-][^\n:：|<>{{}}=\[(]{{0,120}}+"
    rf"(?:\((?!\d{{1,2}}:\d)[^\n:：|<>{{}}=\[(]{{0,90}}+){{0,3}}+)"
    rf"(?:[\[(]{_STAMP}[\])] ?)?"
    r"[:：](?:\*\*|__)?(?:[ \t\u00a0]++|(?=\n|\Z)|(?<=：))"
)
_CUE = lazy_regex(
    r"\n(?:\d{1,6}[ \t]*\n)?(?:\d{1,2}:)?\d{2}:\d{2}[.,]\d{3}[ \t]+-->[ \t]+[\d:.,]{9,12}[^\n]{0,80}(?:\n|\Z)"
    r"(?P<who><v(?:\.[\w.]+)? [^>\n]{1,60}>|-?[ \t]*[A-Z][A-Z .]{1,30}: )?"
)
"""The number and the times of a subtitle, and who speaks."""
_LONG_CUES = 300
"""The most characters of subtitles that share a turn."""
_CUE_ENDS = (".", "?", "!", "</v>", "\u3002", "]", ")")
_TITLE = lazy_regex(
    r"\n[ \t]*+(?:(?P<marks>#{1,6}) [^\n]++|[-=—–*_]{2,} ?[^\n]{2,60}? ?[-=—–*_]{2,}"
    r"|(?:Session|Conversation|Meeting|Chat|Call|Day|Scene|Part|Act|Episode) #?\d{1,4}(?!\w)[^\n]{0,80}"
    rf"|(?:{_WEEKDAY},? )?{_DATE}(?:,? (?:\d{{4}}|{_CLOCK}))?){_LINE_END}"
)
"""The title of a session, a heading, or a date on a line of its own."""
_SAMPLE = 5_000
"""Characters: a longer text is only read further if its beginning is a conversation."""
_CLOSING_TAG = "</"
_MOST_LINES = 40
"""The most lines for each turn, on average, of a conversation with time stamps."""
_LONGEST_LABEL = 200
_FEW = 4
"""With fewer turns, speakers need not occur twice."""
_DISTINCT = 0.75
"""The greatest share of distinct speakers among the turns if speakers repeat."""
_SAID_BY_SOME = 0.2
"""The least share of turns with signs of speech if speakers repeat."""
_SAID_BY_MOST = 0.5
"""The same if they do not."""
_MOST_SPOKEN = 6
"""The most lines with text for each turn, on average, of a conversation without time stamps."""
_SESSION = 7
"""The level of a session's title, below all Markdown headings."""


def turns_of(text: str) -> list[Turn]:
    """Return the turns of a conversation. They follow each other up to the end of the text. Return none if the text is
    no conversation; text before the first turn belongs to none."""
    if not _may_be(text) or (len(text) > _SAMPLE and not _turns_of(text[:_SAMPLE])):
        return []
    return _turns_of(text)


def _turns_of(text: str) -> list[Turn]:
    lines = "\n" + text
    if cues := _cues(lines):
        return cues
    heads = max((find(lines) for find in _FORMATS), key=len) or _spoken(lines)
    is_example = heads and lines.count("```", 0, heads[0].start) % 2
    return _turns(lines, heads) if heads and not is_example else []


def lone_turn(text: str) -> LoneTurn | None:
    """Return the speaker and the turn if a text of one paragraph may be a turn, as far as it alone can tell."""
    if ":" not in text and "\uff1a" not in text:  # as in most passages
        return None
    start = text[:_LONGEST_LABEL].partition("\n")[0]
    if (":" not in start and "\uff1a" not in start) or "\n\n" in text.rstrip():
        return None
    lines = "\n" + text
    match = _STAMPED_TURN.match(lines)
    name = match and (match["nick"] or match["name"])
    if match is None or not name:
        match = _SPOKEN_TURN.match(lines)
        name = match and match["name"]
    if match is None or not name:
        return None
    if not is_handle(name) and not ("\n" not in text.strip() and is_plain_name(name)):
        return None
    return speaker_name(name), Turn(0, _head(match, name).body, len(text))


def begins_with_speaker(text: str) -> bool:
    """Tell whether a name and a colon begin `text`. A text of one line that begins with a letter is no conversation
    without them."""
    match = _SPOKEN_TURN.match("\n" + text)
    return match is not None and is_speaker(match["name"])


def _may_be(text: str) -> bool:
    """Tell cheaply whether a text may be a conversation."""
    if ":" in text or "\uff1a" in text or "<" in text or "#" in text:
        return True
    return " commented" in text or " replied" in text or " wrote" in text or "Comment " in text


def _cues(lines: str) -> list[Turn]:
    """Return the turns of subtitles. Cues share a turn up to the end of a sentence, if it stays short."""
    if "-->" not in lines:
        return []
    found = list(_CUE.finditer(lines))
    ends = [match.start() for match in found[1:]] + [len(lines) - 1] * bool(found)
    turns: list[Turn] = []
    for match, end in zip(found, ends, strict=True):
        start, body = match.start(), match.end() - 1
        last = turns[-1] if turns else None
        is_new = last is None or match["who"] or end - last.start > _LONG_CUES
        if last is None or is_new or lines[last.body : start + 1].rstrip().endswith(_CUE_ENDS):
            turns.append(Turn(start, body, end))
        else:
            turns[-1] = last._replace(end=end)
    return turns


def _stamped(lines: str) -> list[_Head]:
    heads = [_head(match, match["nick"] or match["name"] or "") for match in _STAMPED_TURN.finditer(lines)]
    named = [head for head in heads if head.speaker]
    good = [head for head in named if is_handle(head.speaker)]
    return heads if len(good) > 0.8 * len(named) and 2 * len(named) > len(heads) and _are_enough(lines, heads) else []


def _irc(lines: str) -> list[_Head]:
    if _CLOSING_TAG in lines or "\n<" not in lines:
        return []
    heads = [_head(match, match["nick"]) for match in _IRC_TURN.finditer(lines)]
    return heads if _are_enough(lines, heads) and 2 * len(heads) > lines.count("\n") else []


def _headlines(lines: str) -> list[_Head]:
    if "\n" not in lines[1:]:
        return []
    timed = (match.start() for match in _TIMED_LINE.finditer(lines))
    matches = filter(None, (_HEADLINE.match(lines, start) for start in timed))
    heads = [_head(match, name) for match in matches if is_handle(name := match[match.lastgroup or 0])]
    return heads if _are_enough(lines, heads) else []


def _comments(lines: str) -> list[_Head]:
    if not any(sign in lines for sign in _COMMENT_SIGNS):
        return []
    places = (match.start() for match in _COMMENT_SIGN.finditer(lines))
    starts = dict.fromkeys(lines.rfind("\n", max(0, place - _LONGEST_LABEL), place) for place in places)
    matches = filter(None, (_COMMENT.match(lines, start) for start in starts if start >= 0))
    heads = [
        _head(match, name) for match in matches if is_handle(name := match["name"] or match["by"] or match["bugzilla"])
    ]
    return heads if _are_enough(lines, heads) else []


def _roles(lines: str) -> list[_Head]:
    heads = [_head(match, match[match.lastgroup or 0]) for match in _ROLE_TURN.finditer(lines)]
    heads = [head for head in heads if is_role(head.speaker)]
    return heads if len({head.speaker.casefold() for head in heads}) > 1 and _are_enough(lines, heads) else []


_FORMATS: Sequence[Callable[[str], list[_Head]]] = (_stamped, _irc, _headlines, _comments, _roles)


def _head(match: re.Match[str], speaker: str) -> _Head:
    """Return the head that a pattern found. The line end after a speaker who stands alone belongs to it."""
    lines, end = match.string, match.end()
    body = end - 1 + lines.startswith("\n", end)
    line_end = lines.find("\n", body + 1)
    return _Head(match.start(), body, line_end if line_end >= 0 else len(lines), speaker.strip(" *_\t\u200e"))


def _are_enough(lines: str, heads: Sequence[_Head]) -> bool:
    """Tell whether there are two turns or more, most of which have a text, and not too few for the text."""
    if len(heads) == 1 and heads[0].start == 0 and lines.count("\n", 0, -1) == 1:
        return is_said(lines[heads[0].body + 1 :])
    if len(heads) < 2 or lines.count("\n") > _MOST_LINES * len(heads):
        return False
    return 2 * sum(bool(body) for body in _bodies(lines, heads)) >= len(heads)


def _bodies(lines: str, heads: Sequence[_Head]) -> list[str]:
    ends = [*(head.start for head in heads[1:]), len(lines)]
    return [lines[head.body + 1 : end].strip() for head, end in zip(heads, ends, strict=True)]


def _spoken(lines: str) -> list[_Head]:
    """Return the turns of a text with names before colons, if it is a conversation."""
    found = list(_SPOKEN_TURN.finditer(lines))
    heads = [_head(match, match["name"]) for match in found if is_speaker(match["name"])]
    filled = sum(not line.isspace() for line in lines.split("\n") if line) if found else 0
    if len(heads) < len(found) and are_recurring_names([match["name"] for match in found], lines, filled):
        return [_head(match, match["name"]) for match in found]
    if not heads:
        return []
    bodies = [body for body in _bodies(lines, heads) if body]
    if is_prompt(head.speaker for head in heads):
        return heads
    if not bodies or 2 * len(bodies) < len(heads) or filled > _MOST_SPOKEN * len(heads):
        return []
    names = {speaker_name(head.speaker) for head in heads}
    said = sum(is_said(lines[head.body + 1 : head.end]) or has_title(head.speaker) for head in heads)
    is_repeated = len(heads) >= _FEW and len(names) <= _DISTINCT * len(heads)
    if is_repeated:
        return heads if said >= _SAID_BY_SOME * len(bodies) else []
    return heads if said >= _SAID_BY_MOST * len(bodies) and filled <= 2 * len(heads) else []


def _turns(lines: str, heads: Sequence[_Head]) -> list[Turn]:
    """Return the turns that begin at the heads, with the titles right above the first one and between them."""
    titles = {match.start(): match for match in _TITLE.finditer(lines)}
    begin = heads[0].start
    for start in sorted((start for start in titles if start < begin), reverse=True):
        begin = start if not lines[titles[start].end() : begin].strip() else begin
    starts: dict[int, _Head | None] = {start: None for start in titles if start >= begin}
    starts |= {head.start: head for head in heads}
    ends = [*sorted(starts)[1:], len(lines) - 1]
    path: list[tuple[int, str]] = []
    above: tuple[str, ...] = ()
    found: list[Turn] = []
    for start, end in zip(sorted(starts), ends, strict=True):
        head = starts[start]
        if head is None:
            match = titles[start]
            level = len(match["marks"] or "") or _SESSION
            path = [*(each for each in path if each[0] < level), (level, match.group().strip(" \n\t#*_-=—–"))]
            above = tuple(title for _, title in path)
            close = _after_space(lines, match.end(), end + 1) - 1
            found.append(Turn(start, start, close, above, is_title=True))
            if close < end:
                found.append(Turn(close, close, end, above))
        else:
            found.append(Turn(start, head.body, end, above))
    return found


def _after_space(lines: str, start: int, end: int) -> int:
    """Return where the white space from `start` on ends, at a line start."""
    stripped = lines[start:end].lstrip()
    begin = end - len(stripped)
    return lines.rfind("\n", start, begin) + 1 if stripped else end
