"""Splits text into sentences with sentencex, and mends code, unspaced scripts and texts without full stops."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

import sentencex

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.conversation import begins_with_speaker
from ctxcompress.segment.markdown import Block, is_marked
from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.lines import (
    LONGEST_MARKER,
    are_wrapped,
    is_between_graphemes,
    is_marker,
    marker_at_end,
    replace_surrogates,
)
from ctxcompress.text.log_lines import is_log
from ctxcompress.text.words import WITHOUT_SPACES, WORD

__all__ = ["cuts_within", "is_prose_line", "segment_lines", "sentence_segments"]

_LONG, _PIECE = 600, 200
"""A longer piece without sentence ends is cut at lines, clauses or spaces, into pieces of so many at least."""
_STRETCH = 2_000
"""Number of characters that sentencex reads at once."""
_SENTENCE_END = lazy_regex(r"[.!?][^\w\s]*\s+\S")
"""An ASCII text without a match is one sentence, like most list items and captions."""
_OPAQUE = lazy_regex(r"`[^`\n]{1,200}`|\]\([^()\n]{1,500}\)|https?://[^\s<>()]{1,500}(?<![.,;:!?])")
_UNUSUAL_SPACE = lazy_regex(r"[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""All white space but the usual, on which sentencex fails near an initial."""
_ORDINAL = lazy_regex(r"(?<![^\s(/\u2013])(?:[1-9]|[12]\d|3[01])\.\s++\Z")
_LONGEST_ORDINAL = 8
"""The number of a day or a floor, and the most characters before the next word in which it is looked for."""
_WITH_ORDINALS = frozenset("cs da de et fi hr hu is lv nb nn no pl sk sl sr tr".split())
"""The languages that write "1." for "the first"."""
_MONTH_OF_YEAR = lazy_regex(r"[^\W\d_]++\.?\s++[12]\d{3}\b")
_WORD_CHARACTER = lazy_regex(r"\w")
_ENDS = frozenset(".!?:;\u3002\uff01\uff1f\u061f\u0964\u2026")
"""The last characters of sentences and of introductions to lists."""
_LINE_END = lazy_regex(r"\n+[ \t]*")
_CLAUSE_END = lazy_regex(r"(?:[,;:、，；：](?!\d)\s*+|[)\]}）。！？](?!\d)[^\S\n]*+)(?![\d\n])")
_SPACE = lazy_regex(r"\s+")
_FENCES = ("```", "~~~")
"""They open a code block at the beginning of a line: after a gap, a sentence within a line may stand there."""
_DENSE = 3
"""As many characters of other scripts say as much as one of a script without spaces between words."""
_UNSPACED = lazy_regex(f"[{WITHOUT_SPACES}]")
_MARK = lazy_regex(r"[\u2022\u2023\u25aa\u25cf\u25e6]|\((?=\d{1,9}\))")
"""After such a mark at its beginning, sentencex finds no sentence in a text."""
_ITEM = lazy_regex(r"(?<!\S)[\u2022\u2023\u25aa\u25cf\u25e6](?=\s+\w)")
"""The mark of an item of a list, which may stand within a line: PDFs lose the line breaks."""
_CAPITAL = r"[\"'(\u2018\u201c\u00ab]?[A-ZÀ-ÖØ-ÞА-ЯЁ]"
_HAN = r"[\u201c\u300a\uff08\uff1a(\[]?[\u4e00-\u9fff]"
_BODY = rf"(?:{_CAPITAL}[a-hj-uwyzß-öø-ÿа-яё][^\0]{{2,}}+|{_HAN}[^\0]{{3,}}+|[^\0]{{25,}}+)"
"""A sentence, up to the next: longer than a list marker, or with a beginning that no list marker has."""
_SURE = lazy_regex(
    rf"{_BODY}(?:(?:(?:(?<=\D\S )|(?<=\D\S  ))\0(?={_CAPITAL}|[\u0620-\u064a\u4e00-\u9fff])"
    rf"|(?<=[\u3002\uff01\uff1f\u201d])\0(?={_HAN}|[0-9A-Za-wyz])){_BODY})*+(?:\0\s++)?"
)
"""Sentences with a null character between them that are sentences beyond doubt: `_begins` would not change them."""


