"""The outline of source code by its lines, for chunks that no parser accepts and for languages without a grammar.

Lines that continue in brackets, strings or comments count as one. The lines indented deeper after a line are its body.
In languages with braces, every node must close the braces that it opens.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ctxcompress.code.lexing import LogicalLines, logical_lines
from ctxcompress.data.passages import Node, NodeKind

__all__ = ["line_outline"]

_LONGEST = 300
"""Number of characters read of a line."""
_MODIFIERS = (
    "export default declare public private protected internal static final abstract async override virtual inline "
    "unsafe const open data sealed partial local suspend operator infix tailrec inner companion value annotation "
    "fileprivate mutating nonmutating convenience required indirect implicit case readonly actual expect external "
    "package"
).replace(" ", "|")
_DEFINITION = re.compile(
    rf"""[ \t]*
    (?P<modifiers> (?: (?:{_MODIFIERS}|pub(?:\([\w ]*\))?|extern(?:[ \t]+"[^"\n]*")?|private\(set\)
          |enum(?=[ \t]+class\b)|class(?=[ \t]+func\b)|fun(?=[ \t]+interface\b)|record(?=[ \t]+struct\b))[ \t]+ )*)
    (?: (?P<container>class|@?interface|enum|struct|trait|impl|namespace|module|mod|object|record|protocol|extension
          |union|actor|defmodule)\b
      | (?P<function>def|defp|function\*?|func|fn|fun|sub|macro_rules!)[ \t] | (?P<type>type)[ \t] )
    [ \t]* (?:\[\[[^\[\]\n]*\]\][ \t]*)? (?:\((?P<receiver>[^()\n]*)\)[ \t]*)? (?:<[^<>\n]*>[ \t]*)?
    (?P<name>[&*]?[\w$]+(?:[:.]{{1,2}}[\w$]+)*)
    """,
    re.VERBOSE,
)
_TYPE_NAME = re.compile(r"[A-Za-z_]\w*+(?!::)")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_IMPLEMENTED = re.compile(r"[ \t]*+(?:unsafe[ \t]+)?impl\b(?P<what>[^\n{]*+)")
_ASSIGNED = re.compile(
    r"""[ \t]*
    (?P<modifiers> (?:(?:export|default|public|private|protected|static|readonly|declare|local)[ \t]+)*)
    (?:(?:const|let|var|val)[ \t]+)?
    (?P<name> ['"]?[\w$][\w$.-]*['"]? )[ \t]*
    (?: :[ \t]*(?=(?:async\b[ \t]*)?(?:function\b|\(|[\w$]+[ \t]*=>))
      | (?: :[^=\n]{1,100})? (?: =(?![=>]) | := | <- ) )[ \t]*
    (?:[\w$.]+[ \t]*=(?![=>])[ \t]*)*
    (?:async\b[ \t]*)?
    (?: (?:function|func|fn)\b\*?[ \t]*(?P<own>[\w$]*) | [\w$]+[ \t]*=> | (?P<parenthesis>\() )
    """,
    re.VERBOSE,
)
"""A function that a name, a member or a key of an object is set to."""
_TYPED_FUNCTION = re.compile(
    r"[ \t]*"
    r"(?!(?:return|else|if|for|foreach|while|switch|catch|throw|new|await|yield|print|raise|assert|del|and|or|not|in|is"
    r"|try|using|lock|synchronized|when|match|guard|elseif|unless|until|with|do|loop|case|goto|function|sizeof|typeof"
    r"|typedef|define)\b)"
    r"(?P<modifiers>(?:[\w<>\[\],.?*&:~@]+[ \t]+){0,6})[*&#]{0,2}"
    r"(?P<name>[\w$:~]+(?:<[^<>\n]*>::[\w$~]+)?)[ \t]*(?:<[^<>\n]*>[ \t]*)?"
    r"\((?:[^;{}\n]*\)[^;={}\n]{0,120}\{[ \t]*(?://[^\n]*)?$|[^;{}\n]*\)[^;={}\n:,.]{0,80}$|[^;{}\n]*,[ \t]*$|[ \t]*$)"
)
_CALLBACK = re.compile(
    r"(?:\bfunc(?:tion)?\b|=>|->[ \t]*\{|\bdo[ \t]*\||\bnew[ \t]+[\w.<>]+\(|\[[^\]\n]*\][ \t]*\()[^\n]*$"
)
"""A function without a name at the end of a line."""
_NAMELESS_EXPORT = re.compile(
    r"export[ \t]+default[ \t]+(?:abstract[ \t]+)?(?:async[ \t]+)?(?:(?P<class>class)|function)\b"
)
_SQL_DEFINITION = re.compile(
    r"[ \t]*(?:create|alter)[ \t]+(?:or[ \t]+(?:replace|alter)[ \t]+)?(?:\w+[ \t]+)??"
    r"(?:(?P<code>function|procedure|trigger|view)|table|type|index)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?"
    r"(?:[\w\"`\[\]]+\.)*(?P<name>[\w\"`\[\]]+)",
    re.IGNORECASE,
)
_INITIALIZERS = frozenset(("init", "deinit", "subscript", "constructor"))
_WITH_TYPE_LINES = frozenset(("c", "cpp"))
_WITH_KEYWORD = frozenset(("go", "rust", "kotlin", "swift", "php", "scala", "ruby", "lua", "julia", "elixir"))
"""Languages in which a word such as `func` begins a function, so that a name with parentheses is a call."""
_IMPORT = re.compile(
    r"[ \t]*(?:import\b|from[ \t]+[\w.]+[ \t]+import\b|\#[ \t]*include\b|(?:pub[ \t]+)?use[ \t]+[\w:{]|using[ \t]+\w"
    r"|package[ \t]+\w|(?:const|let|var)[ \t]+[\w{}, ]+=[ \t]*require\(|require(?:_relative)?[ \t(]|extern[ \t]+crate)"
)
_NAMESPACES = frozenset(("impl", "namespace", "module", "mod", "extension"))
_CLASSES = frozenset(("class", "object", "record"))
_DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_NAMELESS = frozenset(("module", "exports", "prototype", "this", "self", "window"))
"""Parts of a name that are the same in every file."""
_GOES_ON_AFTER = frozenset("(,{[")
_DEEPEST = 12
"""Levels of nested bodies. Deeper ones are not cut."""
_SHORT = 250
"""The most characters of a statement that is not worth cutting."""
_ATTACHED = re.compile(
    r"[ \t]*(?:@(?!interface\b)\w|#|//|/\*|\*|--[ ]|\[\[?\w[^\n]*\][ \t]*\r?$|template[ \t]*<[^\n]*>[ \t]*\r?$)",
    re.MULTILINE,
)
"""Comments, decorators and attributes, which belong to the definition directly after them."""
_ANNOTATIONS = re.compile(
    r"[ \t]*+(?:(?:@(?!interface\b)[\w.:]++(?:\((?:[^()\n]|\([^()\n]*+\))*+\))?|#!?\[[^\]\n]*+\]|\[[^\]\n]++\])"
    r"[ \t]++)++(?=[^\s/])"
)
"""Annotations and attributes on the line of what they belong to."""
_TYPE_LINE = re.compile(
    r"(?!(?:else|do|return|break|continue|try|goto|default)\b)[A-Za-z_][\w \t*&:<>,]*+(?<![:,])[ \t]*+\r?\n"
    r"(?=[A-Za-z_~][\w:~]*+[ \t]*+\()"
)
"""The type of a function in C whose name begins the next line."""
_ANNOTATION_SIGNS = frozenset("@#[")
_PRIVATE_MEMBER = re.compile(r"[ \t]*#[\w$]+[ \t]*[(=;]")
"""A private member of a class in JavaScript."""
_COMMENT = re.compile(r"[ \t]*(?:#|//|/\*|\*|--[ ])")
_CONTINUATION = re.compile(
    r"[ \t]*(?:[)\]}]+[ \t]*(?:else|catch|finally|while)\b|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure"
    r"|then)\b)"
)
"""A line that continues the statement above it with the same indentation."""
_CLOSES = re.compile(r"[ \t]*(?:[)\]}]|(?:end|END)\b|done\b|fi\b|esac\b)")
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

    def within(self, defined: _Definition | None, name: str, kind: NodeKind) -> "_Scope":
        """Return the scope inside the body of a node."""
        if kind is NodeKind.CONSTANT:
            return _Scope(".".join(filter(None, (self.name, _assigned_name(name)))), True, False, self.depth + 1)
        if defined is None:
            return self._replace(depth=self.depth + 1)
        return _Scope(name, defined.container, not defined.container, self.depth + 1)


class _Builder:
    """A converter from the logical lines of a text to nodes."""

    def __init__(self, text: str, language: str, lines: LogicalLines) -> None:
        self._text, self._language = text, language
        self._starts, self._indents, nets, self._ends_blank, lows = lines
        self._braced = any(nets) and language != "python"
        self._python = language == "python"
        self._following = _following_lines(self._indents)
        self._begins = [_first_character(text, start) for start in self._starts[:-1]]
        self._nets = list(accumulate(nets, initial=0))
        """The number of open braces before each line."""
        self._reopens = [number for number, low in enumerate(lows) if low < min(nets[number], 0)]
        """The lines that close a brace and open another one."""
        self._lowest = [before + low for before, low in zip(self._nets, lows, strict=False)]
        """The least number of open braces within each line."""

    def nodes(self, first: int, last: int, scope: _Scope) -> Iterable[Node]:
        """Return the nodes of the lines from `first` to before `last`. No line is less indented than the first one."""
        found: list[Node] = []
        ends: list[int] = []
        attached = -1
        number, begins = first, self._begins
        while number < last:
            is_alone = begins[number] in _NEVER_SPECIAL or self._ends_blank[number] or number + 1 == last
            if not is_alone and self._is_attached(number):
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
            defined = self._definition(number, is_opened=net > 0 or body > number + 1)
            kind = self._kind(defined, number, scope)
            name = self._name(defined, kind, number, scope)
            signature = self._starts[number] if defined else -1
        exported = defined is not None and defined.exported
        is_worth_cutting = body < tail and scope.depth < _DEEPEST and (defined or stop - start > _SHORT)
        if not is_worth_cutting or not self._has_closed_braces(number, body, tail, end):
            return Node(kind, start, stop, name, signature, -1, -1, exported), end
        children = tuple(self.nodes(body, tail, scope.within(defined, name, kind)))
        if kind is NodeKind.CONSTANT and any(child.kind in _DEFINES for child in children):
            kind, name = NodeKind.NAMESPACE, ".".join(filter(None, (scope.name, _assigned_name(name))))
        if kind is NodeKind.STATEMENT and not scope.is_function and self._is_callback(number, children):
            kind = NodeKind.FUNCTION
        closing = self._starts[tail] if tail < end else stop
        return Node(kind, start, stop, name, signature, self._starts[body], closing, exported, children), end

    def _is_attached(self, number: int) -> bool:
        """Return whether a line is a comment, a decorator or an attribute that belongs to the lines after it."""
        start = self._starts[number]
        if self._language in _WITH_TYPE_LINES and _TYPE_LINE.match(self._text, start):
            return True
        if not _ATTACHED.match(self._text, start):
            return False
        if self._python or self._begins[number] not in _ANNOTATION_SIGNS:
            return True
        is_private = self._language in _SCRIPTS and _PRIVATE_MEMBER.match(self._text, start)
        return not (is_private or _ANNOTATIONS.match(self._text, start))

    def _definition(self, number: int, *, is_opened: bool) -> _Definition | None:
        """Return the definition that begins on a line. is_opened: whether a brace after it opens a body."""
        start = self._starts[number]
        if self._begins[number] in _ANNOTATION_SIGNS and not self._python:
            annotations = _ANNOTATIONS.match(self._text, start)
            start = annotations.end() if annotations else start
        end = self._text.find("\n", start)
        head = self._text[start : min(start + _LONGEST, end if end >= 0 else len(self._text))].rstrip("\r")
        return _definition(head, self._language, is_opened=is_opened and self._braced)

    def _is_callback(self, number: int, children: Sequence[Node]) -> bool:
        """Return whether a statement is little more than a function without a name, as in a test or a handler."""
        end = self._starts[number] + len(self._text[self._starts[number] : self._starts[number + 1]].rstrip())
        last_line = self._text[max(self._text.rfind("\n", 0, end) + 1, end - _LONGEST) : end]
        return _CALLBACK.search(last_line) is not None and all(child.kind not in _DEFINES for child in children)

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
        reopens = self._reopens[bisect_left(self._reopens, body) : bisect_left(self._reopens, tail)]
        if any(self._lowest[line] < self._nets[body] for line in reopens):
            return False
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


def _definition(head: str, language: str, *, is_opened: bool) -> _Definition | None:
    """Return the definition that a line begins, or None.

    is_opened: whether a brace opens a body, so that a type and a name with parentheses can be a function.
    """
    match = _DEFINITION.match(head)
    if match:
        container = match["container"]
        name = _implemented(head) if container == "impl" else _qualified(match["name"], match["receiver"])
        kind = NodeKind.METHOD if match["receiver"] else _kind(container, match["type"])
        return _Definition(kind, name, container is not None, _is_exported(match))
    match = _ASSIGNED.match(head)
    if match and (not match["parenthesis"] or "=>" in head or (is_opened and head[-1:] in _GOES_ON_AFTER)):
        name = _assigned_name(match["name"]) or match["own"] or ""
        return _Definition(NodeKind.FUNCTION, name, False, _is_exported(match))
    match = _NAMELESS_EXPORT.match(head) if head.startswith("export") else None
    if match:
        kind = NodeKind.CLASS if match["class"] else NodeKind.FUNCTION
        return _Definition(kind, "default", kind is NodeKind.CLASS, True)
    if language == "sql":
        return _sql_definition(head)
    is_call = head.endswith("{") and head.count("(") != head.count(")")
    match = _TYPED_FUNCTION.match(head) if is_opened and not is_call else None
    if match is None or (language in _WITH_KEYWORD and match["name"] not in _INITIALIZERS):
        return None
    return _Definition(NodeKind.FUNCTION, _qualified(match["name"], None), False, _is_exported(match))


def _sql_definition(head: str) -> _Definition | None:
    match = _SQL_DEFINITION.match(head)
    if match is None:
        return None
    return _Definition(NodeKind.FUNCTION if match["code"] else NodeKind.TYPE, match["name"].strip('"`[]'), False, True)


def _qualified(name: str, receiver: str | None) -> str:
    """Return a name with dots between its parts, after the type of its receiver in Go."""
    owner = _TYPE_NAME.findall(receiver.partition("[")[0])[-1:] if receiver else []
    plain = _TYPE_ARGUMENTS.sub("", name) if "<" in name else name
    return ".".join((*owner, plain.lstrip("&*").replace("::", ".").removeprefix("self.")))


def _implemented(head: str) -> str:
    """Return the name of the type that a block of Rust implements something for."""
    match = _IMPLEMENTED.match(head)
    what = _without_parameters(match["what"].lstrip()).partition(" where ")[0] if match else ""
    found = _TYPE_NAME.search(what.rpartition(" for ")[2])
    return found.group() if found else ""


def _without_parameters(text: str) -> str:
    """Return a text without the type parameters that it begins with."""
    if not text.startswith("<"):
        return text
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "<") - (sign == ">" and text[place - 1] not in "-=")
        if not depth:
            return text[place + 1 :]
    return text


def _assigned_name(target: str) -> str:
    """Return the name of a function by what it is assigned to: "App.use" for `App.prototype.use`, and no name for
    `module.exports`."""
    parts = [part for part in target.strip("'\"").split(".") if part not in _NAMELESS]
    return ".".join(filter(None, parts))


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
