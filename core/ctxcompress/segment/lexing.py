"""Source code to logical lines: those that end where no bracket, string or comment is open."""

import re
from typing import NamedTuple

from ctxcompress.text.cuts import end_of_cut_text

__all__ = ["LogicalLine", "entries", "logical_lines"]

_DOUBLE = r'"(?:[^"\\\n]|\\[\s\S])*+"?'
_SINGLE = r"'(?:[^'\\\n]|\\[\s\S])*+'?"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
_TEMPLATE = r"`(?:[^`\\]|\\[\s\S])*+`?"
_SLASHES = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_HASH = r"\#[^\n]*+"
_TRIPLE = r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:""")?|' r"'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:''')?"
_BRACKETS = r"[()\[\]{}\n]|\\\r?\n"
# What a slash begins where an operand is expected and no comment: a regular expression, on one line.
_REGEX = r"(?<=[=(,:\[!&|?{};\n])[ \t]*+/(?![/*\s])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,200}+\]){1,200}+/"


def _tokens(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join((*parts, _BRACKETS)))


_PYTHON = _tokens(_TRIPLE, _HASH, _DOUBLE, _SINGLE)
_SCRIPT = _tokens(_SLASHES, _REGEX, _DOUBLE, _SINGLE, _TEMPLATE)
_BRACES = _tokens(_SLASHES, _DOUBLE, _CHARACTER)
_RAW_STRINGS = _tokens(_SLASHES, _DOUBLE, _CHARACTER, _TEMPLATE)
_HASHES = _tokens(_HASH, _DOUBLE, _SINGLE)
_DASHES = _tokens(r"--[^\n]*+", _DOUBLE, _SINGLE)
_OF_LANGUAGE = {
    "python": _PYTHON,
    **dict.fromkeys(("javascript", "typescript", "tsx", "php"), _SCRIPT),
    **dict.fromkeys(("c", "cpp", "java", "rust", "csharp", "kotlin", "scala", "swift", "dart"), _BRACES),
    "go": _RAW_STRINGS,
    **dict.fromkeys(("ruby", "shell", "perl", "r", "elixir", "yaml", "toml", "julia"), _HASHES),
    **dict.fromkeys(("sql", "lua", "haskell"), _DASHES),
}
_BEGINS = re.compile(r"[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(]|@\w)")
"""What no bracket of Python's can contain: one that was open was never closed."""
_COMMENT = re.compile(r"[ \t]*(?:#(?!!)|//|/\*|--[ ])")
_COMMENT_OR_LABEL = re.compile(r"[ \t]*(?:#|//|/\*|\w+:[ \t]*(?:\r?\n|//|/\*))")
_WITH_LABELS = frozenset(("c", "cpp", "go", "java"))
_DEPTHS = {"(": 1, "[": 1, ")": -1, "]": -1}
_BRACE = {"{": 1, "}": -1}


class LogicalLine(NamedTuple):
    """Characters `start` to `end`, whole lines, with the blank ones after them."""

    start: int
    end: int
    indent: int
    net: int
    """Braces that it opens, less those that it closes."""
    ends_blank: bool
    """Whether blank lines follow."""


def logical_lines(text: str, language: str) -> list[LogicalLine]:
    """The logical lines of `text`, which they partition. A bracket that is closed and was not opened does not count:
    the text may begin anywhere."""
    ends, nets = _ends(text, language)
    lines: list[LogicalLine] = []
    start = 0
    for end, net in zip(ends, nets, strict=True):
        part = text[start:end]
        if part.isspace() and lines:
            lines[-1] = lines[-1]._replace(end=end, ends_blank=True)
        else:
            lines.append(LogicalLine(start, end, _indent(part), net, False))
        start = end
    at_margins = _COMMENT_OR_LABEL if language in _WITH_LABELS else _COMMENT
    for number in range(len(lines) - 2, -1, -1):
        # A comment or a label at the margin does not end what is indented above and below it.
        if lines[number].indent < lines[number + 1].indent and at_margins.match(text, lines[number].start):
            lines[number] = lines[number]._replace(indent=lines[number + 1].indent)
    return lines


def _ends(text: str, language: str) -> tuple[list[int], list[int]]:
    """(where the logical lines end, how many braces each opens less those that it closes)."""
    is_python = language == "python"
    ends: list[int] = []
    nets: list[int] = []
    depth = net = 0
    for match in _OF_LANGUAGE.get(language, _BRACES).finditer(text, end_of_cut_text(text, language)):
        found = match.group()
        if found == "\n":
            if depth == 0 or (is_python and _BEGINS.match(text, match.end())):
                depth = 0
                ends.append(match.end())
                nets.append(net)
                net = 0
        elif found in _DEPTHS or (is_python and found in _BRACE):
            depth = max(0, depth + (_DEPTHS.get(found) or _BRACE.get(found, 0)))
        elif found in _BRACE:
            net += _BRACE[found]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
        nets.append(net)
    return (ends, nets) if text else ([], [])


def entries(text: str, start: int, end: int, language: str) -> list[int]:
    """Where the lines of a part of a text begin that stand directly in the bracket which its first line of code leaves
    open, after a comma or a semicolon but for the first; none if that is closed, if only for a moment, before the last
    line."""
    found: list[int] = []
    depth = opened = 0
    before = ""
    last = start + len(text[start:end].rstrip())
    was_closed = False
    for match in _OF_LANGUAGE.get(language, _BRACES).finditer(text, start, last):
        part = match.group()
        before = text[start : match.start()].rstrip(" \t\r")[-1:] if match.start() > start else before
        start = match.end()
        if part in _DEPTHS or part in _BRACE:
            depth += _DEPTHS.get(part, 0) or _BRACE.get(part, 0)
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
    """Columns before the first character that is not white space, a tab as far as the next multiple of eight."""
    for line in part.split("\n", 2)[:2]:
        bare = line.lstrip(" \t")
        if bare.strip():
            return len(line[: len(line) - len(bare)].expandtabs(8))
    return 0
