"""The second step: analyse the documents, without the query. This composes algorithms, and has none of its own.

documents -> segments -> words -> corpus of all words

With a cache, each text and each list of documents is analysed once, and each segment's tokens are counted once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple, TypeVar

from ctxcompress.cache.cache import Codec
from ctxcompress.code.detection import source_language
from ctxcompress.code.elision import Elision
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Segment, Span
from ctxcompress.data.stats import stop_if_cancelled
from ctxcompress.data.table import SegmentTable
from ctxcompress.pipeline.call_cache import CallCache, Fingerprints, key_of
from ctxcompress.pipeline.text_codec import MEMORY_ONLY, CountsCodec, ReadText, TextCodec
from ctxcompress.score.corpus import Corpus, segment_words
from ctxcompress.segment.data_records import is_data
from ctxcompress.segment.segments import LoneTurn, read_each, read_text, segment_outlined, segments_together
from ctxcompress.segment.source_code import WHOLE
from ctxcompress.segment.speakers import recorded_speaker
from ctxcompress.select.gap_markers import gaps
from ctxcompress.select.layout import counts_of
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Analyser", "Analysis", "AnalysisOptions", "documents_as_passages", "read_together", "segments_of"]

_T = TypeVar("_T")

_CHARACTERS_PER_TOKEN = 4
"""Functions with more characters than this for each token of the budget are cut."""
_UNCOUNTED = 8
"""Queries about the same passages before the tokens of all their segments are counted."""
_AT_ONCE = 100_000
"""Characters of several texts that are read between two looks whether the work is cancelled."""
_MIN_CHARACTERS = 120
"""Shorter functions are not cut, however small the budget."""


class AnalysisOptions(NamedTuple):
    """The language of the texts, and when a function is cut."""

    language: str
    whole: int
    """The maximum length in characters of a function that is one segment."""

    @classmethod
    def of(cls, language: str, budget: int) -> "AnalysisOptions":
        """Choose options under which no function takes most of the budget, which is in tokens."""
        return cls(language, min(WHOLE, max(_MIN_CHARACTERS, _CHARACTERS_PER_TOKEN * budget)))


@dataclass(frozen=True)  # without slots: cached properties, which the cache keeps for the next query
class Analysis:
    """The segments of documents, and all that is computed from them without the query."""

    options: AnalysisOptions
    table: SegmentTable
    corpus: Corpus
    elisions: Mapping[int, Elision]
    """Document number -> how its code is elided, for documents that are source code."""
    keys: Sequence[str] = ()
    """The cache key of each document's text; empty without a cache."""
    counts: dict[str, Sequence[int]] = field(default_factory=dict)
    """Name of an encoding -> the tokens of every segment, filled on demand."""
    queries: Iterator[int] = field(default_factory=count)
    """Counts the queries so far. Threads can share it."""

    @cached_property
    def structure(self) -> Structure:
        """How the segments depend on each other, for the selection."""
        return Structure(self.table)

    def markers(self, number: int, spans: Sequence[Span], *, is_within: bool = False) -> Sequence[tuple[int, str]]:
        """Return the gap markers in a document if these spans of it are kept: see `Elision.markers` and `gaps`."""
        if number in self.elisions:
            return self.elisions[number].markers(spans)
        return gaps(self.table, number, spans, is_within=is_within)

    def __len__(self) -> int:
        """Return the number of characters."""
        return sum(map(len, self.table.texts))


def documents_as_passages(documents: Sequence[Document], passages: Sequence[Passage]) -> list[Passage]:
    """Return each document as a passage, with the id and metadata of its first passage."""
    document_passages = []
    for document in documents:
        first = passages[document.passage]
        document_passages.append(first if document.is_passage else replace(first, text=document.text, embedding=None))
    return document_passages


