"""The outline of source code by its lines, for chunks that no parser accepts and for languages without a grammar.

Lines that continue in brackets, strings or comments count as one. The lines indented deeper after a line are its body.
In languages with braces, every node must close the braces that it opens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ctxcompress.code.lexing import LogicalLines, logical_lines
from ctxcompress.data.passages import Node, NodeKind

__all__ = ["line_outline"]

_LONGEST = 300
"""Number of characters read of a line."""
_DEFINITION = re.compile(
    r"""[ \t]*
    (?P<modifiers> (?: (?:export|default|declare|public|private|protected|internal|static|final|abstract|async|override
          |virtual|inline|pub(?:\([\w ]*\))?|unsafe|extern|const|open|data|sealed|partial|local)[ \t]+ )*)
    (?: (?P<container>class|@?interface|enum|struct|trait|impl|namespace|module|mod|object|record|protocol|extension)\b
      | (?P<function>def|defp|function\*?|func|fn|fun|sub|macro_rules!)[ \t] | (?P<type>type)[ \t] )
    [ \t]* (?:\[\[[^\[\]\n]*\]\][ \t]*)? (?:\([^()\n]*\)[ \t]*)? (?:<[^<>\n]*>[ \t]*)?
    (?P<name>[\w$]+(?:[:.]{1,2}[\w$]+)*)
    """,
    re.VERBOSE,
)
_FUNCTION_VALUE = re.compile(
    r"[ \t]*(?P<modifiers>(?:export[ \t]+)?)(?:const|let|var)[ \t]+(?P<name>[\w$]+)[^=\n]{0,100}=[ \t]*"
    r"(?:async[ \t]*)?(?:function\b|\(|\w+[ \t]*=>)"
)
_TYPED_FUNCTION = re.compile(
    r"[ \t]*"
    r"(?!(?:return|else|if|for|while|switch|catch|throw|new|await|yield|print|raise|assert|del|and|or|not|in|is)\b)"
    r"(?P<modifiers>(?:[\w<>\[\],.?*&:~]+[ \t]+){0,6})[*&]{0,2}(?P<name>[\w$:~]+)[ \t]*"
    r"\([^;={}\n]*(?:\{[ \t]*$|\)[^;={}\n:,.]{0,80}\{?[ \t]*$|,[ \t]*$)"
)
_IMPORT = re.compile(
    r"[ \t]*(?:import\b|from[ \t]+[\w.]+[ \t]+import\b|\#[ \t]*include\b|(?:pub[ \t]+)?use[ \t]+[\w:{]|using[ \t]+\w"
    r"|package[ \t]+\w|(?:const|let|var)[ \t]+[\w{}, ]+=[ \t]*require\(|require(?:_relative)?[ \t(]|extern[ \t]+crate)"
)
_NAMESPACES = frozenset(("impl", "namespace", "module", "mod", "extension"))
_CLASSES = frozenset(("class", "object", "record"))
_DEEPEST = 12
"""Levels of nested bodies. Deeper ones are not cut."""
_SHORT = 250
"""The most characters of a statement that is not worth cutting."""
_ATTACHED = re.compile(r"[ \t]*(?:@(?!interface\b)\w|#|//|/\*|\*|--[ ]|\[\[?\w)")
"""Comments, decorators and attributes, which belong to the definition directly after them."""
_COMMENT = re.compile(r"[ \t]*(?:#|//|/\*|\*|--[ ])")
_CONTINUATION = re.compile(
    r"[ \t]*(?:[)\]}]+[ \t]*(?:else|catch|finally|while)\b|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure"
    r"|then)\b)"
)
"""A line that continues the statement above it with the same indentation."""
_CLOSES = re.compile(r"[ \t]*(?:[)\]}]|end\b|done\b|fi\b|esac\b)")
_FLAT = re.compile(r"[ \t]*(?:inline[ \t]+)?(?:namespace\b|extern[ \t]+\")")
"""Definitions whose body is often not indented."""
_LABEL = re.compile(r"[ \t]*(?:(?:case|default)\b|(?:public|protected|private)[ \t]*:)")
"""Labels in a body that is often not indented: the cases of a switch, the sections of a class."""
_ASSIGNMENT = re.compile(r"[ \t]*(?:(?:export|const|let|var|static|final|public|private|pub|readonly|val)[ \t]+)*"
                         r"(?P<name>[A-Za-z_$][\w$]*)[^=\n(){}]{0,80}=(?!=)")  # fmt: skip
_DOCSTRING = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")
_SCRIPTS = frozenset(("javascript", "typescript", "tsx"))
_EXPORT_STATEMENT = re.compile(r"^(?:export\b|(?:module\.)?exports\b)", re.MULTILINE)
_EXPORTS = re.compile(
    r"^(?:export(?:[ \t]++default)?|(?:exports[ \t]*+=[ \t]*+)?(?:module\.)?exports(?:\.[\w$]++)?[ \t]*+=)[ \t]*+"
    r"(?P<names>\{[^{}]{0,4000}+\}|[\w$]++(?=[ \t]*+;?[ \t]*+$))",
    re.MULTILINE,
)
"""Names that a script exports separately from their definitions."""
_NAME = re.compile(r"[\w$]+")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b", re.MULTILINE)
_FIRST = re.compile(r"[ \t]*+(.?)", re.DOTALL)
_IMPORTS, _STATEMENT = NodeKind.IMPORTS, NodeKind.STATEMENT  # ten times as fast as attributes of an enum
_NEVER_SPECIAL = frozenset("{}();")
"""First characters that no comment, definition, import, assignment or label has."""
_STARTS_NEW = frozenset("{(;")
"""First characters of lines that neither continue nor close a statement."""


def line_outline(text: str, language: str) -> tuple[Node, ...]:
    """Return the outline of `text`: nodes that partition it. language: a name that `source_language` returns."""
    lines = logical_lines(text, language)
    count = len(lines.indents)
    nodes = tuple(_Builder(text, language, lines).nodes(0, count, _Scope())) if count else ()
    return _with_exports(text, nodes) if language in _SCRIPTS else nodes


class _Definition(NamedTuple):
    """The definition that begins on a line."""

    kind: NodeKind
    name: str
    container: bool
    """True if it can contain other definitions."""
    exported: bool


class _Scope(NamedTuple):
    """The definition around some nodes."""

    name: str = ""
    is_class: bool = False
    is_function: bool = False
    depth: int = 0

    def within(self, defined: _Definition | None, name: str) -> "_Scope":
        """Return the scope inside the body of a node."""
        if defined is None:
            return self._replace(depth=self.depth + 1)
        return _Scope(name, defined.container, not defined.container, self.depth + 1)


class _Builder:
    """A converter from the logical lines of a text to nodes."""

    def __init__(self, text: str, language: str, lines: LogicalLines) -> None:
        self._text = text
        self._starts, self._indents, nets, self._ends_blank = lines
        self._braced = any(nets) and language != "python"
        self._python = language == "python"
        self._following = _following_lines(self._indents)
        self._begins = [_first_character(text, start) for start in self._starts[:-1]]
        self._nets = list(accumulate(nets, initial=0))
        """The number of open braces before each line."""

    def nodes(self, first: int, last: int, scope: _Scope) -> Iterable[Node]:
        """Return the nodes of the lines from `first` to before `last`. No line is less indented than the first one."""
        found: list[Node] = []
        ends: list[int] = []
        attached = -1
        number, begins = first, self._begins
        while number < last:
            is_alone = begins[number] in _NEVER_SPECIAL or self._ends_blank[number] or number + 1 == last
            if not is_alone and _ATTACHED.match(self._text, self._starts[number]):
                attached = number if attached < 0 else attached
                number += 1
                continue
            node, number = self._node(number if attached < 0 else attached, number, last, scope)
            attached = -1
            found.append(node)
            ends.append(number)
        if scope.depth == 0 or not self._braced:
            return _with_merged(found, [])
        return _with_merged(found, [self._nets[end] - self._nets[first] for end in ends])

    def _node(self, begin: int, number: int, last: int, scope: _Scope) -> tuple[Node, int]:
        """Return the node that begins on line `number`, and the number of the line after it.

        begin: the first line of the comments and decorators attached to the node, or `number`.
        """
        indent, net = self._indents[number], self._nets[number + 1] - self._nets[number]
        body = number + 1
        if body < last and net == 0 and self._begins[body] == "{" and self._indents[body] == indent:
            body += 1  # the brace has a line of its own
        following = self._following[body - 1]
        end = tail = following if following < last else last
        if tail == body < last and net == 1 and (self._matches(_FLAT, number) or self._matches(_LABEL, body)):
            end = tail = self._closing(body, last)
        while end < last and self._begins[end] not in _STARTS_NEW and (part := self._next_part(end, last, indent)) >= 0:
            end = max(part + 1, min(self._following[part], last))
        start, stop = self._starts[begin], self._starts[end]
        if self._begins[number] in _NEVER_SPECIAL:
            if body >= tail:  # so for most lines
                return Node(_STATEMENT, start, stop), end
            defined, kind, name, signature = None, NodeKind.STATEMENT, "", -1
        else:
            defined = _definition(self._text, self._starts[number], braced=self._braced)
            kind = self._kind(defined, number, scope)
            name = self._name(defined, kind, number, scope)
            signature = self._starts[number] if defined else -1
        exported = defined is not None and defined.exported
        is_worth_cutting = body < tail and scope.depth < _DEEPEST and (defined or stop - start > _SHORT)
        if not is_worth_cutting or not self._has_closed_braces(number, body, tail, end):
            return Node(kind, start, stop, name, signature, -1, -1, exported), end
        children = tuple(self.nodes(body, tail, scope.within(defined, name)))
        closing = self._starts[tail] if tail < end else stop
        return Node(kind, start, stop, name, signature, self._starts[body], closing, exported, children), end

    def _matches(self, pattern: re.Pattern[str], number: int) -> bool:
        """Return whether a line matches a pattern of comments, labels, docstrings or the like."""
        if self._begins[number] in _NEVER_SPECIAL:
            return False
        return pattern.match(self._text, self._starts[number]) is not None

    def _closing(self, number: int, last: int) -> int:
        """Return the number of the line that closes the brace opened before line `number`, or `number` if none does."""
        depth = self._nets[number] - 1
        return next((other for other in range(number, last) if self._nets[other + 1] <= depth), number)

    def _next_part(self, number: int, last: int, indent: int) -> int:
        """Return the number of the line that continues or closes a statement with this indentation, or -1.

        Comments may precede the line.
        """
        first = number
        while number < last and self._indents[number] == indent:
            start = self._starts[number]
            if _CONTINUATION.match(self._text, start) or (number == first and _CLOSES.match(self._text, start)):
                return number
            if not _COMMENT.match(self._text, start):
                return -1
            number += 1
        return -1

    def _has_closed_braces(self, number: int, body: int, tail: int, end: int) -> bool:
        """Return whether the first line of a node opens the brace around its body and its closing part closes it."""
        if not self._python and _CONDITIONAL.search(self._text, self._starts[number], self._starts[end]):
            return False
        if not self._braced:
            return True
        before, opens, closes, after = (self._nets[at] for at in (number, body, tail, end))
        opened, inside, closed = opens - before, closes - opens, after - closes
        return opened == 1 and inside == 0 and (closed == -1 or (tail == end == len(self._indents)))

    def _kind(self, defined: _Definition | None, number: int, scope: _Scope) -> NodeKind:
        if defined:
            if defined.kind is NodeKind.FUNCTION and scope.is_class:
                return NodeKind.METHOD
            return defined.kind
        if scope.is_function:
            return NodeKind.DOC if self._is_doc(number) else NodeKind.STATEMENT
        if _is_import(self._text, self._starts[number]):
            return NodeKind.IMPORTS
        if self._is_doc(number):
            return NodeKind.DOC
        return NodeKind.CONSTANT if self._matches(_ASSIGNMENT, number) else NodeKind.STATEMENT

    def _is_doc(self, number: int) -> bool:
        return self._python and self._matches(_DOCSTRING, number)

    def _name(self, defined: _Definition | None, kind: NodeKind, number: int, scope: _Scope) -> str:
        if defined:
            return f"{scope.name}.{defined.name}" if scope.name else defined.name
        match = _ASSIGNMENT.match(self._text, self._starts[number]) if kind is NodeKind.CONSTANT else None
        return match["name"] if match else ""


def _with_merged(nodes: Sequence[Node], depths: Sequence[int]) -> Iterable[Node]:
    """Merge consecutive imports, and nodes that close their braces only together.

    depths: the number of open braces after each node, or none if it does not matter.
    """
    if not any(depths) and all(node[0] is not _IMPORTS for node in nodes):
        return nodes
    return _merge_runs(nodes, depths or [0] * len(nodes))


def _merge_runs(nodes: Sequence[Node], depths: Sequence[int]) -> Iterator[Node]:
    run: list[Node] = []
    depth = 0
    for node, after in zip(nodes, depths, strict=True):
        if run and depth == 0 and not (node.kind is run[-1].kind is NodeKind.IMPORTS):
            yield _merge(run)
            run = []
        run.append(node)
        depth = after
    if run:
        yield _merge(run)


def _with_exports(text: str, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes of a script with `exported` set. If the script has export statements, only these count."""
    if not _EXPORT_STATEMENT.search(text):
        return tuple(nodes)
    names = {name for match in _EXPORTS.finditer(text) for name in _NAME.findall(match["names"])}
    return tuple(
        node._replace(exported=node.name in names or _EXPORT_STATEMENT.match(text, node.signature) is not None)
        if node.signature >= 0
        else node
        for node in nodes
    )


