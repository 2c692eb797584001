"""The outline of JSON: its values with their offsets, read tolerantly.

The text may be one value, several on lines of their own (JSONL), or a chunk that begins and ends anywhere in a longer
text. Values as Python writes them (`{'a': None}`) are read as well.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["embedded_outline", "json_outline", "sentences_of_value"]

_SMALL = 80
"""The most characters of a list or an object whose values have no nodes of their own."""
_LONG_STRING = 600
"""Longer strings are cut into sentences."""
_RUN, _TINY = 80, 8
"""Characters of plain values in a list that share a node, and of a list or an object that counts as one."""
_DEEPEST, _DEEPEST_READ = 40, 900
"""Levels of values with nodes of their own, and of what is read as JSON: parsers refuse more."""
_KEYS_OF_CHUNK, _CHARACTERS_PER_KEY = 3, 500
"""The least keys of a text that begins in the middle of JSON, and the most characters for each."""
_STRING_TEXT = r""" "(?:[^"\\]++|\\.)*+" | '(?:[^'\\]++|\\.)*+' """
_LITERAL_TEXT = r" -?+(?:\d[\d.eE+-]*+|Infinity|inf) | true | false | null | None | True | False | NaN | nan "
_TOKEN = lazy_regex(
    rf"""\s*+(?:
      ({_STRING_TEXT})\s*+:\s*+({_STRING_TEXT}|{_LITERAL_TEXT})\s*+(?:(,)|(?=[\}}\]]))   # a pair; it saves much time
    | ((?:(?:{_LITERAL_TEXT})\s*+,\s*+){{2,12}})                                         # numbers with their commas
    | ({_STRING_TEXT})
    | (\{{\s*+\}}|\[\s*+\]|[{{}}\[\](),:])
    | ([^\s{{}}\[\](),:"']++)
    | (["'].*+)                                                                          # a string that does not end
    | (.)
    | \Z)""",
    re.VERBOSE | re.DOTALL,
)
_PAIR, _PAIR_WITH_COMMA, _NUMBERS, _STRING, _MARK, _PLAIN, _OPEN_STRING = range(2, 9)
_LITERAL = lazy_regex(_LITERAL_TEXT, re.VERBOSE)
_CLOSERS = {"{": "}", "[": "]", "(": ")"}
_OPENING_QUOTE = lazy_regex(r"(?:^|[\[{,:(])\s*+\Z")
_QUOTE = lazy_regex(r'(?<!\\)"')
_PIECE_END = lazy_regex(
    r"(?P<sentence>[.!?](?:[\"')\]]|\\[\"'])*+(?:\s|\\[nrt])++|(?:\\r)?\\n(?:\\r)?\\n(?:\s|\\[nrt])*+|[。！？])"
    r"|[,;\s]\s*+"
)
_PIECE = 150
"""The least characters of a piece that ends within a sentence."""


class _Value(NamedTuple):
    """A value that was read."""

    start: int
    """Where the value begins, or its key."""
    end: int
    """Where it ends, without what follows."""
    key: str | None = None
    body: int = -1
    """Where the values within a list or an object begin; -1 for a plain value."""
    children: tuple[Node, ...] = ()


class _NotJsonError(Exception):
    """The text is not JSON."""


def json_outline(text: str) -> tuple[Node, ...]:
    """Return the values of a JSON text as nodes that partition it, or () if the text is not JSON.

    A list or an object has its values as children. The body of its node begins at the first value and its tail is the
    closing bracket. There is no tail if the text ends before. The name of a node is the key of the value.
    """
    if text.lstrip()[:1] in ("{", "[") and (found := _outline(text, 0, is_chunk=False)):
        return found
    keys = text.count('":')
    if keys < _KEYS_OF_CHUNK or keys * _CHARACTERS_PER_KEY < len(text):
        return ()
    quote = _QUOTE.search(text)
    if quote is None:
        return ()
    is_outside = _OPENING_QUOTE.search(text[: quote.start()][-_SMALL:]) is not None
    begins = (0, quote.end()) if is_outside else (quote.end(), 0)
    return next(filter(None, (_outline(text, begin, is_chunk=True) for begin in begins)), ())


def embedded_outline(text: str) -> tuple[Node, ...]:
    """Return the outline of one list or object of JSON, or () if the text is not one."""
    is_possible = text[:_SMALL].lstrip()[:1] in ("{", "[")
    nodes = _outline(text, 0, is_chunk=False) if is_possible else ()
    return nodes if len(nodes) == 1 and nodes[0].children and nodes[0].tail < nodes[0].end else ()


