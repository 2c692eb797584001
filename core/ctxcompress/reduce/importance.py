"""Parts of a long text for truncation, each kept or dropped whole, with the parts that it needs and its importance."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import accumulate, pairwise

from ctxcompress.code.elision import Marks
from ctxcompress.data.passages import Node, NodeKind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = [
    "DEFINES",
    "Part",
    "Rank",
    "Ranks",
    "is_underscored",
    "parts_of_code",
    "parts_of_lines",
    "parts_of_prose",
    "parts_of_words",
]

DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_COMMENTS = lazy_regex(r"(?:\s*+(?://[^\n]*+|/\*(?s:.*?)\*/))*+\s*+")
_INTERFACE = lazy_regex(r"export[ \t]*+(?:default\b|[{*=])|(?:module\.)?exports[ \t]*+=")
_FUNCTION = lazy_regex(
    r"(?:module\.)?exports\.[\w$]++[ \t]*+=[ \t]*+(?:async[ \t]++)?(?:function\b|\(|[\w$]++[ \t]*+=>)"
)
_EXPORTED = lazy_regex(r"export\b|(?:module\.)?exports\b")
_IMPORT = lazy_regex(r"^(?:import|export|const|let|var)\b", re.MULTILINE)
_LONG_DECORATORS = 200
"""Characters: longer decorators above a signature are not shown with it."""
_IMPORTANT_LINE = lazy_regex(
    r"[^\n]{0,200}?\b(?:export|function|class|interface|type|const|let|var|enum|namespace|def|fn|func|struct|trait)\b"
)
"""A line that may define something, in code without an outline."""
_WORD = lazy_regex(r"\S+")


class Rank(IntEnum):
    """The order in which top-level declarations are kept."""

    PUBLIC = 0
    """Declarations for use from elsewhere."""
    MODULE = 1
    """The imports of a script, its default export and its lists of exports."""
    TYPE = 2
    """The exported types of a script, which say little without their members, and its exported values."""
    PRIVATE = 3


@dataclass(frozen=True, slots=True)
class Part:
    """Characters `start` to `end` of a text, without white space at the end. Parts are in order and do not overlap."""

    start: int
    end: int
    needs: tuple[int, ...] = ()
    """The numbers of the parts that must be kept with this one."""
    last: int = -1
    """The number of the last part in the body, for a part that begins a body; else -1."""
    depth: int = 0
    """The number of bodies around it."""
    defines: bool = False
    """Whether it declares a function, a class or a type; for a line, whether it may."""
    rank: Rank | None = None
    """The rank of a declaration at the top level or in a class; None if it declares nothing."""
    name: str = ""
    indent: str = field(default="", repr=False)
    """The indentation of its first line that is not a comment."""


def parts_of_code(text: str, nodes: Sequence[Node], marks: Marks) -> list[Part]:
    """Return the parts of source code with this outline: signatures, statements, and the ends of bodies.

    If the text parses, so do some of its parts with all that they need, provided that something stands for each empty
    body. A comment is not a part of its own, because a body of comments alone would be empty. marks: of the language.
    """
    return _Builder(text, marks, Ranks(text, nodes, is_script=marks.is_script)).parts_of(nodes)


def parts_of_lines(text: str) -> list[Part]:
    """Return the lines that are not blank as parts."""
    parts, start = [], 0
    for line in split_lines(text):
        if not line.isspace():
            end, indent = start + len(line.rstrip()), line[: len(line) - len(line.lstrip())]
            parts.append(Part(start, end, defines=_IMPORTANT_LINE.match(line) is not None, indent=indent))
        start += len(line)
    return parts


def parts_of_prose(text: str, segments: Sequence[Segment], most: int) -> list[Part]:
    """Return the segments of the text (sentences, rows, list items) that are not blank, stripped of white space.

    A fenced block of more than `most` characters is split into lines that need the fence.
    """
    numbers: dict[int, int] = {}
    spans: list[tuple[int, int, tuple[int, ...], tuple[int, ...]]] = []
    for number, (_, start, end, *_rest) in enumerate(segments):
        bare = text[start:end].strip()
        if bare:
            numbers[number] = len(spans)
            begin = start + text[start:end].find(bare[0])
            lines = _fenced_lines(text, begin, begin + len(bare)) if len(bare) > most else []
            fence = (len(spans), len(spans) + len(lines) - 1)
            for line, (first, last) in enumerate(lines or [(begin, begin + len(bare))], len(spans)):
                own = tuple(other for other in fence if other != line) if lines else ()
                spans.append((first, last, segments[number].needs, own))
    return [
        Part(start, end, (*(numbers[need] for need in needs if need in numbers), *own))
        for start, end, needs, own in spans
    ]


def _fenced_lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return start and end of the lines of a fenced block that are not blank; none if a fence is missing."""
    fence = text[start : start + 3]
    lines = split_lines(text[start:end])
    if fence not in ("```", "~~~") or lines[-1].strip(" \t>")[:3] != fence:
        return []
    begins = accumulate(map(len, lines), initial=start)
    return [(begin, begin + len(line.rstrip())) for begin, line in zip(begins, lines, strict=False) if line.strip()]


