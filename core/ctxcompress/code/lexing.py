"""The languages of source code, and its logical lines, which end where no bracket, string or comment is open."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["LANGUAGES", "UNKNOWN", "LogicalLines", "entry_starts", "indent_of", "languages_with", "logical_lines"]

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


class _Language(NamedTuple):
    extensions: str
    tokens: re.Pattern[str] = _C_LIKE
    comment: str = "//"
    """What begins a comment."""
    traits: str = ""


LANGUAGES: Mapping[str, _Language] = {
    "python": _Language("py pyi pyx", _PYTHON, "#"),
    "javascript": _Language("js jsx mjs cjs", _SCRIPT, "//", "braced no-hash script"),
    "typescript": _Language("ts mts cts", _SCRIPT, "//", "braced no-hash script"),
    "tsx": _Language("tsx vue", _SCRIPT, "//", "braced no-hash script"),
    "php": _Language("php", _SCRIPT, "//", "braced keyword"),
    "java": _Language("java", _C_LIKE, "//", "braced labels"),
    "go": _Language("go", _RAW_STRINGS, "//", "braced labels keyword"),
    "rust": _Language("rs", _C_LIKE, "//", "braced no-hash keyword"),
    "c": _Language("c h", _C_LIKE, "//", "braced labels type-lines conditionals"),
    "cpp": _Language("cc cpp cxx cu hpp hh hxx", _C_LIKE, "//", "braced labels type-lines conditionals initializers"),
    "csharp": _Language("cs", _C_LIKE, "//", "braced no-hash conditionals initializers"),
    "kotlin": _Language("kt kts", _C_LIKE, "//", "braced no-hash keyword initializers"),
    "scala": _Language("scala", _C_LIKE, "//", "braced no-hash keyword initializers"),
    "swift": _Language("swift", _C_LIKE, "//", "braced no-hash keyword initializers"),
    "dart": _Language("dart", _C_LIKE, "//", "braced no-hash"),
    "ruby": _Language("rb", _HASHES, "#", "words keyword"),
    "shell": _Language("sh bash zsh", _HASHES, "#", "words"),
    "perl": _Language("pl pm", _HASHES, "#"),
    "r": _Language("r", _HASHES, "#"),
    "julia": _Language("jl", _HASHES, "#", "words keyword"),
    "elixir": _Language("ex exs", _HASHES, "#", "words keyword"),
    "powershell": _Language("ps1 psm1", _HASHES, "#"),
    "json": _Language("json jsonl ipynb"),
    "yaml": _Language("yaml yml", _HASHES, "#"),
    "toml": _Language("toml", _HASHES, "#"),
    "ini": _Language("ini cfg cnf conf properties", _HASHES, "#"),
    "nginx": _Language("", _HASHES, "#"),
    "hcl": _Language("hcl tf tfvars", _HCL, "#"),
    "graphql": _Language("graphql graphqls gql", _GRAPHQL, "#"),
    "tcl": _Language("tcl", _TCL, "#"),
    "sql": _Language("sql", _SQL, "--"),
    "lua": _Language("lua", _DASHES, "--", "words keyword"),
    "haskell": _Language("hs", _DASHES, "--"),
    "elm": _Language("elm", _DASHES, "--"),
    "lisp": _Language("lisp lsp el clj cljs cljc edn scm ss rkt", _SEMICOLONS, ";"),
    "erlang": _Language("erl hrl", _PERCENTS, "%"),
    "tex": _Language("tex sty cls", _PERCENTS, "%"),
    "vim": _Language("vim", _VIM, '"', "words"),
    "css": _Language("css", _CSS, "/*"),
}
"""The languages by the names that `source_language` returns, with traits:

