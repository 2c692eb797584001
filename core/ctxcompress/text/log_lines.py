"""Lines of logs, tracebacks, build output and diffs: how they look, and which texts consist of them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import IntEnum
from itertools import islice, pairwise
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Line", "LineKind", "has_signs", "is_diff", "is_log", "is_output", "line_kind", "line_shape", "log_lines"]

_SAMPLE = 5_000
"""Characters that are read to tell what a text is."""
_CLOCK = r"(?=[\t -/:-~]{0,64}+[^\t -/:-~\n])[^\n\"'(=]{0,64}?(?:\d\d:\d\d:\d\d|\d\d\.\d\d\.\d\d\.\d{6}|\b1\d{9}\b)"
_LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL|CRITICAL|PANIC"
_ENTRY = rf"""
      (?!\|) (?: (?={_CLOCK}) (?![^\n]{{0,40}}-->) | \[[ ]*\d+\.\d{{3,9}}\][ ] | \d{{6}}[ ]\d{{6}}[ ] )
    | (?=(?:[^\n"'(=A-Z]++|[A-Z](?![A-Z]{{3}}))*+[A-Z])
      [^\n"'(=]{{0,60}}? \b(?:{_LEVELS})(?:[]:|>)}}]|[ ]{{2}}|[ ]-|[ ]\[)
    | (?=[^\n(=]{{0,66}}+=) [^\n(]{{0,60}}?\blevel=\w
    | (?:{_LEVELS})[ \t]+[^\s=]
    | [\w.-]+[-_]\d+[ ]+\|[ ]
"""
"""A time stamp or a level near the beginning of a line. The digit, the capital letters or the sign of each of them are
looked for first: most lines have none."""
_FRAME = r"""
      [ \t|+]*+File[ ]"[^"\n]+",[ ]line[ ]\d
    | [ \t]++at[ ](?:async[ ]|new[ ])?(?:[\w$.<>/\[\]@`,-]+[ ]?){1,4}(?:\[as[ ]\w+\][ ])?\(?[^\n]{0,200}[:)\d]
    | [ \t]*+\.\.\.[ ]\d+[ ](?:more|common[ ]frames)
    | \t/?[\w./@~+-]+\.\w+:\d+(?:[ ]\+0x[0-9a-f]+)?[ \t\r]*$
    | [ ]++\d{1,3}:[ ]+(?=[^\n]{0,200}?::)\S
    | [ \t]*+(?:from[ ])?[\w./~+-]++:\d+:in[ ][`']
    | \#\d+[ ]+(?:0x[0-9a-f]+|[/\w.-]+\(\d+\)|\{main\}|[\w:]+[ ]\()
"""
_EXCEPTION = r"""
      Traceback[ ]\(most | Exception[ ]in[ ]thread | Caused[ ]by: | panic:[ ]
    | thread[ ]'[^'\n]*'[ ](?:\(\d+\)[ ])?panicked
    | goroutine[ ]\d+[ ]\[ | stack[ ]backtrace: | (?:Uncaught|Unhandled)[ ]
    | (?:During[ ]handling|The[ ]above[ ]exception)
    | (?:[A-Za-z_][\w$]*[./:])*+[A-Za-z_][\w$]{0,60}(?<=Error|ption|rrupt|Fault)(?:[ ]\[\w+\])?(?::[ ]|[ \t\r]*$)
"""
_BUILD = r"""
      (?:[A-Za-z]:)?[^\s:(]+[.\w](?::\d+(?::\d+)?:|\(\d+(?:,\d+)?\):)[ ](?=\S)       # of a compiler: main.c:3:5: error
    | (?:error|warning|fatal|note|help)(?:\[\w+\])?:[ ]
    | CMake[ ](?:Error|Warning) | --[ ][A-Z]\w+
    | [ ]*[A-Z][a-z]{2,12}ing(?:[ ]\S+){1,4}(?<![.,;:!?])[ \t\r]*$                            # Collecting numpy
    | ={3,}[ ][^\n]+[ ]={3,} | _{3,}[ ][^\n]+[ ]_{3,} | -{5,}[ ]Captured               # of pytest
    | (?:PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR|FAIL|PASS|ok)[: \t]+\S*[\w/][./:(]
    | [\w./-]+\.\w+[ ][.FEsx]+[ ]*(?:\[[ ]*\d+%\])? | \S+::\S+[ ](?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)
    | E[ ]{3}+\S | >[ ]{3}+\S
"""
_DEEPER = r"[ \t]+[^\s] | -->[ ]\S | (?:\d+[ ]+)?\|(?:[ ]|[\r]?$)"
"""An indented line, or a line of the source that a compiler shows."""
_LINE = lazy_regex(
    rf"^(?:(?P<frame>{_FRAME})|(?P<exception>{_EXCEPTION})|(?P<entry>{_ENTRY})|(?P<build>{_BUILD})"
    rf"|(?P<deeper>{_DEEPER})|(?P<other>[^\s]))?+",
    re.VERBOSE,
)
_VARIABLE = lazy_regex(
    r"""((?<!\S)(?:[^\s\d"'\\/]++(?:\s++|\Z))++)"""
    r"""|0[xX][0-9a-fA-F]+|"[^"\n]{0,200}"|'[^'\n]{0,200}'|(?:[A-Za-z]:)?[\\/][^\s,;]+|[^\s\d]*+\d\S*"""
)
"""Numbers and words with digits, addresses, paths, quoted strings; and as a group the words that have none of these, in
which they would be looked for at every letter."""
_VARIED = lazy_regex(r"[\d\"'\\/#]")
"""A sign that each of these has, but for the words of the group."""
_NO_OUTPUT = lazy_regex(
    r"""[|'"]|.*+(?<=[;{},\u3002])|.*+(?<=[^.]:)|(?:[-*+\u2022]|\#{1,6}|\d+[.)])[ ]|//|[\w.-]++=
    |(?:[^ $]++|[ ](?!=[ ])|\$(?![\w{]))*+[ $]|(?:[^,]*+,(?![ ])){3}|[\d\s.,:%/+-]*+$|(?=.*+(?<=\d)).*(?:\.[ ]?){5,}\d+$
    |(?=.*+(?<=[^.][.!?])).*?(?:[^\W\d_]++[ ]){3}|(?:[^\W\d_]*+[\W\d_])*?(?:[^\W\d_]++[ ]){6}""",
    re.VERBOSE,
)
"""A line of Markdown, data, source code, a configuration or a table of contents, numbers alone, or a sentence."""
_LABEL = lazy_regex(r"[^\W\d][\w ]{0,30}+:[ ]")
_FEWEST_DISTINCT, _OFTEN, _REPEATED = 6, 3, 0.55
"""The fewest different lines that show what a text is, how many of them make a shape that programs write, and the least
share of the lines that have such shapes."""
_MARKDOWN = ("\n```", "\n|---", "\n| ---", "\n|:--", "\n| :--")
"""A fence and the line below the header of a table, which logs do not have."""
_HUNK = lazy_regex(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_IN_DIFF = lazy_regex(
    r"[-+ @\\]|\r?\n|diff |index |new file|deleted |old mode|new mode|similarity |rename |copy |Binary "
    r"|commit |Author|Date|From|Subject"
)
_BLANK = 6
"""The fewest lines for each blank one: with fewer, lines are of paragraphs or records."""
_READ_OF_LINE = 400
"""Characters of a line that tell what it is."""
_LONG_LINE = 200
"""Characters of a line that are read to tell whether its shape is repeated."""
_TERMINAL = "\x1b["
"""What begins a colour of a terminal, which nobody writes by hand."""
_HEAD, _FIRST, _FEWEST = 500, 8, 3
"""Characters and lines that are looked at first, one of which is of a log; lines of one, unless it is sure."""
_SURE = lazy_regex(
    rf"""
      (?![^\n]{{0,60}}-->) (?:
        [^\n]{{0,90}}?(?:\d\d:\d\d:\d\d
          (?:[.,]\d{{3}}|[^\n]{{0,60}}?(?:\b(?:{_LEVELS}|Info|Warn|Error)\b|\[\w+\]|\w\[\d+\]:|HTTP/))|level=\w)
      | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]+\d+[ ]\d\d:\d\d:\d\d[ ]\S+[ ]
      | \[(?:{_LEVELS})\] | \[[ ]*\d+\.\d{{6}}\] | [^\n]{{0,40}}?\b1\d{{9}}[ ] | \d{{6}}[ ]\d{{6}}[ ]
      )
    """,
    re.VERBOSE,
)
"""A line that is of a log even if it is alone."""
_SPOKEN = lazy_regex(
    r"\b(?:I|I'm|I'll|[Yy]ou|[Yy]our|[Ww]e|me|[Mm]y|[Hh]e|[Ss]he|lol|thanks|haha)\b(?![-,\]])"
    r"|^\W*[\d:., TZAPMapm/-]{5,26}\W*(?:<[\w .-]{1,30}>|[A-Z][\w'-]{1,20}+(?: [A-Z][\w'-]{1,20}+){0,2}+(?:#\d{4})?:) "
)
"""A line that speaks of persons, or has a person's name after its time."""
_MOST_SPOKEN = 0.2
"""The share of the lines that speak of persons from which lines with times are a conversation."""
_LEAST, _LEAST_SIGNS = 0.45, 0.12
"""The share of the lines that are of a log, with and without the indented lines below these."""


class LineKind(IntEnum):
    """What a line of a log is."""

    BLANK = 0
    ENTRY = 1
    """A line with a time stamp or a level."""
    FRAME = 2
    """A line of a stack."""
    EXCEPTION = 3
    """A line that names an exception, or begins a traceback."""
    BUILD = 4
    """A line that compilers, installers and test runners write."""
    DEEPER = 5
    """An indented line that is none of these."""
    OTHER = 6


_KINDS = {str(kind.name).lower(): kind for kind in LineKind}
_SURE_KINDS = frozenset((LineKind.ENTRY, LineKind.FRAME, LineKind.EXCEPTION, LineKind.BUILD))


class Line(NamedTuple):
    """One line of a text."""

    kind: LineKind
    start: int
    end: int
    """After its line end."""


def log_lines(text: str, end: int | None = None) -> Iterator[Line]:
    """Yield the lines of `text`, up to `end`, with what each of them is."""
    start, end = 0, len(text) if end is None else end
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield Line(line_kind(text[start : min(stop, start + _READ_OF_LINE)]), start, stop)
        start = stop


def line_kind(line: str) -> LineKind:
    """Return what a line is."""
    found = _LINE.match(line[:_READ_OF_LINE])
    return _KINDS[(found and found.lastgroup) or "blank"]


def is_log(text: str) -> bool:
    """Return whether `text` is a log, a traceback, or what a program printed. Only parts of a long text are read."""
    return has_signs(text) or is_output(text)


def line_shape(line: str, longest: int) -> list[str]:
    """Return the words at the beginning of a line, without what differs from one time to the next."""
    return _VARIABLE.sub(lambda found: found[1] or "#", line.strip()[:longest]).split()


def is_output(text: str) -> bool:
    """Tell whether half of the different lines have a shape that others have with other numbers and names."""
    ends, blank = text.count("\n", 0, _SAMPLE), text.count("\n\n", 0, _SAMPLE)
    if ends < max(_FEWEST_DISTINCT - 1, _BLANK * blank) or not _may_be_output(text):
        return False
    lines, printed = _printed(text)
    if len(printed) < max(_FEWEST_DISTINCT, _REPEATED * lines) or _are_fields(printed):
        return False
    shapes = [line_shape(line, _LONG_LINE) for line in printed]
    times = Counter(word for shape in shapes for word in set(shape))
    patterns = Counter(tuple(word if times[word] >= _OFTEN else "" for word in shape) for shape in shapes)
    often = sum(times for pattern, times in patterns.items() if times >= _OFTEN and _is_pattern(pattern))
    return often >= _REPEATED * lines


def _are_fields(lines: list[str]) -> bool:
    """Tell whether most lines begin with a label that the line above has not, as those of records do."""
    labels = [found[0] if (found := _LABEL.match(line)) else "" for line in lines]
    changes = sum(label != above for above, label in pairwise(labels) if label)
    return len(set(labels)) > _OFTEN and changes > _REPEATED * len(lines)


def _is_pattern(words: tuple[str, ...]) -> bool:
    """Tell whether words have numbers or paths among them, and no more names, which are empty, than other words."""
    firsts = "".join(word[:1] for word in words)
    return any("#" in word for word in words) and words.count("") <= sum(map(str.isalpha, firsts))


def _printed(text: str) -> tuple[int, list[str]]:
    """Return the number of different lines, and those that a program may have printed; none if few have what varies."""
    part, middle = _SAMPLE // 3, len(text) // 2
    read = text if len(text) <= _SAMPLE else "\n".join((text[:part], text[middle : middle + part], text[-part:]))
    lines = [line for line in dict.fromkeys(line.strip()[:_LONG_LINE] for line in read.split("\n")) if line]
    if sum(_VARIED.search(line) is not None for line in lines) < _REPEATED * len(lines):
        return len(lines), []
    return len(lines), [line for line in lines if not _NO_OUTPUT.match(line)]


def has_signs(text: str) -> bool:
    """Tell whether a text has the colours of a terminal, or begins with lines of kinds that loggers, compilers and test
    runners write, or has them in its middle if it is long: a job first tells what it runs on."""
    if _TERMINAL in text[:_SAMPLE] or _begins_as_log(text):
        return True
    middle = text[text.find("\n", len(text) // 2) + 1 :][:_SAMPLE] if len(text) > 2 * _SAMPLE else ""
    return _begins_as_log(middle) and _may_be_output(text)


def _begins_as_log(text: str) -> bool:
    if not _may_be_log(text):
        return False
    end = len(text) if len(text) <= _SAMPLE else max(text.rfind("\n", 0, _SAMPLE), 0) + 1 or _SAMPLE
    kinds = [line.kind for line in log_lines(text, end)]
    counts: Counter[LineKind] = Counter(kind for kind in kinds if kind is not LineKind.BLANK)
    lines = counts.total()
    signs = counts[LineKind.ENTRY] + counts[LineKind.FRAME] + counts[LineKind.BUILD]
    signs += counts[LineKind.EXCEPTION] if signs else 0  # without a stack it may be a line of code
    are_enough = signs >= max(_LEAST_SIGNS * lines, 1) and signs + _beside(kinds) >= _LEAST * lines
    return are_enough and not _is_spoken(text[:end], counts) and (lines >= _FEWEST or _SURE.match(text) is not None)


def _may_be_log(text: str) -> bool:
    """Tell cheaply whether `text` may be a log: nearly all texts are not."""
    if text.count("\n", 0, _SAMPLE) < _FEWEST - 1:  # as most passages of prose
        return _SURE.match(text[:_HEAD]) is not None
    first = islice(log_lines(text, min(len(text), _HEAD)), _FIRST)
    return _may_be_output(text) and any(line.kind in _SURE_KINDS for line in first)


def _may_be_output(text: str) -> bool:
    if text.lstrip()[:1] in ("{", "<") or text.startswith("```"):
        return False
    return not any(sign in text for sign in _MARKDOWN)


def _beside(kinds: list[LineKind]) -> int:
    """Count the indented lines that go on from a line of a log."""
    count, within = 0, False
    for kind in kinds:
        within = within if kind in (LineKind.DEEPER, LineKind.BLANK) else kind is not LineKind.OTHER
        count += within and kind is LineKind.DEEPER
    return count


def _is_spoken(sample: str, counts: Mapping[LineKind, int]) -> bool:
    """Tell whether lines with times, but no levels, are what persons say to each other."""
    total = sum(counts.values())
    if counts.get(LineKind.ENTRY, 0) < total / 2:
        return False
    return sum(_SPOKEN.search(line) is not None for line in sample.split("\n")) > _MOST_SPOKEN * total


def is_diff(text: str) -> bool:
    """Return whether `text` is a unified diff, or a part of one that has the header of a hunk."""
    hunk = _HUNK.search(text, 0, _SAMPLE) if "@@ -" in text[:_SAMPLE] else None
    if not hunk or "\n```" in text:
        return False
    lines = text[hunk.start() : hunk.start() + _SAMPLE].split("\n")
    fitting = sum(not line or _IN_DIFF.match(line) is not None for line in lines)
    before = text[: hunk.start()].split("\n")
    is_headed = len(before) <= 2 or any(line.startswith(("diff ", "--- ", "+++ ")) for line in before)
    within = sum(not line or _IN_DIFF.match(line) is not None for line in before) > 0.9 * len(before)
    return fitting > 0.9 * len(lines) and (is_headed or within)
