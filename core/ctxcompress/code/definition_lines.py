"""What a line defines: the kind and the name of a definition, and the comments and decorators that belong to it."""

import re
from typing import NamedTuple

from ctxcompress.code.lexing import languages_with
from ctxcompress.data.passages import NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Definition", "assigned_name", "definition_on_line", "ends_with_function", "is_attached"]

_LONGEST = 300
"""Number of characters read of a line."""
_MODIFIERS = (
    "export default declare public private protected internal static final abstract async override virtual inline "
    "unsafe const open data sealed partial local suspend operator infix tailrec inner companion value annotation "
    "fileprivate mutating nonmutating convenience required indirect implicit case readonly actual expect external "
    "package"
).replace(" ", "|")
_DEFINITION = lazy_regex(
    rf"""[ \t]*+
    (?P<modifiers> (?: (?:{_MODIFIERS}|pub(?:\([\w ]*\))?|extern(?:[ \t]+"[^"\n]*")?|private\(set\)
          |enum(?=[ \t]+class\b)|class(?=[ \t]+func\b)|fun(?=[ \t]+interface\b)|record(?=[ \t]+struct\b))[ \t]+ )*)
    (?: (?P<container>class|@?interface|enum|struct|trait|impl|namespace|module|mod|object|record|protocol|extension
          |union|actor|defmodule)\b
      | (?P<function>def|defp|function\*?|func|fn|fun|sub|proc|macro_rules!)[ \t] | (?P<type>type)[ \t] )
    [ \t]* (?:\[\[[^\[\]\n]*\]\][ \t]*)? (?:\((?P<receiver>[^()\n]*)\)[ \t]*)? (?:<[^<>\n]*>[ \t]*)?
    (?P<name>[&*]?[\w$]+(?:[:.]{{1,2}}[\w$]+)*)
    """,
    re.VERBOSE,
)
_TYPE_NAME = lazy_regex(r"[A-Za-z_]\w*+(?!::)")
_TYPE_ARGUMENTS = lazy_regex(r"<[^<>]*>")
_IMPLEMENTED = lazy_regex(r"[ \t]*+(?:unsafe[ \t]+)?impl\b(?P<what>[^\n{]*+)")
_ASSIGNED = lazy_regex(
    r"""[ \t]*+
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
_TYPED_FUNCTION = lazy_regex(
    r"[ \t]*+"
    r"(?!(?:return|else|if|for|foreach|while|switch|catch|throw|new|await|yield|print|raise|assert|del|and|or|not|in|is"
    r"|try|using|lock|synchronized|when|match|guard|elseif|unless|until|with|do|loop|case|goto|function|sizeof|typeof"
    r"|typedef|define)\b)"
    r"(?P<modifiers>(?:[\w<>\[\],.?*&:~@]+[ \t]+){0,6})[*&#]{0,2}"
    r"(?P<name>[\w$:~]+(?:<[^<>\n]*>::[\w$~]+)?)[ \t]*(?:<[^<>\n]*>[ \t]*)?"
    r"\((?:[^;{}\n]*\)[^;={}\n]{0,120}\{[ \t]*(?://[^\n]*)?$|[^;{}\n]*\)[^;={}\n:,.]{0,80}$|[^;{}\n]*,[ \t]*$|[ \t]*$)"
)
_CALLBACK = lazy_regex(
    r"(?:\bfunc(?:tion)?\b|=>|->[ \t]*\{|\bdo[ \t]*\||\bnew[ \t]+[\w.<>]+\(|\[[^\]\n]*\][ \t]*\()[^\n]*$"
)
"""A function without a name at the end of a line."""
_NAMELESS_EXPORT = lazy_regex(
    r"export[ \t]+default[ \t]+(?:abstract[ \t]+)?(?:async[ \t]+)?(?:(?P<class>class)|function)\b"
)
_SQL_DEFINITION = lazy_regex(
    r"[ \t]*+(?:create|alter)[ \t]+(?:or[ \t]+(?:replace|alter)[ \t]+)?(?:\w+[ \t]+)??"
    r"(?:(?P<code>function|procedure|trigger|view)|table|type|index)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?"
    r"(?:[\w\"`\[\]]+\.)*(?P<name>[\w\"`\[\]]+)",
    re.IGNORECASE,
)
_GRAPHQL_DEFINITION = lazy_regex(
    r"(?:extend[ \t]+)?(?:type|input|enum|interface|union|scalar|directive|fragment|query|mutation|subscription)[ \t]+"
    r"(?P<name>@?\w+)"
)
_DESCRIPTION = lazy_regex(r"[ \t]*+\"")
"""What stands above a definition or a field of GraphQL."""
_INITIALIZERS = frozenset(("init", "deinit", "subscript", "constructor"))
_SCRIPTS, _WITH_KEYWORD = languages_with("script"), languages_with("keyword")
_WITH_LABELS, _WITH_TYPE_LINES = languages_with("labels"), languages_with("type-lines")
_NAMESPACES = frozenset(("impl", "namespace", "module", "mod", "extension"))
_CLASSES = frozenset(("class", "object", "record"))
_NAMELESS = frozenset(("module", "exports", "prototype", "this", "self", "window"))
"""Parts of a name that are the same in every file."""
_GOES_ON_AFTER = frozenset("(,{[")
_ATTACHED = lazy_regex(
    r"[ \t]*+(?:@(?!interface\b)\w|#(?!endif\b)|//|/\*|\*|--[ ]|\[\[?\w[^\n]*\][ \t]*\r?$"
    r"|template[ \t]*<[^\n]*>[ \t]*\r?$|__attribute__[ \t]*\([^\n]*\)[ \t]*\r?$)",
    re.MULTILINE,
)
"""Comments, decorators and attributes, which belong to the definition directly after them."""
_ANNOTATIONS = lazy_regex(
    r"[ \t]*+(?:(?:@(?!interface\b)[\w.:]++(?:\((?:[^()\n]|\([^()\n]*+\))*+\))?|#!?\[[^\]\n]*+\]|\[[^\]\n]++\])"
    r"[ \t]++)++(?=[^\s/])"
)
"""Annotations and attributes on the line of what they belong to."""
_ANNOTATION_BEGINS = frozenset("@#[")
_TYPE_LINE = lazy_regex(
    r"[ \t]*+(?!(?:else|do|return|break|continue|try|goto|default)\b)[A-Za-z_][\w \t*&:<>,]*+(?<![:,])[ \t]*+\r?\n"
    r"(?=[ \t]*+[A-Za-z_~][\w:~]*+[^\w\s(]{0,3}[ \t]*+\()"
)
"""The type of a function in C whose name begins the next line."""
_PRIVATE_MEMBER = lazy_regex(r"[ \t]*+#[\w$]+[ \t]*[(=;]")
"""A private member of a class in JavaScript."""
_LABEL = lazy_regex(r"[ \t]*+(?!(?:default|public|protected|private)\b)[A-Za-z_]\w*+:[ \t]*+\r?\n")
"""A label of a statement, which is invalid without that."""


class Definition(NamedTuple):
    """The definition that begins on a line."""

    kind: NodeKind
    name: str
    is_container: bool
    """True if it can contain other definitions."""


def is_attached(text: str, start: int, language: str) -> bool:
    """Return whether a line belongs to those after it: a comment, a decorator, an attribute or a label."""
    if language in _WITH_TYPE_LINES and _TYPE_LINE.match(text, start):
        return True
    if language in _WITH_LABELS and _LABEL.match(text, start):
        return True
    if language == "graphql" and _DESCRIPTION.match(text, start):
        return True
    if not _ATTACHED.match(text, start):
        return False
    if language == "python":
        return True
    is_private_member = language in _SCRIPTS and _PRIVATE_MEMBER.match(text, start)
    return not (is_private_member or _ANNOTATIONS.match(text, start))


def ends_with_function(text: str, start: int, end: int) -> bool:
    """Return whether the line from `start` to `end` ends with a function without a name, as in a test or a handler."""
    line = text[start:end].rstrip()
    return _CALLBACK.search(line[max(line.rfind("\n") + 1, len(line) - _LONGEST) :]) is not None


def definition_on_line(text: str, start: int, language: str, *, is_opened: bool) -> Definition | None:
    """Return the definition that the line at `start` begins, or None.

    is_opened: whether a brace opens a body, so that a type and a name with parentheses can be a function.
    """
    head = _head(text, start, language)
    if language == "graphql":
        return _declared(_GRAPHQL_DEFINITION.match(head))
    if match := _DEFINITION.match(head):
        return _with_keyword(head, match)
    # Without a brace, only these words make a function of what is assigned, and in Python they are names.
    may_be_assigned = is_opened or (language != "python" and ("=>" in head or "fn" in head or "func" in head))
    match = _ASSIGNED.match(head) if may_be_assigned else None
    if match and (not match["parenthesis"] or "=>" in head or (is_opened and head[-1:] in _GOES_ON_AFTER)):
        name = assigned_name(match["name"]) or match["own"] or ""
        return Definition(NodeKind.FUNCTION, name, False)
    if head.startswith("export") and (match := _NAMELESS_EXPORT.match(head)):
        kind = NodeKind.CLASS if match["class"] else NodeKind.FUNCTION
        return Definition(kind, "default", kind is NodeKind.CLASS)
    if language == "sql":
        return _declared(_SQL_DEFINITION.match(head))
    return _typed_function(head, language) if is_opened else None


def assigned_name(target: str) -> str:
    """Return the name of a function by what it is set to: "App.use" for `App.prototype.use`, "" for `exports`."""
    parts = [part for part in target.strip("'\"").split(".") if part not in _NAMELESS]
    return ".".join(filter(None, parts))


def _head(text: str, start: int, language: str) -> str:
    """Return the first characters of a line, without the annotations before a definition."""
    head = _line(text, start)
    if language != "python" and head.lstrip(" \t")[:1] in _ANNOTATION_BEGINS:
        annotations = _ANNOTATIONS.match(text, start)
        return _line(text, annotations.end()) if annotations else head
    return head


def _line(text: str, start: int) -> str:
    end = text.find("\n", start, start + _LONGEST)
    return text[start : end if end >= 0 else start + _LONGEST].rstrip("\r")


def _with_keyword(head: str, match: re.Match[str]) -> Definition:
    """Return the definition that a word such as `class` or `def` begins."""
    container = match["container"]
    name = _implemented(head) if container == "impl" else _qualified(match["name"], match["receiver"])
    kind = NodeKind.METHOD if match["receiver"] else _kind(container, match["type"])
    return Definition(kind, name, container is not None)


def _kind(container: str | None, is_type: str | None) -> NodeKind:
    if container is None:
        return NodeKind.TYPE if is_type else NodeKind.FUNCTION
    if container in _NAMESPACES:
        return NodeKind.NAMESPACE
    return NodeKind.CLASS if container in _CLASSES else NodeKind.TYPE


def _declared(match: re.Match[str] | None) -> Definition | None:
    """Return what a statement of SQL or GraphQL defines."""
    if match is None:
        return None
    kind = NodeKind.FUNCTION if match.groupdict().get("code") else NodeKind.TYPE
    return Definition(kind, match["name"].strip('"`[]'), False)


def _typed_function(head: str, language: str) -> Definition | None:
    """Return the function that a type and a name with parentheses begin."""
    is_call = head.endswith("{") and head.count("(") != head.count(")")
    match = None if is_call else _TYPED_FUNCTION.match(head)
    if match is None or (language in _WITH_KEYWORD and match["name"] not in _INITIALIZERS):
        return None
    return Definition(NodeKind.FUNCTION, _qualified(match["name"], None), False)


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