def _merge(nodes: Sequence[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    kind = NodeKind.IMPORTS if all(node.kind is NodeKind.IMPORTS for node in nodes) else NodeKind.STATEMENT
    return Node(kind, nodes[0].start, nodes[-1].end)


def _first_character(text: str, start: int) -> str:
    """Return the first character of a line that is not a space or tab."""
    first = text[start]
    return first if first not in " \t" else _FIRST.match(text, start)[1]  # type: ignore[index]  # which always matches


def _following_lines(indents: Sequence[int]) -> list[int]:
    """Return for each line the number of the next line that is not indented deeper, or the number of lines."""
    found = [len(indents)] * len(indents)
    open_: list[int] = []
    for number, indent in enumerate(indents):
        while open_ and indents[open_[-1]] >= indent:
            found[open_.pop()] = number
        open_.append(number)
    return found


def _definition(text: str, start: int, *, braced: bool) -> _Definition | None:
    """Return the definition that begins on the line at `start`, or None.

    braced: whether the language has braces, so that a type and a name with parentheses can be a function.
    """
    end = text.find("\n", start)
    head = text[start : min(start + _LONGEST, end if end >= 0 else len(text))].rstrip("\r")
    match = _DEFINITION.match(head)
    if match:
        container = match["container"]
        return _Definition(_kind(container, match["type"]), match["name"], container is not None, _is_exported(match))
    match = _FUNCTION_VALUE.match(head) or (_TYPED_FUNCTION.match(head) if braced else None)
    return _Definition(NodeKind.FUNCTION, match["name"], False, _is_exported(match)) if match else None


def _is_import(text: str, start: int) -> bool:
    """Return whether the line at `start` is an import."""
    return _IMPORT.match(text, start) is not None


def _kind(container: str | None, is_type: str | None) -> NodeKind:
    if container is None:
        return NodeKind.TYPE if is_type else NodeKind.FUNCTION
    if container in _NAMESPACES:
        return NodeKind.NAMESPACE
    return NodeKind.CLASS if container in _CLASSES else NodeKind.TYPE


def _is_exported(match: re.Match[str]) -> bool:
    modifiers = match["modifiers"].split()
    said = any(word.startswith(("export", "public", "pub")) for word in modifiers)
    return said or (not modifiers and not match["name"].startswith("_"))
