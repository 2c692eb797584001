"""Finds what names a record: the fields that are kept with all others, so that a value says whose it is.

{"id": 7, "name": "Chad", ...}                   its own fields: the id, the name and the type
{"name": {"common": "Chad", ...}, ...}           the first value of an object
{"metadata": {"name": "web-1", ...}, ...}        the name in an object beside the others
<Event><System><EventID>7</EventID>...           the same in XML
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxcompress.data.passages import Node
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Name", "names_of", "value_of"]

_IDS = ("id", "_id", "uuid", "key", "code")
_TITLES = ("name", "title", "label")
_TYPES = ("type", "kind")
"""The keys that name a record: of each group the first that it has."""
_LONGEST_NAME = 80
"""The most characters of a field that is kept with all others because it names the record."""
_LONGEST_BESIDE = 200
"""The most characters of an object that is kept with all others because the name is in it."""
_FIRST_STRING = lazy_regex(
    r"""(?:["'][^"'\\]*+["']\s*+:[\s\[{]*+)*+(?:"((?:[^"\\]|\\.){1,80}+)"|'((?:[^'\\]|\\.){1,80}+)')"""
)
"""The first value within a list or an object, after its keys, if it is a short string."""
_SAYS_SOMETHING = lazy_regex(r"""["'][^"'\\]*+["']\s*+:\s*+(?:["']\w|-?\d)""")
"""A field of JSON with a number or a word."""
_NAME_WITHIN = lazy_regex(r"""[\s{,<"'](?:name|title|label)(?:["']?[ \t]*+[:=]|>)""", re.IGNORECASE)
_ELEMENT = lazy_regex(r"<[^<>]++>([^<>]++)</")


class Name(NamedTuple):
    """What names a record."""

    field: Node
    """The field of the record: the name itself, or the object that has it."""
    within: tuple[Node, ...] = ()
    """The fields of this object that name the record. If there are none, its first value does."""


def names_of(text: str, node: Node, *, is_record: bool, is_item: bool) -> list[Name]:
    """Return what names a record.

    The name may be an object with a short string first, or in an object beside the other fields. If an item of a list
    has none of these, the first field that says something names it.
    """
    short = _short(node.children)
    identity, title, kind = (_first(short, keys) for keys in (_IDS, _TITLES, _TYPES))
    if is_record and title is None:
        title = next((c for c in node.children if c.name.lower() in _TITLES and _is_name(text, c)), None)
    beside: list[Name] = []
    if (is_record or is_item) and identity is title is None:
        beside = next(filter(None, (_beside(text, child, node.name) for child in node.children)), [])
        if is_record and is_item and not beside:
            identity = next((c for c in short if c is not kind and _SAYS_SOMETHING.match(text, c.start)), None)
    return [*(Name(field) for field in (identity, title, kind) if field is not None), *beside]


def value_of(text: str, field: Node) -> str:
    """Return the value of a field as words."""
    if field.body >= 0 and (found := _FIRST_STRING.match(text, field.body)):
        return found[1] or found[2]
    source = text[field.start : field.end]
    if source.startswith("<") and (element := _ELEMENT.match(source)):
        return element[1].strip()
    return source.partition(":" if ":" in source else "=")[2].strip(" \t\r\n,\"'\\")


def _short(fields: Iterable[Node]) -> list[Node]:
    return [field for field in fields if field.body < 0 and field.end - field.start <= _LONGEST_NAME]


def _first(fields: Iterable[Node], keys: Sequence[str]) -> Node | None:
    """Return the first field with the first of these keys."""
    found = {field.name.lower(): field for field in reversed(list(fields)) if field.name}
    return next((found[key] for key in keys if key in found), None)


def _beside(text: str, child: Node, record: str) -> list[Name]:
    """Return the name of a record that is in one of its objects.

    record: the name of the record's own element. An id that begins with it, such as EventRecordID, names the record.
    """
    if child.body < 0 or not child.name:
        return []
    if not child.children:
        is_small = child.end - child.start <= _LONGEST_BESIDE
        return [Name(child)] if is_small and _NAME_WITHIN.search(text, child.body, child.end) else []
    short = _short(child.children)
    found = [field for field in (_first(short, _IDS), _first(short, _TITLES)) if field is not None]
    begins = record.lower()
    own = [c for c in short if begins and c.name.lower().startswith(begins) and c.name.lower().endswith("id")]
    return [Name(child, tuple(dict.fromkeys((*own, *found))))] if own or found else []


def _is_name(text: str, field: Node) -> bool:
    """Tell whether a list or an object has a short string first."""
    is_cut = field.children and (field.children[0].body >= 0 or field.tail >= field.end)
    return field.body >= 0 and not is_cut and _FIRST_STRING.match(text, field.body) is not None
