"""The output formats: plain, compact, verbose, json and xml, and what their headers say."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, cast

from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Marker, Passage, Span
from ctxcompress.data.results import Format, KeptPassage
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.plugins import plugin
from ctxcompress.text.lines import BREAKS, INVISIBLE, one_line, shortened, shortened_path, spelled

__all__ = [
    "RENDERERS",
    "Entry",
    "Factory",
    "Guard",
    "Renderer",
    "Shows",
    "as_it_is",
    "path_of",
    "renderer",
    "section_of",
    "title_of",
]

_LONGEST, _LONGEST_HEADING, _MOST_HEADINGS = 120, 80, 8
"""Characters of a path or a title, and of a heading; the most headings."""
_GREATEST = 1e6
"""Greater scores are written with an exponent."""
_SIGN = lazy_regex(r"\\*+(?:[§>]|\(-?+\d[\d.e+-]*+\))")
"""A word that could be mistaken for a part of the header itself."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One passage as it is shown."""

    number: int
    """Its position in the final text, from 1."""
    passage: Passage
    text: str
    index: int
    """Position of the passage in the input, from 0."""
    spans: tuple[Span, ...]
    markers: tuple[Marker, ...]
    relevance: float
    is_line: bool
    """Whether the text is a line about the passage, of which nothing is kept."""
    tokens: int = 0
    """Of the text; 0 if not counted yet."""

    @classmethod
    def of(cls, number: int, p: KeptPassage) -> "Entry":
        """Return the entry of a kept passage."""
        return cls(number, p.original, p.text, p.index, p.spans, p.markers, p.relevance, p.metadata_only, p.tokens)


class Renderer(Protocol):
    """One format. The final text is the opening, the entries joined by the separator, and the closing.

    No text, path, heading or query can look like the beginning of another entry or the end of its own. Each entry is
    rendered independently of the others, in time linear in its length.
    """

    @property
    def separator(self) -> str:
        """The text between two entries."""

    @property
    def opening(self) -> str:
        """The text before the first entry."""

    @property
    def closing(self) -> str:
        """The text after the last entry."""

    def entry(self, entry: Entry) -> str:
        """Return the passage as it appears in the final text."""


class Guard:
    """Puts a backslash before text that looks like a header at the beginning of a line.

    Invisible characters and backslashes may come before the look-alike. Removing one backslash from each line that
    looks like a header after backslashes gives the original text.
    """

    def __init__(self, header: str, flags: int = 0) -> None:
        """header: a regular expression that takes linear time."""
        self._anywhere = lazy_regex(header, flags)  # a faster search than at the beginnings of lines
        self._lines = lazy_regex(rf"((?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+)(\\*+{header})", flags)

    def __call__(self, text: str) -> str:
        """Return the text with these backslashes."""
        return self._lines.sub(r"\1\\\2", text) if self._anywhere.search(text) else text


def path_of(passage: Passage) -> str:
    """Return the path or address of a passage.

    The document's id never replaces it: most ids are hashes, which cost many tokens and say nothing.
    """
    return _guarded(shortened_path(one_line(passage.file_path or ""), _LONGEST))


def title_of(passage: Passage) -> str:
    """Return the title of a passage; "" if it repeats the path."""
    return _guarded(shortened(one_line(passage.title or ""), _LONGEST)) if passage.title != passage.file_path else ""


def section_of(passage: Passage) -> str:
    """Return the heading path of a passage, the innermost headings if there are many: "Configuration > TLS"."""
    names = (one_line(str(name)) for name in (passage.header_path or ())[-_MOST_HEADINGS:])
    return " > ".join(_guarded(shortened(name, _LONGEST_HEADING)) for name in names if name)


def score_of(passage: Passage, decimals: int) -> str:
    """Return the retriever's score of a passage as text; "" if it is unknown.

    This is not the relevance: that comes from the scorer, is about the best segment and not the shown text, and is not
    comparable with the retriever's scores.
    """
    score = as_number(passage.score)
    return "" if score is None else f"{score:.{decimals}{'f' if abs(score) < _GREATEST else 'e'}}"


def _guarded(name: str) -> str:
    """Put a backslash before each word that looks like a part of the header, backslashes before it included."""
    return " ".join(f"\\{word}" if _SIGN.fullmatch(word) else word for word in name.split(" "))


_guard_compact = Guard(rf"\[(?:[{INVISIBLE}]*+\d)++[{INVISIBLE}]*+\](?![^\s{INVISIBLE}])")
_guard_verbose = Guard(rf"{spelled('**')}[\s{INVISIBLE}]*+{spelled('result')}[\s{INVISIBLE}]*+\d", re.IGNORECASE)
SCHEMA_VERSION = 1
"""The version goes up when a key is removed or changes its meaning, not when one is added."""
_DIGITS = 4
# Half a surrogate pair cannot be encoded in UTF-8; some parsers end a line at the others.
_ESCAPED = lazy_regex(r"[\ud800-\udfff\x85\u2028\u2029]")
_TAG = lazy_regex(rf"<(?=[\s/\\{INVISIBLE}]*+{spelled('document')}[{INVISIBLE}]*+s?(?![^\W_]))", re.IGNORECASE)
Factory = Callable[[str, str, Callable[[str], int]], Renderer]
"""(separator of the options, query, token counter) -> the renderer of a format."""


@dataclass(frozen=True, slots=True)
class Shows:
    """Renders each passage with a function."""

    separator: str
    entry: Callable[[Entry], str]
    opening: str = ""
    closing: str = ""


def as_it_is(entry: Entry) -> str:
    """Return the text alone."""
    return entry.text


def _compact(entry: Entry) -> str:
    """Return the text after a header of one line, "[1] guide.md § TLS (0.83)"."""
    section, score = section_of(entry.passage), score_of(entry.passage, 2)
    place = path_of(entry.passage) or title_of(entry.passage)
    parts = (f"[{entry.number}]", place, section and f"§ {section}", score and f"({score})")
    return f"{' '.join(filter(None, parts))}\n{_guard_compact(entry.text)}"


def _verbose(entry: Entry) -> str:
    """Return the text after a header of several lines, "**Result 1** (Score: 0.8312)", "File: ..." and so on."""
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


def _xml(entry: Entry) -> str:
    """Return a <document> element."""
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
        if (score := as_number(passage.score)) is not None:
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


RENDERERS: Mapping[Format, Factory] = MappingProxyType(
    {
        "plain": lambda separator, _, __: Shows(separator, as_it_is),
        "compact": lambda _, __, ___: Shows("\n\n", _compact),
        "verbose": lambda _, __, ___: Shows("\n\n", _verbose),
        "json": lambda _, query, count: Json(query, count),
        "xml": lambda _, __, ___: Shows("\n", _xml, "<documents>\n", "\n</documents>"),
    }
)
"""The renderers by the names of their formats. A package adds one by an entry point of the group
"ctxcompress.renderers": the name of the format, and a `Factory`."""


def renderer(format: Format | str, separator: str, query: str, count: Callable[[str], int]) -> Renderer:
    """Return the renderer of a format. Raises CtxCompressError if no installed package has it.

    separator: the text between two passages in "plain"; other formats have their own. count: counts tokens.
    """
    factory = RENDERERS.get(cast(Format, format)) or plugin("ctxcompress.renderers", format)
    return factory(separator, query, count)
