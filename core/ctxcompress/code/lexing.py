"""Splits source code into logical lines, which end where no bracket, string or comment is open."""

import re
from typing import NamedTuple

from ctxcompress.code.detection import end_of_cut_text

__all__ = ["LogicalLines", "entry_starts", "logical_lines"]

_DOUBLE = r'"(?:[^"\\\n]|\\[\s\S])*+"?'
_SINGLE = r"'(?:[^'\\\n]|\\[\s\S])*+'?"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
_TEMPLATE = r"`(?:[^`\\]|\\[\s\S])*+`?"
_SLASHES = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_HASH = r"\#[^\n]*+"
_TRIPLE = r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:""")?|' r"'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:''')?"
_BRACKETS = r"[()\[\]{}\n]|\\\r?\n"
# A regular expression on one line: a slash where an operand is expected, not a comment.
_REGEX = r"(?<=[=(,:\[!&|?{};\n])[ \t]*+/(?![/*\s])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,200}+\]){1,200}+/"


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join((*parts, _BRACKETS)))


_PYTHON = _pattern(_TRIPLE, _HASH, _DOUBLE, _SINGLE)
_SCRIPT = _pattern(_SLASHES, _REGEX, _DOUBLE, _SINGLE, _TEMPLATE)
_C_LIKE = _pattern(_SLASHES, _DOUBLE, _CHARACTER)
_RAW_STRINGS = _pattern(_SLASHES, _DOUBLE, _CHARACTER, _TEMPLATE)
_HASHES = _pattern(_HASH, _DOUBLE, _SINGLE)
_DASHES = _pattern(r"--[^\n]*+", _DOUBLE, _SINGLE)
_TOKENS = {
    "python": _PYTHON,
    **dict.fromkeys(("javascript", "typescript", "tsx", "php"), _SCRIPT),
    **dict.fromkeys(("c", "cpp", "java", "rust", "csharp", "kotlin", "scala", "swift", "dart"), _C_LIKE),
    "go": _RAW_STRINGS,
    **dict.fromkeys(("ruby", "shell", "perl", "r", "elixir", "yaml", "toml", "julia"), _HASHES),
    **dict.fromkeys(("sql", "lua", "haskell"), _DASHES),
}
_PYTHON_DEFINITION = re.compile(r"[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(]|@\w)")
"""Beginnings of Python lines that no bracket can contain, so that an open bracket was never closed."""
_COMMENT = re.compile(r"[ \t]*(?:#(?!!)|//|/\*|--[ ])")
_COMMENT_OR_LABEL = re.compile(r"[ \t]*(?:#|//|/\*|\w+:[ \t]*(?:\r?\n|//|/\*))")
_WITH_LABELS = frozenset(("c", "cpp", "go", "java"))
_BRACKET_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}
_BRACE_DEPTH = {"{": 1, "}": -1}


class LogicalLines(NamedTuple):
    """The logical lines of a text, each with the blank lines after it.

    The lists are parallel, with one entry for each line, because a text can have millions of lines.
    """

    starts: list[int]
    """Where each line begins, and last where the text ends."""
    indents: list[int]
    """The column of the first character of each line."""
    nets: list[int]
    """The number of braces that each line opens minus those that it closes."""
    ends_blank: list[bool]
    """True if blank lines follow."""


def logical_lines(text: str, language: str) -> LogicalLines:
    """Return the logical lines of `text`, which they partition.

    Closing brackets without an opening one are ignored, because the text may begin anywhere.
    """
    ends, braces = _ends(text, language)
    starts, indents, nets, ends_blank = list[int](), list[int](), list[int](), list[bool]()
    start = 0
    for end, net in zip(ends, braces, strict=True):
        is_at_margin = not text[start].isspace()
        if starts and not is_at_margin and text[start:end].isspace():
            ends_blank[-1] = True
        else:
            starts.append(start)
            indents.append(0 if is_at_margin else _indent(text[start:end]))
            nets.append(net)
            ends_blank.append(False)
        start = end
    at_margins = _COMMENT_OR_LABEL if language in _WITH_LABELS else _COMMENT
    for number in range(len(starts) - 2, -1, -1):
        # A comment or a label at the margin does not end what is indented above and below it.
        if indents[number] < indents[number + 1] and at_margins.match(text, starts[number]):
            indents[number] = indents[number + 1]
    return LogicalLines([*starts, len(text)], indents, nets, ends_blank)


def _ends(text: str, language: str) -> tuple[list[int], list[int]]:
    """Return the ends of the logical lines, and for each line the braces it opens minus those it closes."""
    is_python = language == "python"
    ends: list[int] = []
    nets: list[int] = []
    depth = net = 0
    for match in _TOKENS.get(language, _C_LIKE).finditer(text, end_of_cut_text(text, language)):
        found = match.group()
        if found == "\n":
            if depth == 0 or (is_python and _PYTHON_DEFINITION.match(text, match.end())):
                depth = 0
                ends.append(match.end())
                nets.append(net)
                net = 0
        elif found in _BRACKET_DEPTH or (is_python and found in _BRACE_DEPTH):
            depth = max(0, depth + (_BRACKET_DEPTH.get(found) or _BRACE_DEPTH.get(found, 0)))
        elif found in _BRACE_DEPTH:
            net += _BRACE_DEPTH[found]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
        nets.append(net)
    return (ends, nets) if text else ([], [])


def entry_starts(text: str, start: int, end: int, language: str) -> list[int]:
    """Return where the entries of a table of values begin: the lines directly inside the bracket that its first line
    of code leaves open.

    Each entry after the first one must follow a comma or a semicolon. Returns none if the bracket is closed, even
    briefly, before the last line.
    """
    found: list[int] = []
    depth = opened = 0
    before = ""
    last = start + len(text[start:end].rstrip())
    was_closed = False
    for match in _TOKENS.get(language, _C_LIKE).finditer(text, start, last):
        part = match.group()
        before = text[start : match.start()].rstrip(" \t\r")[-1:] if match.start() > start else before
        start = match.end()
        if part in _BRACKET_DEPTH or part in _BRACE_DEPTH:
            depth += _BRACKET_DEPTH.get(part, 0) or _BRACE_DEPTH.get(part, 0)
            was_closed = was_closed or depth < opened
            before = part
        elif part == "\n" and opened and (was_closed or not depth):
            return []
        elif part == "\n" and depth:
            ends_entry = not opened or before in (",", ";")
            opened = opened or depth
            if depth == opened and ends_entry and text[start : start + 1] not in ("\n", "\r"):
                found.append(start)
        elif part[:1] in ("'", '"', "`"):
            before = part[-1:]
    return found if was_closed or depth < max(opened, 1) else []


def _indent(part: str) -> int:
    """Return the column of the first character that is not white space. Tabs advance to multiples of eight."""
    for line in part.split("\n", 2)[:2]:
        bare = line.lstrip(" \t")
        if bare.strip():
            return len(line[: len(line) - len(bare)].expandtabs(8))
    return 0
