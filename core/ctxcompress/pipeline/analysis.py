"""The second step: analyse the documents, without the query. This composes algorithms, and has none of its own.

documents -> segments -> words -> corpus of all words

With a cache, each text and each list of documents is analysed once, and each segment's tokens are counted once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, count, groupby
from typing import NamedTuple

from ctxcompress.code.elision import Elision
from ctxcompress.data.documents import Document
from ctxcompress.data.metadata import offset_of
from ctxcompress.data.passages import Kind, Passage, Segment, Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.guarded import stop_if_cancelled
from ctxcompress.pipeline.call_cache import MEMORY_ONLY, CallCache, ReadText, TextCodec, key_of
from ctxcompress.query.terms import abbreviations_in
from ctxcompress.score.completions import Completions, completions_in
from ctxcompress.score.corpus import Corpus
from ctxcompress.segment.conversation import LoneTurn, recorded_speaker
from ctxcompress.segment.data_records import is_data
from ctxcompress.segment.formats import read_each, segment_outlined
from ctxcompress.segment.prose import segments_together
from ctxcompress.segment.sentences import cuts_within
from ctxcompress.segment.source_code import LONGEST, WHOLE
from ctxcompress.select.between_segments import gaps
from ctxcompress.select.knapsack import counts_of
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["Analysed", "Analyser", "Analysis", "AnalysisOptions", "read_together", "segments_of"]

_CHARACTERS_PER_TOKEN, _MIN_CHARACTERS = 4, 120
"""Functions with more characters for each token of the budget are cut, but no shorter ones than so many."""
_UNCOUNTED = 8
"""Queries about the same passages before the tokens of all their segments are counted."""
_AT_ONCE = 100_000
"""Characters that are read between two looks whether the work is cancelled, or one text."""
_CUT = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE, Kind.LOG))
"""The kinds of text that are cut where they are longer than the budget."""


class AnalysisOptions(NamedTuple):
    """The language of the texts, and when a function is cut."""

    language: str
    whole: int
    """The most characters of a statement that is one segment, about as many as fit the budget."""

    @classmethod
    def of(cls, language: str, budget: int) -> "AnalysisOptions":
        """Choose options under which no function takes most of the budget, which is in tokens."""
        return cls(language, min(LONGEST, max(_MIN_CHARACTERS, _CHARACTERS_PER_TOKEN * budget)))


@dataclass(frozen=True)  # without slots: cached properties, which the cache keeps for the next query
class Analysis:
    """The segments of documents, and all that is computed from them without the query."""

    options: AnalysisOptions
    table: SegmentTable
    corpus: Corpus
    elisions: Mapping[int, Elision]
    """Document number -> how its code is elided, for documents that are source code."""
    counts: dict[str, Sequence[int]] = field(default_factory=dict)
    """Name of an encoding -> the tokens of every segment, filled on demand."""
    queries: Iterator[int] = field(default_factory=count)
    """Counts the queries so far. Threads can share it."""

    @cached_property
    def abbreviations(self) -> Mapping[str, Sequence[str]]:
        """The abbreviations that the texts explain, as synonyms."""
        return abbreviations_in(self.table.texts)

    @cached_property
    def completions(self) -> Completions:
        """What completes each segment, for the scores."""
        return completions_in(self.table)

    @cached_property
    def structure(self) -> Structure:
        """How the segments depend on each other, for the selection."""
        return Structure(self.table)

    def markers(
        self, number: int, spans: Sequence[Span], is_lone: bool = False, *, is_within: bool = False
    ) -> Sequence[tuple[int, str]]:
        """Return the gap markers in a document if these spans of it are kept: see `Elision.markers` and `gaps`."""
        if number in self.elisions:
            return self.elisions[number].markers(spans)
        return gaps(self.table, number, spans, is_lone, is_within=is_within)

    def __len__(self) -> int:
        """Return the number of characters."""
        return sum(map(len, self.table.texts))


class Analysed(NamedTuple):
    """Documents and their analysis."""

    documents: Sequence[Document]
    passages: Sequence[Passage]
    """Each document as a passage, with the id and metadata of its first passage."""
    analysis: Analysis


class Analyser:
    """Analyses documents for one compression, and takes from the cache what it has."""

    def __init__(self, cache: CallCache, encoding: Encoding, count: TokenCounter | None = None) -> None:
        """count: counts with the encoding. The counts of a function are not cached, because nothing tells whether a
        later function of that name counts the same."""
        self.count, self.cache = count or TokenCounter(encoding), cache
        self._encoding = encoding if isinstance(encoding, str) else None

    def fits(self, text: str, limit: int) -> int | None:
        """Return the tokens of `text`, or None if they are more than `limit`."""
        if not self.cache or self._encoding is None:
            return self.count.fits(text, limit)
        key = f"fits:{self.cache.fingerprint(text)}:{self._encoding}:{limit}"
        found: tuple[int | None] | None = self.cache.get(key, MEMORY_ONLY)
        if found is None:  # nothing is cached; None in a tuple is
            found = (self.count.fits(text, limit),)
            self.cache.put(key, found, MEMORY_ONLY)
        return found[0]

    def read(self, documents: Sequence[Document], passages: Sequence[Passage], options: AnalysisOptions) -> Analysed:
        """Analyse the documents. passages: those that they are made of."""
        as_passages = [
            first if document.is_passage else replace(first, text=document.text, embedding=None)
            for document in documents
            for first in (passages[document.passage],)
        ]
        key = self._key_of_all(documents, as_passages, options)
        analysis: Analysis | None = self.cache.get(key, MEMORY_ONLY)
        if analysis is None:
            texts = read_together(self._texts(as_passages, options.language), as_passages, options.language)
            analysis = _analysis(documents, as_passages, texts, options)
            self.cache.put(key, analysis, MEMORY_ONLY)
        return Analysed(documents, as_passages, analysis)

    def read_text(self, passage: Passage, language: str) -> ReadText:
        """Analyse the text of one passage alone. The cache is only read."""
        known = self.cache.get(self._key(passage, language), TextCodec(passage.text))
        return known or _read_texts([passage], language)[0]

    def store(self, passage: Passage, language: str) -> None:
        """Analyse the text of a passage, so that the cache has it for later calls."""
        self._texts([passage], language)

    def counts(self, analysis: Analysis) -> Sequence[int] | None:
        """Return the tokens of all segments, or None if it is faster to count only those that the selection considers:
        without a cache, for the first query, and for some more if the tokenizer counts one text at a time."""
        if not self.cache or self._encoding is None:
            return None
        asked = next(analysis.queries)
        if self._encoding not in analysis.counts and asked >= (1 if self.count.is_fast else _UNCOUNTED):
            analysis.counts[self._encoding] = counts_of(analysis.table.texts, self.count)
        return analysis.counts.get(self._encoding)

    def _key_of_all(
        self, documents: Sequence[Document], document_passages: Sequence[Passage], options: AnalysisOptions
    ) -> str | None:
        """Return the cache key of the whole analysis; None without a cache, or if no key can hold a name."""
        if not self.cache:
            return None
        hashes = [self.cache.fingerprint(passage.text) for passage in document_passages]
        names = [(p.file_path, p.doc_id, p.title, p.header_path) for p in document_passages]
        found = [(p.file_name, recorded_speaker(p.metadata), offset_of(p)) for p in document_passages]
        return key_of("passages", options, hashes, names, found, [document.pieces for document in documents])

    def _key(self, passage: Passage, language: str) -> str | None:
        return key_of("text", self.cache.fingerprint(passage.text), language, passage.file_name) if self.cache else None

    def _texts(self, document_passages: Sequence[Passage], language: str) -> list[ReadText]:
        """Analyse each text alone, unless the cache has it."""
        if not self.cache:
            return _read_texts(document_passages, language)
        keys = [self._key(passage, language) for passage in document_passages]
        codecs = [TextCodec(passage.text) for passage in document_passages]
        known = list(map(self.cache.get, keys, codecs))
        missing = [number for number, text in enumerate(known) if text is None]
        fresh = dict(zip(missing, _read_texts([document_passages[n] for n in missing], language), strict=True))
        for number, text in fresh.items():
            self.cache.put(keys[number], text, codecs[number])
        return [fresh[number] if text is None else text for number, text in enumerate(known)]


def _read_texts(document_passages: Sequence[Passage], language: str) -> list[ReadText]:
    """Read each text. Equal texts with the same name are read once."""
    keys = [(passage.text, passage.file_name) for passage in document_passages]
    known: dict[tuple[str, str | None], ReadText] = {}
    ends = accumulate(len(text) for text, _ in dict.fromkeys(keys))
    for _, some in groupby(dict.fromkeys(keys), key=lambda _: next(ends) // _AT_ONCE):
        stop_if_cancelled()
        texts, names = zip(*some, strict=True)
        read = read_each(texts, names, language=language)
        known |= {(text, name): ReadText(text, *found) for text, name, found in zip(texts, names, read, strict=True)}
    return [known[key] for key in keys]


def read_together(
    texts: Sequence[ReadText],
    document_passages: Sequence[Passage],
    language: str,
    lone: Sequence[LoneTurn | None] | None = None,
) -> list[ReadText]:
    """Return the texts, segmented as the others and their metadata show: see `segments_together`.

    lone: `lone_turn` of each text, if known.
    """
    prose = [number for number, text in enumerate(texts) if text.prose]
    speakers = [recorded_speaker(document_passages[n].metadata) for n in prose]
    turns = None if lone is None else [lone[n] for n in prose]
    changed = segments_together(
        [texts[n].text for n in prose], [texts[n].prose for n in prose], language, speakers, turns
    )
    found = [*texts]
    for place, segments in changed.items():
        found[prose[place]] = ReadText(texts[prose[place]].text, (), segments)
    return found


def segments_of(text: ReadText, options: AnalysisOptions) -> Sequence[Segment]:
    """Return the segments of a text. Those with an outline depend on the budget, so only that is cached."""
    if not text.outline:
        return text.prose
    return segment_outlined(text.text, text.outline, whole=options.whole)


def _analysis(
    documents: Sequence[Document],
    document_passages: Sequence[Passage],
    texts: Sequence[ReadText],
    options: AnalysisOptions,
) -> Analysis:
    table = SegmentTable.of(documents, [segments_of(text, options) for text in texts])
    table = _with_long_cut(table, min(options.whole, WHOLE))
    elisions = {
        number: Elision(text.text, text.outline, document_passages[number].file_name)
        for number, text in enumerate(texts)
        if text.outline and not is_data(text.outline)
    }
    return Analysis(options, table, Corpus.of(document_passages, table), elisions)


def _with_long_cut(table: SegmentTable, longest: int) -> SegmentTable:
    """Return the table without segments of text with more characters than this: they would take most of the budget."""
    cuts = {}
    for number, text in enumerate(table.texts):
        if len(text) > longest and table.kind[number] in _CUT and table.unit[number] is None:
            start = table.start[number]
            cuts[number] = [start + cut for cut in cuts_within(text, 0, len(text), longest)]
    return table.cut(cuts, needs_all=False)[0] if any(cuts.values()) else table
