"""The named patterns of `must_keep`: identifiers, dates, addresses and code.

They lean towards finding too much: what they miss may be lost. All take time linear in the text.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from ctxcompress.data.passages import Span
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Date", "NamedPattern", "dates_in", "find_named", "is_same_date"]

Date = tuple[int | None, int | None, int]
"""The year, the day and the month; None for what a date does not say. A year may be given by its last two digits."""


class NamedPattern(StrEnum):
    """The name of a pattern."""

    IDS = "ids"
    """Identifiers: TICKET-123, INV_0042, #4711, 8f14e45f-ceea-4f6b-9c3b-2b1f0c6d7e8a, 9f86d081884c7d65, ctx-3f2a."""
    DATES = "dates"
    """Dates, with their time of day: 2024-05-17T08:30Z, 17.05.2024, 5/17/24, 17 May 2024, May 17, 17. Mai."""
    URLS = "urls"
    """Web addresses: https://example.com/a?b=c, www.example.com, s3://bucket/key."""
    CODE = "code"
    """Code in prose: fenced blocks, and code between backticks. A source file is not code in prose."""


_LONGEST_ID, _FEWEST_DIGITS = 80, 6
"""Characters: a longer run is data, such as an image. Digits of a number that is no amount and no year."""
_SHORTEST_HASH, _SHORTEST_KEY, _SHORTEST_PART = 7, 10, 4
"""Characters of a hash, of a random key in both cases with digits, and of the part of ctx-3f2a with digits."""
_TOKEN = lazy_regex(r"(?<![A-Za-z0-9_-])(?:#(?=\d))?[A-Za-z0-9]++(?:[-_]++[A-Za-z0-9]++)*+")
_PART = lazy_regex(r"[A-Za-z0-9]+")
_HEX = frozenset("0123456789abcdef")

_NAMES = """
    january jan januar janvier enero gennaio janeiro januari январь января январе ocak
    february feb februar février febrero febbraio fevereiro februari февраль февраля феврале şubat
    march mar märz mars marzo março maart март марта марте mart
    april apr avril abril aprile апрель апреля апреле nisan
    may mai mayo maggio maio mei май мая мае mayıs
    june jun juni juin junio giugno junho июнь июня июне haziran
    july jul juli juillet julio luglio julho июль июля июле temmuz
    august aug août agosto augustus август августа августе ağustos
    september sep sept septembre septiembre settembre setembro сентябрь сентября сентябре eylül
    october oct oktober octobre octubre ottobre outubro октябрь октября октябре ekim
    november nov novembre noviembre novembro ноябрь ноября ноябре kasım
    december dec dezember décembre diciembre dicembre dezembro декабрь декабря декабре aralık
"""
_MONTHS = {name: number for number, names in enumerate(_NAMES.strip().split("\n"), 1) for name in names.split()}
"""The name of a month -> its number."""
_MONTH = rf"(?=[{''.join(sorted({n[0] for n in _MONTHS}))}])(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[ap]m|[+-]\d{2}:?\d{2})\b)?"
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_DATE = lazy_regex(
    rf"""(?=\w)(?<![\w./-])(?:
        \d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_TIME})?                        # 2024-05-17T08:30Z
      | [12]\d{{3}}-(?:0[1-9]|1[0-2])(?!-)                              # 2024-05
      | \d{{1,2}}[./-]\d{{1,2}}[./-]\d{{4}}(?:,?[ ]{_TIME})?           # 17.05.2024
      | \d{{4}}[./]\d{{1,2}}[./]\d{{1,2}}(?:[ ]{_TIME})?               # 2024/05/17
      | \d{{1,2}}/\d{{1,2}}/\d{{2}}                                    # 5/17/24
      | {_DAY}[ ](?:of[ ]|de[ ])?{_MONTH}\b\.?(?:,?[ ](?:de[ ]|del[ ])?\d{{4}})?   # 17 May 2024
      | {_MONTH}\b\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?(?!\d)       # May 17, 2024
      | {_MONTH}\b\.?,?[ ](?:de[ ]|of[ ])?\d{{4}}                      # May 2024
    )(?!\w)
    | \d{{4}}[年년][ ]?\d{{1,2}}[月월](?:[ ]?\d{{1,2}}[日일号])?         # 2024年5月17日
    """.replace(" ?(?:Z", "[ ]?(?:Z"),
    re.IGNORECASE | re.VERBOSE,
)
_DATE_PART = lazy_regex(r"\d+|[^\W\d_]+")
_LAST_DAY = 31
_URL = lazy_regex(r"(?<![A-Za-z0-9])(?:(?:https?|ftps?|wss?|s3|gs|file)://|www\.)[^\s<>\"'`|{}\\^]++", re.IGNORECASE)
_AFTER_URL = ".,;:!?*_"
_FENCE = lazy_regex(r"^[ \t>]*+(`{3,}+|~{3,}+)(.*)$", re.MULTILINE)
_CODE_SPAN = lazy_regex(r"(?<!`)(`{1,2}+)[^`\n]++\1(?!`)")


