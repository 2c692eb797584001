"""The output formats: plain, compact, verbose, json and xml."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ctxcompress.data.results import Format
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.render.headers import Entry, Guard, Renderer, known_score, path_of, score_of, section_of, title_of
from ctxcompress.text.lines import INVISIBLE, spelled

__all__ = ["SCHEMA_VERSION", "Compact", "Json", "Plain", "Verbose", "Xml", "renderer"]

_guard_compact = Guard(rf"\[(?:[{INVISIBLE}]*+\d)++[{INVISIBLE}]*+\](?![^\s{INVISIBLE}])")
_guard_verbose = Guard(rf"{spelled('**')}[\s{INVISIBLE}]*+{spelled('result')}[\s{INVISIBLE}]*+\d", re.IGNORECASE)
SCHEMA_VERSION = 1
"""The version goes up when a key is removed or changes its meaning, not when one is added."""
_DIGITS = 4
# Half a surrogate pair cannot be encoded in UTF-8; some parsers end a line at the others.
_ESCAPED = lazy_regex(r"[\ud800-\udfff\x85\u2028\u2029]")
_TAG = lazy_regex(rf"<(?=[\s/\\{INVISIBLE}]*+{spelled('document')}[{INVISIBLE}]*+s?(?![^\W_]))", re.IGNORECASE)
_Factory = Callable[[str, str, Callable[[str], int]], Renderer]
"""(separator of the options, query, token counter) -> the renderer of a format."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The texts alone."""

    separator: str
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        return entry.text


@dataclass(frozen=True, slots=True)
class Compact:
    """A header of one line, "[1] guide.md § TLS (0.83)", before each text."""

    separator: str = "\n\n"
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        section, score = section_of(entry.passage), score_of(entry.passage, 2)
        place = path_of(entry.passage) or title_of(entry.passage)
        parts = (f"[{entry.number}]", place, section and f"§ {section}", score and f"({score})")
        return f"{' '.join(filter(None, parts))}\n{_guard_compact(entry.text)}"


@dataclass(frozen=True, slots=True)
class Verbose:
    """A header of several lines, "**Result 1** (Score: 0.8312)", "File: ..." and so on, before each text."""

    separator: str = "\n\n"
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        passage = entry.passage
        score, section = score_of(passage, 4), section_of(passage)
        path, title = path_of(passage), title_of(passage)
        lines = (
            f"**Result {entry.number}**" + (f" (Score: {score})" if score else ""),
            f"File: {path}" if path else "",
            f"Title: {title}" if title else "",
            f"Section: {section}" if section else "",
        )
        header = "\n".join(filter(None, lines))
        return f"{header}\n\n{_guard_verbose(entry.text)}"


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON object with the query and an object for each passage."""

    query: str
    count: Callable[[str], int]
    separator: str = ",\n"
    closing: str = "]}"

    @property
    def opening(self) -> str:
        return f'{{"schema_version":{SCHEMA_VERSION},"query":{_dumped(self.query)},"passages":[\n'

    def entry(self, entry: Entry) -> str:
        return _dumped(dict(self._fields(entry)))

    def _fields(self, entry: Entry) -> Iterator[tuple[str, object]]:
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


def _dumped(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


@dataclass(frozen=True, slots=True)
class Xml:
    """A <documents> element with a <document> element for each passage."""

    separator: str = "\n"
    opening: str = "<documents>\n"
    closing: str = "\n</documents>"

    def entry(self, entry: Entry) -> str:
        passage = entry.passage
        known = (
            ("index", str(entry.number)),
            ("source", path_of(passage)),
            ("title", title_of(passage)),
            ("section", section_of(passage)),
            ("score", score_of(passage, 2)),
        )
        attributes = "".join(f' {name}="{_quoted(value)}"' for name, value in known if value)
        return f"<document{attributes}>\n{_TAG.sub('&lt;', entry.text)}\n</document>"


def _quoted(value: str) -> str:
    """Escape a value for an attribute."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


_FORMATS: Mapping[Format, _Factory] = MappingProxyType(
    {
        "plain": lambda separator, _, __: Plain(separator),
        "compact": lambda _, __, ___: Compact(),
        "verbose": lambda _, __, ___: Verbose(),
        "json": lambda _, query, count: Json(query, count),
        "xml": lambda _, __, ___: Xml(),
    }
)


def renderer(format: Format, separator: str, query: str, count: Callable[[str], int]) -> Renderer:
    """Return the renderer of a format.

    separator: the text between two passages in "plain"; other formats have their own. count: counts tokens.
    """
    return _FORMATS[format](separator, query, count)
