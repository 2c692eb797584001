"""A package that adds a format: catalogs of gettext, whose messages stand with their translations."""

import re

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.segment.formats import Format, Read

_MESSAGE = re.compile(r"^msgid ", re.MULTILINE)


def _read(text: str, name: str | None, _: str) -> Read:
    if not (name or "").endswith(".po"):
        return (), []
    starts = [0, *[found.start() for found in _MESSAGE.finditer(text) if found.start()]]
    ends = [*starts[1:], len(text)]
    return (), [
        Segment(Kind.PARAGRAPH, start, end, number)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


GETTEXT = Format("gettext", _read)
