"""Sentences, by sentencex, with what it leaves out: inline code, unspaced scripts, texts without full stops."""

import re
from collections.abc import Iterator

import sentencex

__all__ = ["split_sentences"]

_LONG = 600
"""Characters from which a piece without an end of sentence is cut at lines, clauses or spaces."""
_PIECE = 200
"""Characters that such a piece is cut to, at least."""

_SENTENCE_END = re.compile(r"[.!?][^\w\s]*\s+\S")
"""Without it an ASCII text is one sentence, which most list items, captions and the like are."""
_OPAQUE = re.compile(r"`[^`\n]{1,200}`|\]\([^()\n]{1,500}\)|https?://[^\s<>()]{1,500}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNUSUAL_SPACE = re.compile(r"[^\S \t\n\r]")
"""The splitter fails on spaces of more than one byte near an initial."""
_WORD_CHARACTER = re.compile(r"\w")
_THAI = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_LINE_END = re.compile(r"\n+[ \t]*")
_CLAUSE_END = re.compile(r"[,;:)\]}、，；：）]\s*|\s+")


def split_sentences(text: str, start: int, end: int, language: str) -> list[int]:
    """Where the sentences of ``text[start:end]`` end: ascending offsets into `text`, the last one `end`.

    White space after a sentence is part of it. Nothing is cut inside inline code, a link's target
    or an address. What has no end of sentence for long (a log, Thai, minified data) is cut at line
    ends, else at clauses or spaces; a single word is never cut.
    """
    part = text[start:end]
    if len(part) <= _LONG and part.isascii() and not _SENTENCE_END.search(part):
        return [end]
    cuts: list[int] = []
    position = start
    masked = _masked(part)
    for sentence in sentencex.segment(language, masked):
        begin = start + masked.find(sentence, position - start)  # of a long text it leaves out some blank lines
        if cuts:
            cuts[-1] = begin
            if len(sentence) < 4 or not _WORD_CHARACTER.search(sentence) or _inside_word(text, begin):
                cuts.pop()
        position = begin + len(sentence)
        previous = cuts[-1] if cuts else start
        if position - previous > _LONG or (position - previous > _PIECE and _THAI.search(text, previous, position)):
            cuts.extend(_long_pieces(text, previous, position))
        cuts.append(position)
    return [*cuts[:-1], end]


def _inside_word(text: str, position: int) -> bool:
    """Whether a cut here would part what a space does not: the splitter takes "module.Class" for two sentences."""
    before = text[position - 1]
    return before.isascii() and not before.isspace()


def _masked(part: str) -> str:
    """The same text, as long, with other letters where no sentence can end and where there is no valid character."""
    if "`" in part or "](" in part or "://" in part:
        part = _OPAQUE.sub(lambda match: "x" * len(match.group()), part)
    return part if part.isascii() else _UNUSUAL_SPACE.sub(" ", _SURROGATE.sub("x", part))


def _long_pieces(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts strictly inside ``[start, end)``: at the first line end after every `_PIECE` characters, or clause end."""
    has_lines = text.count("\n", start, end) > (end - start) // _LONG
    boundary = _LINE_END if has_lines else _CLAUSE_END
    while end - start > _PIECE:
        match = boundary.search(text, start if has_lines else start + _PIECE, end)
        if match is None or match.end() >= end:
            return
        start = match.end()
        yield start
