"""What the documents say, whatever is asked: composition only, no algorithm of its own.

documents -> segments -> words -> what follows from all of them together

With a cache, each text is read once, and all together once, and a segment's tokens are counted once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from ctxcompress.cache.protocol import Allowance, Cache, Fingerprints, key_of, timely
from ctxcompress.code.detection import source_language
from ctxcompress.code.elision import Elision
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Segment, Span
from ctxcompress.data.stats import stop_if_cancelled
from ctxcompress.data.table import SegmentTable
from ctxcompress.pipeline.text_codec import ALIVE, CountsCodec, ReadText, TextCodec
from ctxcompress.score.corpus import Corpus
from ctxcompress.segment.segments import segment_outlined
from ctxcompress.segment.source_code import WHOLE, code_segments, outline
from ctxcompress.select.layout import tokens_of
from ctxcompress.select.structure import Structure
from ctxcompress.text.words import Terms, split_each
from ctxcompress.tokens import TokenCounter

__all__ = ["Analyser", "Analysis", "AnalysisOptions", "documents_as_passages"]

_CHARACTERS = 3
"""Of a function, for each token of the budget: more, and it is cut."""
_SHORTEST = 120


class AnalysisOptions(NamedTuple):
    """How texts are read."""

    language: str
    whole: int
    """Characters up to which a function is one segment."""

    @classmethod
    def of(cls, language: str, budget: int) -> "AnalysisOptions":
        """budget: in tokens; a function that takes most of it is no single segment."""
        return cls(language, min(WHOLE, max(_SHORTEST, _CHARACTERS * budget)))


@dataclass(frozen=True)  # without slots: what follows from the rest is remembered for the next question
class Analysis:
    """The segments of documents, and what is known of them."""

    options: AnalysisOptions
    table: SegmentTable
    corpus: Corpus
    elisions: Mapping[int, Elision]
    """Of the documents that are source code, by number."""
    keys: Sequence[str] = ()
    """Of the documents' texts in the cache; none without one."""
    counts: dict[str, Sequence[int]] = field(default_factory=dict)
    """Name of an encoding -> the tokens of every segment, once they are asked for."""

    @cached_property
    def structure(self) -> Structure:
        """What the selection asks of them."""
        return Structure(self.table, lasting=bool(self.keys))

    def markers(self, number: int, spans: Sequence[Span]) -> Sequence[tuple[int, str]]:
        """Where markers stand in a document of which these spans are kept: see Elision."""
        return self.elisions[number].markers(spans) if number in self.elisions else ()

    def __len__(self) -> int:
        """Characters."""
        return sum(map(len, self.table.texts))


class _Fits(NamedTuple):
    """What `TokenCounter.fits` says."""

    tokens: int | None


def documents_as_passages(documents: Sequence[Document], passages: Sequence[Passage]) -> list[Passage]:
    """Each document as a passage, called what the first passage in it is."""
    items = []
    for document in documents:
        item = passages[document.pieces[0].passage]
        items.append(item if document.is_passage else replace(item, text=document.text, embedding=None))
    return items


