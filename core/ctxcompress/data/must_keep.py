"""What `must_keep` names: texts, regular expressions, named patterns, spans of passages, and functions that find spans.

An item of the option is written in one of these ways:

    "TICKET-123"                                a text, wherever it occurs
    re.compile(r"INV-\\d+")                      a regular expression; {"regex": "INV-\\\\d+"} in TOML and JSON
    "ids", "dates", "urls", "code"              a named pattern; {"text": "dates"} is the text "dates"
    {"passage": "doc-1", "spans": [[0, 20]]}    spans of the passage with this id
    lambda text: [(0, 20)]                      a function from a passage's text to spans of it
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any, Literal

import regex

from ctxcompress.data.named_patterns import NamedPattern, find_named
from ctxcompress.data.passages import Passage, Span, places
from ctxcompress.errors import ConfigError, PatternTimeout
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["FindSpans", "Finds", "MustKeep", "Rule", "missing_texts", "read_rules", "written"]

FindSpans = Callable[[str], Iterable[Sequence[int]]]
"""A function from a text to spans of it."""

_SECONDS, _CHARACTERS_PER_SECOND = 1.0, 1_000_000
"""The time that a regular expression may take in one call, and for how many characters."""
_FLAGS = (("IGNORECASE", "i"), ("MULTILINE", "m"), ("DOTALL", "s"), ("VERBOSE", "x"), ("ASCII", "a"))
_WAYS = (
    'a text, re.compile(...), "ids", "dates", "urls", "code", {"passage": id, "spans": [[start, end]]}, or a function '
    "from a text to spans"
)


# A character class by its escape, a range at its beginning or its repetition; any characters, an edge of a word, a
# group with options. Not every text with a backslash or a bracket: C:\\data, list[0], [2024-05-17] and [^1] are texts.
_LIKE_REGEX = lazy_regex(
    r"\\[dwsDWS](?![A-Za-z])|\\b(?![a-z])|\.[*+](?![;,\s])|(?<!\w)\.[*+]|\(\?[:imsx=!<P]|\[[^\]\s]{1,60}\](?:[*+](?!\s*\w)|\{\d)"
    r"|\[\^?(?:\d-\d(?!\d)|[a-z]-[a-z](?![a-z])|[A-Z]-[A-Z](?![A-Z]))"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Finds what must be kept of a passage."""

    way: Literal["text", "regex", "named", "passage", "function"]
    what: Any
    """The text, the regular expression with its flags in front, the name, the id of the passage, or the function."""
    spans: tuple[Span, ...] = ()
    """The spans of the passage."""
    is_doubtful: bool = False
    """Whether a text may be meant as a regular expression: it looks like one, and nobody said that it is a text."""

    def find(self, passage: Passage, seconds: float) -> Iterable[Span]:
        """Return spans of the passage's text. Raises PatternTimeout after this time, and ConfigError."""
        if self.way == "text":
            return (Span(start, start + len(self.what)) for start in places(self.what, passage.text))
        if self.way == "regex":
            return _matches(self.what, passage, seconds)
        if self.way == "named":
            return find_named(self.what, passage.text)
        if self.way == "passage":
            return self.spans if passage.id == self.what else ()
        found = self.what(passage.text)
        if not isinstance(found, Iterable):
            raise ConfigError(f"must_keep: {self} returned {found!r}; return a list of (start, end)")
        return _spans(found, f"what {self} returned")

    def written(self) -> object:
        """Return the rule as TOML and JSON have it; None if they cannot have it."""
        if self.way == "passage":
            return {"passage": self.what, "spans": [list(span) for span in self.spans]}
        if self.way in ("named", "function"):
            return self.what.value if self.way == "named" else None
        is_bare = self.way == "text" and self.what not in list(NamedPattern)
        return (
            self.what if is_bare and self.is_doubtful == bool(_LIKE_REGEX.search(self.what)) else {self.way: self.what}
        )

    def __str__(self) -> str:
        return {
            "text": repr(self.what),
            "regex": f"the pattern {self.what!r}",
            "named": str(self.what),
            "passage": f"the spans of passage {self.what!r}",
            "function": getattr(self.what, "__qualname__", type(self.what).__qualname__),
        }[self.way]


MustKeep = str | re.Pattern[str] | Mapping[str, object] | FindSpans | Rule
"""An item of the option."""


def _matches(pattern: str, passage: Passage, seconds: float) -> Iterator[Span]:
    """Yield the matches of a regular expression of Python's `re`, by the package `regex`, which can stop."""
    # Time of the processor: a machine that stands still for a second is no fault of the pattern.
    deadline = thread_time() + seconds
    try:
        for match in regex.finditer(pattern, passage.text, timeout=max(seconds, 1e-3)):
            yield Span(*match.span())
            if thread_time() > deadline:
                raise TimeoutError
    except TimeoutError as error:
        raise PatternTimeout(
            f"must_keep: the regular expression {pattern!r} takes more than its time of {_SECONDS:g} s per million "
            f"characters (passage {passage.id!r} has {len(passage.text):,}); write it without nested repetitions such "
            "as (a+)+"
        ) from error


def read_rules(name: str, value: object) -> tuple[Rule, ...]:
    """Return the rules that an option's value gives; rules stay as they are. Raises ConfigError."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"{name} is {value!r}; give a list, each item {_WAYS}")
    return tuple(_rule(name, item) for item in value)


def written(must_keep: Sequence[MustKeep]) -> list[object] | None:
    """Return the option's value as TOML and JSON have it; None if there is a function in it."""
    items = [rule.written() for rule in read_rules("must_keep", must_keep)]
    return None if None in items else items


