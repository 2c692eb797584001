"""Metadata lines: the line that stands for a passage with a low score."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ctxcompress.data.metadata import RECORD_KEY, as_number
from ctxcompress.data.passages import Node, NodeKind, Passage
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import BREAKS, INVISIBLE, one_line, shortened, shortened_path, spelled, split_lines

__all__ = ["PREFIX", "is_own_line", "like_own_lines", "metadata_line"]

PREFIX = "[metadata-only]"

_LONGEST = 200
"""Characters of both lines."""
_LONGEST_PLACE = 80
"""Characters of a path or an id."""
_LONGEST_NAME = 40
_RESERVED = 60
"""Characters that are reserved for the comment, before names take the rest."""
_SAMPLE = 2_000
"""Characters at the beginning of a passage that a comment or a first line is looked for in."""
_CONTAINERS = frozenset((NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_NAMED = _CONTAINERS | {NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTANT}
_COMMENT = lazy_regex(r"[ \t]*(?:#(?![!\[])|//|/\*|\*|--|\"{3}|'{3}|[rRuU](?:\"{3}|'{3}))")
_DECORATION = "#/*-!\"'`=~_ \t"
_SHEBANG = lazy_regex(r"#!|[ \t]*#[^\n]*coding[:=]")
_LOOKS_LIKE_LINE = lazy_regex(rf"(?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+({spelled(PREFIX)})", re.IGNORECASE)
_LAST_LINE = 10**9
_KEYS = (("start_line", "end_line"), ("startLine", "endLine"), ("loc.lines.from", "loc.lines.to"))


def is_own_line(passage: Passage) -> bool:
    """Tell whether a passage is a line from an earlier compression: its record says so."""
    text = passage.text
    if len(text) > _LONGEST or text.count("\n") > 1 or not text.startswith(PREFIX):
        return False
    record = passage.metadata.get(RECORD_KEY)
    return isinstance(record, Mapping) and record.get("metadata_only") is True


def like_own_lines(passage: Passage) -> tuple[int, ...]:
    """Return the places in a passage's text that look like the beginning of such a line.

    The caller shows a backslash before each, so that they cannot be mistaken for a real line.
    """
    if is_own_line(passage) or "]" not in passage.text:
        return ()
    return tuple(match.start(1) for match in _LOOKS_LIKE_LINE.finditer(passage.text))


def metadata_line(passage: Passage, nodes: Sequence[Node] = ()) -> str:
    """Return the line that stands for a passage: its place and line numbers, and the names that it defines.

    A passage that defines nothing shows its headings and size instead. A second line has the beginning of its comment
    or docstring. There are at most two lines and 200 characters. Line breaks and control, formatting and bidirectional
    characters are removed, because they could forge a line. Line numbers are those that a loader has stored
    (`start_line` and `end_line`, or `loc.lines`), else they count from the beginning of the passage. nodes: the outline
    of source code.
    """
    where = _where(passage)
    first, last = _lines(passage)
    place = f"{PREFIX} {where}:{first}-{last}" if last > first else f"{PREFIX} {where}:{first}"
    about = _LOOKS_LIKE_LINE.sub(r"\\\1", _description(passage.text)) if nodes else ""  # it begins a line
    room = _LONGEST - len(place) - min(len(about), _RESERVED)
    what = _what(passage, nodes, room - 5)
    line = f"{place}: {what}" if what else place
    room = _LONGEST - len(line) - 3
    return f"{line}\n  {shortened(about, room)}" if about and room >= min(len(about), _RESERVED // 2) else line


def _where(passage: Passage) -> str:
    path = passage.file_path or passage.doc_id or passage.title
    place = one_line(path) if path else ""
    return shortened_path(place, _LONGEST_PLACE) if place else shortened(one_line(passage.id), _LONGEST_PLACE)


def _what(passage: Passage, nodes: Sequence[Node], room: int) -> str:
    """Return as many kinds and names of definitions as fit, or the headings and the size of prose."""
    names = [shortened(one_line(name), _LONGEST_NAME) for name in _definitions(nodes)]
    if names:
        shown, length = list[str](), len(", …")
        for name in names:
            if length + len(name) + 2 > room:
                return ", ".join((*shown, "…"))
            shown.append(name)
            length += len(name) + 2
        return ", ".join(shown)
    size = f"{len(passage.text):,} characters"
    headings = passage.header_path or ((passage.title,) if passage.title else ())
    path = " › ".join(filter(None, map(one_line, headings))) or _first_line(passage.text)
    return (
        f"{shortened(path, room - len(size) - 2)}, {size}" if path and room > len(size) + 12 else size[: max(room, 0)]
    )


def _definitions(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the definitions, outer ones first and public ones before private ones."""
    level = [node for node in nodes if node.name and node.kind in _NAMED]
    while level:
        for node in sorted(level, key=lambda node: (node.kind is NodeKind.CONSTANT, _is_private(node.name))):
            yield f"{node.kind} {node.name}"
        inside = (child for node in level if node.kind in _CONTAINERS for child in node.children)
        level = [child for child in inside if child.name and child.kind in _NAMED - {NodeKind.CONSTANT}]


def _is_private(name: str) -> bool:
    return name.rpartition(".")[2].startswith("_")


def _lines(passage: Passage) -> tuple[int, int]:
    """Return the numbers of the first and the last line, from 1."""
    metadata, loc = dict(passage.metadata), passage.metadata.get("loc")
    if isinstance(loc, Mapping) and isinstance(lines := loc.get("lines"), Mapping):
        metadata |= {f"loc.lines.{name}": number for name, number in lines.items()}
    for first, last in _KEYS:
        begin, end = as_number(metadata.get(first)), as_number(metadata.get(last)) or 0
        if begin is not None and 0 <= begin <= _LAST_LINE:
            return int(begin), int(min(max(begin, end), _LAST_LINE))
    return 1, max(passage.text.rstrip().count("\n") + 1, 1)


def _description(text: str) -> str:
    """Return the first line with letters in the first comment or docstring."""
    within = False
    for line in split_lines(text[:_SAMPLE]):
        within = (within and bool(line.strip())) or _COMMENT.match(line) is not None
        words = one_line(line.strip()).strip(_DECORATION)
        if within and not _SHEBANG.match(line) and any(map(str.isalpha, words)):
            return words.removeprefix('r"""').strip()
    return ""


def _first_line(text: str) -> str:
    return next((words for line in split_lines(text[:_SAMPLE]) if (words := one_line(line).strip("#*=- \t"))), "")
