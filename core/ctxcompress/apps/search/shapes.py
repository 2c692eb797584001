"""The shapes that search tools return: finding the results in them, and rebuilding the shape from fewer results.

    a list of results                         TavilySearchResults, DuckDuckGoSearchResults("list"), DDGS
    a mapping or an object with such a list   TavilySearch, ExaSearchResults, the services' own answers
    a single result                           tools that fetch a page
    any of these as JSON text                 BraveSearch, DuckDuckGoSearchResults("json"), what a model is shown
    lines "snippet: ..., title: ..."          DuckDuckGoSearchResults("string")

A result is a mapping, or an object with attributes, that has an address and a text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from ctxcompress.data.metadata import copied
from ctxcompress.data.passages import Passage
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["TEXT_KEYS", "ParsedResults", "Record", "TextKey", "read_shape", "shown_to_model"]

TEXT_KEYS = (
    "content",
    "raw_content",
    "snippet",
    "body",
    "description",
    "extra_snippets",
    "text",
    "highlights",
    "summary",
)
"""Keys of a result's texts. Their values are strings or lists of strings."""
_ADDRESS_KEYS = ("url", "link", "href")
_EVIDENT_KEYS = ("score", "snippet", "raw_content", "content", "highlights", "extra_snippets")
"""Keys that only search results have besides an address. Issues and bookmarks have a body, description or summary."""
_LIST_KEYS = ("results", "items", "organic", "organic_results", "web")
"""Keys of lists of results."""
_GENERIC_LIST_KEYS = ("items",)
"""Those that other lists have as well."""
_PARALLEL_KEYS = {"highlights": "highlight_scores"}
"""The key of a list of texts -> the key of a list with one value for each text."""
_SNIPPET, _TITLE, _LINK = "snippet: ", ", title: ", ", link: "
_INDENT = lazy_regex(r"\s*+[\[{][ \t]*+\r?\n([ \t]++)")
_FIRST_KEY = lazy_regex(r'[\s\[{]*+"[^"]*+":(\s?)')

TextKey = tuple[str, int | None]
"""Names a text of a result: its key, and its position if the value is a list."""
Rebuild = Callable[[Sequence["Record"]], object]


@dataclass(frozen=True, slots=True)
class Record:
    """One search result: the original, or a changed copy of it."""

    item: object

    @property
    def fields(self) -> Mapping[str, object]:
        return self.item if isinstance(self.item, Mapping) else vars(self.item)

    @property
    def address(self) -> str | None:
        return next((value for key in _ADDRESS_KEYS if isinstance(value := self.fields.get(key), str) and value), None)

    @property
    def title(self) -> str | None:
        title = self.fields.get("title")
        return title if isinstance(title, str) else None

    def texts(self) -> list[tuple["TextKey", str]]:
        """Return the name of each text, and the text."""
        found: list[tuple[TextKey, str]] = []
        for key in TEXT_KEYS:
            value = self.fields.get(key)
            if isinstance(value, str):
                found.append(((key, None), value))
            elif isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
                found.extend(((key, position), text) for position, text in enumerate(value))
        return found

    def passage(self, position: int, key: "TextKey | None" = None, text: str = "") -> Passage:
        """Return one of the texts as a passage, whose id is the address of the result, or its position."""
        metadata = {} if key is None else {"key": key[0]}
        return Passage(self.address or str(position), text, title=self.title, metadata=metadata)

    def with_texts(self, texts: Mapping[TextKey, str]) -> "Record":
        """Return a copy with these texts. An empty text in a list is removed from the list."""
        changes: dict[str, object] = {key: text for (key, position), text in texts.items() if position is None}
        for key in {key for key, position in texts if position is not None}:
            old = self.fields[key]
            if not isinstance(old, list | tuple):
                continue
            new = [texts.get((key, position), text) for position, text in enumerate(old)]
            changes[key] = type(old)(filter(None, new))
            parallel_key = _PARALLEL_KEYS.get(key, "")
            parallel = self.fields.get(parallel_key)
            if isinstance(parallel, list) and len(parallel) == len(old):
                changes[parallel_key] = [value for value, text in zip(parallel, new, strict=True) if text]
        return Record(_changed(self.item, changes))


@dataclass(frozen=True, slots=True)
class ParsedResults:
    """The results found in a shape."""

    records: Sequence[Record]
    rebuild: Rebuild
    """Makes a copy of the shape with the given results in place of all."""
    is_evident: bool
    """Whether the shape shows that it is search results or fetched pages."""


def read_shape(value: object) -> ParsedResults | None:
    """Find the results in the output of a search tool; None if it has none of the shapes."""
    return _read_text(value) if isinstance(value, str) else _read_value(value)


def shown_to_model(value: object) -> str:
    """Return a tool's output as a language model reads it: text as it is, anything else as JSON, or as `str` if it
    cannot be written as JSON. LangChain does the same."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _read_value(value: object) -> ParsedResults | None:
    if isinstance(value, list | tuple):
        records = [Record(item) for item in value]
        sequence = tuple if isinstance(value, tuple) else list
        rebuild: Rebuild = lambda kept: sequence(record.item for record in kept)  # noqa: E731
        is_evident = any(map(_is_evident, records))
        return ParsedResults(records, rebuild, is_evident) if all(map(_is_result, records)) else None
    if not _has_fields(value):
        return None
    record = Record(value)
    lists = [_under_key(value, key, found) for key in _LIST_KEYS if (found := _read_list(record.fields.get(key)))]
    single = [_single(record)] if isinstance(value, Mapping) and _is_result(record) else []
    candidates = [found for found in lists if found.records] + single + lists
    return candidates[0] if candidates else None


def _read_list(value: object) -> ParsedResults | None:
    """Find the results under a key, or one level deeper as in Brave's answers."""
    inner = value.get("results") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and isinstance(inner, list):
        found = _read_value(inner)
        return _under_key(value, "results", found) if found else None
    return _read_value(value) if isinstance(value, list) else None


