"""The final text of a page: what the reader gets, with a link from each text to the passage that it is of."""

from collections.abc import Iterator

from ctxcompress.render.facts import Facts
from ctxcompress.render.html import Html, element
from ctxcompress.render.passages import link

__all__ = ["final_text"]

_MOST = 16_000
"""Characters that are shown."""


def final_text(facts: Facts) -> Html:
    """The very text. What stands between the passages' texts is what a format or a frame puts there."""
    text = facts.compression.text
    more = len(text) - _MOST
    told = [element("bdi", {"class": "more"}, f"{more:,} more characters")] if more > 0 else []
    return element("div", {"class": "t final", "dir": "auto"}, *_linked(facts, text[:_MOST]), *told)


def _linked(facts: Facts, text: str) -> Iterator[Html]:
    place = 0
    for part in facts.compression.passages:
        start = text.find(part.text, place) if part.text else -1
        if start < 0:  # escaped or shown otherwise by its format, or too far behind
            continue
        yield element("span", {"class": "between"}, text[place:start])
        yield element("span", {"class": "to"}, link(part.index))
        place = start + len(part.text)
        yield element("span", {"class": "piece"}, part.text)
    yield element("span", {"class": "between"}, text[place:])
