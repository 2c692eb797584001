"""The outline of source code by its lines, for what no parser takes: chunks that begin and end anywhere, languages
without a grammar.

Lines that go on in brackets, strings or comments are one; what is indented deeper than a line is its body; and in
languages with braces what is cut apart must have its braces closed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ctxcompress.code.lexing import LogicalLines, logical_lines
from ctxcompress.data.passages import Node, NodeKind

__all__ = ["Definition", "definition", "is_import", "line_outline"]

_LONGEST = 300
"""Characters of a line that are looked at."""
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


class Definition(NamedTuple):
    """What a line begins to define."""

    kind: NodeKind
    name: str
    container: bool
    """Whether it can hold other definitions."""
    exported: bool


def definition(text: str, start: int, *, braced: bool) -> Definition | None:
    """What the line that begins at `start` begins to define. braced: whether the language has braces, so that a type
    and a name with parentheses can be a function."""
    end = text.find("\n", start)
    head = text[start : min(start + _LONGEST, end if end >= 0 else len(text))].rstrip("\r")
    match = _DEFINITION.match(head)
    if match:
        container = match["container"]
        return Definition(_kind(container, match["type"]), match["name"], container is not None, _is_exported(match))
    match = _FUNCTION_VALUE.match(head) or (_TYPED_FUNCTION.match(head) if braced else None)
    return Definition(NodeKind.FUNCTION, match["name"], False, _is_exported(match)) if match else None


def is_import(text: str, start: int) -> bool:
    """Whether the line that begins at `start` brings in something from elsewhere."""
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
_ASSIGNMENT = re.compile(r"[ \t]*(?:(?:export|const|let|var|static|final|public|private|pub|readonly|val)[ \t]+)*"
                         r"(?P<name>[A-Za-z_$][\w$]*)[^=\n(){}]{0,80}=(?!=)")  # fmt: skip
_DOCSTRING = re.compile(r"[ \t]*[rRuU]?(?:\"{3}|'{3}|\"|')")
_SCRIPTS = frozenset(("javascript", "typescript", "tsx"))
_SAYS_EXPORTS = re.compile(r"^(?:export\b|(?:module\.)?exports\b)", re.MULTILINE)
_EXPORTS = re.compile(
    r"^(?:export(?:[ \t]++default)?|(?:exports[ \t]*+=[ \t]*+)?(?:module\.)?exports(?:\.[\w$]++)?[ \t]*+=)[ \t]*+"
    r"(?P<names>\{[^{}]{0,4000}+\}|[\w$]++(?=[ \t]*+;?[ \t]*+$))",
    re.MULTILINE,
)
"""Names that a script exports apart from where it defines them."""
_NAME = re.compile(r"[\w$]+")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b", re.MULTILINE)


_FIRST = re.compile(r"[ \t]*+(.?)", re.DOTALL)
_MUTE = frozenset("{}();")
"""What no comment, definition, import, assignment or label begins with."""
_NEW = frozenset("{(;")
"""What also goes on with nothing, and closes nothing."""


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
    count = len(lines.indents)
    nodes = tuple(_Builder(text, language, lines).nodes(0, count, _Scope())) if count else ()
    return _as_exported(text, nodes) if language in _SCRIPTS else nodes


class _Builder:
    """Makes nodes of runs of lines."""

    def __init__(self, text: str, language: str, lines: LogicalLines) -> None:
        self._text = text
        self._starts, self._indents, nets, self._ends_blank = lines
        self._braced = any(nets) and language != "python"
        self._python = language == "python"
        self._following = _followers(self._indents)
        self._begins = [_first(text, start) for start in self._starts[:-1]]
        self._nets = list(accumulate(nets, initial=0))
        """Braces opened, less those closed, before each line."""

    def nodes(self, first: int, last: int, scope: _Scope) -> Iterable[Node]:
        """The nodes of the lines from `first` to before `last`, of which none is less indented than the first."""
        found: list[Node] = []
        ends: list[int] = []
        attached = -1
        number, begins = first, self._begins
        while number < last:
            is_mute = begins[number] in _MUTE or self._ends_blank[number] or number + 1 == last
            if not is_mute and _ATTACHED.match(self._text, self._starts[number]):
                attached = number if attached < 0 else attached
                number += 1
                continue
            node, number = self._node(number if attached < 0 else attached, number, last, scope)
            attached = -1
            found.append(node)
            ends.append(number)
        if scope.depth == 0 or not self._braced:
            return _merged(found, [])
        return _merged(found, [self._nets[end] - self._nets[first] for end in ends])

    def _node(self, begin: int, number: int, last: int, scope: _Scope) -> tuple[Node, int]:
        """The node whose first line has this number, and the number of the line after it. begin: with what is
        attached above."""
        indent, net = self._indents[number], self._nets[number + 1] - self._nets[number]
        body = number + 1
        if body < last and net == 0 and self._begins[body] == "{" and self._indents[body] == indent:
            body += 1  # the brace has a line of its own
        following = self._following[body - 1]
        end = tail = following if following < last else last
        if tail == body < last and net == 1 and (self._is(_FLAT, number) or self._is(_LABEL, body)):
            end = tail = self._closing(body, last)
        while end < last and self._begins[end] not in _NEW and (part := self._next_part(end, last, indent)) >= 0:
            end = max(part + 1, min(self._following[part], last))
        start, stop = self._starts[begin], self._starts[end]
        if self._begins[number] in _MUTE:
            what, kind, name, signature = None, NodeKind.STATEMENT, "", -1
        else:
            what = definition(self._text, self._starts[number], braced=self._braced)
            kind = self._kind(what, number, scope)
            name = self._name(what, kind, number, scope)
            signature = self._starts[number] if what else -1
        exported = what is not None and what.exported
        is_worth_remembering = body < tail and scope.depth < _DEEPEST and (what or stop - start > _SHORT)
        if not is_worth_remembering or not self._is_closed(number, body, tail, end):
            return Node(kind, start, stop, name, signature, -1, -1, exported), end
        children = tuple(self.nodes(body, tail, scope.within(what, name)))
        closing = self._starts[tail] if tail < end else stop
        return Node(kind, start, stop, name, signature, self._starts[body], closing, exported, children), end

    def _is(self, what: re.Pattern[str], number: int) -> bool:
        """Whether a line begins as that says, which is not of what is mute."""
        return self._begins[number] not in _MUTE and what.match(self._text, self._starts[number]) is not None

    def _closing(self, number: int, last: int) -> int:
        """The number of the line that closes a brace opened before: or the first one, if none does."""
        depth = self._nets[number] - 1
        return next((other for other in range(number, last) if self._nets[other + 1] <= depth), number)

    def _next_part(self, number: int, last: int, indent: int) -> int:
        """The number of the line that goes on with, or closes, what was begun with this indentation, comments before it
        apart; -1 for none."""
        first = number
        while number < last and self._indents[number] == indent:
            start = self._starts[number]
            if _GOES_ON.match(self._text, start) or (number == first and _CLOSES.match(self._text, start)):
                return number
            if not _COMMENT.match(self._text, start):
                return -1
            number += 1
        return -1

    def _is_closed(self, number: int, body: int, tail: int, end: int) -> bool:
        """Whether the braces around a body are those of its first line and of what closes it."""
        if not self._python and _CONDITIONAL.search(self._text, self._starts[number], self._starts[end]):
            return False
        if not self._braced:
            return True
        before, opens, closes, after = (self._nets[at] for at in (number, body, tail, end))
        opened, inside, closed = opens - before, closes - opens, after - closes
        return opened == 1 and inside == 0 and (closed == -1 or (tail == end == len(self._indents)))

    def _kind(self, what: Definition | None, number: int, scope: _Scope) -> NodeKind:
        if what:
            if what.kind is NodeKind.FUNCTION and scope.is_class:
                return NodeKind.METHOD
            return what.kind
        if scope.is_function:
            return NodeKind.DOC if self._is_doc(number) else NodeKind.STATEMENT
        if is_import(self._text, self._starts[number]):
            return NodeKind.IMPORTS
        if self._is_doc(number):
            return NodeKind.DOC
        return NodeKind.CONSTANT if self._is(_ASSIGNMENT, number) else NodeKind.STATEMENT

    def _is_doc(self, number: int) -> bool:
        return self._python and self._is(_DOCSTRING, number)

    def _name(self, what: Definition | None, kind: NodeKind, number: int, scope: _Scope) -> str:
        if what:
            return f"{scope.name}.{what.name}" if scope.name else what.name
        match = _ASSIGNMENT.match(self._text, self._starts[number]) if kind is NodeKind.CONSTANT else None
        return match["name"] if match else ""


def _merged(nodes: Sequence[Node], depths: Sequence[int]) -> Iterable[Node]:
    """Imports that follow one another as one node; and what has its braces closed only together.

    depths: the braces that are open after each node, as far as that matters.
    """
    if not any(depths) and all(node.kind is not NodeKind.IMPORTS for node in nodes):
        return nodes
    return _runs_together(nodes, depths or [0] * len(nodes))


def _runs_together(nodes: Sequence[Node], depths: Sequence[int]) -> Iterator[Node]:
    run: list[Node] = []
    depth = 0
    for node, after in zip(nodes, depths, strict=True):
        if run and depth == 0 and not (node.kind is run[-1].kind is NodeKind.IMPORTS):
            yield _together(run)
            run = []
        run.append(node)
        depth = after
    if run:
        yield _together(run)


def _as_exported(text: str, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes of a script: where it says what it exports, nothing else is."""
    if not _SAYS_EXPORTS.search(text):
        return tuple(nodes)
    names = {name for match in _EXPORTS.finditer(text) for name in _NAME.findall(match["names"])}
    return tuple(
        node._replace(exported=node.name in names or _SAYS_EXPORTS.match(text, node.signature) is not None)
        if node.signature >= 0
        else node
        for node in nodes
    )


def _together(nodes: Sequence[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    kind = NodeKind.IMPORTS if all(node.kind is NodeKind.IMPORTS for node in nodes) else NodeKind.STATEMENT
    return Node(kind, nodes[0].start, nodes[-1].end)


def _first(text: str, start: int) -> str:
    """The first character of a line that is no space or tab."""
    first = text[start]
    return first if first not in " \t" else _FIRST.match(text, start)[1]  # type: ignore[index]  # which always matches


def _followers(indents: Sequence[int]) -> list[int]:
    """For each line the number of the next one that is not indented deeper, or how many there are."""
    found = [len(indents)] * len(indents)
    open_: list[int] = []
    for number, indent in enumerate(indents):
        while open_ and indents[open_[-1]] >= indent:
            found[open_.pop()] = number
        open_.append(number)
    return found
