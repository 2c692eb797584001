"""Where chunks of source code were cut: within a docstring, a comment, a block; and which go on in which."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ctxcompress.text.source import code_lines

__all__ = ["end_of_cut_text", "going_on"]

_QUOTES = re.compile(r"\"{3}|'{3}")
_SURE = 4
"""Lines that must speak against it before a chunk does not begin as the one before ends."""
_SAMPLE = 600
"""Characters of each part that are looked at."""
_CHANGES = 5
"""How many times quotes may have changed the side before nothing more is learned."""
_EXAMPLE = 4
"""Lines of prose that an example of an interactive session stands for: docstrings have them."""
_OPENING = re.compile(r"\s*+[rRbBuUfF]?(?:\"{3}|'{3})[^\s\"']")
"""A docstring that is one with its first line: no end of another."""
_GOES_ON = re.compile(r"[:{(\[,\\=+]$|->$|\b(?:and|or|not|in)$")
_PART = re.compile(r"[ \t]*[\"')\]}.]")
"""How the rest of an expression begins."""
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")


class _Reading(NamedTuple):
    """How a chunk of Python reads if it begins in a docstring, or outside of one."""

    likely: int
    """Lines that look as they should, code outside and no code inside, less those that do not."""
    ends_within: bool

    @classmethod
    def of(
        cls, text: str, quotes: Sequence[re.Match[str]], excess: Callable[[int, int], int], *, within: bool
    ) -> "_Reading":
        """quotes: all of the text's. excess: `_excess` of a part of the text, by its offsets."""
        open_ = quotes[0].group() if within and quotes else '"' * 3 if within else ""
        likely = start = changes = 0
        for quote in quotes:
            if open_ not in ("", quote.group()):
                continue  # the other quotes, within a docstring
            if changes < _CHANGES:
                likely += excess(start, quote.start()) * (-1 if open_ else 1)
            open_, start, changes = ("" if open_ else quote.group()), quote.end(), changes + 1
        if changes < _CHANGES:
            likely += excess(start, len(text)) * (-1 if open_ else 1)
        return cls(likely + (0 if within else 10 * (_OPENING.match(text) is not None)), open_ != "")


def _excess(text: str) -> int:
    """Lines that look like code, less those that do not."""
    code, others = code_lines(text[:_SAMPLE])
    return code - others - _EXAMPLE * text.count(">>> ")


def end_of_cut_text(text: str, language: str) -> int:
    """Where the docstring or comment ends that a chunk of source code begins in the middle of; 0 for none."""
    if language == "python":
        first = _QUOTES.search(text)
        return first.end() if first and text[: first.start()].strip() and _python(text, None)[0] else 0
    closing = text.find("*/")
    return closing + 2 if closing >= 0 and text.find("/*", 0, closing) < 0 else 0


def going_on(texts: Sequence[str], language: str) -> Iterator[bool]:
    """Of each of several chunks of one source file, in their order, whether the next one may be what follows it in the
    file: a docstring that one breaks off goes on in the other, a block that one opens has a body there, and where
    nothing is open nothing is indented deeper."""
    within = None
    for number, after in enumerate(texts):
        begins, ends = _python(after, within) if language == "python" else _others(after)
        if number:
            yield begins == within and (begins or _is_indented_well(texts[number - 1], after))
        within = ends


def _python(text: str, expected: bool | None) -> tuple[bool, bool]:
    """(whether a chunk begins in the middle of a docstring, whether it ends so). expected: whether the one before it
    ends so, if there is one."""
    if not expected and not _QUOTES.search(text):
        return False, False  # prose throughout would be the middle of a docstring, after some of its beginning
    excess = functools.cache(lambda start, end: _excess(text[start:end]))
    quotes = list(_QUOTES.finditer(text))
    outside, inside = (_Reading.of(text, quotes, excess, within=within) for within in (False, True))
    bias = 0 if expected is None else _SURE if expected else -_SURE
    begins = inside.likely + 2 * bias > outside.likely and (expected is True or not _QUOTES.match(text))
    return begins, (inside if begins else outside).ends_within


def _others(text: str) -> tuple[bool, bool]:
    """The same of comments between /* and */."""
    return end_of_cut_text(text, "") > 0, text.rfind("/*") > text.rfind("*/")


def _is_indented_well(before: str, after: str) -> bool:
    last, first = _last_line(before), next((line for line in after.split("\n") if line.strip()), "")
    if _COMMENT.match(last) or _PART.match(first) or _indent(first) <= _indent(last):
        return True
    code = last.partition(" #")[0].rstrip()
    return _GOES_ON.search(code) is not None or sum(map(code.count, "([{")) > sum(map(code.count, ")]}"))


def _last_line(text: str) -> str:
    bare = text.rstrip()
    return bare[bare.rfind("\n") + 1 :]


def _indent(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(8))
