"""The shapes that search tools return: what is a result in them, and how they are put together again.

    a list of results                         TavilySearchResults, DuckDuckGoSearchResults("list"), DDGS
    a mapping or an object that has the list  TavilySearch, ExaSearchResults, the services' own answers
    a result alone                            tools that fetch a page
    any of these as JSON text                 BraveSearch, DuckDuckGoSearchResults("json"), what a model is shown
    text of lines "snippet: ..., title: ..."  DuckDuckGoSearchResults("string")

A result is a mapping, or an object with attributes, that has an address and a text.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from ctxcompress.data.metadata import copied

__all__ = ["TEXT_KEYS", "Found", "Record", "json_text", "read_shape", "shown_to_model"]

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
"""Keys that hold the texts of a result: a string, or a list of strings."""
_ADDRESS_KEYS = ("url", "link", "href")
_EVIDENT_KEYS = ("score", "snippet", "raw_content", "content", "highlights", "extra_snippets")
"""Keys that only results have beside an address: issues and bookmarks have a body, a description or a summary."""
_LIST_KEYS = ("results", "items", "organic", "organic_results", "web")
_ANY_LIST = ("items",)
"""Those of them that lists of anything are under."""
_BESIDE = {"highlights": "highlight_scores"}
"""A list of texts -> the list that has a number for each of them."""

Rebuild = Callable[[Sequence["Record"]], object]


@dataclass(frozen=True, slots=True)
class Record:
    """One result: what came, or a copy of it."""

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

    def texts(self) -> list[tuple[str, int | None, str]]:
        """(key, place in the list that is under it or None, text) of each text."""
        found: list[tuple[str, int | None, str]] = []
        for key in TEXT_KEYS:
            value = self.fields.get(key)
            if isinstance(value, str):
                found.append((key, None, value))
            elif isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
                found.extend((key, place, text) for place, text in enumerate(value))
        return found

    def with_texts(self, texts: Mapping[tuple[str, int | None], str]) -> "Record":
        """A copy with other texts, by key and place. A text of a list that is empty now is left out of it."""
        changes: dict[str, object] = {key: text for (key, place), text in texts.items() if place is None}
        for key in {key for key, place in texts if place is not None}:
            old = self.fields[key]
            if not isinstance(old, list | tuple):
                continue
            new = [texts.get((key, place), text) for place, text in enumerate(old)]
            changes[key] = type(old)(filter(None, new))
            beside = self.fields.get(_BESIDE.get(key, ""))
            if isinstance(beside, list) and len(beside) == len(old):
                changes[_BESIDE[key]] = [value for value, text in zip(beside, new, strict=True) if text]
        return Record(_changed(self.item, changes))


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a shape: its results, and how copies of some of them take their place in a copy of
    it."""

    records: Sequence[Record]
    rebuilt: Rebuild
    is_evident: bool
    """Whether the shape itself says that these are results of a search, or pages that were read."""


def read_shape(value: object) -> Found | None:
    """The results in what a search tool returned, or None where it is none of the shapes."""
    return _read_text(value) if isinstance(value, str) else _read_value(value)


def shown_to_model(value: object) -> str:
    """The text that a language model reads of a tool's result: a text as it is, anything else as JSON, and as `str`
    shows it where it does not go into JSON. This is what LangChain makes of it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def json_text(text: str) -> object:
    """What a JSON text holds, or None where it is no list and no object of JSON."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return json.loads(text, parse_float=_Number, parse_int=_Number)
    except (ValueError, RecursionError):
        return None


class _Number(float):
    """A number of a JSON text, which is written as it was there: 1.10, 1e400."""

    literal: str

    def __new__(cls, literal: str) -> "_Number":
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def __deepcopy__(self, memo: object) -> "_Number":
        return self


def _read_value(value: object) -> Found | None:
    if isinstance(value, list | tuple):
        records = [Record(item) for item in value]
        made = tuple if isinstance(value, tuple) else list
        rebuild: Rebuild = lambda kept: made(record.item for record in kept)  # noqa: E731
        return Found(records, rebuild, any(map(_is_evident, records))) if all(map(_is_result, records)) else None
    if not _has_fields(value):
        return None
    record = Record(value)
    lists = [_within(value, key, found) for key in _LIST_KEYS if (found := _read_list(record.fields.get(key)))]
    alone = [_alone(record)] if isinstance(value, Mapping) and _is_result(record) else []
    found_first = [found for found in lists if found.records] + alone + lists
    return found_first[0] if found_first else None


def _read_list(value: object) -> Found | None:
    """The results under a key; Brave's are one level below."""
    inner = value.get("results") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and isinstance(inner, list):
        found = _read_value(inner)
        return _within(value, "results", found) if found else None
    return _read_value(value) if isinstance(value, list) else None


