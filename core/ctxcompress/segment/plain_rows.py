"""Finds lines of plain text that are rows of their own, as programs print them: ps, kubectl, strace, metrics.

Such lines are neither Markdown nor sentences. If they were cut like prose, the beginning of one row could stand before
the end of another, which would be a statement that nobody made.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import are_wrapped, split_lines

__all__ = ["begins_with_header", "have_columns", "plain_rows"]

_FEWEST = 3
"""The least lines of a block of rows, without rules and blank lines."""
_READ = 2_000
"""Characters of a text that tell whether it begins with a header."""
_COLUMNS, _WORDS, _MOST = 0.6, 0.4, 0.5
"""The least share of lines with a gap between columns, the most share of words among the entries of other rows, and
half of the lines."""
_ALIGNED = 0.8
"""The least share of lines that fill their width with a gap at the same place, if these are columns."""
_GAP = lazy_regex(r"[^\s.!?:;](?: {2,}|\t[ \t]*)\S")
_PUNCTUATED = lazy_regex(r"[^\W\d_]{2}[)\]\"'\u2019]?(?:[.,;!?](?=\s)|[-\u2010\u00ad]\s*\Z)")
_MARKS = r"'、。，；：！？「」『』（）《》"
_WORD = lazy_regex(rf"[\"(]?[{_MARKS}]*[^\W\d_]+(?:[’{_MARKS}-]+[^\W\d_]+)*[.,;:!?)\"{_MARKS}]*")
_STOPS = (".", "!", "?", ":", ";", ",", "\u3002", "\uff01", "\uff1f")
_LETTER = lazy_regex(r"[^\W_]")
_FOLDER = lazy_regex(r"(?:\.{0,2}/[^\n]*|\.{1,2}|[^\s/]++/[^\n]*):\Z")
"""The line above the files of a folder."""
_DIGIT = lazy_regex(r"\d")


def plain_rows(text: str, start: int, end: int, block: int, first: int, heading: tuple[str, ...]) -> list[Segment]:
    """Return one segment for each line of ``text[start:end]`` if these are rows, else none.

    If the first one is the header of columns, the others need it.

    block: the number of the block. first: the number of the first segment in the text. heading: its heading path.
    """
    if text.count("\n", start, end) < _FEWEST - 1:
        return []
    raw = split_lines(text[start:end])
    whole = [line for line in raw if _LETTER.search(line)]
    lines = [line.strip() for line in whole]
    if len(lines) < _FEWEST or _are_justified(whole):
        return []
    in_columns = have_columns(lines)
    if not in_columns and not _are_entries(lines):
        return []
    kind, needs = (Kind.TABLE, (first,)) if in_columns and _is_header(lines) else (Kind.PARAGRAPH, ())
    ends = list(_ends(raw, start))
    pairs = zip((start, *ends), ends, strict=False)
    return [Segment(kind, begin, last, block, heading, needs if begin > start else ()) for begin, last in pairs]


def begins_with_header(text: str) -> bool:
    """Tell whether a text begins with columns below a header, or with the files of a folder."""
    lines = [line.strip() for line in split_lines(text[:_READ]) if _LETTER.search(line)]
    return bool(lines) and have_columns(lines) and _is_header(lines)


def have_columns(lines: Sequence[str]) -> bool:
    """Tell whether most lines have a gap between columns."""
    return _share(lines, lambda line: _GAP.search(line) is not None) >= _COLUMNS


def _are_justified(lines: Sequence[str]) -> bool:
    """Tell whether lines are wrapped prose with wider blanks here and there: these do not stand below one another, as
    those between columns do."""
    if not (are_wrapped(lines) and any(map(_PUNCTUATED.search, lines))):
        return False
    gaps = [gap.span() for line in lines[1:] for gap in _GAP.finditer(line.expandtabs())]
    shared = max((n for ends in zip(*gaps, strict=True) for n in Counter(ends).values()), default=0)
    return shared < _ALIGNED * (len(lines) - 1)


def _ends(lines: Sequence[str], start: int) -> Iterator[int]:
    """Yield where lines end. Blank lines belong to the line before."""
    for line, below in zip(lines, (*lines[1:], ""), strict=True):
        start += len(line)
        if not below.isspace():
            yield start


def _are_entries(lines: Sequence[str]) -> bool:
    """Tell whether lines without columns are entries: they have few words, and most end without a full stop."""
    if _share(lines, lambda line: line.endswith(_STOPS)) > _MOST:
        return False
    parts = [part for line in lines for part in line.split()]
    return _share(parts, lambda part: _WORD.fullmatch(part) is not None) <= _WORDS


def _is_header(lines: Sequence[str]) -> bool:
    """Tell whether the first line says what the others are: it is the line of a folder, or only the lines below it have
    numbers or small letters."""
    first, others = lines[0], lines[1:]
    if _FOLDER.match(first):
        return True
    is_capital = first.isupper() and not any(map(str.isupper, others))
    return not _DIGIT.search(first) and (
        is_capital or _share(others, lambda line: _DIGIT.search(line) is not None) > _MOST
    )


def _share(lines: Sequence[str], is_so: Callable[[str], bool]) -> float:
    return sum(map(is_so, lines)) / len(lines)
