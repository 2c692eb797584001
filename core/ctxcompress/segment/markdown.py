"""Splits Markdown and plain text into blocks, with pyromark for CommonMark and GFM tables, and repairs for chunks.

A chunk can begin anywhere in a document, even inside a code fence or a table, and plain text can look like Markdown by
accident. This module corrects what the parser misreads in them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import pyromark

from ctxcompress.code.detection import code_share
from ctxcompress.data.passages import Kind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import replace_surrogates

__all__ = ["Block", "is_marked", "markdown_blocks"]


BlockStart = tuple[int, Kind, int]
"""Where a block begins, its kind, and its level if it is a heading."""


class Block(NamedTuple):
    """A block of a text, with half-open offsets. The blocks of a text partition it."""

    kind: Kind
    start: int
    end: int
    heading: tuple[str, ...] = ()


# A name is ten times as fast as an attribute of an enum.
_PARAGRAPH, _HEADING = Kind.PARAGRAPH, Kind.HEADING
_LIST_ITEM, _TABLE, _CODE = Kind.LIST_ITEM, Kind.TABLE, Kind.CODE
_UNREAD = Kind.BOILERPLATE  # what no reader sees
_KINDS = {"Heading": _HEADING, "Item": _LIST_ITEM, "Table": _TABLE}
_CONTAINERS = {"Item": _LIST_ITEM, "BlockQuote": Kind.QUOTE}
_WITHIN = frozenset(("TableHead", "TableRow", "TableCell", "Emphasis", "Strong", "Strikethrough"))
_OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_YAML_STYLE_METADATA_BLOCKS
_OPTIONS |= pyromark.Options.ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
_FENCE = lazy_regex(
    r"\n[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<mark>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)$", re.MULTILINE
)
"""A fence, with the line break before it: a search for a line break is three times as fast as one for a line start."""
_MARKED = r"(?:[ \t]*(?:[#>|<`~^*+=_:-]|\d+[.)]|\[[^\]\n^]++\]:|\{/\*|import[ ])|[ ]{4}|[ ]{0,3}\t)"
_MARKED_LINE, _MARKED_NEXT_LINE = lazy_regex(_MARKED), lazy_regex(rf"\n{_MARKED}")
"""A line that CommonMark or GFM may not read as part of a paragraph; and one after a line break, which is searched for
faster than the start of a line."""
_EMPTY_LINES = lazy_regex(r"\n(?:[ \t]*\n)+")
_TABLE_LINES = lazy_regex(
    r"(\|(?:[^\n\\`|]++\|)++) *+\n(\|(?: *+:?-++:? *+\|)++) *+(?:\n\|[ \t|]*+[^\s|][^\n]*+)*+\n*+"
)
"""Lines of a table and nothing else, with what tells the number of its columns: the header and the line below it."""
_FRONT_MATTER = lazy_regex(r"\s*+(?:-{3}|\+{3})[ \t\r]*+\n(?:\s*+[#\[][^\n]*+\n)*+\s*+[\w.\"'-]++[ \t]*+[:=]")
"""The beginning of front matter: a key below its first line."""
_MOST_CELLS = 100_000
"""The most cells of a table that is read without the parser, which ends tables with many missing cells early."""
_DEEPEST_QUOTE = 50
_DEEP_QUOTES = lazy_regex(rf"(?<=>{{{_DEEPEST_QUOTE}}})>++|(?<=(?:> ){{{_DEEPEST_QUOTE}}})(?:> ?)++")
_UNDERLINED = lazy_regex(
    r"(?<![^\n]\n)^(?P<title>\S[^\n]*)\n(?P<line>(?P<sign>[~^\"'+*#.])(?P=sign){2,})[ \t]*(?=\n\s|\Z)", re.MULTILINE
)
"""A title over a line of a sign that Markdown does not know, as reStructuredText has them, and an empty line."""
_UNDERLINE = lazy_regex(r"\n([~^\"'+*#.])\1\1")
"""What the line under such a title begins with, which is found much faster: few texts have one."""
_WORD = lazy_regex(r"\w")
_SIGNS = "=-~^"
"""The signs under titles, from the first level on; others are below."""
_HEADING_END = lazy_regex(r"[ \t]+(?:#+|\{#[^{}\n]*\})$")


def markdown_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of `text`, each with its heading path. Together they are exactly `text`."""
    if "\r" not in text and not is_marked(text):
        return _paragraphs(text)
    if _is_table(text):
        return iter((Block(_TABLE, 0, len(text)),))
    begin = _end_of_cut_fence(text)
    starts = [(0, _CODE, 0)] if begin else []
    if begin < len(text):
        starts.extend(_block_starts(text, begin))
    return _with_headings(text, starts)