def _within(value: object, key: str, found: Found) -> Found:
    """The same results, of something that has them under a key."""
    is_evident = found.is_evident or key not in _ANY_LIST
    return Found(found.records, lambda kept: _changed(value, {key: found.rebuilt(kept)}), is_evident)


def _alone(record: Record) -> Found:
    """A result by itself, which stays without its texts where nothing of them is kept."""
    nothing = {(key, place): "" for key, place, _ in record.texts()}
    return Found([record], lambda kept: (kept[0] if kept else record.with_texts(nothing)).item, _is_evident(record))


def _is_result(record: Record) -> bool:
    return _has_fields(record.item) and record.address is not None and any(key in record.fields for key in TEXT_KEYS)


def _is_evident(record: Record) -> bool:
    fields = record.fields if _has_fields(record.item) else {}
    return any(key in fields for key in _EVIDENT_KEYS) or ("href" in fields and "body" in fields)  # DuckDuckGo's


def _has_fields(value: object) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "__dict__")


def _changed(item: object, changes: Mapping[str, object]) -> object:
    """A copy with other values for some keys or attributes; what it has besides is copied too."""
    if isinstance(item, Mapping):
        return {key: changes[key] if key in changes else copied(value) for key, value in item.items()}
    twin = copy(item)
    for key, value in vars(item).items():
        object.__setattr__(twin, key, changes[key] if key in changes else copied(value))
    return twin


def _read_text(text: str) -> Found | None:
    value = json_text(text)
    if value is None:
        return _read_lines(text)
    found = _read_value(value)
    if found is None:
        return None
    rebuilt, style, end = found.rebuilt, _Style.of(text), text[len(text.rstrip()) :]
    return replace(found, rebuilt=lambda kept: style.written(rebuilt(kept)) + end)


_INDENT = re.compile(r"\s*+[\[{][ \t]*+\r?\n([ \t]++)")
_FIRST_KEY = re.compile(r'[\s\[{]*+"[^"]*+":(\s?)')


@dataclass(frozen=True, slots=True)
class _Style:
    """How a JSON text is written, as far as its beginning shows. `json.dumps` would write numbers in its own way."""

    indent: str | None
    colon: str
    is_ascii: bool

    @classmethod
    def of(cls, text: str) -> "_Style":
        indent = _INDENT.match(text)
        first = _FIRST_KEY.match(text)
        return cls(indent[1] if indent else None, ":" + (first[1] if first else " "), text.isascii())

    def written(self, value: object, line: str = "\n") -> str:
        if isinstance(value, _Number):
            return value.literal
        if not value or not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=self.is_ascii)
        inner = line if self.indent is None else line + self.indent
        if isinstance(value, list):
            return self._around("[", [self.written(item, inner) for item in value], "]", line)
        pairs = [f"{self.written(key)}{self.colon}{self.written(item, inner)}" for key, item in value.items()]
        return self._around("{", pairs, "}", line)

    def _around(self, opening: str, parts: Sequence[str], closing: str, line: str) -> str:
        if self.indent is None:
            return opening + ("," if self.colon == ":" else ", ").join(parts) + closing
        inner = line + self.indent
        return opening + inner + f",{inner}".join(parts) + line + closing


_MARK, _TITLE, _LINK = "snippet: ", ", title: ", ", link: "


def _read_lines(text: str) -> Found | None:
    """Results that DuckDuckGoSearchResults has written one after the other; older releases put them in brackets."""
    opening, closing = ("[", "]") if text.startswith("[") else ("", "")
    if not text.startswith(opening + _MARK) or not text.endswith(closing):
        return None
    between = f"{closing}, {opening}" if closing or ", " + _MARK in text else "\n"
    body = text[len(opening + _MARK) : len(text) - len(closing)]
    found = [_line(line) for line in body.split(between + _MARK)]
    records = [Record(fields) for fields in found if fields]

    def rebuilt(kept: Sequence[Record]) -> str:
        lines = (f"{_MARK}{record.fields['snippet']}{record.fields['rest']}" for record in kept)
        return opening + between.join(lines) + closing if kept else ""

    return Found(records, rebuilt, is_evident=True) if len(records) == len(found) else None


def _line(line: str) -> dict[str, object] | None:
    """The fields of a result; "rest" is all that comes after its text."""
    cut = line.rfind(_TITLE)
    title, link, address = line[cut + len(_TITLE) :].partition(_LINK)
    if cut < 0 or not link:
        return None
    return {"snippet": line[:cut], "rest": line[cut:], "title": title, "link": address.split(", ", 1)[0]}
