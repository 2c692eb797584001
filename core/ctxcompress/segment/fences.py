"""Long fences of Markdown: cut into the statements that stand in them."""

import re

from ctxcompress.text.lines import split_lines

__all__ = ["split_fence"]

_PIECE = 250
"""Characters of statements that are kept or dropped together."""
_CLOSER = re.compile(r"[ \t]*(?:[})\]{]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")


def split_fence(text: str, start: int, end: int) -> tuple[list[int], bool]:
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
    most = _PIECE if fenced else 1
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
