"""Sentences, by sentencex, with what it leaves out: inline code, unspaced scripts, texts without full stops."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import accumulate, pairwise

import sentencex

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
_LINE_END = re.compile(r"\n+[ \t]*")
_CLAUSE_END = re.compile(r"[,;:)\]}、，；：）。！？]\s*|\s+")


def split_sentences(text: str, start: int, end: int, language: str) -> list[int]:
    """Where the sentences of ``text[start:end]`` end: ascending offsets into `text`, the last one `end`.

    White space after a sentence is part of it. Nothing is cut inside inline code, a link's target
    or an address. What has no end of sentence for long (a log, Thai, minified data) is cut at line
    ends, else at clauses or spaces; a single word is never cut.
    """
    part = text[start:end]
    if len(part) <= _LONG and part.isascii() and not _SENTENCE_END.search(part):
        return [end]
    masked = _masked(part)
    begins = [0]
    for begin, next_ in pairwise([*_sentence_begins(masked, language), len(part)]):
        short = next_ - begin < 4 or not _WORD_CHARACTER.search(masked, begin, next_)
        if begin and not short and not _inside_word(part, begin):
            begins.append(begin)
    cuts: list[int] = []
    for begin, next_ in pairwise([*begins, len(part)]):
        if next_ - begin > _PIECE:
            cuts.extend(_long_pieces(text, start + begin, start + next_))
        cuts.append(start + next_)
    return cuts


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
    return (before.isascii() and not before.isspace()) or _is_mark(text[position])


def _is_mark(character: str) -> bool:
    return not character.isascii() and (character == "\u200d" or unicodedata.category(character)[0] == "M")


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
    while end - start > _PIECE:
        match = boundary.search(text, start if has_lines else start + _PIECE, end)
        if match is None or match.end() >= end:
            return
        start = match.end()
        if not _is_mark(text[start]):
            yield start
