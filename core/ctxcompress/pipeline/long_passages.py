"""What of long passages goes on to be scored, and the lines about those of a low score: composition only, no algorithm
of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log
from typing import NamedTuple

from ctxcompress.code.detection import source_language
from ctxcompress.code.elision import PROSE, Marks, marks_for
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document, Piece
from ctxcompress.data.passages import Node, Passage, Segment
from ctxcompress.data.spans import Gap
from ctxcompress.query.complexity import Intent, classify_intent
from ctxcompress.query.terms import query_terms
from ctxcompress.reduce.metadata_only import like_own_lines, metadata_line
from ctxcompress.reduce.truncation import (
    Cut,
    Importance,
    truncated,
    truncated_at_character,
    truncated_head,
    truncated_plainly,
    truncated_prose,
)
from ctxcompress.segment.segments import segment
from ctxcompress.segment.source_code import outline
from ctxcompress.text.words import Terms, split_words

__all__ = ["Gaps", "Limit", "escapes_of", "limit_of", "lines_about", "shortened"]

Gaps = Mapping[int, tuple[Gap, ...]]
"""Number of a passage -> what was cut out of it, in order."""


def lines_about(passages: Sequence[Passage], numbers: Iterable[int]) -> dict[int, str]:
    """Number of a passage -> the line that says what it is, for those with these numbers."""
    chosen = {number: passages[number] for number in numbers}
    return {n: metadata_line(item, outline(item.text, item.file_path or item.title)) for n, item in chosen.items()}


def escapes_of(passages: Sequence[Passage], config: CompressionConfig) -> dict[int, tuple[int, ...]]:
    """Return, by number of a passage, where its text says what a line about a passage begins with: none where the
    options have no such lines."""
    if not config.metadata_only or config.mode == "preview":
        return {}
    found = {number: like_own_lines(passage) for number, passage in enumerate(passages)}
    return {number: places for number, places in found.items() if places}


class Limit(NamedTuple):
    """The most that is kept of a passage."""

    characters: int
    is_head: bool
    """Whether only its beginning is wanted."""


def limit_of(query: str, config: CompressionConfig) -> Limit | None:
    """The most that is kept of a passage for a question; None for all of it."""
    limits: list[Limit] = []
    if config.factual_length is not None and _is_factual(query, config):
        limits.append(Limit(config.factual_length, is_head=True))
    if config.max_length is not None:
        limits.append(Limit(config.max_length, is_head=False))
    return None if config.mode == "preview" else min(limits, key=lambda limit: limit.characters, default=None)


def _is_factual(query: str, config: CompressionConfig) -> bool:
    return bool(query.strip()) and classify_intent(query, language=config.language).intent is Intent.FACTUAL


def shortened(
    query: str,
    documents: Sequence[Document],
    passages: Sequence[Passage],
    language: str,
    config: CompressionConfig,
    limit: Limit,
) -> tuple[Sequence[Document], Gaps]:
    """The documents with no more than the limit of each passage, and what was cut out of the passages.

    A passage with a word so long that nothing could be kept stays as it is.
    """
    if all(len(passage.text) <= limit.characters for passage in passages):
        return documents, {}
    cutter = _Cutter(query, language, config, *limit)
    texts = [passage.text for passage in passages]
    gaps: dict[int, tuple[Gap, ...]] = {}
    found: list[Document] = []
    for document in documents:
        pieces: list[Piece] = []
        for number, of_passage in groupby(document.pieces, key=lambda piece: piece.passage):
            part = Document.of(list(of_passage), texts)
            cut = cutter.cut(part.text, passages[number])
            if cut.spans and cut.gaps:
                pieces += [Piece(number, span) for span in part.of_passages(cut.spans)[number]]
                gaps[number] = tuple(_of_passage(gap, part) for gap in cut.gaps)
            else:
                pieces += part.pieces
        found.append(document if tuple(pieces) == document.pieces else Document.of(pieces, texts))
    return found, gaps


def _of_passage(gap: Gap, document: Document) -> Gap:
    """The gap by offsets into the one passage that a document is of."""
    start = document.place(gap.start - 1) + 1 if gap.start else document.place(0)
    end = document.place(gap.end) if gap.end < len(document.text) else document.place(gap.end - 1) + 1
    return gap._replace(start=start, end=end)


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts texts for one question."""

    query: str
    language: str
    config: CompressionConfig
    max_length: int
    is_head: bool
    """Whether only the beginning of a text is wanted."""

    def cut(self, text: str, passage: Passage) -> Cut:
        """What is kept of the text of a passage."""
        if len(text) <= self.max_length:
            return truncated(text, (), self.max_length, marker=PROSE)
        name = passage.file_path or passage.title
        nodes = outline(text, name)
        marks = marks_for(source_language(text, name)) if nodes else PROSE
        segments = () if nodes else segment(text, language=self.language)
        if self.is_head:
            return self._head(text, nodes, segments, marks)
        if not self.config.preserve_structure:
            return truncated_plainly(text, segments, self.max_length, marker=marks)
        importance = self._importance(text)
        if nodes:
            return truncated(text, nodes, self.max_length, marker=marks, importance=importance)
        return truncated_prose(text, segments, self.max_length, importance=importance)

    def _head(self, text: str, nodes: Sequence[Node], segments: Sequence[Segment], marks: Marks) -> Cut:
        if self.config.factual_cut == "character":
            return truncated_at_character(text, self.max_length, marker=marks)
        return truncated_head(text, nodes, segments, self.max_length, marker=marks)

    def _importance(self, text: str) -> Importance:
        """How many of the question's terms a part of the text has, each the less the more often the text has it."""
        terms = Terms(self.language)
        tables = [self.config.synonyms] if self.config.synonyms else []
        wanted = query_terms(self.query, language=self.language, terms=terms, synonyms=tables)
        counts = Counter(split_words(text))
        hits = terms.matching(counts, wanted)
        often = Counter[int]()
        for word, found in hits.items():
            often.update(dict.fromkeys(found, counts[word]))
        weights = [weight / (1 + log(often[place] or 1)) for place, weight in enumerate(wanted.values())]

        def importance(part: str) -> float:
            found = {place for word in split_words(part) for place in hits.get(word, ())}
            return sum(weights[place] for place in sorted(found))

        return importance
