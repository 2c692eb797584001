"""Splits source code into logical lines, which end where no bracket, string or comment is open."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ctxcompress.code.detection import end_of_cut_text
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["LogicalLines", "entry_starts", "logical_lines"]

# Each begins with a literal, and runs of other characters are read at once: a scan then skips what begins no token.
_DOUBLE = r'"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+"?'
_SINGLE = r"'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'?"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,8}?)'"
_TEMPLATE = r"`[^`\\]*+(?:\\[\s\S][^`\\]*+)*+`?"
_BLOCK_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
_SLASHES = rf"//[^\n]*+|{_BLOCK_COMMENT}"
_HASH = r"\#[^\n]*+"
_TRIPLE = (
    r'"""[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*+(?:""")?|' r"'''[^'\\]*+(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*+(?:''')?"
)
_BRACKETS = r"\([^()\[\]{}\n\"'`/\\#$-]*+\)|\(|\)|\[|\]|\{|\}|\n|\\\r?\n"
"""A bracket, a closed pair of parentheses with nothing special in it, or the end of a line."""
# A regular expression on one line: a slash where an operand is expected, not a comment.
_REGEX = r"(?<=[=(,:\[!&|?{};\n])[ \t]*+/(?![/*\s])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,200}+\]){1,200}+/"


def _pattern(*parts: str) -> re.Pattern[str]:
    return lazy_regex("|".join((*parts, _BRACKETS)))


_PYTHON = _pattern(_TRIPLE, _HASH, _DOUBLE, _SINGLE)
_SCRIPT = _pattern(_SLASHES, _REGEX, _DOUBLE, _SINGLE, _TEMPLATE)
_C_LIKE = _pattern(_SLASHES, _DOUBLE, _CHARACTER)
_RAW_STRINGS = _pattern(_SLASHES, _DOUBLE, _CHARACTER, _TEMPLATE)
_HASHES = _pattern(_HASH, _DOUBLE, _SINGLE)
_DASHES = _pattern(r"--[^\n]*+", _DOUBLE, _SINGLE)
_GRAPHQL = _pattern(_TRIPLE, _HASH, _DOUBLE)
_HCL = _pattern(_HASH, _SLASHES, _DOUBLE)
_SEMICOLONS = _pattern(r";[^\n]*+", _DOUBLE)
_PERCENTS = _pattern(r"%[^\n]*+", _DOUBLE, _SINGLE)
_TCL = _pattern(r"(?<=[\n;])[ \t]*+\#[^\n]*+", _DOUBLE)
_VIM = _pattern(r"(?<=\n)[ \t]*+\"[^\n]*+", _DOUBLE, _SINGLE)
_CSS = _pattern(_BLOCK_COMMENT, _DOUBLE, _SINGLE)
_SQL = _pattern(rf"--[^\n]*+|{_BLOCK_COMMENT}|\$\w*\$(?:[^$]|\$(?!\w*\$))*+(?:\$\w*\$)?", _DOUBLE, _SINGLE)
_TOKENS = {
    "python": _PYTHON,
    **dict.fromkeys(("javascript", "typescript", "tsx", "php"), _SCRIPT),
    **dict.fromkeys(("c", "cpp", "java", "rust", "csharp", "kotlin", "scala", "swift", "dart"), _C_LIKE),
    "go": _RAW_STRINGS,
    **dict.fromkeys(
        ("ruby", "shell", "perl", "r", "elixir", "yaml", "toml", "julia", "ini", "nginx", "powershell"), _HASHES
    ),
    **dict.fromkeys(("lua", "haskell", "elm"), _DASHES),
    **dict.fromkeys(("erlang", "tex"), _PERCENTS),
    "graphql": _GRAPHQL,
    "hcl": _HCL,
    "lisp": _SEMICOLONS,
    "tcl": _TCL,
    "vim": _VIM,
    "css": _CSS,
    "sql": _SQL,
}
_DEFINITION = {
    "python": lazy_regex(r"[ \t]*+(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(]|@\w)"),
    "ruby": lazy_regex(r"[ \t]*+(?:def[ \t]+[\w.]+|class[ \t]+[A-Z]|module[ \t]+[A-Z])"),
    "perl": lazy_regex(r"sub[ \t]+\w+\s*+\{"),
}
"""Beginnings of lines that no bracket can contain, so that an open bracket was never closed."""
_COMMENT = lazy_regex(r"[ \t]*+(?:#(?!!)|//|/\*|--[ ])")
_COMMENT_OR_LABEL = lazy_regex(r"[ \t]*+(?:#|//|/\*|\w+:[ \t]*(?:\r?\n|//|/\*))")
_SLASHED_COMMENT = lazy_regex(r"[ \t]*+(?://|/\*)")
_WITHOUT_HASHES = frozenset("javascript typescript tsx rust csharp kotlin scala swift dart".split())
"""Languages in which a hash begins an attribute, a private name or nothing."""
_WITH_LABELS = frozenset(("c", "cpp", "go", "java"))
_BRACED = frozenset("javascript typescript tsx php c cpp java rust csharp kotlin scala swift dart go".split())
"""Languages in which a function, an object or a class in parentheses has lines of its own."""
_SQL_END = lazy_regex(r";[ \t]?\r?\n|\n\r?\n")
"""The end of a statement in SQL, or a blank line."""
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_WITH_INITIALIZERS = frozenset("cpp csharp kotlin scala swift".split())
_PAREN, _BODY, _VALUE = 0, 1, 2
"""Brackets in which lines continue, braces in which they end, and braces in which they continue."""
_OPENS_BODY = lazy_regex(r"[)\w>]")
"""The character before a brace around the body of a function or a class."""
_LINE_END = lazy_regex(r"[ \t]*+(?://[^\n]*+)?(?:\r?\n|\Z)")
_GOES_ON = lazy_regex(
    r"[ \t]*+(?:(?P<clause>where|throws|extends|implements|permits|requires)\b(?![ \t]*+[:=(.,;)])|:(?!:))"
)
"""A line that continues the signature above it."""
_ENDS_VALUE = frozenset("'\"`(")
"""What a string or a pair of parentheses begins with."""
_ENDS_SIGNATURE = ("{", ";", "}")


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
    lows: list[int]
    """The number of braces opened before it that each line closes, as a number below 0, whatever it opens again."""


def logical_lines(text: str, language: str) -> LogicalLines:
    """Return the logical lines of `text`, which they partition.

    Closing brackets without an opening one are ignored, because the text may begin anywhere.
    """
    lines = _lines(text, language)
    starts, indents, nets, ends_blank = list[int](), list[int](), list[int](), list[bool]()
    lows: list[int] = []
    start = 0
    for end, net, low in zip(lines.ends, lines.nets, lines.lows, strict=True):
        is_at_margin = not text[start].isspace()
        if starts and not is_at_margin and text[start:end].isspace():
            ends_blank[-1] = True
        else:
            starts.append(start)
            indents.append(0 if is_at_margin else _indent(text[start:end]))
            nets.append(net)
            lows.append(low)
            ends_blank.append(False)
        start = end
    at_margins = _COMMENT_OR_LABEL if language in _WITH_LABELS else _COMMENT
    if language in _WITHOUT_HASHES:
        at_margins = _SLASHED_COMMENT
    for number in range(len(starts) - 2, -1, -1):
        # A comment or a label at the margin does not end what is indented above and below it.
        if indents[number] < indents[number + 1] and at_margins.match(text, starts[number]):
            indents[number] = indents[number + 1]
    return LogicalLines([*starts, len(text)], indents, nets, ends_blank, lows)


def _lines(text: str, language: str) -> "_Lines":
    """Return the logical lines before those that are blank are joined to the ones above."""
    lines = _Lines(text, language)
    braces = "" if language == "python" else "{}"  # in Python they hold values
    for match in _tokens(text, language):
        found = match.group()
        if found == "\n":
            lines.add_line_end(match.end())
        elif found in _OPENING:
            if found in braces:
                lines.add_brace(match.start())
            else:
                lines.open.append(_PAREN)
        elif found in _CLOSING:
            lines.close(found in braces)
    if text and (not lines.ends or lines.ends[-1] < len(text)):
        lines.end(len(text))
    return lines


def _tokens(text: str, language: str) -> Iterator[re.Match[str]]:
    found = _TOKENS.get(language, _C_LIKE).finditer(text, end_of_cut_text(text, language))
    return _sql_tokens(text, found) if language == "sql" else found


def _sql_tokens(text: str, tokens: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Yield the tokens but for the ends of lines within statements. A comment before a statement stands alone."""
    begin, comment = 0, -1
    for match in tokens:
        if match.group() == "\n":
            if match.start() != comment and not _SQL_END.search(text, max(0, match.start() - 3), match.end() + 1):
                continue
            begin = match.end()
        elif match.start() == begin and match.group()[:2] in ("--", "/*"):
            comment = match.end()
        yield match


class _Lines:
    """The logical lines of a text so far, and the brackets that are open."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._definition = text, _DEFINITION.get(language)
        self._is_braced, self._has_initializers = language in _BRACED, language in _WITH_INITIALIZERS
        self.ends: list[int] = []
        self.nets: list[int] = []
        self.lows: list[int] = []
        self.open: list[int] = []
        """_PAREN, _BODY or _VALUE of each open bracket."""
        self._net = self._low = self._values = 0
        self._is_first = True
        self._in_signature = False

    def add_line_end(self, place: int) -> None:
        """End the line at `place`, unless it continues."""
        if self.open and self.open[-1] != _BODY:
            if not (self._definition and self._definition.match(self._text, place)):
                self._is_first = False
                return
            self.open = [bracket for bracket in self.open if bracket == _BODY]
        elif self._is_braced and self._goes_on(place):
            self._is_first = False
            return
        self.end(place)

    def _goes_on(self, place: int) -> bool:
        """Return whether the signature above `place` goes on there."""
        goes_on = _GOES_ON.match(self._text, place)
        if goes_on and self._text[place - 2 : place - 1] not in (",", *_ENDS_SIGNATURE):
            self._in_signature = self._in_signature or self._has_initializers or goes_on["clause"] is not None
            return True
        if not self._in_signature or self._text[place : place + 1] in ("\n", "\r", ""):
            return False
        return self._text[max(0, place - 3) : place].rstrip()[-1:] not in _ENDS_SIGNATURE

    def end(self, place: int) -> None:
        """End the line at `place`."""
        self.ends.append(place)
        self.nets.append(self._net)
        self.lows.append(self._low)
        self._net = self._low = 0
        self._is_first, self._in_signature = True, False

    def add_brace(self, place: int) -> None:
        """Open a brace."""
        if self._is_body(place):
            self.open.append(_BODY)
            self._net += 1
            self._in_signature = False
        else:
            self.open.append(_VALUE)
            self._values += 1

    def _is_body(self, place: int) -> bool:
        if not self.open or self.open[-1] == _BODY:
            return True
        if self._values or not self._is_braced or not _LINE_END.match(self._text, place + 1):
            return False
        start = self.ends[-1] if self.ends else 0
        if self._text[start:place].lstrip()[:1] == "@":  # the arguments of a decorator
            return False
        return self._is_first or _OPENS_BODY.match(self._text[max(0, place - 2) : place].rstrip()[-1:]) is not None

    def close(self, is_brace: bool) -> None:
        """Close the innermost bracket. A brace closes the parentheses in it too; a parenthesis never closes a brace."""
        opened = self.open
        if not is_brace:
            if opened and opened[-1] == _PAREN:
                opened.pop()
            return
        while opened and opened[-1] == _PAREN:
            opened.pop()
        if opened and opened.pop() == _VALUE:
            self._values -= 1
            return
        self._net -= 1
        self._low = min(self._low, self._net)


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
        if part in _OPENING or part in _CLOSING:
            depth += 1 if part in _OPENING else -1
            was_closed = was_closed or depth < opened
            before = part
        elif part == "\n" and opened and (was_closed or not depth):
            return []
        elif part == "\n" and depth:
            ends_entry = not opened or before in (",", ";")
            opened = opened or depth
            if depth == opened and ends_entry and text[start : start + 1] not in ("\n", "\r"):
                found.append(start)
        elif part[:1] in _ENDS_VALUE:
            before = part[-1:]
    return found if was_closed or depth < max(opened, 1) else []


def _indent(part: str) -> int:
    """Return the column of the first character that is not white space. Tabs advance to multiples of eight."""
    bare = part.lstrip(" ")
    if bare and not bare[0].isspace():  # so for most lines
        return len(part) - len(bare)
    for line in part.split("\n", 2)[:2]:
        bare = line.lstrip(" \t")
        if bare.strip():
            return len(line[: len(line) - len(bare)].expandtabs(8))
    return 0