def find_named(name: NamedPattern, text: str) -> Iterator[Span]:
    """Yield the places of a text that match a named pattern."""
    return _FINDERS[name](text)


def dates_in(text: str) -> Iterator[tuple[Span, Sequence[Date]]]:
    """Yield the places of dates, with what each may mean: 5/6/24 is in May or in June."""
    for match in _DATE.finditer(text):
        words = _DATE_PART.findall(match.group().lower())
        numbers = [int(word) for word in words if word.isdecimal()]
        year, day = (next(filter(is_so, numbers), None) for is_so in (_LAST_DAY.__lt__, _LAST_DAY.__ge__))
        months = [_MONTHS[word] for word in words if word in _MONTHS]
        if len(words[0]) == 4 and not months:
            months, year, day = numbers[1:2], numbers[0], next(iter(numbers[2:3]), None)
        found = [(year, day, month) for month in months]
        yield Span(*match.span()), found or [(numbers[2], a, b) for a, b in (numbers[:2], numbers[1::-1])]


def is_same_date(one: Date, other: Date) -> bool:
    """Tell whether two dates can be the same: what both have is equal, and that is more than the month."""
    known = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return len(known) > 1 and all(a == b or (min(a, b) < 100 and a % 100 == b % 100) for a, b in known)


def _ids(text: str) -> Iterator[Span]:
    for match in _TOKEN.finditer(text):
        if match.end() - match.start() <= _LONGEST_ID and _is_id(match.group()):
            yield Span(*match.span())


def _is_id(token: str) -> bool:
    digits = sum(map(str.isdigit, token))
    if token.startswith("#") or not digits:
        return digits > 0
    parts = _PART.findall(token)
    if digits == sum(map(len, parts)):
        return digits >= (_FEWEST_DIGITS if len(parts) == 1 else 9)  # more digits than a date has
    if not any(character.islower() for character in token):
        return digits > 1 or len(parts) > 1
    if len(parts) > 1:
        return any(len(part) >= _SHORTEST_PART and any(map(str.isdigit, part)) for part in parts)
    return digits > 1 and len(token) >= (_SHORTEST_HASH if _HEX.issuperset(token) else _SHORTEST_KEY)


def _dates(text: str) -> Iterator[Span]:
    return (Span(*match.span()) for match in _DATE.finditer(text))


def _urls(text: str) -> Iterator[Span]:
    for match in _URL.finditer(text):
        address = match.group().rstrip(_AFTER_URL)
        for opening, closing in ("()", "[]"):
            if address.endswith(closing) and address.count(closing) > address.count(opening):
                address = address[:-1].rstrip(_AFTER_URL)
        yield Span(match.start(), match.start() + len(address))


def _code(text: str) -> Iterator[Span]:
    begin, marker, after = 0, "", 0
    for match in _FENCE.finditer(text):
        if not marker:
            begin, marker = match.start(), match[1]
            yield from _code_spans(text, after, begin)
        elif match[1].startswith(marker) and not match[2].strip():
            yield Span(begin, match.end())
            marker, after = "", match.end()
    if marker:  # a chunk may end before its fence does
        yield Span(begin, len(text))
    else:
        yield from _code_spans(text, after, len(text))


def _code_spans(text: str, start: int, end: int) -> Iterator[Span]:
    return (Span(*match.span()) for match in _CODE_SPAN.finditer(text, start, end))


_FINDERS = {NamedPattern.IDS: _ids, NamedPattern.DATES: _dates, NamedPattern.URLS: _urls, NamedPattern.CODE: _code}