def parts_of_words(text: str) -> list[Part]:
    """Return the words of the text as parts."""
    return [Part(match.start(), match.end()) for match in _WORD.finditer(text)]


class Ranks:
    """The ranks of the top-level declarations of one file."""

    def __init__(self, text: str, nodes: Sequence[Node], *, is_script: bool) -> None:
        """is_script: whether the file is JavaScript or TypeScript: there, files declare what they export, and types
        cannot be called."""
        self._text, self._is_script = text, is_script
        self._says_exports = is_script and any(node.exported for node in nodes)

    def of(self, node: Node) -> Rank | None:
        """Return the rank of a node; None if it declares nothing that others would look for."""
        if not self._is_script:
            return self._of_definition(node) if node.kind in DEFINES else None
        begin = node.signature if node.signature >= 0 else self._after_comments(node)
        if node.kind in DEFINES:
            rank = self._of_definition(node)
            return Rank.TYPE if rank is Rank.PUBLIC and node.kind is NodeKind.TYPE else rank
        if node.kind is NodeKind.IMPORTS or _INTERFACE.match(self._text, begin):
            return Rank.MODULE
        if _FUNCTION.match(self._text, begin):
            return Rank.PUBLIC
        return Rank.TYPE if node.exported or _EXPORTED.match(self._text, begin) else None

    def imports(self, node: Node) -> list[tuple[int, int]]:
        """Return the start and end of each import in a node of a script, without comments above."""
        begins = [match.start() for match in _IMPORT.finditer(self._text, node.start, node.end)]
        return [*pairwise([*(begins or [self._after_comments(node)]), node.end])]

    def _of_definition(self, node: Node) -> Rank:
        hidden = not node.exported and (self._says_exports or is_underscored(node.name))
        return Rank.PRIVATE if hidden else Rank.PUBLIC

    def _after_comments(self, node: Node) -> int:
        """Return where a node begins after the comments above it."""
        match = _COMMENTS.match(self._text, node.start, node.end)
        return match.end() if match else node.start


def is_underscored(name: str) -> bool:
    """Tell whether the last name has a leading underscore, for internal use."""
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.endswith("__")


