"""One JSON object, for programs: what is kept of each passage, and where it is from, as it is.

    {"schema_version":1,"query":"...","passages":[
    {"number":1,"id":"a","index":0,"text":"...","spans":[[0,34]],"tokens":8,"relevance":0.9312,"score":0.92,
    "doc_id":"auth","file_path":"docs/auth.md","title":"Auth","header_path":["Configuration"]}]}

A passage is on one line. What is not known (score, doc_id, file_path, title, header_path) or not the case (markers,
metadata_only) is left out. The tokens are those of the passage's text alone: those of the whole would change it.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ctxcompress.render.entry import Entry
from ctxcompress.render.headers import known_score

__all__ = ["SCHEMA_VERSION", "Json"]

SCHEMA_VERSION = 1
"""It counts up where a key goes or means something else, not where one is added."""
_DIGITS = 4
# Half a surrogate pair does not go into UTF-8; the others end a line for some readers.
_ESCAPED = re.compile(r"[\ud800-\udfff\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Json:
    query: str
    count: Callable[[str], int]
    separator: str = ",\n"
    closing: str = "]}"

    @property
    def opening(self) -> str:
        return f'{{"schema_version":{SCHEMA_VERSION},"query":{_written(self.query)},"passages":[\n'

    def entry(self, entry: Entry) -> str:
        return _written(dict(self._told(entry)))

    def _told(self, entry: Entry) -> Iterator[tuple[str, object]]:
        passage = entry.passage
        yield from (("number", entry.number), ("id", passage.id), ("index", entry.index), ("text", entry.text))
        yield "spans", [[int(start), int(end)] for start, end in entry.spans]
        yield "tokens", int(entry.tokens or self.count(entry.text))
        yield "relevance", round(float(entry.relevance), _DIGITS)
        if (score := known_score(passage)) is not None:
            yield "score", score
        for name in ("doc_id", "file_path", "title"):
            if (value := getattr(passage, name)) is not None:
                yield name, value
        if passage.header_path:
            yield "header_path", list(map(str, passage.header_path))
        if entry.markers:
            yield "markers", [[int(before), text] for before, text in entry.markers]
        if entry.is_line:
            yield "metadata_only", True


def _written(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