def sentences_of_value(text: str, start: int, end: int) -> list[Node]:
    """Return the sentences of a long value, or what is between its blanks, commas and semicolons; none of one word."""
    begins = [start]
    for match in _PIECE_END.finditer(text, start, end - 1):
        if match["sentence"] or match.end() - begins[-1] >= _PIECE:
            begins.append(match.end())
    return [Node(NodeKind.RECORD, *bounds) for bounds in pairwise((*begins, end)) if len(begins) > 1]


def _outline(text: str, begin: int, *, is_chunk: bool) -> tuple[Node, ...]:
    reader = _Reader(text, is_chunk=is_chunk)
    try:
        reader.read(begin)
    except _NotJsonError:
        return ()
    return reader.nodes()


class _Container:
    """A list or an object that is being read; the text around all values is one, too."""

    __slots__ = ("bracket", "has_value", "key", "start", "values")

    def __init__(self, bracket: str, start: int, key: str | None) -> None:
        self.bracket, self.start, self.key = bracket, start, key
        self.values: list[_Value] = []
        self.has_value = False
        """Whether a value was read after the last comma."""


class _Reader:
    """A reader of the values of a text."""

    def __init__(self, text: str, *, is_chunk: bool) -> None:
        """is_chunk: whether the text may begin within a value."""
        self._text, self._end, self._is_chunk = text, len(text), is_chunk
        self._stack = [_Container("", 0, None)]
        self._key: tuple[int, str] | None = None
        """The start and the text of a key whose value comes next."""
        self._keys: dict[str, str] = {}
        """The different keys: equal ones are one object, because records repeat them."""

    def read(self, begin: int) -> None:
        """Read all values. begin: where the string ends that the text begins in. Raises _NotJsonError."""
        if begin:
            self._add(0, begin)
        for match in _TOKEN.finditer(self._text, begin):
            kind = match.lastindex or 0
            start, end = match.span(kind)
            if kind == _MARK and end - start == 1:
                self._read_mark(self._text[start], start)
            elif kind == _MARK:  # a list or an object without values
                self._add(start, end, end - 1)
            elif kind == _STRING:
                self._add(start, end, *self._within(start, end))
            elif kind in (_PAIR, _PAIR_WITH_COMMA):
                self._read_pair(match, is_last=kind == _PAIR)
            elif kind == _NUMBERS:
                self._read_numbers(start, end)
            elif kind == _OPEN_STRING or (kind == _PLAIN and self._is_plain_value(start, end)):
                self._add(start, end)
            elif kind:
                raise _NotJsonError

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes of all values. Open lists and objects end with the text."""
        while len(self._stack) > 1:
            self._close(self._end, self._end)
        values = self._stack[0].values
        return _nodes([values[0]._replace(start=0), *values[1:]], self._end) if values else ()

    def _is_plain_value(self, start: int, end: int) -> bool:
        """Tell whether this is a number or a constant, or may be the rest of one."""
        is_cut = end == self._end or (self._is_chunk and not start)
        return is_cut or _LITERAL.fullmatch(self._text, start, end) is not None

    def _read_pair(self, match: re.Match[str], *, is_last: bool) -> None:
        """Add a plain value with its key, and read the comma after it."""
        top = self._stack[-1]
        if top.has_value or self._key is not None or top.bracket in ("[", "("):
            raise _NotJsonError
        start, end = match.span(2)
        body, children = self._within(start, end)
        key = match[1][1:-1]
        top.values.append(_Value(match.start(1), end, self._keys.setdefault(key, key), body, children))
        top.has_value = is_last

    def _read_numbers(self, start: int, end: int) -> None:
        """Add numbers and constants with their commas, as one value."""
        top = self._stack[-1]
        if top.has_value or self._key is not None or top.bracket == "{":
            raise _NotJsonError
        top.values.append(_Value(start, self._text.rfind(",", start, end)))

    def _within(self, start: int, end: int) -> tuple[int, tuple[Node, ...]]:
        """Return the body and the children of a string: the sentences of a long one."""
        children = sentences_of_value(self._text, start + 1, end - 1) if end - start > _LONG_STRING else []
        return start + 1 if children else -1, tuple(children)

    def _read_mark(self, mark: str, place: int) -> None:
        top = self._stack[-1]
        if mark in _CLOSERS:
            self._expect_value(place)
            if len(self._stack) > _DEEPEST_READ:
                raise _NotJsonError
            self._stack.append(_Container(mark, *(self._key or (place, None))))
            self._key = None
        elif mark == ",":
            self._end_value(top)
            top.has_value = False
        elif mark == ":":
            self._read_colon(top)
        elif len(self._stack) > 1:
            self._end_value(top, may_be_missing=True)
            if _CLOSERS[top.bracket] != mark:
                raise _NotJsonError
            self._close(place, place + 1)
        else:
            self._end_value(top)
            if not self._is_chunk:
                raise _NotJsonError
            self._end_cut_value(top, mark, place + 1)

    def _end_cut_value(self, top: _Container, mark: str, end: int) -> None:
        """Join what the text has of a list or an object that begins before it."""
        values = top.values
        last = values.pop() if values else _Value(0, end)
        while values and (len(values) == 1 or (values[-1].key is not None if mark == "}" else values[-1].body < 0)):
            last = values.pop()
        values.append(_Value(last.start, end))
        top.has_value = True

    def _read_colon(self, top: _Container) -> None:
        """Turn the value before a colon into the key of the next value."""
        if self._is_chunk and not top.values and len(self._stack) == 1:
            top.values.append(_Value(0, 0))
            top.has_value = True
        value = top.values.pop() if top.has_value and top.bracket in ("{", "") and self._key is None else None
        if value is None or value.key is not None or value.body >= 0:
            raise _NotJsonError
        key = self._text[value.start : value.end].strip("\\\"'")
        self._key = value.start, self._keys.setdefault(key, key)
        top.has_value = False

    def _expect_value(self, place: int) -> None:
        """Check that a value may begin here. Only values on lines of their own follow one another without a comma."""
        if self._stack[-1].has_value:
            line = self._text.rfind("\n", 0, place) + 1
            if len(self._stack) > 1 or not line or self._text[line:place].strip():
                raise _NotJsonError

    def _end_value(self, top: _Container, *, may_be_missing: bool = False) -> None:
        """Check that a value is complete, and has a key in an object."""
        may_be_missing |= len(self._stack) == 1 and self._is_chunk
        if self._key is not None or not (top.has_value or may_be_missing):
            raise _NotJsonError
        if top.bracket == "{" and top.has_value and top.values[-1].key is None:
            raise _NotJsonError

    def _add(self, start: int, end: int, body: int = -1, children: tuple[Node, ...] = ()) -> None:
        self._expect_value(start)
        begin, key = self._key or (start, None)
        self._key = None
        top = self._stack[-1]
        top.values.append(_Value(begin, end, key, body, children))
        top.has_value = True

    def _close(self, tail: int, end: int) -> None:
        """End the innermost list or object."""
        inner = self._stack.pop()
        values = inner.values
        children: tuple[Node, ...] = ()
        if values and end - inner.start > _SMALL and len(self._stack) <= _DEEPEST:
            children = _nodes(values if inner.bracket == "{" else list(_runs(values)), tail)
        body = values[0].start if values else tail
        top = self._stack[-1]
        top.values.append(_Value(inner.start, end, inner.key, body, children))
        top.has_value = True


def _nodes(values: Sequence[_Value], end: int) -> tuple[Node, ...]:
    """Return the nodes of neighbouring values. Each ends where the next one begins, the last one at `end`."""
    ends = [*[value.start for value in values[1:]], end]
    return tuple([_node(value, until) for value, until in zip(values, ends, strict=True)])  # faster than a generator


def _node(value: _Value, end: int) -> Node:
    tail = -1 if value.body < 0 else value.children[-1].end if value.children else value.end
    return Node(NodeKind.RECORD, value.start, end, value.key or "", -1, value.body, tail, value.children)


def _runs(values: Iterable[_Value]) -> Iterator[_Value]:
    """Yield the values of a list, with short plain values, tiny lists and tiny objects next to each other as one."""
    run: _Value | None = None
    for value in values:
        if run and value.end - run.start <= _RUN and _is_plain(run) and _is_plain(value):
            run = run._replace(end=value.end, body=-1)
            continue
        if run:
            yield run
        run = value
    if run:
        yield run


def _is_plain(value: _Value) -> bool:
    return value.body < 0 or value.end - value.start <= _TINY