class Analyser:
    """Reads documents, for one compression; what the cache knows of them is not found out again."""

    __slots__ = ("_encoding", "_fingerprint", "cache", "count")

    def __init__(self, cache: Cache | None, fingerprint: Fingerprints, encoding: object, count: TokenCounter) -> None:
        """encoding: what `count` counts by. Of a function nobody knows whether it is the same as yesterday, so that
        what it counted is not remembered."""
        self.count = count
        self.cache = None if cache is None else timely(cache, Allowance())
        """For this compression."""
        self._fingerprint = fingerprint
        self._encoding = encoding if isinstance(encoding, str) else None

    def fits(self, text: str, limit: int) -> int | None:
        """As `TokenCounter.fits`."""
        if self.cache is None or self._encoding is None:
            return self.count.fits(text, limit)
        key = f"fits:{self._fingerprint(text)}:{self._encoding}:{limit}"
        known = self.cache.get(key, ALIVE)
        if isinstance(known, _Fits):
            return known.tokens
        tokens = self.count.fits(text, limit)
        self.cache.put(key, _Fits(tokens), ALIVE)
        return tokens

    def read(self, documents: Sequence[Document], items: Sequence[Passage], options: AnalysisOptions) -> Analysis:
        """items: the documents as passages."""
        keys = self._keys(items, options)
        whole = _key_of_all(documents, items, keys, options) if keys else None
        if self.cache is None or whole is None:
            return _together(documents, items, [_read(item, options.language) for item in items], options)
        analysis = self.cache.get(whole, ALIVE)
        if not isinstance(analysis, Analysis):
            analysis = _together(documents, items, self._texts(items, keys, options), options, keys)
            self.cache.put(whole, analysis, ALIVE)
        return analysis

    def table(self, documents: Sequence[Document], items: Sequence[Passage], options: AnalysisOptions) -> SegmentTable:
        """The segments alone."""
        texts = self._texts(items, self._keys(items, options), options)
        return SegmentTable.of(documents, [_segments(text, options) for text in texts])

    def counts(self, analysis: Analysis) -> Sequence[int] | None:
        """The tokens of all segments; None where that would not be remembered, so that only those are counted that
        come into question."""
        if self.cache is None or not analysis.keys or self._encoding is None:
            return None
        counts = analysis.counts.get(self._encoding)
        if counts is None:
            first, texts = analysis.table.first, analysis.table.texts
            spans = zip(analysis.keys, first, first[1:], strict=False)
            options = f"{self._encoding}:{analysis.options.whole}"
            counts = [
                tokens
                for key, start, end in spans
                for tokens in _counted(self.cache, f"{key}:{options}", texts[start:end], self.count)
            ]
            analysis.counts[self._encoding] = counts
        return counts

    def _keys(self, items: Sequence[Passage], options: AnalysisOptions) -> list[str]:
        """Of each text; none at all without a cache, or where no key can tell what one is called."""
        if self.cache is None:
            return []
        keys = [key_of("text", self._fingerprint(item.text), options.language, _name(item)) for item in items]
        found = [key for key in keys if key]
        return found if len(found) == len(items) else []

    def _texts(self, items: Sequence[Passage], keys: Sequence[str], options: AnalysisOptions) -> list[ReadText]:
        cache = self.cache
        if cache is None or not keys:
            return [_read(item, options.language) for item in items]
        return [_remembered(cache, key, item, options.language) for key, item in zip(keys, items, strict=True)]


def _key_of_all(
    documents: Sequence[Document], items: Sequence[Passage], keys: Sequence[str], options: AnalysisOptions
) -> str | None:
    places = [(document.pieces, item.title, item.header_path) for document, item in zip(documents, items, strict=True)]
    return key_of("passages", keys, options.whole, places)


def _remembered(cache: Cache, key: str, item: Passage, language: str) -> ReadText:
    stop_if_cancelled()
    codec = TextCodec(item.text)
    found = cache.get(key, codec)
    if found is None:
        found = _read(item, language)
        cache.put(key, found, codec)
    return found


def _read(item: Passage, language: str) -> ReadText:
    stop_if_cancelled()
    nodes = outline(item.text, _name(item))
    return ReadText(item.text, nodes, [] if nodes else segment_outlined(item.text, nodes, language=language))


def _segments(text: ReadText, options: AnalysisOptions) -> Sequence[Segment]:
    """Those of source code depend on the budget; what takes its time there is the outline."""
    return code_segments(text.text, text.outline, options.whole) if text.outline else text.prose


def _together(
    documents: Sequence[Document],
    items: Sequence[Passage],
    texts: Sequence[ReadText],
    options: AnalysisOptions,
    keys: Sequence[str] = (),
) -> Analysis:
    """keys: where there is a cache, so that more than one question is expected."""
    segments = [_segments(text, options) for text in texts]
    table = SegmentTable.of(documents, segments)
    elisions = {
        number: Elision(text.text, text.outline, source_language(text.text, _name(items[number])))
        for number, text in enumerate(texts)
        if text.outline
    }
    if not keys:
        return Analysis(options, table, Corpus.of(items, table), elisions)
    words = [of_segment for text, found in zip(texts, segments, strict=True) for of_segment in _words(text, found)]
    corpus = Corpus.of(items, table, words).with_postings(Terms(options.language))
    return Analysis(options, table, corpus, elisions, keys)


def _words(text: ReadText, segments: Sequence[Segment]) -> Sequence[Sequence[str]]:
    if not text.outline:
        return text.words
    return split_each([text.text[segment[1] : segment[2]] for segment in segments])


def _counted(cache: Cache, key: str, texts: Sequence[str], count: Callable[[str], int]) -> Sequence[int]:
    stop_if_cancelled()
    codec = CountsCodec(len(texts))
    counts = cache.get(key, codec)
    if counts is None:
        counts = [tokens_of(text, count) for text in texts]
        cache.put(key, counts, codec)
    return counts


def _name(item: Passage) -> str | None:
    return item.file_path or item.title