def _under_key(value: object, key: str, found: ParsedResults) -> ParsedResults:
    """Wrap results so that rebuilding puts them back under a key of `value`."""
    is_evident = found.is_evident or key not in _GENERIC_LIST_KEYS
    return ParsedResults(found.records, lambda kept: _changed(value, {key: found.rebuild(kept)}), is_evident)


def _single(record: Record) -> ParsedResults:
    """Wrap a single result, which stays with empty texts if it is dropped."""
    empty = {key: "" for key, _ in record.texts()}
    return ParsedResults(
        [record], lambda kept: (kept[0] if kept else record.with_texts(empty)).item, _is_evident(record)
    )


def _is_result(record: Record) -> bool:
    return _has_fields(record.item) and record.address is not None and any(key in record.fields for key in TEXT_KEYS)


def _is_evident(record: Record) -> bool:
    fields = record.fields if _has_fields(record.item) else {}
    return any(key in fields for key in _EVIDENT_KEYS) or ("href" in fields and "body" in fields)  # DuckDuckGo's


def _has_fields(value: object) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "__dict__")


def _changed(item: object, changes: Mapping[str, object]) -> object:
    """Return a deep copy with other values for some keys or attributes."""
    if isinstance(item, Mapping):
        return {key: changes[key] if key in changes else copied(value) for key, value in item.items()}
    twin = copy(item)
    for key, value in vars(item).items():
        object.__setattr__(twin, key, changes[key] if key in changes else copied(value))
    return twin


def _read_text(text: str) -> ParsedResults | None:
    value = _parse_json(text)
    if value is None:
        return _read_lines(text)
    found = _read_value(value)
    if found is None:
        return None
    rebuild, style, end = found.rebuild, _JsonStyle.of(text), text[len(text.rstrip()) :]
    return replace(found, rebuild=lambda kept: style.write(rebuild(kept)) + end)


def _parse_json(text: str) -> object:
    """Parse a JSON list or object; None if the text is neither."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return json.loads(text, parse_float=_Number, parse_int=_Number)
    except (ValueError, RecursionError):
        return None


class _Number(float):
    """A JSON number that remembers how it was written: 1.10, 1e400."""

    literal: str

    def __new__(cls, literal: str) -> "_Number":
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def __deepcopy__(self, memo: object) -> "_Number":
        return self


@dataclass(frozen=True, slots=True)
class _JsonStyle:
    """How a JSON text is written, as its beginning shows. Unlike `json.dumps` it keeps numbers as they were written."""

    indent: str | None
    colon: str
    is_ascii: bool

    @classmethod
    def of(cls, text: str) -> "_JsonStyle":
        indent = _INDENT.match(text)
        first = _FIRST_KEY.match(text)
        return cls(indent[1] if indent else None, ":" + (first[1] if first else " "), text.isascii())

    def write(self, value: object, line: str = "\n") -> str:
        """line: a line break, with the indentation of `value`."""
        if isinstance(value, _Number):
            return value.literal
        if not value or not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=self.is_ascii)
        inner = line if self.indent is None else line + self.indent
        if isinstance(value, list):
            return self._enclose("[", [self.write(item, inner) for item in value], "]", line)
        pairs = [f"{self.write(key)}{self.colon}{self.write(item, inner)}" for key, item in value.items()]
        return self._enclose("{", pairs, "}", line)

    def _enclose(self, opening: str, parts: Sequence[str], closing: str, line: str) -> str:
        if self.indent is None:
            return opening + ("," if self.colon == ":" else ", ").join(parts) + closing
        inner = line + self.indent
        return opening + inner + f",{inner}".join(parts) + line + closing


def _read_lines(text: str) -> ParsedResults | None:
    """Read the lines of DuckDuckGoSearchResults. Older releases put each result in brackets."""
    opening, closing = ("[", "]") if text.startswith("[") else ("", "")
    if not text.startswith(opening + _SNIPPET) or not text.endswith(closing):
        return None
    between = f"{closing}, {opening}" if closing or ", " + _SNIPPET in text else "\n"
    body = text[len(opening + _SNIPPET) : len(text) - len(closing)]
    found = [_read_line(line) for line in body.split(between + _SNIPPET)]
    records = [Record(fields) for fields in found if fields]

    def rebuild(kept: Sequence[Record]) -> str:
        lines = (f"{_SNIPPET}{record.fields['snippet']}{record.fields['rest']}" for record in kept)
        return opening + between.join(lines) + closing if kept else ""

    return ParsedResults(records, rebuild, is_evident=True) if len(records) == len(found) else None


def _read_line(line: str) -> dict[str, object] | None:
    """Return the fields of a result. "rest" is everything after its text."""
    cut = line.rfind(_TITLE)
    title, link, address = line[cut + len(_TITLE) :].partition(_LINK)
    if cut < 0 or not link:
        return None
    return {"snippet": line[:cut], "rest": line[cut:], "title": title, "link": address.split(", ", 1)[0]}
