"""The pipeline: composition only, no algorithm of its own.

passages -> normalize -> reduce -> segment -> score -> select -> assemble
"""

import asyncio
import contextvars
import functools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Unpack

import numpy as np

from ctxcompress.account import Account
from ctxcompress.config import CompressionConfig, Options
from ctxcompress.documents import Spans
from ctxcompress.elision import Elision
from ctxcompress.encoder import AsyncEncoder, OnLoop
from ctxcompress.errors import InputError
from ctxcompress.judge import judge, language_of, segmented
from ctxcompress.metadata import as_passages
from ctxcompress.outline import Node
from ctxcompress.reduce.reduction import Reduction, reduced
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Elide, Layout
from ctxcompress.select.order import arrangement
from ctxcompress.select.previews import preview_line, previews
from ctxcompress.select.qatbe import Selection, select
from ctxcompress.text.source import source_language
from ctxcompress.tokens import OriginalText, TokenCounter
from ctxcompress.types import Compression, Passage, StageStats, Stats

__all__ = ["Compressor", "Frame", "compress"]

Given = Iterable[Passage | str | Mapping[str, object]]
"""Passages, texts, or mappings with a text."""

Frame = Callable[[Passage, str], str]
"""How a kept text of a passage looks where it is finally read. What it adds counts in the budget."""

_log = logging.getLogger("ctxcompress")


class Compressor:
    """Compresses passages as `config` says. Holds no state between calls and can be shared by threads."""

    __slots__ = ("config",)

    def __init__(self, config: CompressionConfig | None = None) -> None:
        self.config = config or CompressionConfig()

    def compress(
        self, query: str | None, passages: Given, *, frame: Frame | None = None, **options: Unpack[Options]
    ) -> Compression:
        """What of `passages` answers `query` best, in source order, within the budget.

        The final text has at most `max_tokens` tokens, separators and frames included. Passages that
        fit as they are come back as they are, but for what the options leave out. Without a query, or if
        nothing matches it, what comes first is kept. `options` are those of CompressionConfig, for this call.

        Raises ConfigError, InputError (the query is no string, a passage no string, mapping or Passage) or
        TokenizerUnavailable.
        """
        if query is not None and not isinstance(query, str):
            raise InputError(f"query is a {type(query).__name__}; give a string, or None to keep what comes first")
        config = self.config.with_options(**options)
        items = as_passages(passages, metadata_map=config.metadata_map, score_key=config.score_key)
        result = _compressed(query or "", items, config, frame)
        if _log.isEnabledFor(logging.INFO):
            stats = result.stats
            saved = f"{stats.original_tokens} -> {stats.compressed_tokens} tokens"
            _log.info("%d -> %d passages, %s", stats.original_count, stats.kept_count, saved, extra=_extra(stats))
        return result

    async def acompress(
        self, query: str | None, passages: Given, *, frame: Frame | None = None, **options: Unpack[Options]
    ) -> Compression:
        """The same as `compress`, on another thread; an encoder that can be awaited is, on this event loop."""
        config = self.config.with_options(**options)
        if not isinstance(config.encoder, AsyncEncoder):
            return await asyncio.to_thread(self.compress, query, passages, frame=frame, **options)
        loop = asyncio.get_running_loop()
        on_loop = OnLoop(config.encoder, loop)
        awaited: Options = {**options, "encoder": on_loop}
        work = functools.partial(self.compress, query, passages, frame=frame, **awaited)
        # A thread of its own: it waits for an encoder that may itself need one of the loop's threads.
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
        try:
            result = await loop.run_in_executor(executor, contextvars.copy_context().run, work)
            return replace(result, compressor=Compressor(config))  # this loop will not always be there
        finally:
            on_loop.cancel()
            executor.shutdown(wait=False)

    def count(self, text: str) -> int:
        """The tokens of a text, counted as `encoding` says. Raises TokenizerUnavailable."""
        return TokenCounter(self.config.encoding)(text)

    def expand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """What of one passage answers the query best, in at most so many tokens."""
        return self.compress(query, [passage], max_tokens=max_tokens, mode="extract", min_score=None).text