def split_sentences(text: str, start: int, end: int, language: str) -> list[int]:
    """Return the ends of the sentences of ``text[start:end]``: ascending offsets into `text`, the last one `end`.

    White space after a sentence belongs to it. There is no cut inside inline code, a link target or a URL, between a
    list marker ("2.") and its text. Long text without sentence ends (speech, Thai, minified data) is cut at line
    ends, else at clauses, else at spaces. A single word is never cut.
    """
    part = text[start:end]
    if len(part) <= _LONG and part.isascii() and not _SENTENCE_END.search(part):
        return [end]
    masked = _masked(part)
    sentences = sentencex.segment(language, masked) if len(part) <= _STRETCH else []
    if _are_sure(part, sentences):
        cuts = list(accumulate(map(len, sentences), initial=start))
        return [*cuts[1:-2], end] if sentences[-1].isspace() else cuts[1:]
    begins = _begins(part, masked, _sentence_begins(masked, sentences, language), language)
    cuts = []
    for begin, next_ in pairwise([*begins, len(part)]):
        if next_ - begin > _PIECE:
            cuts.extend(cuts_within(text, start + begin, start + next_))
        cuts.append(start + next_)
    return cuts


def _are_sure(part: str, sentences: Sequence[str]) -> bool:
    """Tell whether nothing of what sentencex found would be changed, as in most prose: one regular expression proves it
    in a tenth of the time that looking at each sentence takes."""
    if not sentences or ("\n" in part and part.find("\n", 0, len(part.rstrip())) >= 0):
        return False
    if not part.isascii() and _ITEM.search(part):
        return False
    joined = "\0".join(sentences)
    if len(joined) != len(part) + len(sentences) - 1 or not _SURE.fullmatch(joined):
        return False
    if len(part) <= _PIECE:
        return True
    longest = max(map(len, sentences))
    return longest <= _PIECE or (longest <= _LONG and (part.isascii() or not _UNSPACED.search(part)))


def _begins(part: str, masked: str, sentences: Iterable[int], language: str) -> list[int]:
    """Return where the sentences of `part` begin. sentences: where they do according to sentencex."""
    has_lines = "\n" in part
    if not part.isascii():
        sentences = sorted({*sentences, *(match.start() for match in _ITEM.finditer(part))})
    pairs = pairwise([0, *sentences, len(part)])
    # None begins after a list marker alone.
    found = [begin for before, begin in pairs if begin - before > LONGEST_MARKER or not is_marker(part[before:begin])]
    is_word, begins = _WORD_CHARACTER.search, [0]
    for begin, next_ in pairwise([*found, len(part)]):
        if not begin or next_ - begin < 4 or not is_word(masked, begin, next_) or _inside_word(part, begin):
            continue
        if not is_word(masked, begins[-1], begin) or (part.startswith(_FENCES, begin) and part[begin - 1] != "\n"):
            continue
        cut = begin
        if has_lines and part.find("\n", max(begins[-1], begin - LONGEST_MARKER), begin - 1) >= 0:
            cut = _before_marker(part, begins[-1], begin)
        if cut > begins[-1] and not _is_ordinal(masked, cut, language):
            begins.append(cut)
    return begins


def _sentence_begins(text: str, sentences: Sequence[str], language: str) -> Iterator[int]:
    """Yield where sentences begin according to sentencex. sentences: what it found, unless the text is too long.

    It reads the text in stretches, because its time grows with the square of the number of sentences and quotation
    marks. The sentence at the end of a stretch is read again with the next one.
    """
    if sum(map(len, sentences)) == len(text):
        yield from accumulate(map(len, sentences[:-1]), initial=0)
        return
    stretch, is_begin = 0, True
    while stretch < len(text):
        part = text[stretch : stretch + _STRETCH]
        more = stretch + _STRETCH < len(text)
        begins, position = [], 0
        for sentence in sentencex.segment(language, part):
            begins.append(part.find(sentence, position))  # sentencex omits some blank lines of a long text
            position = begins[-1] + len(sentence)
        last = begins.pop() if more and len(begins) > 1 else len(part)
        yield from (stretch + begin for begin in begins[not is_begin :])
        stretch, is_begin = stretch + last, not more or last < len(part)


def _is_ordinal(text: str, end: int, language: str) -> bool:
    """Tell whether the number before `end` may say which one of what follows: a word and a year, or in languages that
    write ordinals so any word but a function word: "am 1. Januar"."""
    if not _ORDINAL.search(text, max(end - _LONGEST_ORDINAL, 0), end):
        return False
    if language not in _WITH_ORDINALS:
        return _MONTH_OF_YEAR.match(text, end) is not None
    word = WORD.match(text, end)
    return word is not None and word[0].isalpha() and word[0].lower() not in STOP_WORDS.get(language, ())


