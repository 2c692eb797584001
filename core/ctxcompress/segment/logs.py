"""Segments of logs, tracebacks, build output and diffs: a line each, with the lines that go on from it.

A frame of a stack needs the exception that it belongs to. A piece of a diff needs the header of its hunk and of its
file.
"""

import re
from itertools import pairwise

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.rows import begins_with_header
from ctxcompress.text.lines import EQUAL_DIGITS, split_lines
from ctxcompress.text.log_lines import Line, LineKind, has_signs, is_diff, is_output, line_kind, log_lines

__all__ = ["log_segments", "output_segments"]

_LOG = Kind.LOG
_BLANK, _ENTRY, _FRAME, _EXCEPTION, _BUILD, _DEEPER, _OTHER = LineKind  # ten times as fast as attributes
_GOING_ON = frozenset((_BLANK, _DEEPER, _FRAME, _EXCEPTION))
_LONGEST_GUTTER, _MOST_READ, _NEARLY_ALL = 60, 20_000, 0.95
"""The most characters of a gutter, the characters of a text that show it, and the least share of lines that have it."""
_LONG = 1_500
"""The most characters of a message with the lines that go on from it. More lines are segments that need its first."""
_LONG_HUNK, _LONG_PIECE = 500, 400
"""The most characters of a hunk, and of changed lines, that are one segment."""
_TRACEBACK = lazy_regex(r"[ \t|+]*Traceback \(most")
_MARK = lazy_regex(
    r"^(?:(?P<hunk>@@ -\d)|(?P<file>diff -|Index: )|(?P<names>(?:--- [^\n]*\n)?\+\+\+ [^\n]*\n(?=@@ -\d)))",
    re.MULTILINE,
)
"""The beginning of a hunk, of the header of a file, and of the two lines with its names."""


def log_segments(text: str) -> list[Segment]:
    """Return the segments of a log, a traceback, build output or a diff; none if `text` is something else."""
    if is_diff(text):
        return _diff_segments(text)
    return _Log(text).segments if has_signs(text) else []


def output_segments(text: str) -> list[Segment]:
    """Return the segments of what a program printed without any sign of a log, or none of another text."""
    return _Log(text).segments if is_output(text) and not begins_with_header(text) else []


class _Log:
    """A collector of the segments of one log."""

    def __init__(self, text: str) -> None:
        self.segments: list[Segment] = []
        self._text = text
        self._block = 0
        self._last = LineKind.BLANK
        self._cause = -1
        """The segment that the next frames need: the exception or the message above them; -1 if it follows them."""
        self._frames: list[int] = []
        """The frames of a Python traceback whose exception has not come yet."""
        self._gutter = _gutter(text)
        for line in log_lines(text):
            self._add(self._read(line))

    def _read(self, line: Line) -> Line:
        """Return a line with the kind that it has after its gutter, if it goes on from the lines above."""
        body = line.start + len(self._gutter)
        if (
            not self._gutter
            or self._text[line.start : body].translate(EQUAL_DIGITS) != self._gutter
            or body == line.end
        ):
            return line
        kind = line_kind(self._text[body : line.end])
        return line._replace(kind=kind) if kind in _GOING_ON else line

    def _add(self, line: Line) -> None:
        """Add a line to the segment above it, or as one. What follows a blank line is another block."""
        is_blank = line.kind is _BLANK
        if self.segments and (is_blank or self._goes_on(line)):
            self.segments[-1] = self.segments[-1]._replace(end=line.end)
        elif is_blank:
            self._append(line, ())
        else:
            self._add_segment(line)
            self._last = line.kind
        if is_blank:
            self._block += 1
            self._last = _BLANK

    def _goes_on(self, line: Line) -> bool:
        """Tell whether a line belongs to the segment above it."""
        if self._last is _BLANK or line.end - self.segments[-1].start > _LONG:
            return False
        return line.kind is _DEEPER and self._last not in (_DEEPER, _OTHER)

    def _add_segment(self, line: Line) -> None:
        if line.kind is _FRAME:
            self._frames += [len(self.segments)] * (self._cause < 0)
            self._append(line, (self._cause,) if self._cause >= 0 else ())
        elif self._frames and line.kind is not _DEEPER:
            self._close_traceback(line)
        else:
            if _TRACEBACK.match(self._text, line.start):
                self._cause = -1
            elif line.kind is not _DEEPER:
                self._cause = len(self.segments)
            self._append(line, ())

    def _close_traceback(self, line: Line) -> None:
        """Add the line after the frames of a Python traceback, which is the exception. The frames need it."""
        number = len(self.segments)
        for frame in self._frames:
            self.segments[frame] = self.segments[frame]._replace(needs=(number,))
        self._frames, self._cause = [], number
        self._append(line, ())

    def _append(self, line: Line, needs: tuple[int, ...]) -> None:
        self.segments.append(Segment(_LOG, line.start, line.end, self._block, (), needs))


def _gutter(text: str) -> str:
    """Return what nearly all lines begin with, such as a time stamp or the name of a service. Its digits are 0."""
    heads = [line[:_LONGEST_GUTTER].translate(EQUAL_DIGITS) for line in text[:_MOST_READ].split("\n") if line]
    few = heads[: 1 + int((1 - _NEARLY_ALL) * len(heads))]  # one of them has it
    begins = {head[: at + 1] for head in few for at, character in enumerate(head) if character == " "}
    least = max(_NEARLY_ALL * len(heads), 2)
    gutters = (each for each in begins if "0" in each and sum(head.startswith(each) for head in heads) >= least)
    return max(gutters, key=len, default="")


def _diff_segments(text: str) -> list[Segment]:
    """Return the segments of a diff: the header of each file, its hunks, and the pieces of long ones. The headers are
    headings, which are kept only with text under them."""
    marks = [(match.start(), match.lastgroup or "") for match in _MARK.finditer(text)]
    parts = [] if marks and marks[0][0] == 0 else [(0, "text")]
    for start, kind in marks:
        if not (kind == "names" and parts and parts[-1][1] == "file"):  # these lines end the header of a file
            parts.append((start, kind))
    segments: list[Segment] = []
    file: tuple[int, ...] = ()
    path: tuple[str, ...] = ()
    for block, ((start, kind), (end, _)) in enumerate(pairwise([*parts, (len(text), "")])):
        if kind in ("file", "names"):
            file, path = (len(segments),), (text[start:end].strip(),)
            is_heading = "+++ " in text[start:end]  # else the file is binary or renamed, which says all
            segments.append(Segment(Kind.HEADING if is_heading else _LOG, start, end, block, path))
            continue
        first, *others = pairwise(_cuts(text, start, end))
        head = (len(segments),) if others and kind == "hunk" else ()
        within = (*path, text[slice(*first)].strip()) if head else path
        segments.append(Segment(Kind.HEADING if head else _LOG, *first, block, within, file))
        segments += [Segment(_LOG, *cut, block, within, (*file, *head)) for cut in others]
    return segments


def _cuts(text: str, start: int, end: int) -> list[int]:
    """Return where to cut a part of a diff if it is long: below its first line, and between its changes. Each has the
    lines above it, and the last one those below it."""
    cuts, place, changed = [start], start, start
    for line in split_lines(text[start:end]) if end - start > _LONG_HUNK else ():
        begin, place = place, place + len(line)
        is_change = line[0] in "+-\\" and begin > start
        if changed > cuts[-1] and is_change and (begin > changed or place - cuts[-1] > _LONG_PIECE):
            cuts.append(changed)
        changed = place if is_change or begin == start else changed
    return [*cuts, end]
