"""Segments of logs, tracebacks, build output and diffs: a line each, with the lines that go on from it.

A frame of a stack needs the exception that it belongs to. A piece of a diff needs the header of its hunk and of its
file.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.plain_rows import begins_with_header
from ctxcompress.text.log_lines import Line, LineKind, has_signs, is_diff, is_output, is_printed, log_lines

__all__ = ["log_segments", "output_segments", "segments_among_logs"]

_LOG = Kind.LOG
_BLANK, _ENTRY, _FRAME, _EXCEPTION, _BUILD, _DEEPER, _OTHER = LineKind  # ten times as fast as attributes
_GOING_ON = frozenset((_BLANK, _DEEPER, _FRAME, _EXCEPTION))
_DIGITS = str.maketrans("123456789", "000000000")
_LONGEST_GUTTER, _MOST_READ, _NEARLY_ALL = 60, 20_000, 0.95
"""The most characters of a gutter, the characters of a text that show it, and the least share of lines that have it."""
_LONG = 1_500
"""The most characters of a message with the lines that go on from it. More lines are segments that need its first."""
_LONG_HUNK = 500
"""The most characters of a hunk that is one segment."""
_LONG_PIECE = 400
"""The most characters of changed lines that are one segment."""
_TRACEBACK = lazy_regex(r"[ \t|+]*Traceback \(most")
_INDENTED = lazy_regex(r"([ \t]+)Traceback \(most")
_LONGEST_MESSAGE = 3
"""The most lines of the message of an exception after its first line."""
_TEST_HEADER = lazy_regex(r"_{3,} [^\n]+ _{3,}|(?:FAIL|ERROR): \w+ \(")
"""The line above the report on a failed test, of pytest and of unittest."""
_RULE = lazy_regex(r"={10}|={3,} ")
_TEST_LINE = lazy_regex(r"[E>] {3}")
_ASSERTION = lazy_regex(r"> {3}")
_WHY = lazy_regex(r"E {3}| +[\^~]+\s")
_PANIC = lazy_regex(r"thread '[^\n]*:\r?\n")
"""The line of a panic in Rust whose message is on the next line."""
_PLACE = lazy_regex(r" {6,}at |\t/?[\w./@~+-]+\.\w+:\d")
"""The place of a frame in Rust and Go, on a line below its function."""
_FILE = lazy_regex(r"diff --git |diff -|--- [^\n]*\n\+\+\+ |Index: ")
_HUNK = lazy_regex(r"@@ -\d")


def log_segments(text: str) -> list[Segment]:
    """Return the segments of a log, a traceback, build output or a diff; none if `text` is something else."""
    if is_diff(text):
        return _Diff(text).segments
    return _Log(text).segments if has_signs(text) else []


def output_segments(text: str) -> list[Segment]:
    """Return the segments of what a program printed without any sign of a log, or none of another text."""
    return _Log(text).segments if is_output(text) and not begins_with_header(text) else []


def segments_among_logs(texts: Sequence[str], segmented: Sequence[Sequence[Segment]]) -> dict[int, list[Segment]]:
    """Return number of a text -> its lines as segments, for texts like output of which most others are logs."""
    others = [number for number, parts in enumerate(segmented) if parts[0].kind is not _LOG]
    are_few = 2 * len(others) < len(texts)
    return {number: _Log(texts[number]).segments for number in others if are_few and is_printed(texts[number])}


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
        self._test = -1
        """The header of the failed test that the next lines are about, or -1."""
        self._indentation = ""
        """White space before all lines of the part that the last traceback is in."""
        self._message = 0
        """How many of the next lines may belong to the message of an exception."""
        self._gutter = _gutter(text)
        self._line = self._above = ""
        """The line that is read, and the first line of the segment above it, without their gutters."""
        for line in log_lines(text):
            self._add(self._dedented(self._read(line)))

    def _read(self, line: Line) -> Line:
        """Return a line with the kind that it has after its gutter, if it goes on from the lines above."""
        self._line = self._text[line.start : line.end]
        if not self._gutter or self._line[: len(self._gutter)].translate(_DIGITS) != self._gutter:
            return line
        self._line = self._line[len(self._gutter) :]
        kind = next(log_lines(self._line), line).kind
        return line._replace(kind=kind) if kind in _GOING_ON else line

    def _dedented(self, line: Line) -> Line:
        """Return a line of an indented traceback, or below it, with the kind that it has without the indentation."""
        if line.kind is _DEEPER and (found := _INDENTED.match(self._line)):
            self._indentation = found[1]
        elif line.kind is not _BLANK and not self._line.startswith(self._indentation):
            self._indentation = ""
        if not self._indentation or line.kind is not _DEEPER:
            return line
        return line._replace(kind=next(log_lines(self._line[len(self._indentation) :])).kind)

    def _add(self, line: Line) -> None:
        if line.kind is _BLANK:
            self._add_blank(line)
            return
        if self._goes_on(line):
            self.segments[-1] = self.segments[-1]._replace(end=line.end)
            self._message -= 1
            return
        self._message = 0
        if line.kind is _FRAME:
            self._add_frame(line)
        elif self._frames and line.kind is not _DEEPER:
            self._close_traceback(line)
        else:
            self._append(line, self._header_of(line))
            self._note(line)
        self._last = line.kind

    def _add_blank(self, line: Line) -> None:
        """Add a blank line to the segment above it. What follows is another block."""
        if self.segments:
            self.segments[-1] = self.segments[-1]._replace(end=line.end)
        else:
            self._append(line, ())
        self._block += 1
        self._last = _BLANK
        self._message = 0

    def _goes_on(self, line: Line) -> bool:
        """Tell whether a line belongs to the segment above it."""
        if self._last is _BLANK or line.end - self.segments[-1].start > _LONG:
            return False
        if _ASSERTION.match(self._above):  # of pytest: what failed, and why
            return _WHY.match(self._line) is not None
        if line.kind is _FRAME:
            return _PLACE.match(self._line) is not None and not _PLACE.match(self._above)
        if line.kind is _DEEPER:
            return self._last not in (_DEEPER, _OTHER) and (self._last is not _BUILD or self._test < 0)
        is_message = line.kind is _OTHER and self._message > 0
        return is_message or (self._last is _EXCEPTION and _PANIC.match(self._above) is not None)

    def _add_frame(self, line: Line) -> None:
        if self._cause < 0:
            self._frames.append(len(self.segments))
        self._append(line, (self._cause,) if self._cause >= 0 else ())

    def _close_traceback(self, line: Line) -> None:
        """Add the line after the frames of a Python traceback, which is the exception. The frames need it."""
        number = len(self.segments)
        for frame in self._frames:
            self.segments[frame] = self.segments[frame]._replace(needs=(number,))
        self._frames, self._cause = [], number
        self._message = _LONGEST_MESSAGE if line.kind in (_EXCEPTION, _OTHER) else 0
        self._append(line, (self._test,) if self._test >= 0 else ())

    def _header_of(self, line: Line) -> tuple[int, ...]:
        """Return the header of the failed test that a line is about."""
        is_about_test = line.kind is _DEEPER or _TEST_LINE.match(self._line)
        return (self._test,) if self._test >= 0 and is_about_test else ()

    def _note(self, line: Line) -> None:
        """Remember what a line means for the lines below it."""
        number = len(self.segments) - 1
        if _TRACEBACK.match(self._line):
            self._cause = -1
        elif line.kind is not _DEEPER and not self._line.startswith("stack backtrace:"):
            self._cause = number
        if _TEST_HEADER.match(self._line):
            self._test = number
        elif line.kind is _ENTRY or _RULE.match(self._line):
            self._test = -1

    def _append(self, line: Line, needs: tuple[int, ...]) -> None:
        self._above = self._line
        self.segments.append(Segment(_LOG, line.start, line.end, self._block, (), needs))


def _gutter(text: str) -> str:
    """Return what nearly all lines begin with, such as a time stamp or the name of a service. Its digits are 0."""
    heads = [line[:_LONGEST_GUTTER].translate(_DIGITS) for line in text[:_MOST_READ].split("\n") if line]
    counts = Counter(head[: at + 1] for head in heads for at, character in enumerate(head) if character == " ")
    gutters = (head for head, times in counts.items() if "0" in head and times >= _NEARLY_ALL * len(heads))
    return max(gutters, key=len, default="") if len(heads) > 1 else ""


class _Diff:
    """A collector of the segments of one diff."""

    def __init__(self, text: str) -> None:
        self.segments: list[Segment] = []
        self._text = text
        self._block = 0
        self._file: tuple[int, ...] = ()
        """The header of the file that the next hunks are in."""
        starts = [0, *_starts(text), len(text)]
        for start, end in pairwise(dict.fromkeys(starts)):
            self._add(start, end)

    def _add(self, start: int, end: int) -> None:
        """Add a part of a diff: a hunk, the header of a file, or what comes before the first file."""
        self._block += 1
        if _HUNK.match(self._text, start):
            self._add_hunk(start, end)
        elif _FILE.match(self._text, start):
            self._append(start, end, ())
            self._file = (len(self.segments) - 1,)
        elif _is_in_hunk(self._text[start:end]):
            self._add_pieces(start, end, ())
        else:
            self._add_lines(start, end)

    def _add_hunk(self, start: int, end: int) -> None:
        head = self._text.find("\n", start, end) + 1
        if end - start <= _LONG_HUNK or not head:
            self._append(start, end, self._file)
            return
        self._append(start, head, self._file)
        self._add_pieces(head, end, (*self._file, len(self.segments) - 1))

    def _add_pieces(self, start: int, end: int, needs: tuple[int, ...]) -> None:
        """Add the changes of a hunk, and the lines between them that did not change."""
        piece, was_change = start, None
        for line in _lines(self._text, start, end):
            is_change = self._text[line] in "+-\\"
            if (was_change is not None and is_change != was_change) or line - piece > _LONG_PIECE:
                self._append(piece, line, needs)
                piece = line
            was_change = is_change
        self._append(piece, end, needs)

    def _add_lines(self, start: int, end: int) -> None:
        """Add the message of a commit, a line each."""
        for first, last in pairwise([*_lines(self._text, start, end), end]):
            if self._text[first:last].isspace() and self.segments:
                self.segments[-1] = self.segments[-1]._replace(end=last)
            else:
                self._append(first, last, ())

    def _append(self, start: int, end: int, needs: tuple[int, ...]) -> None:
        if start < end:
            self.segments.append(Segment(_LOG, start, end, self._block, (), needs))


def _starts(text: str) -> Iterator[int]:
    """Yield where the headers of files and the hunks of a diff begin."""
    within = header = False
    for line in _lines(text, 0, len(text)):
        if _HUNK.match(text, line):
            within, header = True, False
            yield line
        elif _FILE.match(text, line) and not header and (not within or _begins_file(text, line)):
            header, within = not text.startswith("---", line), False
            yield line


def _begins_file(text: str, line: int) -> bool:
    """Tell whether a line after a hunk begins a file: "--- x" may also be a line that was removed."""
    return text.startswith(("diff ", "Index: "), line) or _is_header(text, line)


def _is_header(text: str, line: int) -> bool:
    """Tell whether a hunk follows the two lines at `line`."""
    second = text.find("\n", line) + 1
    third = text.find("\n", second) + 1
    return bool(second and third) and _HUNK.match(text, third) is not None


def _is_in_hunk(part: str) -> bool:
    lines = part.split("\n")
    return sum(line[:1] in ("+", "-", " ", "") for line in lines) > 0.9 * len(lines) and any(
        line[:1] in ("+", "-") for line in lines
    )


def _lines(text: str, start: int, end: int) -> Iterator[int]:
    while start < end:
        yield start
        start = text.find("\n", start, end) + 1 or end
