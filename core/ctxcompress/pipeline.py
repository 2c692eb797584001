"""The pipeline: composition only, no algorithm of its own.

passages -> normalize -> segment -> score -> select -> assemble
"""

import asyncio
import contextvars
import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter

import numpy as np

from ctxcompress.config import CompressionConfig, Tier
from ctxcompress.encoder import AsyncEncoder, OnLoop
from ctxcompress.errors import InputError
from ctxcompress.metadata import as_passages
from ctxcompress.query.synonyms import TECHNICAL_SYNONYMS
from ctxcompress.query.terms import query_terms
from ctxcompress.score.bm25 import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.evidence import evidence
from ctxcompress.score.relevance import relevance
from ctxcompress.score.semantic import Semantics
from ctxcompress.segment.segments import segment
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Layout, Spans
from ctxcompress.select.qatbe import Selection, select
from ctxcompress.spans import intersection, inverse
from ctxcompress.text.language import detect_language
from ctxcompress.text.stopwords import STOP_WORDS
from ctxcompress.text.words import Terms
from ctxcompress.tokens import OriginalText, TokenCounter
from ctxcompress.types import Compression, Decision, KeptPassage, Kind, Passage, Reason, Segment, Span, StageStats

__all__ = ["Compressor", "Frame", "compress"]

Frame = Callable[[Passage, str], str]
"""How a kept text of a passage looks where it is finally read. What it adds counts in the budget."""

_log = logging.getLogger("ctxcompress")


class Compressor:
    """Compresses passages as `config` says. Holds no state between calls and can be shared by threads."""

    __slots__ = ("config",)

    def __init__(self, config: CompressionConfig | None = None) -> None:
        self.config = config or CompressionConfig()

    def compress(
        self,
        query: str | None,
        passages: Iterable[Passage | str | Mapping[str, object]],
        *,
        max_tokens: int | None = None,
        tier: Tier | None = None,
        frame: Frame | None = None,
    ) -> Compression:
        """What of `passages` answers `query` best, in source order, within the budget.

        The final text has at most `max_tokens` tokens, separators and frames included. Passages that
        fit as they are come back as they are. Without a query, or if nothing matches it, what comes
        first is kept. `max_tokens` and `tier` override the config's.

        Raises ConfigError, InputError (the query is no string, a passage no string, mapping or Passage) or
        TokenizerUnavailable.
        """
        if query is not None and not isinstance(query, str):
            raise InputError(f"query is a {type(query).__name__}; give a string, or None to keep what comes first")
        config = self.config.with_budget(max_tokens=max_tokens, tier=tier)
        items = as_passages(passages, metadata_map=config.metadata_map)
        count = TokenCounter(config.encoding)
        layout = Layout(
            texts=[item.text for item in items],
            separator=config.separator,
            frame=(lambda index, text: frame(items[index], text)) if frame else (lambda _, text: text),
            count=count,
        )
        clock = _Clock()
        everything: Spans = {index: (Span(0, len(item.text)),) for index, item in enumerate(items)}
        whole = layout.compose(everything)
        tokens = count.fits(whole, config.budget)
        clock.lap("fits", len(items), len(items))
        unlikely: Spans = {}
        if tokens is not None:
            selection, relevances = Selection(everything, {}, whole, tokens), dict.fromkeys(everything, 1.0)
        else:
            selection, relevances, unlikely = _selected(query or "", items, layout, config, clock)
        if not selection.spans and any(not text.isspace() for text in layout.texts if text):
            _log.warning(
                "nothing of %d passages fits into max_tokens=%d, not even one character of one: give more",
                len(items),
                config.budget,
            )
        return Compression(
            query=query or "",
            text=selection.text,
            passages=tuple(_kept(items, selection, relevances, count)),
            dropped=tuple(_dropped(items, selection, unlikely)),
            tokens=selection.tokens,
            max_tokens=config.budget,
            stages=tuple(clock.laps),
            input_count=len(items),
            original=OriginalText(whole, config.encoding),
        )

    async def acompress(
        self,
        query: str | None,
        passages: Iterable[Passage | str | Mapping[str, object]],
        *,
        max_tokens: int | None = None,
        tier: Tier | None = None,
        frame: Frame | None = None,
    ) -> Compression:
        """The same as `compress`, on another thread; an encoder that can be awaited is, on this event loop."""
        encoder = self.config.encoder
        if not isinstance(encoder, AsyncEncoder):
            return await asyncio.to_thread(
                self.compress, query, passages, max_tokens=max_tokens, tier=tier, frame=frame
            )
        loop = asyncio.get_running_loop()
        on_loop = OnLoop(encoder, loop)
        compressor = Compressor(replace(self.config, encoder=on_loop))
        work = functools.partial(compressor.compress, query, passages, max_tokens=max_tokens, tier=tier, frame=frame)
        # A thread of its own: it waits for an encoder that may itself need one of the loop's threads.
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
        try:
            return await loop.run_in_executor(executor, contextvars.copy_context().run, work)
        finally:
            on_loop.cancel()
            executor.shutdown(wait=False)