def compress(
    query: str | None, passages: Given, *, config: CompressionConfig | None = None, **options: Unpack[Options]
) -> Compression:
    """What of `passages` answers `query` best within the budget: see `Compressor.compress`."""
    return Compressor(config).compress(query, passages, **options)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is kept and how it is laid out, how relevant each passage is, and what was hardly needed."""

    selection: Selection
    layout: Layout
    relevance: Mapping[int, float]
    unlikely: Spans


def _compressed(query: str, items: Sequence[Passage], config: CompressionConfig, frame: Frame | None) -> Compression:
    count = TokenCounter(config.encoding)
    shown = (frame(item, item.text) if frame else item.text for item in items)
    original = OriginalText(config.separator.join(shown), config.encoding)
    tokens = count.fits(original.text, config.budget)
    reduction = reduced(items, config, fits=tokens is not None)
    layout = _layout(items, reduction, config, frame, count)
    clock = _Clock()
    whole = Selection.everything(layout)
    if whole.text != original.text:
        tokens = count.fits(whole.text, config.budget)
    if tokens is not None and config.order == "source" and config.mode == "extract":
        choice = _Choice(replace(whole, tokens=tokens), layout, dict.fromkeys(range(len(items)), 1.0), {})
    else:
        choice = _chosen(query, items, layout, config, clock, fits=tokens is not None)
    account = Account(items, reduction, choice.layout, choice.selection, choice.unlikely)
    if not account.spans and any(not item.text.isspace() for item in items if item.text) and reduction.documents:
        _log.warning(
            "nothing of %d passages fits into max_tokens=%d, not even one character of one: give more",
            len(items),
            config.budget,
        )
    return Compression(
        query=query,
        text=choice.selection.text,
        passages=tuple(account.kept(choice.relevance, count)),
        dropped=tuple(account.dropped()),
        tokens=choice.selection.tokens,
        max_tokens=config.budget,
        stages=(*reduction.stages, *clock.laps),
        input_count=len(items),
        original=original,
        compressor=Compressor(config),
    )


def _layout(
    items: Sequence[Passage],
    reduction: Reduction,
    config: CompressionConfig,
    frame: Frame | None,
    count: Callable[[str], int],
) -> Layout:
    """How what is kept is shown: in the frame that is given; previews without one as lines."""
    separator = config.separator
    if frame is None and config.mode == "preview":
        frame, separator = preview_line, "\n"
    show = (lambda index, text: frame(items[index], text)) if frame else (lambda _, text: text)
    return Layout(reduction.documents, [item.text for item in items], separator, show, count)


def _chosen(
    query: str, items: Sequence[Passage], layout: Layout, config: CompressionConfig, clock: "_Clock", *, fits: bool
) -> _Choice:
    """What is kept where not all stays as it came. fits: whether all of it may be kept."""
    language = language_of(query, items, config)
    documents, segments, outlines = segmented(layout.documents, items, language, config.budget)
    candidates = Candidates.of(layout.documents, segments)
    clock.lap("segment", len(items), len(candidates.segments))
    judged = judge(query, documents, segments, candidates, language, config)
    relevance = judged.relevance_of(len(items))
    layout = replace(layout, arrange=arrangement(config.order, relevance), elide=_elide(documents, outlines))
    clock.lap("score", len(candidates.segments), int(np.count_nonzero(judged.scores)))
    whole = Selection.everything(layout)
    unlikely: Spans = {}
    if config.mode == "preview":
        selection = previews(candidates, judged.worth, relevance, layout, config.budget)
    elif fits and (tokens := layout.count(whole.text)) <= config.budget:
        selection = replace(whole, tokens=tokens)
    else:
        selection = select(candidates, judged.worth, layout, config.budget)
        unlikely = candidates.spans(judged.unlikely)
    clock.lap("select", len(candidates.segments), len(selection.spans))
    return _Choice(selection, layout, relevance, unlikely)


def _elide(documents: Sequence[Passage], outlines: Sequence[Sequence[Node]]) -> Elide:
    """Where markers stand in documents with an outline."""
    elisions = {
        number: Elision(item.text, nodes, source_language(item.text, item.file_path or item.title))
        for number, (item, nodes) in enumerate(zip(documents, outlines, strict=True))
        if nodes
    }
    return lambda number, spans: elisions[number].markers(spans) if number in elisions else ()


def _extra(stats: Stats) -> dict[str, object]:
    """For the record of a log line: `record.ctxcompress`."""
    return {"ctxcompress": stats.to_dict()}


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
