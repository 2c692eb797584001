"""The pipeline: composition only, no algorithm of its own.

passages -> normalize -> reduce -> segment -> score -> select -> assemble
"""

import asyncio
import contextvars
import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Unpack

import numpy as np

from ctxcompress.config import CompressionConfig, Options
from ctxcompress.documents import Spans
from ctxcompress.encoder import AsyncEncoder, OnLoop
from ctxcompress.errors import InputError
from ctxcompress.judge import judge, language_of, segmented
from ctxcompress.metadata import as_passages
from ctxcompress.reduce.reduction import Reduction, reduced
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Layout
from ctxcompress.select.order import arrangement
from ctxcompress.select.previews import preview_line, previews
from ctxcompress.select.qatbe import Selection, select
from ctxcompress.spans import intersection, inverse
from ctxcompress.tokens import OriginalText, TokenCounter
from ctxcompress.types import Compression, Decision, KeptPassage, Passage, Reason, Span, StageStats, Stats

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
        return self.compress(query, [passage], max_tokens=max_tokens, mode="extract").text


def compress(
    query: str | None, passages: Given, *, config: CompressionConfig | None = None, **options: Unpack[Options]
) -> Compression:
    """What of `passages` answers `query` best within the budget: see `Compressor.compress`."""
    return Compressor(config).compress(query, passages, **options)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is kept, how relevant each passage is, and what was hardly needed, in spans of the documents."""

    selection: Selection
    relevance: Mapping[int, float]
    unlikely: Spans


def _compressed(query: str, items: Sequence[Passage], config: CompressionConfig, frame: Frame | None) -> Compression:
    count = TokenCounter(config.encoding)
    texts = [item.text for item in items]
    show = _show(items, config, frame)
    separator = "\n" if config.mode == "preview" and frame is None else config.separator
    whole = separator.join(map(show, range(len(texts)), texts))
    tokens = count.fits(whole, config.budget)
    reduction = reduced(items, config, fits=tokens is not None)
    layout = Layout(reduction.documents, texts, separator, show, count)
    reduced_whole = layout.compose(layout.everything)
    if reduced_whole != whole:
        tokens = count.fits(reduced_whole, config.budget)
    clock = _Clock()
    if tokens is not None and config.order == "source" and config.mode == "extract":
        everything = Selection(layout.everything, {}, reduced_whole, tokens)
        outcome = _Outcome(everything, dict.fromkeys(range(len(items)), 1.0), {})
    else:
        outcome, layout = _selected(query, items, layout, config, clock, fits=tokens is not None)
    selection = outcome.selection
    spans = layout.of_passages(selection.spans)
    if not spans and any(not text.isspace() for text in texts if text) and reduction.documents:
        _log.warning(
            "nothing of %d passages fits into max_tokens=%d, not even one character of one: give more",
            len(items),
            config.budget,
        )
    left_out = {
        Reason.DUPLICATE: layout.of_passages(selection.duplicates),
        Reason.UNLIKELY: layout.of_passages(outcome.unlikely),
    }
    return Compression(
        query=query,
        text=selection.text,
        passages=tuple(_kept(items, spans, outcome, reduction, count)),
        dropped=tuple(_dropped(items, spans, left_out, reduction)),
        tokens=selection.tokens,
        max_tokens=config.budget,
        stages=(*reduction.stages, *clock.laps),
        input_count=len(items),
        original=OriginalText(whole, config.encoding),
        compressor=Compressor(config),
    )


def _show(items: Sequence[Passage], config: CompressionConfig, frame: Frame | None) -> Callable[[int, str], str]:
    """How the kept text of the passage with a number is shown."""
    if frame is None and config.mode == "preview":
        frame = preview_line
    return (lambda index, text: frame(items[index], text)) if frame else (lambda _, text: text)


def _selected(
    query: str, items: Sequence[Passage], layout: Layout, config: CompressionConfig, clock: "_Clock", *, fits: bool
) -> tuple[_Outcome, Layout]:
    """What is kept where not all is as it came, and how it is laid out. fits: whether all of it could be."""
    language = language_of(query, items, config)
    documents, segments = segmented(layout.documents, items, language)
    candidates = Candidates.of(layout.documents, segments)
    clock.lap("segment", len(items), len(candidates.segments))
    judged = judge(query, documents, segments, candidates, language, config)
    relevance = judged.relevance_of(len(items))
    layout = replace(layout, arrange=arrangement(config.order, relevance))
    clock.lap("score", len(candidates.segments), int(np.count_nonzero(judged.scores)))
    if config.mode == "preview":
        selection = previews(candidates, judged.worth, relevance, layout, config.budget)
    elif fits and (found := _everything(layout)).tokens <= config.budget:
        return _Outcome(found, relevance, {}), layout
    else:
        selection = select(candidates, judged.worth, layout, config.budget)
    clock.lap("select", len(candidates.segments), len(selection.spans))
    return _Outcome(selection, relevance, candidates.spans(judged.unlikely)), layout


def _everything(layout: Layout) -> Selection:
    text = layout.compose(layout.everything)
    return Selection(layout.everything, {}, text, layout.count(text))


def _kept(
    items: Sequence[Passage], spans: Spans, outcome: _Outcome, reduction: Reduction, count: Callable[[str], int]
) -> Iterator[KeptPassage]:
    selection = outcome.selection
    stands_for: dict[int, list[int]] = {}
    for member, leader in sorted(reduction.leaders.items()):
        stands_for.setdefault(leader, []).append(member)
    for index, of_passage in spans.items():
        text = "".join(items[index].text[start:end] for start, end in of_passage)
        tokens = selection.tokens if text == selection.text else count(text)
        members = tuple(stands_for.get(index, ()))
        yield KeptPassage(index, items[index], text, of_passage, tokens, outcome.relevance[index], members)


def _dropped(
    items: Sequence[Passage], spans: Spans, left_out: Mapping[Reason, Spans], reduction: Reduction
) -> Iterator[Decision]:
    going_on: dict[int, list[Span]] = {}
    for document in reduction.documents:
        for passage, span in document.pieces:
            going_on.setdefault(passage, []).append(span)
    for index, item in enumerate(items):
        length = len(item.text)
        if index in reduction.reasons:
            whole = inverse((), length)
            yield Decision(index, item, whole, reduction.reasons[index], reduction.leaders.get(index))
            continue
        left = inverse(spans.get(index, ()), length)
        repeated = Reason.DUPLICATE, inverse(going_on.get(index, ()), length)
        for reason, of in (repeated, *((reason, found.get(index, ())) for reason, found in left_out.items())):
            found_left = intersection(left, of)
            if found_left:
                yield Decision(index, item, found_left, reason)
                left = intersection(left, inverse(found_left, length))
        if left or (index not in spans and not length):
            blank = not item.text or item.text.isspace()
            yield Decision(index, item, left, Reason.EMPTY if blank else Reason.BUDGET)


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