def is_marked(text: str) -> bool:
    """Tell whether a line of `text` may be anything but a part of a paragraph in Markdown."""
    return _MARKED_LINE.match(text) is not None or _MARKED_NEXT_LINE.search(text) is not None


def _paragraphs(text: str) -> Iterator[Block]:
    """Yield the blocks of a text without Markdown, which are separated by empty lines."""
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    starts = [0, *(match.end() for match in _EMPTY_LINES.finditer(text, first, last))]
    return (Block(_PARAGRAPH, start, end) for start, end in pairwise([*starts, len(text)]))


def _is_table(text: str) -> bool:
    """Tell whether `text` is surely one table of GFM: the parser takes a hundred times as long to say so."""
    found = _TABLE_LINES.fullmatch(text) if text.startswith("|") and "\r" not in text else None
    if found is None:
        return False
    columns = found[1].count("|")
    return columns == found[2].count("|") and columns * text.count("\n") <= _MOST_CELLS


def _block_starts(text: str, begin: int) -> list[BlockStart]:
    """Return (offset, kind, heading level) of every block from `begin` on. Offsets are ascending, at line starts."""
    starts: list[BlockStart] = []
    line = seen = begin
    for found, found_kind, found_level in _events(text, begin):
        line = text.rfind("\n", seen, found) + 1 or line  # from `seen`, so no line is searched twice
        seen = max(seen, found)
        is_table = found_kind is _PARAGRAPH and text.startswith("|", line) and _is_cut_table(text, line)
        kind, level = (_TABLE, 0) if is_table else (found_kind, found_level)
        if starts and line <= starts[-1][0]:
            if kind in (_CODE, _TABLE):  # a fence or a table that begins on the line of a list marker
                starts[-1] = (starts[-1][0], kind, 0)
        elif not (starts and kind is starts[-1][1] is _PARAGRAPH and _is_text_above(text, line)):
            starts.append((line, kind, level))
    if not starts or starts[0][0] > begin:
        starts.insert(0, (begin, _PARAGRAPH, 0))
    return starts


def _is_text_above(text: str, line: int) -> bool:
    """Tell whether the line above is not empty: the parser takes a deep first line of a paragraph for a block."""
    return not text[text.rfind("\n", 0, line - 1) + 1 : line].isspace()


def _events(text: str, begin: int) -> Iterator[tuple[int, Kind, int]]:
    """Yield (character offset, kind, heading level) of every block that the parser finds, containers and leaves."""
    source, levels = _with_known_underlines(_without_deep_quotes(replace_surrogates(text[begin:], "\ufffd")))
    to_character = _character_offsets(source)
    around = list[tuple[int, Kind]]()  # the end and the kind of each open container
    for event, span in pyromark.events_with_range(source, options=_OPTIONS):
        if event.__class__ is not dict:
            if event == "Rule":
                yield begin + to_character(span["start"]), Kind.METADATA, 0
            continue
        tag = event.get("Start")
        if tag is None or (tag.__class__ is str and tag in _WITHIN):  # most events are inside a block
            continue
        name, detail = (tag, None) if tag.__class__ is str else next(iter(tag.items()))
        start = span["start"]
        while around and around[-1][0] <= start:
            around.pop()
        if name == "Heading" and around:  # of what is quoted, not of a section
            name = "Paragraph"
        offset = to_character(start)
        offset += source.startswith("\n", offset)  # an item after a tab begins there, for the parser
        kind = _KINDS.get(name) or _kind(name, detail, source, offset, around[-1][1] if around else _PARAGRAPH)
        if kind is not None:
            level = int(detail["level"][1]) if name == "Heading" else 0
            yield begin + offset, kind, levels.get(offset, level)
        if name in _CONTAINERS:
            around.append((span["end"], _CONTAINERS[name]))


def _with_known_underlines(source: str) -> tuple[str, dict[int, int]]:
    """Return the text with dashes under all underlined titles, and the levels of those that had another sign.

    A line of tildes within a fence of tildes closes it.
    """
    levels: dict[int, int] = {}
    if not _UNDERLINE.search(source):
        return source, levels
    parts, end, seen = list[str](), 0, 0
    is_fenced = source.startswith("~~~")
    for match in _UNDERLINED.finditer(source):
        start, stop = match.span("line")
        is_fenced ^= source.count("\n~~~", seen, start - 1) % 2 == 1
        seen = start
        if is_fenced and match["sign"] == "~":
            is_fenced = False
        elif stop - start >= len(match["title"].rstrip()) and _WORD.search(match["title"]):
            levels[match.start()] = 1 + (_SIGNS.find(match["sign"]) if match["sign"] in _SIGNS else len(_SIGNS))
            parts += source[end:start], "-" * (stop - start)
            end = stop
        else:
            is_fenced ^= match["sign"] == "~"
    return "".join([*parts, source[end:]]), levels


