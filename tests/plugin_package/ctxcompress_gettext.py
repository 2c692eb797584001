"""A package that adds a format of texts, a filter, a renderer and an encoder: catalogs of gettext, without obsolete
messages, each under a line with its number."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.results import Reason
from ctxcompress.reduce.reduction import Candidates
from ctxcompress.reduce.stages import Filter, Step
from ctxcompress.render.formats import Entry, Guard
from ctxcompress.segment.formats import Format, Read

_MESSAGE = re.compile(r"^msgid ", re.MULTILINE)
_guard = Guard(r"#\d")


def _read(text: str, name: str | None, _: str) -> Read:
    if not (name or "").endswith(".po"):
        return (), []
    starts = [0, *[found.start() for found in _MESSAGE.finditer(text) if found.start()]]
    ends = [*starts[1:], len(text)]
    return (), [
        Segment(Kind.PARAGRAPH, start, end, number)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def _without_obsolete(candidates: Candidates, _: CompressionConfig) -> Step:
    """Drop the passages in which every line is an obsolete message."""
    lines = {number: candidates.passages[number].text.splitlines() for number in candidates.numbers}
    wanted = [number for number, of in lines.items() if not of or not all(line.startswith("#~") for line in of)]
    return Step(candidates.keep(wanted, Reason.FILTER), "obsolete messages")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A line with the number before each text."""

    separator: str = "\n"
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        return f"#{entry.number}\n{_guard(entry.text)}"


def _numbered(separator: str, query: str, count: Callable[[str], int]) -> Numbered:
    return Numbered()


class FirstLetters:
    """Counts the first letters of words."""

    def encode_query(self, text: str, /) -> list[float]:
        return self.encode_document([text])[0]

    def encode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        return [[1 + sum(word[0] == letter for word in text.lower().split()) for letter in "bdgt"] for text in texts]


GETTEXT = Format("gettext", _read)
OBSOLETE = Filter("obsolete", _without_obsolete)
NUMBERED = _numbered
