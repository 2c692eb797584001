"""Where chunks of source code were cut: within a docstring, a comment, a block; and whether one goes on in another."""

import re

from ctxcompress.text.source import code_lines

__all__ = ["end_of_cut_text", "may_go_on"]

_QUOTES = re.compile(r"\"{3}|'{3}")
_SURE = 4
"""Lines that must speak against it before a chunk does not begin as the one before ends."""
_GOES_ON = re.compile(r"[:{(\[,\\=+]$|->$|\b(?:and|or|not|in)$")
_PART = re.compile(r"[ \t]*[\"')\]}.]")
"""How the rest of an expression begins."""
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")


def end_of_cut_text(text: str, language: str) -> int:
    """Where the docstring or comment ends that a chunk of source code begins in the middle of; 0 for none."""
    if language == "python":
        first = _QUOTES.search(text)
        return first.end() if first and text[: first.start()].strip() and _begins_within(text, 0) else 0
    closing = text.find("*/")
    return closing + 2 if closing >= 0 and text.find("/*", 0, closing) < 0 else 0


def may_go_on(before: str, after: str, language: str) -> bool:
    """Whether one chunk of source code may be what follows another: a docstring that one breaks off goes on in the
    other, a block that one opens has a body there, and where nothing is open nothing is indented deeper."""
    if language == "python":
        ends_within = _ends_within(before)
        if _begins_within(after, _SURE if ends_within else -_SURE) != ends_within:
            return False
    else:
        ends_within = before.rfind("/*") > before.rfind("*/")
        if ends_within != (end_of_cut_text(after, language) > 0):
            return False
    last, first = _last_line(before), next((line for line in after.split("\n") if line.strip()), "")
    if ends_within or _COMMENT.match(last) or _PART.match(first):
        return True
    return _GOES_ON.search(last.partition(" #")[0].rstrip()) is not None or _indent(first) <= _indent(last)


def _begins_within(text: str, expected: int) -> bool:
    """Whether a chunk of Python begins in the middle of a docstring: whether what stands outside of quotes looks less
    like code than what stands inside. expected: lines that are counted as speaking for it."""
    sign, score = 1, -expected
    for part in _QUOTES.split(text):
        code, others = code_lines(part)
        score += sign * (code - others)
        sign = -sign
    return score < 0


def _ends_within(text: str) -> bool:
    """Whether a docstring is open at the end of a chunk of Python."""
    return (len(_QUOTES.findall(text)) % 2 == 1) != _begins_within(text, 0)


def _last_line(text: str) -> str:
    bare = text.rstrip()
    return bare[bare.rfind("\n") + 1 :]


def _indent(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(8))
