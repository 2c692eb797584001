"""Who wrote a page and when: "By Jane Doe, March 3, 2024 · 5 min read"."""

import re

__all__ = ["is_byline"]

_MONTH = (
    r"(?:jan|feb|f[eé]v|m[aä]r|apr|avr|abr|ma[ijy]|mei|gen|ene|mag|giu|lug|ago|set|ott|dic|out|dez|d[eé]c|ju[inl]|aug"
    r"|ao[uû]|sep|o[ck]t|nov|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]{0,8}\.?"
)
_DAY = (
    rf"(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|{_MONTH} \d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.)? (?:of |de )?{_MONTH}(?:,? (?:de )?\d{{4}})?"
    r"|\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[./-]\d\d?[./-]\d{4}|\d{4}年\d\d?月\d\d?日)"
)
_TIME = r"(?:,? (?:at )?\d\d?:\d\d(?: ?[ap]m)?(?: (?:utc|gmt|c?e?s?t))?)?"
_DATE = (
    rf"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?{_DAY}{_TIME}"
    r"|\d+ (?:minute|hour|day|week|month|year)s? ago"
)
_NAME = r"(?-i:[^\W\d_a-zа-я][\w.'’-]*(?: (?:de |van |von |der )?[^\W\d_a-zа-я][\w.'’-]*){0,3})"
"""Up to four words that begin with a capital letter, or of a script that has none."""
_AUTHOR = rf"(?!{_MONTH} \d){_NAME}"
_BY = r"(?:written |posted |published )?by|von|par|por|door|автор|作者"
_SAID = (
    r"(?:last |first )?(?:published|posted|updated|modified|reviewed)|veröffentlicht|(?:zuletzt )?aktualisiert|publiée?"
    r"|mis à jour|publicado|actualizado|опубликовано|обновлено|发布于|更新于"
)
_READ = (
    r"\d+[ -]min(?:ute)?s?\.? (?:read|lesezeit|de lecture|de lectura)"
    r"|(?:reading time|lesezeit|temps de lecture|tiempo de lectura):? \d+ min\w*"
)
_TOKEN = re.compile(
    rf"(?P<by>(?:{_BY})[: ] ?{_AUTHOR}(?:(?:, | and | & | und | et | y ){_AUTHOR})*)|(?P<read>{_READ})"
    rf"|(?P<said>(?:{_SAID})(?: on| am| le| el)?:?)|(?P<date>{_DATE})|\d+ (?:comments?|views|shares|likes)"
    rf"|(?P<name>{_NAME})|on |[\s,|·•–—/.-]+",
    re.IGNORECASE,
)
_SHORT = range(3, 6)
"""Words of a line with nothing but an author."""


def is_byline(text: str) -> bool:
    """Whether a text is made of names, dates and the like, some of which say that they are of what is to be read.

    A name and a date alone ("Berlin, 3 October 1990") are none.
    """
    found: set[str] = set()
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            return False
        found.update(name for name, value in token.groupdict().items() if value)
        at = token.end()
    if found == {"by"}:
        return len(text.split()) in _SHORT and not text.endswith(".")
    return "read" in found or ("date" in found and not found.isdisjoint(("by", "said")))
