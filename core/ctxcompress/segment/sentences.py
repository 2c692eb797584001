"""Sentences, by sentencex, with what it leaves out: inline code, unspaced scripts, texts without full stops."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import sentencex

from ctxcompress.text.lines import LONGEST_MARKER, is_between_graphemes, is_marker, marker_at_end

__all__ = ["split_sentences"]

_LONG = 600
"""Characters from which a piece without an end of sentence is cut at lines, clauses or spaces."""
_PIECE = 200
"""Characters that such a piece is cut to, at least."""

_STRETCH = 2_000
"""Characters that are searched for sentences at once."""

_SENTENCE_END = re.compile(r"[.!?][^\w\s]*\s+\S")
"""Without it an ASCII text is one sentence, which most list items, captions and the like are."""
_OPAQUE = re.compile(r"`[^`\n]{1,200}`|\]\([^()\n]{1,500}\)|https?://[^\s<>()]{1,500}(?<![.,;:!?])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNUSUAL_SPACE = re.compile(r"[^\S \t\n\r]")
"""The splitter fails on spaces of more than one byte near an initial."""
_WORD_CHARACTER = re.compile(r"\w")
_THAI = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_ENDS = frozenset(".!?:;\u3002\uff01\uff1f\u061f\u0964\u2026")
"""What a sentence, or what announces a list, ends with."""
_LINE_END = re.compile(r"\n+[ \t]*")
_CLAUSE_END = re.compile(r"[,;:)\]}、，；：）。！？]\s*|\s+")
_UNITS = (
    "s|secs?|seg|sek|mins?|h|hrs?|std|ms|us|µs|ns|wks?|mos?|yrs?|kg|g|mg|lbs?|oz|km|m|cm|mm|mi|ft|in|yds?|sq|l|ml"
    "|gal|[kmgtp]i?b|[kmg]?hz|k?w|v|bn|mn|mio|mill|mrd|tsd|pts?|pct|с|сек|мс|мин|ч|руб|тыс|млн|млрд|кг|км|см|мм|стр"
)
_BEFORE_NUMBERS = "approx|circa|avg|est|max|min|figs?|nos?|vol|ch|sec|eq|pp?|nr|ver"
_ABBREVIATED = re.compile(rf"(?:\d[ \t\u00a0\u202f]?(?:{_UNITS})|\b(?:{_BEFORE_NUMBERS})(?P<number>))\.\s+\Z", re.I)
_LONGEST_UNIT = 16


def split_sentences(text: str, start: int, end: int, language: str) -> list[int]:
    """Where the sentences of ``text[start:end]`` end: ascending offsets into `text`, the last one `end`.

    White space after a sentence is part of it. Nothing is cut inside inline code, a link's target
    or an address, nor between the marker of a list ("2.") and what it is of, nor after a unit ("30 s.
    of idle time"). What has no end of sentence for long (a log, Thai, minified data) is cut at line
    ends, else at clauses or spaces; a single word is never cut.
    """
    part = text[start:end]
    if len(part) <= _LONG and part.isascii() and not _SENTENCE_END.search(part):
        return [end]
    begins = _begins(part, language)
    cuts: list[int] = []
    for begin, next_ in pairwise([*begins, len(part)]):
        if next_ - begin > _PIECE:
            cuts.extend(_long_pieces(text, start + begin, start + next_))
        cuts.append(start + next_)
    return cuts


def _begins(part: str, language: str) -> list[int]:
    """Where the sentences of `part` begin."""
    masked = _masked(part)
    found = _without_markers(part, [*_sentence_begins(masked, language), len(part)])
    has_lines = "\n" in part
    is_word, begins = _WORD_CHARACTER.search, [0]
    for begin, next_ in pairwise([*found, len(part)]):
        if not begin or next_ - begin < 4 or not is_word(masked, begin, next_) or _inside_word(part, begin):
            continue
        cut = begin
        if has_lines and part.find("\n", max(begins[-1], begin - LONGEST_MARKER), begin - 1) >= 0:
            cut = _before_marker(part, begins[-1], begin)
        if cut > begins[-1] and (part[begin].isupper() or not _after_abbreviation(part, begin)):
            begins.append(cut)
    return begins


def _without_markers(part: str, begins: Sequence[int]) -> list[int]:
    """The begins of sentences, but for those of which the one before is nothing but the marker of a list."""
    pairs = pairwise([0, *begins])
    return [begin for before, begin in pairs if begin - before > LONGEST_MARKER or not is_marker(part[before:begin])]


def _sentence_begins(text: str, language: str) -> Iterator[int]:
    """Where sentencex sees a sentence begin. It is given the text by stretches, because its time grows with the
    square of the sentences and quotation marks; the sentence that one ends in is looked at again in the next."""
    stretch, is_begin = 0, True
    if len(text) <= _STRETCH:
        lengths = list(map(len, sentencex.segment(language, text)))
        if sum(lengths) == len(text):
            yield from accumulate(lengths[:-1], initial=0)
            return
    while stretch < len(text):
        part = text[stretch : stretch + _STRETCH]
        more = stretch + _STRETCH < len(text)
        begins, position = [], 0
        for sentence in sentencex.segment(language, part):
            begins.append(part.find(sentence, position))  # of a long text it leaves out some blank lines
            position = begins[-1] + len(sentence)
        last = begins.pop() if more and len(begins) > 1 else len(part)
        yield from (stretch + begin for begin in begins[not is_begin :])
        stretch, is_begin = stretch + last, not more or last < len(part)


def _inside_word(text: str, position: int) -> bool:
    """Whether a cut here would part what a space does not (the splitter takes "module.Class" for two sentences),
    or a mark from what it stands on."""
    before = text[position - 1]
    if before == " " and text[position].isascii():
        return False
    return (before.isascii() and not before.isspace()) or not is_between_graphemes(text, position)


def _before_marker(text: str, start: int, end: int) -> int:
    """Where to cut ``text[start:end]`` instead of at its end, so that the marker of a list is not cut off from what it
    is of; `start` if that is no place to cut either."""
    cut = marker_at_end(text, start, end)
    return cut if cut == end or text[start:cut].rstrip()[-1:] in _ENDS else start


def _after_abbreviation(text: str, position: int) -> bool:
    """Whether what is before is an abbreviation and what follows goes on: "after 30 s. of idle time", "fig. 5"."""
    follows = text[position]
    if not (follows.islower() or follows.isdigit()):
        return False
    found = _ABBREVIATED.search(text[max(0, position - _LONGEST_UNIT) : position])
    return found is not None and (found["number"] is None or follows.isdigit())


def _masked(part: str) -> str:
    """The same text, as long, with other letters where no sentence can end and where there is no valid character."""
    if "`" in part or "](" in part or "://" in part:
        part = _OPAQUE.sub(lambda match: "x" * len(match.group()), part)
    return part if part.isascii() else _UNUSUAL_SPACE.sub(" ", _SURROGATE.sub("x", part))


def _long_pieces(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts strictly inside ``[start, end)`` if that is long: at every line end if there are many, else at the first
    clause end or space after every `_PIECE` characters."""
    if end - start <= _LONG and not _THAI.search(text, start, end):
        return
    has_lines = text.count("\n", start, end) > (end - start) // _LONG
    boundary = _LINE_END if has_lines else _CLAUSE_END
    last = start
    while end - start > _PIECE:
        match = boundary.search(text, start if has_lines else start + _PIECE, end)
        if match is None or match.end() >= end:
            return
        start = match.end()
        cut = _before_marker(text, last, start)
        if cut > last and is_between_graphemes(text, cut) and not is_marker(text[last:cut]):
            yield cut
            last = cut
