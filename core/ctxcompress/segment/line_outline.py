"""The outline of source code by its lines, for what no parser takes: chunks that begin and end anywhere, languages
without a grammar.

Lines that go on in brackets, strings or comments are one; what is indented deeper than a line is its body; and in
languages with braces what is cut apart must have its braces closed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxcompress.outline import Node, NodeKind
from ctxcompress.segment.definitions import Definition, definition, is_import
from ctxcompress.segment.lexing import LogicalLine, logical_lines

__all__ = ["line_outline"]

_DEEPEST = 12
"""Levels of bodies within bodies; what is deeper is not cut."""
_SHORT = 250
"""Characters of a statement that is not worth cutting."""
_ATTACHED = re.compile(r"[ \t]*(?:@(?!interface\b)\w|#|//|/\*|\*|--[ ]|\[\[?\w)")
"""Comments, decorators and attributes, which belong to a definition that follows at once."""
_COMMENT = re.compile(r"[ \t]*(?:#|//|/\*|\*|--[ ])")
_GOES_ON = re.compile(
    r"[ \t]*(?:[)\]}]+[ \t]*(?:else|catch|finally|while)\b|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure"
    r"|then)\b)"
)
"""Another part of the statement that the line above at the same indentation began."""
_CLOSES = re.compile(r"[ \t]*(?:[)\]}]|end\b|done\b|fi\b|esac\b)")
_FLAT = re.compile(r"[ \t]*(?:inline[ \t]+)?(?:namespace\b|extern[ \t]+\")")
"""What often has a body that is not indented."""
_LABEL = re.compile(r"[ \t]*(?:(?:case|default)\b|(?:public|protected|private)[ \t]*:)")
"""What often stands in a body that is not indented: the cases of a switch, the parts of a class."""
_OPENS = re.compile(r"[ \t]*\{")
_ASSIGNMENT = re.compile(r"[ \t]*(?:(?:export|const|let|var|static|final|public|private|pub|readonly|val)[ \t]+)*"
                         r"(?P<name>[A-Za-z_$][\w$]*)[^=\n(){}]{0,80}=(?!=)")  # fmt: skip
_DOCSTRING = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b", re.MULTILINE)


class _Scope(NamedTuple):
    """What nodes stand in."""

    name: str = ""
    is_class: bool = False
    is_function: bool = False
    depth: int = 0

    def within(self, what: Definition | None, name: str) -> "_Scope":
        """What stands in the body of a node."""
        if what is None:
            return self._replace(depth=self.depth + 1)
        return _Scope(name, what.container, not what.container, self.depth + 1)


def line_outline(text: str, language: str) -> tuple[Node, ...]:
    """The outline of `text`: nodes that partition it. language: as source.source_language says."""
    lines = logical_lines(text, language)
    if not lines:
        return ()
    builder = _Builder(text, language, lines)
    return tuple(builder.nodes(0, len(lines), _Scope()))


class _Builder:
    """Makes nodes of runs of lines."""

    def __init__(self, text: str, language: str, lines: Sequence[LogicalLine]) -> None:
        self._text, self._lines = text, lines
        self._braced = any(line.net for line in lines) and language != "python"
        self._python = language == "python"
        self._following = _followers(lines)

    def nodes(self, first: int, last: int, scope: _Scope) -> Iterator[Node]:
        """The nodes of the lines from `first` to before `last`, of which none is less indented than the first."""
        found: list[Node] = []
        nets: list[int] = []
        attached = -1
        number = first
        while number < last:
            line = self._lines[number]
            if _ATTACHED.match(self._text, line.start) and not line.ends_blank and number + 1 < last:
                attached = number if attached < 0 else attached
                number += 1
                continue
            begin, attached = (number if attached < 0 else attached), -1
            node, number = self._node(begin, number, last, scope)
            found.append(node)
            nets.append(sum(line.net for line in self._lines[begin:number]))
        return self._merged(found, nets, at_top=scope.depth == 0)

    def _node(self, begin: int, number: int, last: int, scope: _Scope) -> tuple[Node, int]:
        """The node whose first line has this number, and the number of the line after it. begin: with what is
        attached above."""
        line = self._lines[number]
        body = number + 1
        is_split = body < last and self._lines[body].indent == line.indent
        if is_split and _OPENS.match(self._text, self._lines[body].start) and line.net == 0:
            body += 1  # the brace has a line of its own
        end = tail = max(body, min(self._following[body - 1], last))
        if tail == body < last and line.net == 1 and self._is_flat(line, self._lines[body]):
            end = tail = self._closing(body, last)
        while (part := self._next_part(end, last, line.indent)) >= 0:
            end = max(part + 1, min(self._following[part], last))
        start, stop = self._lines[begin].start, self._lines[end - 1].end
        what = definition(self._text, line.start, braced=self._braced)
        kind = self._kind(what, line, scope)
        name = self._name(what, kind, line, scope)
        signature, exported = line.start if what else -1, bool(what and what.exported)
        is_worth_it = body < tail and scope.depth < _DEEPEST and (what or stop - start > _SHORT)
        if not is_worth_it or not self._is_closed(number, body, tail, end):
            return Node(kind, start, stop, name, signature, exported=exported), end
        children = tuple(self.nodes(body, tail, scope.within(what, name)))
        closing = self._lines[tail].start if tail < end else stop
        return Node(kind, start, stop, name, signature, self._lines[body].start, closing, exported, children), end

    def _is_flat(self, line: LogicalLine, following: LogicalLine) -> bool:
        """Whether the body of a line that opens a brace is not indented."""
        return any(part.match(self._text, at.start) for part, at in ((_FLAT, line), (_LABEL, following)))

    def _closing(self, number: int, last: int) -> int:
        """The number of the line that closes a brace opened before: or the first one, if none does."""
        depth = 1
        for other in range(number, last):
            depth += self._lines[other].net
            if depth <= 0:
                return other
        return number

    def _next_part(self, number: int, last: int, indent: int) -> int:
        """The number of the line that goes on with, or closes, what was begun with this indentation, comments before it
        apart; -1 for none."""
        first = number
        while number < last and self._lines[number].indent == indent:
            start = self._lines[number].start
            if _GOES_ON.match(self._text, start) or (number == first and _CLOSES.match(self._text, start)):
                return number
            if not _COMMENT.match(self._text, start):
                return -1
            number += 1
        return -1

    def _is_closed(self, number: int, body: int, tail: int, end: int) -> bool:
        """Whether the braces around a body are those of its first line and of what closes it."""
        if not self._python and _CONDITIONAL.search(self._text, self._lines[number].start, self._lines[end - 1].end):
            return False
        if not self._braced:
            return True
        opened = sum(line.net for line in self._lines[number:body])
        inside = sum(line.net for line in self._lines[body:tail])
        closed = sum(line.net for line in self._lines[tail:end])
        return opened == 1 and inside == 0 and (closed == -1 or (tail == end == len(self._lines)))

    def _kind(self, what: Definition | None, line: LogicalLine, scope: _Scope) -> NodeKind:
        if what:
            if what.kind is NodeKind.FUNCTION and scope.is_class:
                return NodeKind.METHOD
            return what.kind
        if scope.is_function:
            return NodeKind.DOC if self._is_doc(line) else NodeKind.STATEMENT
        if is_import(self._text, line.start):
            return NodeKind.IMPORTS
        if self._is_doc(line):
            return NodeKind.DOC
        return NodeKind.CONSTANT if _ASSIGNMENT.match(self._text, line.start) else NodeKind.STATEMENT

    def _is_doc(self, line: LogicalLine) -> bool:
        return self._python and _DOCSTRING.match(self._text, line.start) is not None

    def _name(self, what: Definition | None, kind: NodeKind, line: LogicalLine, scope: _Scope) -> str:
        if what:
            return f"{scope.name}.{what.name}" if scope.name else what.name
        match = _ASSIGNMENT.match(self._text, line.start) if kind is NodeKind.CONSTANT else None
        return match["name"] if match else ""

    def _merged(self, nodes: Sequence[Node], nets: Sequence[int], *, at_top: bool) -> Iterator[Node]:
        """Imports that follow one another as one node; and in a body what has its braces closed only together."""
        run: list[Node] = []
        depth = 0
        for node, net in zip(nodes, nets, strict=True):
            if run and depth == 0 and not (node.kind is run[-1].kind is NodeKind.IMPORTS):
                yield _together(run)
                run = []
            run.append(node)
            depth = 0 if at_top or not self._braced else depth + net
        if run:
            yield _together(run)


def _together(nodes: Sequence[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    kind = NodeKind.IMPORTS if all(node.kind is NodeKind.IMPORTS for node in nodes) else NodeKind.STATEMENT
    return Node(kind, nodes[0].start, nodes[-1].end)


def _followers(lines: Sequence[LogicalLine]) -> list[int]:
    """For each line the number of the next one that is not indented deeper, or how many there are."""
    found = [len(lines)] * len(lines)
    open_: list[int] = []
    for number, line in enumerate(lines):
        while open_ and lines[open_[-1]].indent >= line.indent:
            found[open_.pop()] = number
        open_.append(number)
    return found
