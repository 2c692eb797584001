"""Segments of texts that are one line of prose, as most passages are, all at once.

How it works: a text that begins with a letter, has no line break and does not begin with a speaker can be nothing but
prose, so nobody else is asked. Its segments are its sentences.
"""

from collections.abc import Sequence

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.segment.conversation import begins_with_speaker
from ctxcompress.segment.markdown import is_marked
from ctxcompress.segment.sentences import split_sentences
from ctxcompress.text.log_lines import is_log

__all__ = ["is_prose_line", "segment_lines"]

_PARAGRAPH = Kind.PARAGRAPH
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
    return not _has_early_colon(text) if first.isdigit() else not begins_with_speaker(text)


def _has_early_colon(text: str) -> bool:
    return text.find(":", 0, _OPENING) >= 0 or text.find("\uff1a", 0, _OPENING) >= 0


def segment_lines(texts: Sequence[str], language: str) -> list[list[Segment]]:
    """Return the segments of each of the texts, which are lines of prose."""
    segmented = []
    for text in texts:
        ends = split_sentences(text, 0, len(text), language)
        segmented.append([Segment(_PARAGRAPH, start, end, 0) for start, end in zip((0, *ends), ends, strict=False)])
    return segmented
