"""Finds which kept text an answer rests on: by what it quotes, and by the numbers in brackets that it cites."""

import re
from collections.abc import Iterator, Sequence

from ctxcompress.apps.feedback.call_sheet import Used
from ctxcompress.data.documents import Origins
from ctxcompress.data.passages import Span, intersection
from ctxcompress.data.results import Citation, KeptPassage
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.language import STOP_WORDS

__all__ = ["used_by_answer"]

_QUOTED = lazy_regex(r"[\"\u201c\u201e\u00ab]([^\"\u201c\u201d\u201e\u00ab\u00bb\n]{1,2000})[\"\u201d\u00bb]")
_SENTENCE = lazy_regex(
    r"[^.!?\u3002\uff01\uff1f\n]+(?:[.!?](?=\S)[^.!?\u3002\uff01\uff1f\n]+)*+[.!?\u3002\uff01\uff1f]*"
)
_NUMBERS = lazy_regex(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*+)\]")
_BULLET = lazy_regex(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+")
_LEAST_CHARACTERS = 12
"""Shorter quotes occur by chance."""
_LEAST_WORDS = 3
_SHORT = lazy_regex(r"(?=[^a-z]|.*\d)\w(?:.{0,58}[\w%°])?", re.DOTALL)
"""An answer in a word or two that can be found: with a digit, or with a capital letter at its beginning."""
_AROUND = " \t\r\n.,:;!?*_`()'\"\u201c\u201d\u201e\u00ab\u00bb\u3002\uff01\uff1f"
_SAYS_NO_FACT = STOP_WORDS["en"] | frozenset(("yes", "none", "unknown", "sorry"))


def used_by_answer(answer: str, parts: Sequence[KeptPassage], *, numbered: bool = False) -> list[Used]:
    """Return the evidence that an answer shows to have used, in the order of the answer.

    That is what it quotes in quotation marks, and its sentences and clauses that occur in the kept text. A quote of
    fewer than three words or twelve characters does not count, unless it is the whole answer, such as "42" or "Paris":
    then it counts in the most relevant passage that has it.

    numbered: whether a number in brackets, such as [2] or [1, 3], cites the kept passage of that position, from 1. A
    passage of which the answer also quotes something is not listed again as a whole.
    """
    found: dict[Used, None] = {}
    for quote in _quotes(answer):
        for citation in Citation.find(quote, parts):
            used = Used(citation.index, citation.spans)
            if not any(_is_part(used, other) for other in found):
                found.setdefault(used)
    if not found and (short := _short_answer(answer, parts)):
        found.setdefault(short)
    if numbered:
        quoted = {used.passage for used in found}
        for number in (int(each) for group in _NUMBERS.findall(answer) for each in group.split(",")):
            if 0 < number <= len(parts) and parts[number - 1].index not in quoted:
                found.setdefault(Used(parts[number - 1].index))
    return list(found)


def _is_part(used: Used, other: Used) -> bool:
    """Tell whether all text of one piece of evidence is in another."""
    if used.passage != other.passage or used.spans is None or other.spans is None:
        return False
    return intersection(used.spans, other.spans) == used.spans


def _quotes(answer: str) -> Iterator[str]:
    text = _NUMBERS.sub("", answer)
    for quoted in _QUOTED.findall(text):
        if _is_telling(quoted):
            yield quoted
    for sentence in _SENTENCE.findall(text):
        whole = _BULLET.sub("", sentence).strip()
        candidates = (whole, whole.rstrip(".!?\u3002\uff01\uff1f "), *re.split(r"[,;:]\s", whole))
        yield from (quote for quote in dict.fromkeys(candidates) if _is_telling(quote))


def _is_telling(quote: str) -> bool:
    is_unspaced = not quote.isascii() and " " not in quote.strip()
    return len(quote) >= _LEAST_CHARACTERS and (is_unspaced or len(quote.split()) >= _LEAST_WORDS)


def _short_answer(answer: str, parts: Sequence[KeptPassage]) -> Used | None:
    """Return where an answer of a word or two occurs, if it does."""
    text = _NUMBERS.sub("", answer).strip(_AROUND)
    is_fact = _SHORT.fullmatch(text) and not _SAYS_NO_FACT.issuperset(text.lower().split())
    if not is_fact or (len(text.split()) >= _LEAST_WORDS and _is_telling(text)):
        return None
    words = r"\s+".join(map(re.escape, text.split()))
    whole = re.compile(rf"(?<!\w)(?<!\d[.,]){words}(?!\w|[.,]\d)")
    for part in sorted(parts, key=lambda part: -part.relevance):
        if not part.metadata_only and (match := whole.search(part.text)):
            origins = Origins(part.text, part.spans, part.markers).at(*match.span())
            return Used(part.index, tuple(Span(start, end) for start, end, _ in origins)) if origins else None
    return None