class Analyser:
    """Analyses documents for one compression, and takes from the cache what it has."""

    __slots__ = ("_encoding", "_fingerprint", "cache", "count")

    def __init__(
        self, cache: CallCache | None, fingerprint: Fingerprints, encoding: object, count: TokenCounter
    ) -> None:
        """encoding: the encoding that `count` uses. The counts of a function are not cached, because nothing tells
        whether a later function of that name counts the same."""
        self.count, self.cache = count, cache
        self._fingerprint = fingerprint
        self._encoding = encoding if isinstance(encoding, str) else None

    def fits(self, text: str, limit: int) -> int | None:
        """Return the tokens of `text`, or None if they are more than `limit`."""
        if self.cache is None or self._encoding is None:
            return self.count.fits(text, limit)
        key = f"fits:{self._fingerprint(text)}:{self._encoding}:{limit}"
        known = self.cache.get(key, MEMORY_ONLY)
        if isinstance(known, _Fits):
            return known.tokens
        tokens = self.count.fits(text, limit)
        self.cache.put(key, _Fits(tokens), MEMORY_ONLY)
        return tokens

    def read(
        self, documents: Sequence[Document], document_passages: Sequence[Passage], options: AnalysisOptions
    ) -> Analysis:
        """Analyse the documents.

        document_passages: each document as a passage, see `documents_as_passages`.
        """
        key = None if self.cache is None else self._key_of_all(documents, document_passages, options)
        if self.cache is None or key is None:
            texts = read_together(_read_texts(document_passages, options.language), document_passages, options.language)
            return _analysis(documents, document_passages, texts, options)
        analysis = self.cache.get(key, MEMORY_ONLY)
        if not isinstance(analysis, Analysis):
            keys = self._keys(document_passages, options)
            alone = self._texts(document_passages, keys, options)
            texts = read_together(alone, document_passages, options.language)
            # Another segmentation of a text has other counts of tokens.
            keys = [
                key if one is other else f"{key}:{key_of('cuts', [part.end for part in other.prose])}"
                for key, one, other in zip(keys, alone, texts, strict=True)
            ]
            analysis = _analysis(documents, document_passages, texts, options, keys)
            self.cache.put(key, analysis, MEMORY_ONLY)
        return analysis

    def read_text(self, passage: Passage, language: str) -> ReadText:
        """Analyse the text of one passage alone. The cache is only read."""
        key = None if self.cache is None else self._key(passage, language)
        known = None if self.cache is None or key is None else self.cache.get(key, TextCodec(passage.text))
        return known or _read_text(passage, language)

    def store(self, passage: Passage, language: str) -> None:
        """Analyse the text of a passage, so that the cache has it for later calls."""
        options = AnalysisOptions.of(language, WHOLE)
        for text in self._texts([passage], self._keys([passage], options), options):
            _ = text.words  # a cache in memory keeps them

    def counts(self, analysis: Analysis) -> Sequence[int] | None:
        """Return the tokens of all segments, or None if it is faster to count only those that the selection considers:
        without a cache, for the first query, and for some more if the tokenizer counts one text at a time."""
        if self.cache is None or not analysis.keys:
            return None
        asked = next(analysis.queries)
        if self._encoding is None or not asked:
            return None
        counts = analysis.counts.get(self._encoding)
        if counts is None and self.count.is_fast:
            counts = analysis.counts[self._encoding] = counts_of(analysis.table.texts, self.count)
        if counts is None:
            if asked < _UNCOUNTED:
                return None
            first, texts = analysis.table.first, analysis.table.texts
            spans = zip(analysis.keys, first, first[1:], strict=False)
            options = f"{self._encoding}:{analysis.options.whole}"
            counts = [
                tokens for key, start, end in spans for tokens in self._counts_of(f"{key}:{options}", texts[start:end])
            ]
            analysis.counts[self._encoding] = counts
        return counts

    def _keys(self, document_passages: Sequence[Passage], options: AnalysisOptions) -> list[str]:
        """Return the cache key of each text. Return none without a cache, or if a text has a name that no key can
        hold."""
        if self.cache is None:
            return []
        keys = [self._key(passage, options.language) for passage in document_passages]
        found = [key for key in keys if key]
        return found if len(found) == len(document_passages) else []

    def _key_of_all(
        self, documents: Sequence[Document], document_passages: Sequence[Passage], options: AnalysisOptions
    ) -> str | None:
        """Return the cache key of the whole analysis."""
        hashes = [self._fingerprint(passage.text) for passage in document_passages]
        names = [(_name(p), p.doc_id, p.title, p.header_path, recorded_speaker(p.metadata)) for p in document_passages]
        return key_of("passages", options, hashes, names, [document.pieces for document in documents])

    def _key(self, passage: Passage, language: str) -> str | None:
        return key_of("text", self._fingerprint(passage.text), language, _name(passage))

    def _texts(
        self, document_passages: Sequence[Passage], keys: Sequence[str], options: AnalysisOptions
    ) -> list[ReadText]:
        if self.cache is None or not keys:
            return _read_texts(document_passages, options.language)
        codecs = [TextCodec(passage.text) for passage in document_passages]
        known = list(map(self._known, keys, codecs))
        missing = [number for number, text in enumerate(known) if text is None]
        read = _read_texts([document_passages[number] for number in missing], options.language)
        fresh = dict(zip(missing, read, strict=True))
        for number, text in fresh.items():
            self._put(keys[number], text, codecs[number])
        return [fresh[number] if text is None else text for number, text in enumerate(known)]

    def _counts_of(self, key: str, texts: Sequence[str]) -> Sequence[int]:
        codec = CountsCodec(len(texts))
        counts = self._known(key, codec)
        if counts is None:
            counts = counts_of(texts, self.count)
            self._put(key, counts, codec)
        return counts

    def _known(self, key: str, codec: Codec[_T]) -> _T | None:
        stop_if_cancelled()
        return self.cache.get(key, codec) if self.cache else None

    def _put(self, key: str, value: _T, codec: Codec[_T]) -> None:
        if self.cache is not None:
            self.cache.put(key, value, codec)


