"""The key sentences of search results: what of their texts answers the question best, in few characters.

All results are read and judged together, so that a word that all of them have says little; then the sentences of each
are chosen by themselves.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcompress.cache.protocol import Fingerprints
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans, documents_as_they_are
from ctxcompress.data.passages import Kind, Passage, Span
from ctxcompress.pipeline.analysis import Analyser, AnalysisOptions, documents_as_passages
from ctxcompress.pipeline.scoring import score_segments
from ctxcompress.pipeline.task import language_of
from ctxcompress.query.terms import query_terms
from ctxcompress.score.matches import Floats
from ctxcompress.score.surroundings import surroundings
from ctxcompress.search.shapes import Record
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import Layout
from ctxcompress.select.qatbe import select
from ctxcompress.select.structure import Structure
from ctxcompress.text.words import Terms, has_unspaced
from ctxcompress.tokens import TokenCounter

__all__ = ["KeptText", "KeySentences", "hollow"]

_MARKER = "..."
"""What ends a text of which one sentence alone is too long."""
_LINES = (Kind.CODE, Kind.TABLE)
"""What is cut between lines, so that nothing looks unfinished."""
_QUESTION = re.compile(r"[?\uff1f\u061f][\s\"'\u201d\u00bb)\]*_]*+$")
_PATH = re.compile(r"\s[/|>\u00bb\u203a\u00b7\u2022]\s")
_FEW = 5
"""Words of a sentence that hardly says anything: "Back to top." """


@dataclass(frozen=True, slots=True)
class KeptText:
    """What is kept of one text: the spans of it, with a marker after the last one where that is cut in a sentence."""

    text: str
    spans: tuple[Span, ...]


class KeySentences:
    """The sentences of all results, judged for one question."""

    __slots__ = ("_around", "_layout", "_structure", "_worth")

    def __init__(self, query: str, passages: Sequence[Passage], config: CompressionConfig) -> None:
        """passages: the texts of all results."""
        documents = documents_as_they_are([passage.text for passage in passages])
        items = documents_as_passages(documents, passages)
        language = language_of(query, passages, config)
        analyser = Analyser(config.cache, Fingerprints(), len, TokenCounter(len))
        analysis = analyser.read(documents, items, AnalysisOptions.of(language, 1))
        self._structure: Structure = analysis.structure
        scored = score_segments(query, items, analysis, language, config)
        self._worth: Floats = scored.worth
        self._around = frozenset(scored.around)
        texts = [passage.text for passage in passages]
        self._layout = Layout(documents, texts, "", lambda _, shown: shown.text, len, elide=analysis.markers)

    def of(self, numbers: Sequence[int], characters: int, sentences: int) -> Mapping[int, KeptText]:
        """What is kept of the texts with these numbers, which are those of one result: so many sentences at most, with
        what these cannot stand without (a heading, the header of a table), in so many characters altogether.

        Texts that have no more come back as they are. A sentence that is too long alone is cut between words, and
        marked.
        """
        table, layout = self._structure.table, self._layout
        own = [n for number in numbers for n in range(table.first[number], table.first[number + 1])]
        if sum(len(layout.passages[n]) for n in numbers) <= characters and len(self._counted(own)) <= sentences:
            return {n: KeptText(layout.passages[n], (Span(0, len(layout.passages[n])),)) for n in numbers}
        best = self._best(own, characters, sentences)
        spans = self._chosen(best, characters)
        cut = self._cut(best, spans)
        if cut is not None:
            spans = self._chosen(best, max(1, characters - len(_MARKER)))
        return {n: self._kept(n, spans, cut) for n in numbers}

    def _best(self, own: Sequence[int], characters: int, sentences: int) -> list[int]:
        """The sentences most likely to be needed that fit together; one that is too long alone if none fits.

        Their number is limited, so that it does not count how long they are, as it does where a budget is filled.
        """
        texts = self._structure.table.texts
        stands = [n for n in self._counted(own) if self._structure.stands[n]]
        ranked = sorted(stands, key=lambda n: (-self._worth[n], n))
        ranked = [n for n in ranked if n not in self._around] or ranked
        ranked = [n for n in ranked if not _says_nothing(texts[n])] or ranked
        best: dict[str, int] = {}
        room = characters
        for n in ranked:
            text = texts[n].rstrip()
            if len(best) < sentences and len(text) <= room and text not in best:
                best[text] = n
                room -= len(texts[n])
        return list(best.values()) or ranked[:1]

    def _chosen(self, numbers: Iterable[int], characters: int) -> Spans:
        """What of these segments fits; of others only what they need."""
        wanted = set(numbers)
        others = set(range(len(self._worth))) - wanted
        return select(self._structure, self._worth, self._layout, characters, others).spans if wanted else {}

    def _counted(self, numbers: Iterable[int]) -> list[int]:
        """Those of the segments that count as sentences."""
        segments, texts = self._structure.table.segments, self._structure.table.texts
        return [n for n in numbers if segments[n].kind is not Kind.HEADING and not texts[n].isspace()]

    def _cut(self, own: Iterable[int], spans: Spans) -> int | None:
        """The number of the text in which the last thing that is kept is the beginning of a sentence."""
        table = self._structure.table
        ends = {(document, end) for document, kept in spans.items() for _, end in kept[-1:]}
        for number in own:
            segment, document = table.segments[number], table.document[number]
            last = segment.start + len(table.texts[number].rstrip())
            if segment.kind not in _LINES and any(d == document and segment.start < end < last for d, end in ends):
                return document
        return None

    def _kept(self, number: int, spans: Spans, cut: int | None) -> KeptText:
        shown = self._layout.shown({number: spans[number]} if number in spans else {})
        text = "".join(self._layout.texts(shown).values())
        return KeptText(text + _MARKER if number == cut else text, tuple(spans.get(number, ())))


def _says_nothing(text: str) -> bool:
    """Whether it is a question, the path of a page, or a word or two: pages have these around what they say, and they
    have the words of a question more often than the answer does."""
    if _QUESTION.search(text, max(0, len(text) - 20)) or len(_PATH.findall(text)) > 1:
        return True
    return len(text.split()) < _FEW and not has_unspaced(text)


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
