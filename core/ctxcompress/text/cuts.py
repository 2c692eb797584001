"""Where chunks of source code were cut: within a docstring, a comment, a block; and whether one goes on in another."""

import re

from ctxcompress.text.source import code_share

__all__ = ["end_of_cut_text", "may_go_on"]

_QUOTES = re.compile(r"\"{3}|'{3}")
_PROSE = 0.35
"""Share of lines that look like code below which a text is prose."""
_SAMPLE = 3_000
_OPENS = re.compile(r"[:{(\[,\\]$|=>$|->$")
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")


def end_of_cut_text(text: str, language: str) -> int:
    """Where the docstring or comment ends that a chunk of source code begins in the middle of; 0 for none."""
    if language == "python":
        first = _QUOTES.search(text)
        return first.end() if first and _is_prose(text[: first.start()]) else 0
    closing = text.find("*/", 0, _SAMPLE)
    return closing + 2 if closing >= 0 and text.find("/*", 0, closing) < 0 else 0


def may_go_on(before: str, after: str, language: str) -> bool:
    """Whether one chunk of source code may be what follows another: a docstring that one breaks off goes on in the
    other, a block that one opens has a body there, and where nothing is open nothing is indented deeper."""
    begins_within = end_of_cut_text(after, language) > 0
    ends_within = _is_open(before, language)
    if begins_within or ends_within:
        return begins_within == ends_within or (ends_within and _is_prose(after))
    last, first = _last_line(before), next((line for line in after.split("\n") if line.strip()), "")
    opens = _OPENS.search(last.partition(" #")[0].rstrip()) is not None
    if _COMMENT.match(last):
        return True
    return opens or _indent(first) <= _indent(last)


def _is_open(text: str, language: str) -> bool:
    """Whether a docstring or comment is open at the end of a chunk."""
    begin = end_of_cut_text(text, language)
    if language == "python":
        return len(_QUOTES.findall(text, begin)) % 2 == 1
    return text.rfind("/*", begin) > text.rfind("*/", begin)


def _is_prose(text: str) -> bool:
    return text.strip() != "" and code_share(text[:_SAMPLE], markup=False) < _PROSE


def _last_line(text: str) -> str:
    bare = text.rstrip()
    return bare[bare.rfind("\n") + 1 :]


def _indent(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(8))