class _Fits(NamedTuple):
    """The result of `TokenCounter.fits` as a cached value: None itself means that nothing is cached."""

    tokens: int | None


def _read_texts(document_passages: Sequence[Passage], language: str) -> list[ReadText]:
    """Read each text. Equal texts with the same name are read once."""
    keys = [(passage.text, _name(passage)) for passage in document_passages]
    known: dict[tuple[str, str | None], ReadText] = {}
    for some in _groups(dict.fromkeys(keys)):
        stop_if_cancelled()
        read = read_each([text for text, _ in some], [name for _, name in some], language=language)
        known |= {key: ReadText(key[0], nodes, prose) for key, (nodes, prose) in zip(some, read, strict=True)}
    return [known[key] for key in keys]


def _groups(keys: Iterable[tuple[str, str | None]]) -> Iterator[list[tuple[str, str | None]]]:
    """Yield the texts and names in groups, each with little text or with one text."""
    group: list[tuple[str, str | None]] = []
    characters = 0
    for key in keys:
        characters += len(key[0])
        if group and characters > _AT_ONCE:
            yield group
            group, characters = [], len(key[0])
        group.append(key)
    if group:
        yield group


def _read_text(passage: Passage, language: str) -> ReadText:
    stop_if_cancelled()
    nodes, prose = read_text(passage.text, language=language, name=_name(passage))
    return ReadText(passage.text, nodes, prose)


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
    """Return the segments of a text. Those of source code and data depend on the budget, so only the outline is
    cached."""
    if not text.outline:
        return text.prose
    return segment_outlined(text.text, text.outline, whole=options.whole)


def _analysis(
    documents: Sequence[Document],
    document_passages: Sequence[Passage],
    texts: Sequence[ReadText],
    options: AnalysisOptions,
    keys: Sequence[str] = (),
) -> Analysis:
    """keys: given if there is a cache. More queries are then expected."""
    segments = [segments_of(text, options) for text in texts]
    table = SegmentTable.of(documents, segments)
    elisions = {
        number: Elision(text.text, text.outline, source_language(text.text, _name(document_passages[number])))
        for number, text in enumerate(texts)
        if text.outline and not is_data(text.outline)
    }
    if not keys:
        return Analysis(options, table, Corpus.of(document_passages, table), elisions)
    pairs = zip(texts, segments, strict=True)
    words = [segment_words for text, of_text in pairs for segment_words in _words(text, of_text)]
    corpus = Corpus.of(document_passages, table, words)
    return Analysis(options, table, corpus, elisions, keys)


def _words(text: ReadText, segments: Sequence[Segment]) -> Sequence[Sequence[str]]:
    if not text.outline:
        return text.words
    return segment_words(segments, [text.text[segment.start : segment.end] for segment in segments])


def _name(passage: Passage) -> str | None:
    return passage.file_path or passage.title