class _Builder:
    """Builds the parts of one source code."""

    def __init__(self, text: str, marks: Marks, ranks: Ranks) -> None:
        self._text, self._comments, self._ranks = text, marks.comments, ranks
        self._parts: list[Part] = []

    def parts_of(self, nodes: Sequence[Node]) -> list[Part]:
        self._add_all(nodes, (), 0)
        return self._parts

    def _add_all(self, nodes: Sequence[Node], around: tuple[int, ...], depth: int) -> None:
        """Append the parts of sibling nodes. around: the numbers of the enclosing parts, innermost last."""
        attached, head = -1, -1
        for node in nodes:
            if self._is_comment(node.start, node.end):
                attached = node.start if attached < 0 else attached
                continue
            head = self._add(node, node.start if attached < 0 else attached, around, depth)
            attached = -1
        if attached >= 0 and self._text[attached : nodes[-1].end].strip():
            needs = around if head < 0 else (*around, head)
            self._append(attached, nodes[-1].end, needs, depth)

    def _add(self, node: Node, start: int, around: tuple[int, ...], depth: int) -> int:
        """Append the parts of a node with the comments above it.

        Returns the number of its signature, or -1 if it has none, as in a chunk that begins with a body.
        """
        end = node.body if node.body >= 0 else node.end
        if not self._text[start:end].strip():
            self._add_all(node.children, around, depth)
            return -1
        rank = self._rank(node, depth)
        if rank is Rank.MODULE and node.kind is NodeKind.IMPORTS:
            return self._add_imports(node, start)
        begin = self._signature(node, start)
        first = len(self._parts)
        if self._text[start:begin].strip():
            self._append(start, begin, (*around, first + 1), depth)
        head = len(self._parts)
        self._append(begin, end, around, depth)
        self._parts[first] = replace(self._parts[first], indent=self._parts[head].indent)
        self._parts[head] = replace(self._parts[head], defines=node.kind in DEFINES, rank=rank, name=node.name)
        if node.body >= 0:
            self._add_body(node, head, around, depth)
        return head

    def _add_imports(self, node: Node, start: int) -> int:
        """Append each import at the top of a script and return the number of the last one."""
        imports = self._ranks.imports(node)
        if self._text[start : imports[0][0]].strip():
            self._append(start, imports[0][0], (len(self._parts) + 1,), 0)
        for begin, end in imports:
            self._append(begin, end, (), 0)
            self._parts[-1] = replace(self._parts[-1], rank=Rank.MODULE)
        return len(self._parts) - 1

    def _rank(self, node: Node, depth: int) -> Rank | None:
        if depth == 0:
            return self._ranks.of(node)
        hidden = not node.exported and is_underscored(node.name)
        return (Rank.PRIVATE if hidden else Rank.PUBLIC) if node.kind in DEFINES else None

    def _add_body(self, node: Node, head: int, around: tuple[int, ...], depth: int) -> None:
        within = (*around, head)
        if node.children:
            self._add_all(node.children, within, depth + 1)
        else:
            self._append(node.body, node.tail, within, depth + 1)
        last = len(self._parts) - 1
        more: tuple[int, ...] = ()
        if self._text[node.tail : node.end].strip():
            more = (len(self._parts),)
            self._append(node.tail, node.end, within, depth)
        elif not node.signature >= 0 and head < last:
            more = (self._first_of_body(head),)  # "match x:" does not parse with dots for a body
        old = self._parts[head]
        self._parts[head] = replace(old, needs=(*old.needs, *more), last=last)

    def _first_of_body(self, head: int) -> int:
        """Return the first part of a body that is not the comment above another part."""
        number = head + 1
        return number + 1 if number + 1 in self._parts[number].needs else number

    def _signature(self, node: Node, start: int) -> int:
        """Return where to begin showing a declaration: at its decorators unless they are long, after its comments."""
        if node.signature < 0:
            return start
        begin = start + self._comment_length(self._text[start : node.signature])
        return begin if node.signature - begin <= _LONG_DECORATORS else node.signature

    def _append(self, start: int, end: int, needs: tuple[int, ...], depth: int) -> None:
        """Append a part without the blank lines around it."""
        text = self._text[start:end]
        bare = text.strip()
        if bare:
            first = text.find(bare[0])
            begin = text.rfind("\n", 0, first) + 1
            stop = first + len(bare)
            self._parts.append(Part(start + begin, start + stop, needs, depth=depth, indent=self._indent(text)))

    def _indent(self, text: str) -> str:
        code = text[self._comment_length(text) :]
        return code[: len(code) - len(code.lstrip())]

    def _is_comment(self, start: int, end: int) -> bool:
        """Tell whether the characters are nothing but comments and blank lines."""
        return self._comment_length(self._text[start:end]) == end - start

    def _comment_length(self, text: str) -> int:
        """Return the length of the comments and blank lines at the beginning of a text."""
        length, is_open = 0, False
        for line in split_lines(text):
            bare = line.lstrip()
            if is_open or ("/*" in self._comments and bare.startswith("/*")):
                is_open = "*/" not in bare
            elif bare and not bare.startswith(self._comments):
                break
            length += len(line)
        return length