def _inside_word(text: str, position: int) -> bool:
    """Return whether a cut at `position` would split a word or a grapheme.

    sentencex reads "module.Class" as two sentences.
    """
    before = text[position - 1]
    if before == " " and text[position].isascii():
        return False
    return (before.isascii() and not before.isspace()) or not is_between_graphemes(text, position)


def _before_marker(text: str, start: int, end: int) -> int:
    """Return where to cut ``text[start:end]`` so that a list marker at its end stays with the text after it.

    Returns `end` if there is no marker, and `start` if the text before the marker does not end a sentence.
    """
    cut = marker_at_end(text, start, end)
    return cut if cut == end or text[start:cut].rstrip()[-1:] in _ENDS else start


def _masked(part: str) -> str:
    """Return a text of the same length, with code, links and invalid characters replaced, where no sentence can end."""
    if (
        "`" in part or ("]" in part and "](" in part) or (":" in part and "://" in part)
    ):  # one character is found faster
        part = _OPAQUE.sub(lambda match: "x" * len(match.group()), part)
    if not part.isascii() or "(" in part:
        part = _MARK.sub("X", part)
    if part.isascii() or part.isprintable():
        return part
    return _UNUSUAL_SPACE.sub(" ", replace_surrogates(part, "x"))


def cuts_within(text: str, start: int, end: int, longest: int = _LONG) -> Iterator[int]:
    """Yield cuts strictly inside ``[start, end)`` if it has more characters than `longest`: at every line end if there
    are many lines, unless these are of one wrapped sentence, else where clauses end, else at spaces."""
    part = text[start:end]
    dense = 0 if part.isascii() else len(_UNSPACED.findall(part))
    if len(part) + (_DENSE - 1) * dense <= longest:
        return
    least = min(_PIECE, longest // 2) // (_DENSE if 2 * dense > len(part) else 1)
    lines = part.rstrip().split("\n")
    has_lines = len(lines) > 1 + len(part) // _LONG and not are_wrapped(lines)
    last = start
    for place in _line_ends(text, start, end) if has_lines else _clauses(text, start, end, least):
        cut = _before_marker(text, last, place)
        if cut > last and is_between_graphemes(text, cut) and not is_marker(text[last:cut]):
            yield cut
            last = cut


def _line_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where lines end."""
    while (match := _LINE_END.search(text, start, end)) and match.end() < end:
        start = match.end()
        yield start


def _clauses(text: str, start: int, end: int, least: int) -> Iterator[int]:
    """Yield places to cut a text without sentence ends, each at least so many characters after the one before."""
    while end - start > least + least // 2:  # so that no few words are left at the end
        near = _CLAUSE_END.search(text, start + least, min(start + 2 * least, end))
        found = near or _SPACE.search(text, start + least, end)
        if found is None or found.end() >= end:
            return
        start = found.end()
        yield start


_PARAGRAPH, _LIST_ITEM = Kind.PARAGRAPH, Kind.LIST_ITEM
_OPENING = 520
"""The most characters before the colon after a speaker, with a role in parentheses and a time."""
_QUOTES = frozenset("\"'“‘„«「『")


def is_prose_line(text: str) -> bool:
    """Tell whether `text` is surely one line of prose: no data, code, log, conversation or Markdown."""
    first = text[:1]
    if not first.isalpha() and (not (first.isdigit() or first in _QUOTES) or "<" in text or is_marked(text)):
        return False
    if "\n" in text or "\r" in text or is_log(text):
        return False
    if ":" not in text and (text.isascii() or "\uff1a" not in text):
        return True
    if '":' in text:
        return False
    opening = text[:_OPENING]
    return not (":" in opening or "\uff1a" in opening if first.isdigit() else begins_with_speaker(text))


def segment_lines(texts: Sequence[str], language: str) -> list[list[Segment]]:
    """Return the segments of each of the texts, which are lines of prose."""
    return [sentence_segments(text, Block(_PARAGRAPH, 0, len(text)), 0, language) for text in texts]


def sentence_segments(text: str, block: Block, number: int, language: str) -> list[Segment]:
    """Return the segments of a block, one for each sentence. Those of a paragraph are items of a list from one with a
    bullet to the last one with a bullet. number: of the block."""
    kind, start, end, heading = block
    cuts = [start, *split_sentences(text, start, end, language)]
    items = [cut for cut in cuts if _ITEM.match(text, cut)] if kind is _PARAGRAPH else ()
    first, last = (items[0], items[-1]) if items else (end, end)
    return [
        Segment(_LIST_ITEM if first <= begin <= last else kind, begin, cut, number, heading)
        for begin, cut in pairwise(cuts)
    ]