def _without_deep_quotes(source: str) -> str:
    """Return the text with letters for the marks of quotes that are too deep: each mark would be a block."""
    if ">" * _DEEPEST_QUOTE not in source and "> " * _DEEPEST_QUOTE not in source:
        return source
    return _DEEP_QUOTES.sub(lambda marks: "x" * len(marks[0]), source)


def _kind(name: str, detail: Any, source: str, start: int, around: Kind) -> Kind | None:
    """Return the kind that depends on more than the name of a block; None within a block, and for a container."""
    if name == "Paragraph":
        return around
    if name == "CodeBlock":
        first = source[start : start + 1_000].split("\n\n", 1)[0]  # enough to distinguish code from indented text
        return _CODE if detail != "Indented" or code_share(first) > 0.5 else _PARAGRAPH
    if name == "MetadataBlock":  # elsewhere, and without keys, it is text between two rules
        is_first = not source[: min(start, 100)].strip()
        return _UNREAD if is_first and _FRONT_MATTER.match(source, start) else _PARAGRAPH
    if name == "HtmlBlock":
        return _UNREAD if source.startswith("<!--", start) and _is_comment(source, start) else _PARAGRAPH
    return None


def _is_comment(source: str, start: int) -> bool:
    """Tell whether a comment has no text after it on its line; without an end, whether it is one paragraph."""
    end = source.find("-->", start) + 3
    return not source[end:].partition("\n")[0].strip() if end > 2 else "\n\n" not in source[start:].rstrip()


def _is_cut_table(text: str, offset: int) -> bool:
    lines = text[offset : offset + 2_000].split("\n\n", 1)[0].splitlines()
    return sum(line.startswith("|") and line.count("|") > 2 for line in lines) >= max(1, len(lines) - 1)


def _end_of_cut_fence(text: str) -> int:
    """Return the end of the code block that the chunk begins inside of, after its closing fence, or 0 if there is none.

    Only an opening fence can have an info string. So the fences are paired both ways, and the reading with fewer
    contradictions wins. If both are equally good, the share of code before the first fence decides.
    """
    if "```" not in text and "~~~" not in text:
        return 0
    fences = list(_FENCE.finditer("\n" + text))  # so each begins where its line does, and ends one character too late
    if not fences:
        return 0
    first, last = fences[0], fences[-1]
    (outside, is_open), (inside, _) = _contradictions(fences, ""), _contradictions(fences, first["mark"])
    if inside > outside or (inside == outside and (inside or not is_open)):
        return 0
    if inside == outside and code_share(text[: first.start()]) <= max(0.3, code_share(text[last.end() - 1 :])):
        return 0
    return min(first.end(), len(text))


def _contradictions(fences: Sequence[re.Match[str]], mark: str) -> tuple[int, bool]:
    """Return how many closing fences have an info string, and whether the text ends within a code block.

    mark: the opening fence of the block that the text begins in, or "" if it begins in none. A shorter fence within a
    block, or one of the other sign, is its content.
    """
    found = 0
    for fence in fences:
        if not mark:
            mark = fence["mark"]
        elif fence["mark"].startswith(mark):
            found += bool(fence["info"].strip())
            mark = ""
    return found, bool(mark)


def _with_headings(text: str, starts: list[BlockStart]) -> Iterator[Block]:
    above = list[tuple[int, str]]()  # the level and the text of each heading
    heading: tuple[str, ...] = ()
    for (start, kind, level), (end, _, _) in pairwise(chain(starts, [(len(text), _PARAGRAPH, 0)])):
        if kind is _HEADING:
            while above and above[-1][0] >= level:
                above.pop()
            above.append((level, _heading_text(text[start:end])))
            heading = tuple(title for _, title in above)
        yield Block(kind, start, end, heading)


def _heading_text(source: str) -> str:
    line = source.lstrip(" \t>").partition("\n")[0].strip().lstrip("#").strip()
    return _HEADING_END.sub("", line) if line.endswith(("#", "}")) else line


def _character_offsets(source: str) -> Callable[[int], int]:
    """Return a function that converts the parser's byte offsets, which ascend, to character offsets."""
    if source.isascii():
        return int
    encoded = source.encode()
    last = characters = 0

    def to_character(offset: int) -> int:
        nonlocal last, characters
        characters += len(encoded[last:offset].decode())
        last = offset
        return characters

    return to_character
