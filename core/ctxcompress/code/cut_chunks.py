"""Chunks of source code that begin or end inside of a docstring or a comment, and which of them follow one another.

A chunk of Python with triple quotes is read both ways, as if it began outside of a docstring and inside of one. The
reading wins in which more lines look like what they would be.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ctxcompress.code.detection import code_lines
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["continues_in_next", "end_of_cut_text"]

_QUOTES = ('"' * 3, "'" * 3)
_SURE_LINES = 4
"""Number of lines of evidence needed to assume that a chunk does not continue the one before."""
_PART_SAMPLE = 600
"""Number of characters read of each part between quotes."""
_MOST_CHANGES = 5
"""Number of changes between docstring and code after which parts are no longer read."""
_EXAMPLE_LINES = 4
"""Number of prose lines that the prompt of an interactive session counts for, because docstrings have such examples."""
_OPENING_DOCSTRING = lazy_regex(r"\s*+[rRbBuUfF]?(?:\"{3}|'{3})[^\s\"']")
"""The opening quotes of a docstring with text on the same line, which cannot be closing quotes."""
_CONTINUATION = lazy_regex(r"[:{(\[,\\=+]$|->$|\b(?:and|or|not|in)$")
_EXPRESSION_REST = lazy_regex(r"[ \t]*+[\"')\]}.]")
"""The beginning of the rest of an expression."""
_COMMENT = lazy_regex(r"[ \t]*+(?:#|//|\*)")


def end_of_cut_text(text: str, language: str) -> int:
    """Return the end of the docstring or comment that a chunk of source code begins inside of, or 0."""
    if language == "python":
        first = next(_quotes(text), None)
        return first.end if first and text[: first.start].strip() and _docstring_state(text, None)[0] else 0
    closing = text.find("*/")
    return closing + 2 if closing >= 0 and text.find("/*", 0, closing) < 0 else 0


def continues_in_next(texts: Sequence[str], language: str) -> Iterator[bool]:
    """Yield for each chunk but the last whether the next chunk may follow it directly in the file.

    It may if it continues an open docstring, has the body of an open block, and is not indented deeper when nothing is
    open. texts: chunks of one source file, in order.
    """
    within = None
    for number, after in enumerate(texts):
        begins, ends = _docstring_state(after, within) if language == "python" else _comment_state(after)
        if number:
            yield begins == within and (begins or _is_indented_well(texts[number - 1], after))
        within = ends


class _Quote(NamedTuple):
    """Triple quotes: where they begin, and the quotes."""

    start: int
    mark: str

    @property
    def end(self) -> int:
        return self.start + len(self.mark)


def _quotes(text: str) -> Iterator[_Quote]:
    """Yield the triple quotes of a text. To look for each kind is several times as fast as a regular expression."""
    following = {mark: text.find(mark) for mark in _QUOTES}
    while found := [_Quote(start, mark) for mark, start in following.items() if start >= 0]:
        first = min(found)
        yield first
        following[first.mark] = text.find(first.mark, first.end)


class _Reading(NamedTuple):
    """A reading of a chunk of Python that assumes that it begins inside a docstring, or outside."""

    likely: int
    """The number of lines that fit this reading (code outside docstrings, prose inside) minus those that do not."""
    ends_within: bool
    """True if the chunk then ends inside a docstring."""

    @classmethod
    def of(cls, text: str, quotes: Sequence[_Quote], excess: Callable[[int, int], int], *, within: bool) -> "_Reading":
        """Read `text` from outside a docstring, or from inside one with `within`.

        quotes: all triple quotes of the text. excess: `_excess` of the part of the text between two offsets.
        """
        open_ = quotes[0].mark if within and quotes else '"' * 3 if within else ""
        likely = start = changes = 0
        for quote in quotes:
            if open_ not in ("", quote.mark):
                continue  # quotes of the other kind inside a docstring
            if changes < _MOST_CHANGES:
                likely += excess(start, quote.start) * (-1 if open_ else 1)
            open_, start, changes = ("" if open_ else quote.mark), quote.end, changes + 1
        if changes < _MOST_CHANGES:
            likely += excess(start, len(text)) * (-1 if open_ else 1)
        return cls(likely + (0 if within else 10 * (_OPENING_DOCSTRING.match(text) is not None)), open_ != "")


def _excess(text: str) -> int:
    """Return the number of lines that look like code minus those that do not."""
    code, others = code_lines(text[:_PART_SAMPLE])
    return code - others - _EXAMPLE_LINES * text.count(">>> ")


def _docstring_state(text: str, expected: bool | None) -> tuple[bool, bool]:
    """Return whether a chunk of Python begins inside a docstring, and whether it ends inside one.

    expected: whether the chunk before it ends inside a docstring, or None for the first chunk.
    """
    quotes = list(_quotes(text))
    if not expected and not quotes:
        return False, False  # without quotes, only the chunk before can tell
    excess = functools.cache(lambda start, end: _excess(text[start:end]))
    outside, inside = (_Reading.of(text, quotes, excess, within=within) for within in (False, True))
    bias = 0 if expected is None else _SURE_LINES if expected else -_SURE_LINES
    begins = inside.likely + 2 * bias > outside.likely and (expected is True or not text.startswith(_QUOTES))
    return begins, (inside if begins else outside).ends_within


def _comment_state(text: str) -> tuple[bool, bool]:
    """Return whether a chunk begins inside a comment between /* and */, and whether it ends inside one."""
    return end_of_cut_text(text, "") > 0, text.rfind("/*") > text.rfind("*/")


def _is_indented_well(before: str, after: str) -> bool:
    last, first = _last_line(before), _first_line(after)
    if _COMMENT.match(last) or _EXPRESSION_REST.match(first) or _indent(first) <= _indent(last):
        return True
    code = last.partition(" #")[0].rstrip()
    return _CONTINUATION.search(code) is not None or sum(map(code.count, "([{")) > sum(map(code.count, ")]}"))


def _first_line(text: str) -> str:
    """Return the first line that is not blank, or "" if all are."""
    start = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0] if start < len(text) else ""


def _last_line(text: str) -> str:
    bare = text.rstrip()
    return bare[bare.rfind("\n") + 1 :]


def _indent(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(8))
