"""Abbreviations that a text explains itself: "the Federal Network Agency (FNA)".

The method is that of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical
text" (2003): from its end, each letter of the short form is looked for in the words before the bracket, and the first
letter must begin a word.
"""

from collections.abc import Iterable, Mapping

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["abbreviations_in"]

_SHORT_FORM = lazy_regex(r"\(([^\W\d_][\w.&/-]{1,9})\)")
_FEWEST_CAPITALS = 2
_MOST_MORE_WORDS = 5
"""The most words that a long form has beyond the letters of its short form."""
_LONGEST = 120
"""The characters before the bracket in which the long form is looked for."""


def abbreviations_in(texts: Iterable[str]) -> Mapping[str, tuple[str]]:
    """Return short form -> its long form, as the first text that explains it says: a group of synonyms."""
    found: dict[str, tuple[str]] = {}
    for text in texts:
        if "(" not in text:
            continue
        for match in _SHORT_FORM.finditer(text):
            short = match[1]
            if short not in found and sum(map(str.isupper, short)) >= _FEWEST_CAPITALS:
                long = _long_form(short, text[max(0, match.start() - _LONGEST) : match.start()].rstrip())
                if long:
                    found[short] = (long,)
    return found


def _long_form(short: str, before: str) -> str:
    """Return the end of `before` that the short form stands for; "" if it stands for something else."""
    lower, place = before.lower(), len(before)
    letters = [sign for sign in short.lower() if sign.isalnum()]
    for number in range(len(letters) - 1, -1, -1):
        place = lower.rfind(letters[number], 0, place)
        while place > 0 and number == 0 and before[place - 1].isalnum():
            place = lower.rfind(letters[0], 0, place)
        if place < 0:
            return ""
    words = len(before[place:].split())
    return before[place:] if 1 < words <= len(letters) + _MOST_MORE_WORDS else ""
