"""The formats of texts: one table, in the order in which they are tried. The first that knows a text reads it.

A package adds a format by an entry point of the group "ctxcompress.formats" that names a `Format`. These come first.
"""

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Kind, Node, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.plugins import plugins
from ctxcompress.segment.conversation import turns_of
from ctxcompress.segment.json_outline import json_outline
from ctxcompress.segment.keyed_outline import keyed_outline
from ctxcompress.segment.logs import log_segments, output_segments
from ctxcompress.segment.markup import html_segments, markup_outline
from ctxcompress.segment.prose import conversation_segments, prose_segments
from ctxcompress.segment.rows import row_outline
from ctxcompress.segment.source_code import outline

__all__ = ["FORMATS", "Format", "Read", "data_outline", "read"]

Nodes = tuple[Node, ...]
Read = tuple[Nodes, list[Segment]]
"""The outline of a text, which is cut as the budget wants it, or its segments. One of the two is empty."""


@dataclass(frozen=True, slots=True)
class Format:
    """How texts of one kind are recognized and read."""

    name: str
    read: Callable[[str, str | None, str], Read]
    """(text, file name or path if known, language) -> what was read; both empty for any other text. The segments
    partition the text."""


def _outlined(outline_of: Callable[[str, str | None], Nodes]) -> Callable[[str, str | None, str], Read]:
    return lambda text, name, _: (outline_of(text, name), [])


def _cut(segments_of: Callable[[str], list[Segment]]) -> Callable[[str, str | None, str], Read]:
    return lambda text, _, __: ((), segments_of(text))


def _unless_code(outline_of: Callable[[str, str | None], Nodes]) -> Callable[[str, str | None, str], Read]:
    return lambda text, name, _: (() if is_code_name(name) else outline_of(text, name), [])


def _conversation(text: str, _: str | None, language: str) -> Read:
    turns = turns_of(text)
    return (), conversation_segments(text, turns, language) if turns else []


_MANY, _TINY = 100_000, 12
"""The least characters of a text whose lines are counted, and the most characters of a tiny line, on average."""
_TOGETHER = lazy_regex(r".{1,100}(?<=\n)|[^\n]*+\n?+", re.DOTALL)
"""Lines that share a segment."""


def _tiny_lines(text: str, name: str | None, _: str) -> Read:
    """Let neighbouring lines share segments if each says too little, and the text has very many: to look for its
    structure would cost far more than the text is worth."""
    if len(text) <= _MANY or text.count("\n") * _TINY <= len(text) or _is_json(text):
        return (), []
    if records := keyed_outline(text, name) or row_outline(text, name):
        return records, []
    parts = (match.span() for match in _TOGETHER.finditer(text) if match[0])
    return (), [Segment(Kind.PARAGRAPH, *part, number) for number, part in enumerate(parts)]


def _is_json(text: str) -> bool:
    try:
        return text.lstrip()[:1] in "[{" and json.loads(text) is not None
    except (ValueError, RecursionError):
        return False


_DATA = (
    Format("JSON", _outlined(lambda text, _: json_outline(text))),
    Format("lines", _outlined(keyed_outline)),
    Format("markup", _unless_code(lambda text, _: markup_outline(text))),
    Format("rows", _unless_code(row_outline)),
)
FORMATS: Sequence[Format] = (
    Format("tiny lines", _tiny_lines),  # of which a text may have very many
    *_DATA,
    Format("HTML", lambda text, name, language: ((), [] if is_code_name(name) else html_segments(text, language))),
    Format("source code", _outlined(outline)),
    Format("logs", _cut(log_segments)),
    Format("conversation", _conversation),
    Format("output", _cut(output_segments)),
    Format("prose", lambda text, _, language: ((), prose_segments(text, language))),
)
"""Prose is what is no other format."""


@functools.cache
def _added() -> Sequence[Format]:
    return tuple(plugins("ctxcompress.formats"))


def read(text: str, name: str | None, language: str) -> Read:
    """Return what the first format that knows a text reads. name: file name or path, if known."""
    for row in (*_added(), *FORMATS) if text else ():
        nodes, segments = row.read(text, name, language)
        if nodes or segments:
            return nodes, segments
    return (), []


def data_outline(text: str, name: str | None = None) -> Nodes:
    """Return the outline of a text if it is data, else an empty one. name: file name or path, if known."""
    return next((nodes for row in _DATA if (nodes := row.read(text, name, "")[0])), ())
