"""Lines that begin a definition, in any of the usual languages."""

import re
from typing import NamedTuple

from ctxcompress.outline import NodeKind

__all__ = ["Definition", "definition", "is_import"]

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
