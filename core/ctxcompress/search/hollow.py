"""Search results that say nothing: all of their text is what pages put around it."""

from collections.abc import Iterator, Sequence

from ctxcompress.config import CompressionConfig
from ctxcompress.judge import language_of
from ctxcompress.passages import Kind, Passage
from ctxcompress.query.terms import query_terms
from ctxcompress.score.surroundings import surroundings
from ctxcompress.search.shapes import Record
from ctxcompress.segment.segments import segment
from ctxcompress.text.words import Terms

__all__ = ["hollow"]

_LONGEST = 2_000
"""Characters of a result that may be one."""


def hollow(query: str, records: Sequence[Record], config: CompressionConfig) -> list[int]:
    """The places of the results that have nothing but a byline, links, notices and their title, none of which the
    question asks for."""
    texts = [" \n".join(text for *_, text in record.texts()) for record in records]
    language = language_of(query, [Passage(str(place), text) for place, text in enumerate(texts)], config)
    return [place for place, record in enumerate(records) if _is_hollow(query, texts[place], record.title, language)]


def _is_hollow(query: str, text: str, title: str | None, language: str) -> bool:
    if len(text) > _LONGEST or not text.strip():
        return False
    segments = segment(text, language=language)
    texts = [text[part.start : part.end] for part in segments]
    notices = {number for number, part in enumerate(segments) if part.kind is Kind.BOILERPLATE}
    if not notices or any(number not in notices for number in _saying(texts, title)):
        return False
    terms = Terms(language)
    asked = surroundings(query, segments, texts, query_terms(query, language=language, terms=terms), terms, {})
    return len(asked.unasked) == len(notices)


def _saying(texts: Sequence[str], title: str | None) -> Iterator[int]:
    """The numbers of the texts that are more than the title again."""
    for number, text in enumerate(texts):
        words = text.strip(" \t\r\n#*>").casefold()
        if words and words not in (title or "").casefold():
            yield number