- braced: a function, an object or a class in parentheses has lines of its own.
- no-hash: a hash begins an attribute, a private name or nothing.
- script: JavaScript and the languages that extend it.
- keyword: a word such as `func` begins a function, so that a name with parentheses is a call.
- labels: a statement may have a label, without which it is invalid.
- type-lines: the type of a function may have a line of its own.
- conditionals: a section from `#if` to `#endif` may be left out.
- initializers: a line after a signature may begin with a colon.
- words: words such as `end` are around most bodies, whatever braces there are within.
"""
UNKNOWN = _Language("")


def languages_with(trait: str) -> frozenset[str]:
    """Return the languages with a trait."""
    return frozenset(name for name, language in LANGUAGES.items() if trait in language.traits.split())


_DEFINITION = {
    "python": lazy_regex(r"[ \t]*+(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(]|@\w)"),
    "ruby": lazy_regex(r"[ \t]*+(?:def[ \t]+[\w.]+|class[ \t]+[A-Z]|module[ \t]+[A-Z])"),
    "perl": lazy_regex(r"sub[ \t]+\w+\s*+\{"),
}
"""Beginnings of lines that no bracket can contain, so that an open bracket was never closed."""
_COMMENT = lazy_regex(r"[ \t]*+(?:#(?!!)|//|/\*|--[ ])")
_COMMENT_OR_LABEL = lazy_regex(r"[ \t]*+(?:#|//|/\*|\w+:[ \t]*(?:\r?\n|//|/\*))")
_SLASHED_COMMENT = lazy_regex(r"[ \t]*+(?://|/\*)")
_WITHOUT_HASHES, _WITH_LABELS = languages_with("no-hash"), languages_with("labels")
_BRACED, _WITH_INITIALIZERS = languages_with("braced"), languages_with("initializers")
_SQL_END = lazy_regex(r";[ \t]?\r?\n|\n\r?\n")
"""The end of a statement in SQL, or a blank line."""
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
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


def logical_lines(text: str, language: str, begin: int) -> "LogicalLines":
    """Return the logical lines of `text`, which they partition. begin: where code begins, after what was cut.

    Closing brackets without an opening one are ignored, because the text may begin anywhere.
    """
    lines = LogicalLines(text, language)
    braces = "" if language == "python" else "{}"  # in Python they hold values
    tokens = LANGUAGES.get(language, UNKNOWN).tokens.finditer(text, begin)
    for match in _sql_tokens(text, tokens) if language == "sql" else tokens:
        found = match.group()
        if found == "\n":
            lines.add_line_end(match.end())
        elif found in _OPENING:
            lines.add_bracket(match.start(), found in braces)
        elif found in _CLOSING:
            lines.close(found in braces)
    at_margins = _COMMENT_OR_LABEL if language in _WITH_LABELS else _COMMENT
    lines.finish(_SLASHED_COMMENT if language in _WITHOUT_HASHES else at_margins)
    return lines


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


class LogicalLines:
    """The logical lines of a text, each with the blank lines after it.

    The lists are parallel, with one entry for each line, because a text can have millions of lines.
    """

    def __init__(self, text: str, language: str) -> None:
        self._text, self._definition = text, _DEFINITION.get(language)
        self._is_braced, self._has_initializers = language in _BRACED, language in _WITH_INITIALIZERS
        self.starts: list[int] = []
        """Where each line begins, and last where the text ends."""
        self.indents: list[int] = []
        """The column of the first character of each line."""
        self.nets: list[int] = []
        """The number of braces that each line opens minus those that it closes."""
        self.lows: list[int] = []
        """The number of braces opened before it that each line closes, as a number below 0, whatever it opens again."""
        self.ends_blank: list[bool] = []
        """True if blank lines follow."""
        self._open: list[int] = []
        """_PAREN, _BODY or _VALUE of each open bracket."""
        self._begin = self._net = self._low = self._values = 0
        self._is_first = True
        self._in_signature = False

    def add_line_end(self, place: int) -> None:
        """End the line at `place`, unless it continues."""
        if self._open and self._open[-1] != _BODY:
            if not (self._definition and self._definition.match(self._text, place)):
                self._is_first = False
                return
            self._open = [bracket for bracket in self._open if bracket == _BODY]
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
        """End the line at `place`. A blank one is part of the line above it."""
        is_at_margin = not self._text[self._begin].isspace()
        if self.starts and not is_at_margin and self._text[self._begin : place].isspace():
            self.ends_blank[-1] = True
        else:
            self.starts.append(self._begin)
            self.indents.append(0 if is_at_margin else indent_of(self._text[self._begin : place]))
            self.nets.append(self._net)
            self.lows.append(self._low)
            self.ends_blank.append(False)
        self._begin, self._net, self._low = place, 0, 0
        self._is_first, self._in_signature = True, False

    def finish(self, at_margins: re.Pattern[str]) -> None:
        """End the last line. at_margins: a comment or a label, which does not end what is indented around it."""
        if self._begin < len(self._text):
            self.end(len(self._text))
        for number in range(len(self.starts) - 2, -1, -1):
            if self.indents[number] < self.indents[number + 1] and at_margins.match(self._text, self.starts[number]):
                self.indents[number] = self.indents[number + 1]
        self.starts.append(len(self._text))

    def add_bracket(self, place: int, is_brace: bool) -> None:
        """Open a bracket."""
        if not is_brace:
            self._open.append(_PAREN)
        elif self._is_body(place):
            self._open.append(_BODY)
            self._net += 1
            self._in_signature = False
        else:
            self._open.append(_VALUE)
            self._values += 1

    def _is_body(self, place: int) -> bool:
        if not self._open or self._open[-1] == _BODY:
            return True
        if self._values or not self._is_braced or not _LINE_END.match(self._text, place + 1):
            return False
        if self._text[self._begin : place].lstrip()[:1] == "@":  # the arguments of a decorator
            return False
        return self._is_first or _OPENS_BODY.match(self._text[max(0, place - 2) : place].rstrip()[-1:]) is not None

    def close(self, is_brace: bool) -> None:
        """Close the innermost bracket. A brace closes the parentheses in it too; a parenthesis never closes a brace."""
        opened = self._open
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
    for match in LANGUAGES.get(language, UNKNOWN).tokens.finditer(text, start, last):
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


def indent_of(part: str) -> int:
    """Return the column of the first character that is not white space. Tabs advance to multiples of eight."""
    bare = part.lstrip(" ")
    if bare and not bare[0].isspace():  # so for most lines
        return len(part) - len(bare)
    for line in part.split("\n", 2)[:2]:
        bare = line.lstrip(" \t")
        if bare.strip():
            return len(line[: len(line) - len(bare)].expandtabs(8))
    return 0
