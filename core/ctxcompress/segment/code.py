"""Source code by its lines: told from prose, and cut into functions, class heads and statements.

Works on chunks that begin and end anywhere, which a parser does not: it looks for the lines that
begin a definition in any of the usual languages, and follows their indentation.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.segment.blocks import Block
from ctxcompress.text.lines import split_lines
from ctxcompress.types import Kind

__all__ = ["code_blocks", "split_code"]

_PIECE = 250
"""Characters of statements that are kept or dropped together."""
_DEFINITION = re.compile(
    r"""[ \t]*
    (?: (?:export|default|declare|public|private|protected|internal|static|final|abstract|async|override|virtual
          |inline|pub(?:\([\w ]*\))?|unsafe|extern|const|open|data|sealed|partial|local)[ \t]+ )*
    (?: (?P<container>class|interface|enum|struct|trait|impl|namespace|module|mod|object|record|protocol|extension)\b
      | (?:def|defp|function\*?|func|fn|fun|sub|type|macro_rules!)[ \t] )
    [ \t]* (?:\([^()\n]*\)[ \t]*)? (?:<[^<>\n]*>[ \t]*)? (?P<name>[\w$]+(?:[:.]{1,2}[\w$]+)*)
    """,
    re.VERBOSE,
)
_FUNCTION_VALUE = re.compile(
    r"[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+(?P<name>[\w$]+)[^=\n]{0,100}=[ \t]*"
    r"(?:async[ \t]*)?(?:function\b|\(|\w+[ \t]*=>)"
)
_TYPED_FUNCTION = re.compile(
    r"[ \t]*"
    r"(?!(?:return|else|if|for|while|switch|catch|throw|new|await|yield|print|raise|assert|del|and|or|not|in|is)\b)"
    r"(?:[\w<>\[\],.?*&:~]+[ \t]+){0,6}[*&]{0,2}(?P<name>[\w$:~]+)[ \t]*"
    r"\([^;={}\n]*(?:\{[ \t]*$|\)[^;={}\n:,.]{0,80}\{?[ \t]*$|,[ \t]*$)"
)
_BRACED = re.compile(r"[{};][ \t]*$", re.MULTILINE)
_ATTACHED = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|--[ ]|\[\[?\w)")
_CLOSER = re.compile(r"[ \t]*(?:[})\]{]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")


class _Open(NamedTuple):
    indent: int
    name: str
    container: bool


def code_blocks(text: str) -> list[Block]:
    """The functions, class heads and stretches of other code in `text`, which they partition.

    A block's heading is its qualified name. A function comes with the decorators and comments
    right above it, and with the functions inside of it.
    """
    braced = _BRACED.search(text) is not None
    starts: dict[int, tuple[str, ...]] = {0: ()}
    open_: list[_Open] = []
    offset, attached = 0, -1
    for line in split_lines(text):
        start, offset = offset, offset + len(line)
        if line.isspace():
            attached = -1
            continue
        if _ATTACHED.match(line):
            attached = start if attached < 0 else attached
            continue
        begin, attached = (start if attached < 0 else attached), -1
        indent = _indent(line)
        definition = _definition(line, braced)
        if not definition and (not open_ or indent > open_[-1].indent or _CLOSER.match(line)):
            continue
        while open_ and open_[-1].indent >= indent:
            open_.pop()
        if definition and (not open_ or open_[-1].container):
            open_.append(_Open(indent, *definition))
        elif definition:
            continue
        starts[begin] = tuple(item.name for item in open_)
    ends = pairwise([*sorted(starts), len(text)])
    return [Block(Kind.CODE, start, end, starts[start]) for start, end in ends]


def _definition(line: str, braced: bool) -> tuple[str, bool] | None:
    """Name of what the line begins to define, and whether that can hold other definitions."""
    head = line[:300]
    match = _DEFINITION.match(head)
    if match:
        return match["name"], match["container"] is not None
    match = _FUNCTION_VALUE.match(head) or (_TYPED_FUNCTION.match(head) if braced else None)
    return (match["name"], False) if match else None


def split_code(text: str, start: int, end: int) -> tuple[list[int], bool]:
    """Cuts a long block into its statements: ascending offsets, the last one `end`; and whether it ends
    with a closing fence.

    The first piece is the signature or the opening fence, a closing fence is the last one. A cut is
    at a line that is indented no deeper than the least indented line between those two; statements
    are together in one piece as long as that stays short.
    """
    lines = split_lines(text[start:end])
    fence = lines[0].lstrip(" \t>")[:3]
    fenced = fence in ("```", "~~~")
    closing = _closing_fence(lines, fence) if fenced else len(lines)
    inner = lines[1:closing]
    base = min((_indent(line) for line in inner if not line.isspace()), default=0)
    most = _PIECE if fenced or _definition(lines[0], braced=True) else 1
    cuts: list[int] = []
    statement = position = start + len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        at_statement = not line.isspace() and _indent(line) <= base and not (_CLOSER.match(line) and number != closing)
        if at_statement:
            _close_piece(cuts, statement, position, most)
            statement = position
        if number == closing:
            cuts.append(position)
        position += len(line)
    if closing == len(lines):
        _close_piece(cuts, statement, end, most)
    return [*dict.fromkeys(cuts), end], closing < len(lines)


def _close_piece(cuts: list[int], statement: int, end: int, most: int) -> None:
    """Cuts before a statement that would make the piece it would join too long. The first cut is after the head."""
    if not cuts or (end - cuts[-1] > most and statement > cuts[-1]):
        cuts.append(statement)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _closing_fence(lines: list[str], fence: str) -> int:
    return next((n for n in range(len(lines) - 1, 0, -1) if lines[n].lstrip(" \t>").startswith(fence)), len(lines))
