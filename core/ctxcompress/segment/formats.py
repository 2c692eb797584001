"""Segmentation of any text, by a table of formats in the order in which they are tried. The first that knows a text
reads it.

A package adds a format by an entry point of the group "ctxcompress.formats" that names a `Format`. These come first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Node, Segment
from ctxcompress.guarded import called
from ctxcompress.plugins import plugins
from ctxcompress.segment.conversation import turns_of
from ctxcompress.segment.data_records import is_data, record_segments
from ctxcompress.segment.json_outline import json_outline
from ctxcompress.segment.keyed_outline import keyed_outline
from ctxcompress.segment.logs import log_segments, output_segments
from ctxcompress.segment.markup import html_segments, markup_outline
from ctxcompress.segment.prose import conversation_segments, prose_segments
from ctxcompress.segment.rows import row_outline
from ctxcompress.segment.sentences import is_prose_line, segment_lines
from ctxcompress.segment.source_code import LONGEST, code_segments, outline

__all__ = ["FORMATS", "Format", "Read", "data_outline", "read_each", "segment", "segment_outlined"]

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


def _unless_code(outline_of: Callable[[str, str | None], Nodes]) -> Callable[[str, str | None, str], Read]:
    return lambda text, name, _: (() if is_code_name(name) else outline_of(text, name), [])


def _conversation(text: str, _: str | None, language: str) -> Read:
    turns = turns_of(text)
    return (), conversation_segments(text, turns, language) if turns else []


_DATA = (
    Format("JSON", lambda text, _, __: (json_outline(text), [])),
    Format("lines", lambda text, name, _: (keyed_outline(text, name), [])),
    Format("markup", _unless_code(lambda text, _: markup_outline(text))),
    Format("rows", _unless_code(row_outline)),
)
FORMATS: Sequence[Format] = (
    *_DATA,
    Format("HTML", lambda text, name, language: ((), [] if is_code_name(name) else html_segments(text, language))),
    Format("source code", lambda text, name, _: (outline(text, name), [])),
    Format("logs", lambda text, _, __: ((), log_segments(text))),
    Format("conversation", _conversation),
    Format("output", lambda text, _, __: ((), output_segments(text))),
    Format("prose", lambda text, _, language: ((), prose_segments(text, language))),
)
"""Prose is what is no other format."""


def _read(text: str, name: str | None, language: str) -> Read:
    """Return what the first format that knows a text reads. name: file name or path, if known."""
    for part, added in plugins("ctxcompress.formats").items() if text else ():
        found: Read = called(part, partial(added.read, text, name, language))
        if any(found):
            return found
    of_ours = (row.read(text, name, language) for row in FORMATS if text)
    return next(filter(any, of_ours), ((), []))


def segment(text: str, *, language: str = "en", name: str | None = None) -> list[Segment]:
    """Return the segments of `text` in order. Together they are exactly `text`. An empty text has none.

    language: ISO 639-1 code, for the sentence rules. name: file name or path, if known. Its extension distinguishes
    code from prose better than the content.
    """
    [(nodes, segments)] = read_each([text], [name], language=language)
    return segment_outlined(text, nodes) if nodes else segments


def read_each(texts: Sequence[str], names: Sequence[str | None], *, language: str) -> list[Read]:
    """Return the outline of each text if it is source code or data, or its segments if it is prose.

    The segments of what has an outline depend on the budget: see `segment_outlined`.
    """
    lines = [text for text in texts if is_prose_line(text)]
    found = dict(zip(lines, segment_lines(lines, language), strict=True))
    pairs = zip(texts, names, strict=True)
    return [((), found[text]) if text in found else _read(text, name, language) for text, name in pairs]


def segment_outlined(text: str, nodes: Sequence[Node], *, whole: int = LONGEST) -> list[Segment]:
    """Return the segments of a text that has an outline.

    nodes: the outline. whole: the most characters of a statement that is one segment: see `code_segments`.
    """
    if is_data(nodes):
        return record_segments(text, nodes, whole)
    return code_segments(text, nodes, whole)


def data_outline(text: str, name: str | None = None) -> Nodes:
    """Return the outline of a text if it is data, else an empty one. name: file name or path, if known."""
    return next((nodes for row in _DATA if (nodes := row.read(text, name, "")[0])), ())
