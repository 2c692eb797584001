"""What a long text can be cut into: parts that are kept or left out whole, and what each cannot stand without."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import accumulate, pairwise

from ctxcompress.code.elision import Marks
from ctxcompress.data.passages import Node, NodeKind, Segment
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
_COMMENTS = re.compile(r"(?:\s*+(?://[^\n]*+|/\*(?s:.*?)\*/))*+\s*+")
_INTERFACE = re.compile(r"export[ \t]*+(?:default\b|[{*=])|(?:module\.)?exports[ \t]*+=")
_FUNCTION = re.compile(
    r"(?:module\.)?exports\.[\w$]++[ \t]*+=[ \t]*+(?:async[ \t]++)?(?:function\b|\(|[\w$]++[ \t]*+=>)"
)
_EXPORTED = re.compile(r"export\b|(?:module\.)?exports\b")
_IMPORT = re.compile(r"^(?:import|export|const|let|var)\b", re.MULTILINE)


class Rank(IntEnum):
    """How early something is kept."""

    PUBLIC = 0
    """What can be used from elsewhere."""
    MODULE = 1
    """What a script imports, its default export, and its lists of exports."""
    TYPE = 2
    """The types that a script exports, of which little is left without their members, and the values."""
    PRIVATE = 3


class Ranks:
    """The ranks of what stands at the top of one file."""

    def __init__(self, text: str, nodes: Sequence[Node], *, is_script: bool) -> None:
        """is_script: whether it is of JavaScript or TypeScript, where a file says what it exports, and where types are
        nothing that is called."""
        self._text, self._is_script = text, is_script
        self._says_exports = is_script and any(node.exported for node in nodes)

    def of(self, node: Node) -> Rank | None:
        """The rank of a node; None for what declares nothing that others would look for."""
        if not self._is_script:
            return self._of_definition(node) if node.kind in DEFINES else None
        begin = node.signature if node.signature >= 0 else self._code(node)
        if node.kind in DEFINES:
            rank = self._of_definition(node)
            return Rank.TYPE if rank is Rank.PUBLIC and node.kind is NodeKind.TYPE else rank
        if node.kind is NodeKind.IMPORTS or _INTERFACE.match(self._text, begin):
            return Rank.MODULE
        if _FUNCTION.match(self._text, begin):
            return Rank.PUBLIC
        return Rank.TYPE if node.exported or _EXPORTED.match(self._text, begin) else None

    def imports(self, node: Node) -> list[tuple[int, int]]:
        """Where each of the imports of a script begins and ends that a node consists of, without comments above."""
        begins = [match.start() for match in _IMPORT.finditer(self._text, node.start, node.end)]
        return [*pairwise([*(begins or [self._code(node)]), node.end])]

    def _of_definition(self, node: Node) -> Rank:
        hidden = not node.exported and (self._says_exports or is_underscored(node.name))
        return Rank.PRIVATE if hidden else Rank.PUBLIC

    def _code(self, node: Node) -> int:
        """Where a node begins after the comments above it."""
        match = _COMMENTS.match(self._text, node.start, node.end)
        return match.end() if match else node.start


def is_underscored(name: str) -> bool:
    """Whether the name says that it is not for use from elsewhere."""
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.endswith("__")


_LONG_DECORATORS = 200
"""Characters of decorators above a signature that are shown with it, at most."""
_IMPORTANT_LINE = re.compile(
    r"[^\n]{0,200}?\b(?:export|function|class|interface|type|const|let|var|enum|namespace|def|fn|func|struct|trait)\b"
)
"""What the lines say that matter most where nothing else is known of a code."""
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Part:
    """Characters `start` to `end`, without white space at the end. Those of a text are in order and do not overlap."""

    start: int
    end: int
    needs: tuple[int, ...] = ()
    """Numbers of the parts without which this one is not kept."""
    last: int = -1
    """The number of the last part in the body, for one that begins a body; -1 for any other."""
    depth: int = 0
    """How many bodies it stands in."""
    defines: bool = False
    """Whether it declares a function, a class or a type; of lines, whether it may do so."""
    rank: Rank | None = None
    """How early it is kept of what the file declares at its top, or in a class; None for what declares nothing."""
    name: str = ""
    indent: str = field(default="", repr=False)
    """The white space before its first line that is no comment."""


def parts_of_code(text: str, nodes: Sequence[Node], marks: Marks) -> list[Part]:
    """The parts of source code with this outline: signatures, statements, and what closes a body.

    Keeping some of them with all that they need leaves code that parses, where that with the whole text did, if
    something stands for a body of which nothing is kept. marks: of its language. Comments are not parts of their own,
    for nothing else of a body may be kept.
    """
    return _Builder(text, marks, Ranks(text, nodes, is_script=marks.is_script)).parts_of(nodes)


def parts_of_lines(text: str) -> list[Part]:
    """The lines that are not blank."""
    parts, start = [], 0
    for line in split_lines(text):
        if not line.isspace():
            end, indent = start + len(line.rstrip()), line[: len(line) - len(line.lstrip())]
            parts.append(Part(start, end, defines=_IMPORTANT_LINE.match(line) is not None, indent=indent))
        start += len(line)
    return parts


def parts_of_prose(text: str, segments: Sequence[Segment], most: int) -> list[Part]:
    """The segments of the text (sentences, rows, list items) that are not blank, without the white space around; of a
    fenced block of more than `most` characters the lines, each with the fence."""
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
    """Where the lines of a fenced block begin and end that are not blank; none if it is not fenced on both sides."""
    fence = text[start : start + 3]
    lines = split_lines(text[start:end])
    if fence not in ("```", "~~~") or lines[-1].strip(" \t>")[:3] != fence:
        return []
    begins = accumulate(map(len, lines), initial=start)
    return [(begin, begin + len(line.rstrip())) for begin, line in zip(begins, lines, strict=False) if line.strip()]


def parts_of_words(text: str) -> list[Part]:
    """What stands between white space."""
    return [Part(match.start(), match.end()) for match in _WORD.finditer(text)]


class _Builder:
    def __init__(self, text: str, marks: Marks, ranks: Ranks) -> None:
        self._text, self._comments, self._ranks = text, marks.comments, ranks
        self._parts: list[Part] = []

    def parts_of(self, nodes: Sequence[Node]) -> list[Part]:
        self._add_all(nodes, (), 0)
        return self._parts

    def _add_all(self, nodes: Sequence[Node], around: tuple[int, ...], depth: int) -> None:
        """Appends the parts of nodes side by side. around: the numbers of what they stand in, innermost last."""
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
        """Appends the parts of a node with the comments above it. Gives the number of its signature, or -1 where it has
        none: a chunk can begin with a body."""
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
        """Appends each of the imports at the top of a script. Gives the number of the last one."""
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
        """The first part in a body that is not the comment above another."""
        number = head + 1
        return number + 1 if number + 1 in self._parts[number].needs else number

    def _signature(self, node: Node, start: int) -> int:
        """Where the declaration begins to be shown: with its decorators if these are not long, without comments."""
        if node.signature < 0:
            return start
        begin = start + self._comment(self._text[start : node.signature])
        return begin if node.signature - begin <= _LONG_DECORATORS else node.signature

    def _append(self, start: int, end: int, needs: tuple[int, ...], depth: int) -> None:
        """Appends a part, without blank lines around it."""
        text = self._text[start:end]
        bare = text.strip()
        if bare:
            first = text.find(bare[0])
            begin = text.rfind("\n", 0, first) + 1
            stop = first + len(bare)
            self._parts.append(Part(start + begin, start + stop, needs, depth=depth, indent=self._indent(text)))

    def _indent(self, text: str) -> str:
        code = text[self._comment(text) :]
        return code[: len(code) - len(code.lstrip())]

    def _is_comment(self, start: int, end: int) -> bool:
        """Whether there is nothing but comments and blank lines."""
        return self._comment(self._text[start:end]) == end - start

    def _comment(self, text: str) -> int:
        """How many characters of a text, in whole lines, are comments and blank lines before all else."""
        length, is_open = 0, False
        for line in split_lines(text):
            bare = line.lstrip()
            if is_open or ("/*" in self._comments and bare.startswith("/*")):
                is_open = "*/" not in bare
            elif bare and not bare.startswith(self._comments):
                break
            length += len(line)
        return length
