"""The key sentences of search results: what of their texts answers the question best, in few characters.

All results are read and judged together, so that a word that all of them have says little; then the sentences of each
are chosen by themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.config import CompressionConfig
from ctxcompress.documents import Spans, documents_as_they_are
from ctxcompress.judge import judge, language_of
from ctxcompress.keys import Fingerprints
from ctxcompress.reading import Manner, Reader, titled
from ctxcompress.score.bm25 import Floats
from ctxcompress.select.layout import Layout
from ctxcompress.select.qatbe import select
from ctxcompress.select.structure import Structure
from ctxcompress.tokens import TokenCounter
from ctxcompress.types import Kind, Passage, Span

__all__ = ["KeptText", "KeySentences"]

_MARKER = "..."
"""What ends a text of which one sentence alone is too long."""
_WHOLE = (Kind.CODE, Kind.TABLE)
"""What is cut between lines, so that nothing looks unfinished."""


@dataclass(frozen=True, slots=True)
class KeptText:
    """What is kept of one text: the spans of it, with a marker after the last one where that is cut in a sentence."""

    text: str
    spans: tuple[Span, ...]


class KeySentences:
    """The sentences of all results, judged for one question."""

    __slots__ = ("_layout", "_structure", "_worth")

    def __init__(self, query: str, passages: Sequence[Passage], config: CompressionConfig) -> None:
        """passages: the texts of all results."""
        documents = documents_as_they_are([passage.text for passage in passages])
        items = titled(documents, passages)
        language = language_of(query, passages, config)
        reader = Reader(config.cache, Fingerprints(), len, TokenCounter(len))
        reading = reader.read(documents, items, Manner.of(language, 1))
        self._structure: Structure = reading.structure
        self._worth: Floats = judge(query, items, reading, language, config).worth
        texts = [passage.text for passage in passages]
        self._layout = Layout(documents, texts, "", lambda _, text: text, len, elide=reading.markers)

    def of(self, numbers: Sequence[int], characters: int, sentences: int) -> Mapping[int, KeptText]:
        """What is kept of the texts with these numbers, which are those of one result: so many sentences at most, with
        what these cannot stand without (a heading, the header of a table), in so many characters altogether.

        Texts that have no more come back as they are. A sentence that is too long alone is cut between words, and
        marked.
        """
        candidates, layout = self._structure.candidates, self._layout
        own = [n for number in numbers for n in range(candidates.first[number], candidates.first[number + 1])]
        if sum(len(layout.passages[n]) for n in numbers) <= characters and len(self._counted(own)) <= sentences:
            return {n: KeptText(layout.passages[n], (Span(0, len(layout.passages[n])),)) for n in numbers}
        spans = self._chosen(own, characters)
        kept = self._counted(self._within(own, spans))
        if len(kept) > sentences:
            best = sorted(kept, key=lambda n: (-self._worth[n], n))[:sentences]
            spans = self._chosen(best, characters)
        if self._cut(own, spans) is not None and characters > len(_MARKER):
            best = self._within(own, spans)
            spans = self._chosen(best, characters - len(_MARKER))
        return {n: self._kept(n, spans, self._cut(own, spans)) for n in numbers}

    def _chosen(self, numbers: Iterable[int], characters: int) -> Spans:
        """What of these segments fits; of others only what they need."""
        worth = np.full(len(self._worth), self._worth.min(initial=0.0) - 1)
        wanted = list(numbers)
        worth[wanted] = self._worth[wanted]
        return select(self._structure, worth, self._layout, characters).spans if wanted else {}

    def _counted(self, numbers: Iterable[int]) -> list[int]:
        """Those of the segments that count as sentences."""
        segments, texts = self._structure.candidates.segments, self._structure.candidates.texts
        return [n for n in numbers if segments[n].kind is not Kind.HEADING and not texts[n].isspace()]

    def _within(self, own: Iterable[int], spans: Spans) -> list[int]:
        """The segments of which something is kept."""
        candidates = self._structure.candidates
        return [
            number
            for number in own
            if any(
                start < candidates.segments[number].end and end > candidates.segments[number].start
                for start, end in spans.get(candidates.document[number], ())
            )
        ]

    def _cut(self, own: Iterable[int], spans: Spans) -> int | None:
        """The number of the text in which the last thing that is kept is the beginning of a sentence."""
        candidates = self._structure.candidates
        ends = {(document, end) for document, kept in spans.items() for _, end in kept[-1:]}
        for number in own:
            segment, document = candidates.segments[number], candidates.document[number]
            last = segment.start + len(candidates.texts[number].rstrip())
            if segment.kind not in _WHOLE and any(d == document and segment.start < end < last for d, end in ends):
                return document
        return None

    def _kept(self, number: int, spans: Spans, cut: int | None) -> KeptText:
        shown = self._layout.shown({number: spans[number]} if number in spans else {})
        text = "".join(self._layout.texts(shown).values())
        return KeptText(text + _MARKER if number == cut else text, tuple(spans.get(number, ())))