@dataclass(frozen=True, slots=True)
class Finds:
    """What the rules of the option find in passages."""

    spans: dict[int, tuple[Span, ...]]
    """Number of a passage -> the spans of its text that the rules name, in order, overlapping ones as one."""
    rules: tuple[Rule, ...] = ()
    missed: tuple[Rule, ...] = ()
    """The rules that find nothing."""

    @classmethod
    def of(cls, must_keep: Sequence[MustKeep], passages: Mapping[int, Passage]) -> "Finds":
        """Apply the rules to passages, by number.

        White space at the ends of a match does not count, nor does a part beyond the end of the text. Raises
        PatternTimeout, and ConfigError for a function that returns no spans.
        """
        found: dict[int, list[Span]] = {}
        missed: list[Rule] = []
        rules = read_rules("must_keep", must_keep)
        limit = _SECONDS * max(1.0, sum(len(passage.text) for passage in passages.values()) / _CHARACTERS_PER_SECOND)
        for rule in rules:
            of_rule = dict(_found_by(rule, passages, limit))
            if not of_rule:
                missed.append(rule)
            for number, spans in of_rule.items():
                found.setdefault(number, []).extend(spans)
        return cls({number: _united(spans) for number, spans in sorted(found.items())}, rules, tuple(missed))

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is found, and not all rules are named patterns: many texts have no dates, for example."""
        return not self.spans and not all(rule.way == "named" for rule in self.rules)


def missing_texts(must_keep: Sequence[MustKeep], passages: Sequence[Passage]) -> Sequence[Rule]:
    """Return the rules that are texts and occur in no passage. Raises ConfigError if one may be meant as a regular
    expression."""
    texts = (rule for rule in read_rules("must_keep", must_keep) if rule.way == "text")
    missing = [rule for rule in texts if not any(rule.what in passage.text for passage in passages)]
    for rule in missing:
        if rule.is_doubtful:
            raise ConfigError(
                f"must_keep has the text {rule}, which occurs nowhere and looks like a regular expression; give "
                f'{{"regex": {rule}}} or re.compile(...), or {{"text": {rule}}} if it is a text'
            )
    return missing


def _found_by(rule: Rule, passages: Mapping[int, Passage], seconds: float) -> Iterator[tuple[int, list[Span]]]:
    """Yield the number of each passage in which a rule finds something, with the spans. Raises PatternTimeout."""
    begin = thread_time()
    for number, passage in passages.items():
        spans = (_trimmed(passage.text, *span) for span in rule.find(passage, seconds - (thread_time() - begin)))
        if found := [span for span in spans if span.start < span.end]:
            yield number, found


def _rule(name: str, item: Any) -> Rule:
    if isinstance(item, Rule):
        return item
    if isinstance(item, str):
        is_name = item in list(NamedPattern)
        return Rule("named", NamedPattern(item)) if is_name else _text(name, item, is_bare=True)
    if isinstance(item, re.Pattern | regex.Pattern):
        return _with_flags(name, item)
    if isinstance(item, Mapping):
        return _from_mapping(name, item)
    if callable(item) and not isinstance(item, type):
        return Rule("function", item)
    raise ConfigError(f"{name} has the item {item!r}; give {_WAYS}")


def _text(name: str, text: object, *, is_bare: bool = False) -> Rule:
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{name} has the text {text!r}; give a text of at least one visible character")
    return Rule("text", text, is_doubtful=is_bare and _LIKE_REGEX.search(text) is not None)


def _regex(pattern: str) -> Rule:
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"must_keep has the regular expression {pattern!r}, which is wrong: {error}") from error
    return Rule("regex", pattern)


def _with_flags(name: str, pattern: "re.Pattern[Any] | regex.Pattern[Any]") -> Rule:
    if not isinstance(pattern.pattern, str):
        raise ConfigError(f"{name} has the regular expression {pattern.pattern!r} of bytes; write it as a string")
    package = re if isinstance(pattern, re.Pattern) else regex  # they give the flags different numbers
    letters = "".join(letter for flag, letter in _FLAGS if pattern.flags & getattr(package, flag))
    return _regex(f"(?{letters}){pattern.pattern}" if letters else pattern.pattern)


def _from_mapping(name: str, item: Mapping[str, Any]) -> Rule:
    keys = frozenset(item)
    if keys == {"text"}:
        return _text(name, item["text"])
    if keys == {"regex"} and isinstance(item["regex"], str):
        return _regex(item["regex"])
    if keys == {"passage", "spans"} and isinstance(item["spans"], Sequence):
        spans = tuple(_spans(item["spans"], f"the spans of {item['passage']!r}"))
        return Rule("passage", str(item["passage"]), spans)
    raise ConfigError(
        f'{name} has the item {dict(item)!r}; give {{"text": ...}}, {{"regex": ...}} or {{"passage": id, "spans": '
        "[[start, end]]}"
    )


def _spans(found: Iterable[Any], what: str) -> Iterator[Span]:
    for item in found:
        try:
            start, end = item
        except (TypeError, ValueError):
            start = end = None
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
            raise ConfigError(f"must_keep: {item!r} in {what} is no span; give (start, end) with 0 <= start <= end")
        yield Span(start, end)


def _trimmed(text: str, start: int, end: int) -> Span:
    inside = text[start:end].rstrip()
    return Span(start + len(inside) - len(inside.lstrip()), start + len(inside))


def _united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans in order, with those that overlap joined."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start < found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return tuple(found)
