"""Finds the turns of e-mail threads: messages under their headers, quoted ones, and answers between quotations."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.speakers import Turn
from ctxcompress.text.lines import split_lines

__all__ = ["email_turns"]

_FROM = r"(?:From|Von|De|Da|Van|Från|Fra|От|发件人|差出人)"
_SUBJECT = r"(?:Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|Ämne|Emne|Тема|主题|件名)"
_OTHER = (
    r"(?:Date|Sent|To|Cc|Bcc|Reply-To|Message-ID|In-Reply-To|Datum|Gesendet|An|Envoyé|À|Fecha|Enviado|Para|Data|Inviato"
    r"|A|Verzonden|Aan|Skickat|Till|Sendt|Til|Дата|Кому|日期|发送时间|收件人|日時|宛先)"
)
_QUOTED = r"(?P<quote>(?:[ \t]*>)*)[ \t]*"
_HEADER = lazy_regex(
    rf"{_QUOTED}\*{{0,2}}(?:(?P<sender>{_FROM})|(?P<subject>{_SUBJECT})|{_OTHER})\*{{0,2}} ?[:：]\*{{0,2}}[ \t]*"
    r"(?P<value>[^\n]*)"
)
_DIVIDER = lazy_regex(rf"{_QUOTED}(?:-{{2,}} ?[^\n-]{{4,60}} ?-{{2,}}|_{{10,}})[ \t\r]*\n?\Z")
"""The line above the headers of a forwarded message."""
_ATTRIBUTION = lazy_regex(
    rf"{_QUOTED}(?:On|Am|Le|El|Il|Op|Em|Den|Den|W dniu)\b[^\n]{{8,200}}\b"
    r"(?:wrote|schrieb[^\n]{0,80}|a écrit|escribió|ha scritto|schreef[^\n]{0,80}|escreveu|skrev[^\n]{0,80}|napisał)"
    r"[ \u00a0]?:[ \t\r]*\n?\Z"
)
_LONGEST_ATTRIBUTION = 300
_FEWEST_HEADERS = 3
_SENDER = lazy_regex(rf"\n[ \t>*]*+(?=[FVDО发差]){_FROM}\*{{0,2}} ?[:：]")
_QUOTATIONS = (":\n>", ":\n\n>", ":\r\n>", ":\r\n\r\n>", ": \n>")
"""A colon above a quotation: a cheap test."""


class _Line(NamedTuple):
    start: int
    end: int
    depth: int
    """The number of quotation marks before it."""
    is_head: bool
    """Whether it says who writes what follows."""


def email_turns(text: str) -> list[Turn]:
    """Return the turns of an e-mail or a thread of e-mails. Return none for other texts."""
    is_quoting = "\n>" in text and any(sign in text for sign in _QUOTATIONS)
    if not is_quoting and not _SENDER.search("\n" + text):
        return []
    lines = list(_lines(text))
    first = next((number for number, line in enumerate(lines) if line.is_head), len(lines))
    heads = sum(key for key, _ in groupby(line.is_head for line in lines))
    is_thread = heads > 1 or first < 2 or any(line.depth for line in lines[first + 1 : first + 3])
    return list(_turns(text, lines[first:])) if heads and is_thread else []


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines of a text, with the headers of messages and the lines above quotations marked."""
    lines = split_lines(text)
    heads = _header_lines(lines) | _attribution_lines(lines)
    start = 0
    for number, line in enumerate(lines):
        marks = line[: len(line) - len(line.lstrip("> \t"))]
        yield _Line(start, start + len(line), marks.count(">"), number in heads)
        start += len(line)


def _header_lines(lines: list[str]) -> set[int]:
    """Return the numbers of the lines of message headers, with the divider above them."""
    found: set[int] = set()
    run: list[int] = []
    names = list[str]()
    for number, line in enumerate([*lines, ""]):
        match = _HEADER.match(line)
        if match is None and run and line[:1] in (" ", "\t") and line.strip():
            run.append(number)  # a header that goes on
        elif match is not None:
            run.append(number)
            names.append("sender" if match["sender"] else "")
        else:
            if len(names) >= _FEWEST_HEADERS and "sender" in names:
                found |= {*run, *_dividers(lines, run[0])}
            run, names = [], []
    return found


def _dividers(lines: list[str], first: int) -> Iterator[int]:
    for number in range(first - 1, max(first - 3, -1), -1):
        if _DIVIDER.match(lines[number]):
            yield from range(number, first)


def _attribution_lines(lines: list[str]) -> set[int]:
    """Return the numbers of lines such as "On Tue, 12 Mar 2024, Anna wrote:", which may be wrapped."""
    found: set[int] = set()
    for number, line in enumerate(lines):
        if not line.rstrip().endswith((":", "：")) or len(line) > _LONGEST_ATTRIBUTION:
            continue
        above = lines[number - 1] if number else ""
        if _ATTRIBUTION.match(line):
            found.add(number)
        elif len(above) <= _LONGEST_ATTRIBUTION and _ATTRIBUTION.match(above.rstrip() + " " + line.lstrip("> \t")):
            found |= {number - 1, number}
    return found


def _turns(text: str, lines: list[_Line]) -> Iterator[Turn]:
    """Yield a turn for each message, each quotation and each answer between quotations.

    What goes on after a quotation belongs to the writer of the message that quotes.
    """
    writers: dict[int, int] = {}  # depth of quotation -> the number of the turn that says who writes
    heading: tuple[str, ...] = ()
    start = body = lines[0].start
    number = 0
    for is_head, depth, end in _runs(text, lines):
        if is_head:
            sender = _SENDER.search("\n" + text[start:end])  # the lines below the sender are text
            body = text.find("\n", start + sender.end() - 1, end) + 1 if sender else end
            heading = _subject(text[start:end]) or heading
        else:
            if body > start:
                writers[depth] = number
            yield Turn(start, body, end, heading, owner=writers.get(depth, -1))
            number += 1
            start = body = end
    if body > start:
        yield Turn(start, body, body, heading, owner=number)


def _runs(text: str, lines: list[_Line]) -> Iterator[tuple[bool, int, int]]:
    """Yield whether a run of lines says who writes, its depth of quotation, and its end. Empty lines join the run."""
    last = lines[0]
    for line in lines:
        is_other = line.is_head != last.is_head or (line.depth != last.depth and not line.is_head)
        if is_other and text[line.start : line.end].strip("> \t\r\n"):
            yield last.is_head, last.depth, line.start
            last = line
    yield last.is_head, last.depth, lines[-1].end


def _subject(head: str) -> tuple[str, ...]:
    matches = map(_HEADER.match, head.split("\n"))
    found = [match["value"].strip() for match in matches if match and match["subject"]]
    return tuple(found[:1])