def compress(
    query: str | None,
    passages: Iterable[Passage | str | Mapping[str, object]],
    *,
    max_tokens: int | None = None,
    tier: Tier | None = None,
    config: CompressionConfig | None = None,
) -> Compression:
    """What of `passages` answers `query` best within the budget: see `Compressor.compress`."""
    return Compressor(config).compress(query, passages, max_tokens=max_tokens, tier=tier)


def _selected(
    query: str, items: Sequence[Passage], layout: Layout, config: CompressionConfig, clock: "_Clock"
) -> tuple[Selection, dict[int, float], Spans]:
    """What is kept, the best score of a segment of each passage of which something is, and what was hardly needed."""
    language = config.language or detect_language(" ".join([query, *(item.text[:150] for item in items[:3])]))
    segmented = [segment(item.text, language=language, name=item.file_path or item.title) for item in items]
    candidates = Candidates.of(layout.texts, segmented)
    clock.lap("segment", len(items), len(candidates.segments))
    scores = _scores(query, items, segmented, candidates, language, config)
    worth = _worth(scores, candidates, config)
    unlikely = _unlikely(scores, candidates, config.min_probability) if config.adaptive else []
    worth[unlikely] -= 1 + worth.max(initial=0.0)
    clock.lap("score", len(candidates.segments), int(np.count_nonzero(scores)))
    selection = select(candidates, worth, layout, config.budget)
    clock.lap("select", len(candidates.segments), len(selection.spans))
    best = np.zeros(len(items))
    np.maximum.at(best, candidates.passage, scores)
    relevances = {index: float(best[index]) for index in selection.spans}
    return selection, relevances, candidates.spans(unlikely)


def _scores(
    query: str,
    items: Sequence[Passage],
    segmented: Sequence[Sequence[Segment]],
    candidates: Candidates,
    language: str,
    config: CompressionConfig,
) -> Floats:
    """What the scorer says of each segment: a probability, or plain BM25's sum."""
    terms = Terms(language)
    tables = [config.synonyms] if config.synonyms else []
    if config.technical_synonyms:
        tables.append(TECHNICAL_SYNONYMS)
    wanted = query_terms(query, language=language, terms=terms, synonyms=tables)
    corpus = Corpus.of(items, segmented, candidates.texts)
    if config.scorer == "bm25":
        return relevance(corpus.words, corpus.sections, corpus.labels, wanted, terms)
    semantics = Semantics(config.encoder, [item.embedding for item in items]) if config.encoder else None
    return evidence(query, corpus, wanted, terms, STOP_WORDS.get(language, frozenset()), semantics)


def _worth(scores: Floats, candidates: Candidates, config: CompressionConfig) -> Floats:
    """What the segments are worth to the budget.

    A probability says little of which of two sure segments is surer, its odds do. Their fourth root brings them to
    the scale of BM25, on which the length of a segment and a factor on its kind are weighed.
    """
    worth = scores.copy() if config.scorer == "bm25" else (scores / (1 - np.minimum(scores, 1 - 1e-12))) ** 0.25
    if config.type_weights:
        worth *= np.array([config.type_weights.get(kind, 1.0) for kind, *_ in candidates.segments])
    return worth


def _unlikely(scores: Floats, candidates: Candidates, probability: float) -> list[int]:
    """The segments less likely needed than that, and than the likeliest one. A table's rows are as likely as its
    header, which is no segment to be kept alone."""
    likely = (scores >= min(probability, scores.max(initial=0.0))).tolist()
    return [
        number
        for number, segment in enumerate(candidates.segments)
        if not likely[number]
        and not (segment[0] is Kind.TABLE and any(likely[header] for header in candidates.needs(number)))
    ]


def _kept(
    items: Sequence[Passage], selection: Selection, relevances: Mapping[int, float], count: Callable[[str], int]
) -> Iterator[KeptPassage]:
    for index, spans in selection.spans.items():
        text = "".join(items[index].text[start:end] for start, end in spans)
        tokens = selection.tokens if text == selection.text else count(text)
        yield KeptPassage(index, items[index], text, spans, tokens, relevances[index])


def _dropped(items: Sequence[Passage], selection: Selection, unlikely: Spans) -> Iterator[Decision]:
    for index, item in enumerate(items):
        left_out = inverse(selection.spans.get(index, ()), len(item.text))
        for reason, of in ((Reason.DUPLICATE, selection.duplicates), (Reason.UNLIKELY, unlikely)):
            found = intersection(left_out, of.get(index, ()))
            if found:
                yield Decision(index, item, found, reason)
                left_out = intersection(left_out, inverse(found, len(item.text)))
        if left_out or index not in selection.spans:
            blank = not item.text or item.text.isspace()
            yield Decision(index, item, left_out, Reason.EMPTY if blank else Reason.BUDGET)


class _Clock:
    """Takes the time of each stage and what it made of how much."""

    __slots__ = ("_since", "laps")

    def __init__(self) -> None:
        self.laps: list[StageStats] = []
        self._since = perf_counter()

    def lap(self, name: str, items_in: int, items_out: int) -> None:
        now = perf_counter()
        self.laps.append(StageStats(name, items_in, items_out, 1e3 * (now - self._since)))
        self._since = now
