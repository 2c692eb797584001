"""The pipeline: composition only, no algorithm of its own.

passages -> normalize -> reduce -> segment -> score -> select -> assemble
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Unpack

import numpy as np

from ctxcompress.account import Account
from ctxcompress.auto import fitted
from ctxcompress.clock import Clock
from ctxcompress.config import CompressionConfig, Options
from ctxcompress.documents import Document, Spans, documents_as_they_are, passages_of
from ctxcompress.errors import CtxCompressError, InputError
from ctxcompress.examine import examined
from ctxcompress.judge import judge, language_of
from ctxcompress.keys import Fingerprints
from ctxcompress.metadata import as_passages
from ctxcompress.passages import Passage
from ctxcompress.present import Frame, Presentation
from ctxcompress.promised import Promised
from ctxcompress.reading import Manner, Reader, Reading, titled
from ctxcompress.recall import Outcome, OutcomeForm, is_worth_it, key_of_outcome
from ctxcompress.reduce.reduction import Reduction, reduced
from ctxcompress.reduce.scores import standing
from ctxcompress.render.brief import brief as in_brief
from ctxcompress.render.xray import page
from ctxcompress.select.known import Known, all_unknown, known_segments
from ctxcompress.select.layout import Arrange, Layout
from ctxcompress.select.lines import Lines
from ctxcompress.select.order import arrangement
from ctxcompress.select.previews import previews
from ctxcompress.select.qatbe import Selection, select
from ctxcompress.shorten import Gaps, escapes_of, limit_of, lines_about, shortened
from ctxcompress.threads import off_loop
from ctxcompress.tokens import TokenCounter
from ctxcompress.traces import write_page
from ctxcompress.types import Citation, Compression, Format, KeptPassage, Reason, StageStats, Stats
from ctxcompress.waiting import stop_if_given_up

__all__ = ["Compressor", "Frame", "Given", "compress", "compressed"]

Given = Iterable[Passage | str | Mapping[str, object]]
"""Passages, texts, or mappings with a text."""

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
        result = compressed(query or "", items, fitted(query or "", config), frame)
        if _log.isEnabledFor(logging.INFO):
            stats = result.stats
            saved = f"{stats.original_tokens} -> {stats.compressed_tokens} tokens"
            _log.info("%d -> %d passages, %s", stats.original_count, stats.kept_count, saved, extra=_extra(stats))
        return result

    async def acompress(
        self, query: str | None, passages: Given, *, frame: Frame | None = None, **options: Unpack[Options]
    ) -> Compression:
        """The same as `compress`, on another thread; an encoder that can be awaited is, on this event loop.

        Where it is cancelled the thread stops too, at the end of the stage that it is in.
        """
        config = self.config.with_options(**options)
        result = await off_loop(config, lambda config: Compressor(config).compress(query, passages, frame=frame))
        return replace(result, compressor=Compressor(config).fitted(query))  # this loop will not always be there

    def fitted(self, query: str | None) -> "Compressor":
        """The same with the budget that fits this question, where `max_tokens` is "auto"."""
        return Compressor(fitted(query or "", self.config))

    def count(self, text: str) -> int:
        """The tokens of a text, counted as `encoding` says. Raises TokenizerUnavailable."""
        return TokenCounter(self.config.encoding)(text)

    def expand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """Return what of one passage answers the query best, in at most `max_tokens` tokens. Filters, limits and cuts
        of the options do not count here."""
        return Compressor(self.config.for_expansion(max_tokens)).compress(query, [passage]).text

    async def aexpand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """Do the same on another thread."""
        return (await Compressor(self.config.for_expansion(max_tokens)).acompress(query, [passage])).text

    def formatted(self, passages: Iterable[KeptPassage], *, query: str = "") -> str:
        """The final text of these passages as they are, in the format of `config`: nothing is left out.

        For what was kept by `compress` with the same options, and its query, it is the final text. Numbers count the
        passages given. query: "json" tells it. Raises TokenizerUnavailable for "json", which tells tokens.
        """
        return Presentation(self.config, query).formatted(passages)

    def cite(self, quote: str, passages: Iterable[KeptPassage]) -> tuple[Citation, ...]:
        """Where a quote from what was kept comes from: see `Compression.cite`."""
        return Citation.find(quote, tuple(passages))

    def entries(self, passages: Iterable[KeptPassage]) -> list[str]:
        """What of `formatted` is each passage's: its header and its text, without what stands around all of them."""
        return Presentation(self.config).entries(passages)

    def render(self, compression: Compression, format: Format) -> str:
        """`compression`, which this compressor made, in another format: see `Compression.render`."""
        if format == self.config.format:
            return compression.text
        config = self.config.with_options(format=format, separator="\n\n", max_tokens=compression.max_tokens)
        text = Presentation(config, compression.query).formatted(compression.passages)
        if compression.passages and TokenCounter(config.encoding).fits(text, config.budget) is not None:
            return text
        return compressed(compression.query, compression.came(), config).text

    def xray(self, compression: Compression, *, brief: bool = False) -> str:
        """A page about `compression`, which this compressor made: see `Compression.xray`; in brief for notebooks."""
        return in_brief(compression) if brief else page(examined(compression, self.config))

    def trace(self, compression: Compression, directory: str | PathLike[str]) -> Path | None:
        """Writes that page into a folder: see `Compression.trace`."""
        try:  # the encoder is not asked again, which could cost, and fail
            return write_page(page(examined(compression, self.config, asks_encoder=False)), directory)
        except CtxCompressError as error:
            _log.warning("the page of a compression could not be made (%s)", error)
            return None


def compress(
    query: str | None, passages: Given, *, config: CompressionConfig | None = None, **options: Unpack[Options]
) -> Compression:
    """What of `passages` answers `query` best within the budget: see `Compressor.compress`."""
    return Compressor(config).compress(query, passages, **options)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is kept and how it is laid out, how relevant each passage is, what was hardly needed, and what of the
    passages the reader has."""

    selection: Selection
    layout: Layout
    relevance: Mapping[int, float]
    unlikely: Spans
    known: Spans
    laps: Sequence[StageStats] = ()


def compressed(
    query: str,
    came: Sequence[Passage],
    config: CompressionConfig,
    frame: Frame | None = None,
    promised: Promised | None = None,
) -> Compression:
    """`Compressor.compress` of passages after what was promised, which the final text begins with.

    In the result the passages count from the number of parts that were promised: before come these. Where something
    can be promised, chunks that continue one another are in the order of their document.
    """
    stop_if_given_up()
    fingerprint = Fingerprints()
    reader = Reader(config.cache, fingerprint, config.encoding, TokenCounter(config.encoding))
    # Of what a frame adds nobody knows what it depends on.
    key = None if config.cache is None or frame or promised else key_of_outcome(query, came, config, fingerprint)
    if reader.cache is None or key is None or promised is not None:
        return _worked_out(query, came, config, frame, promised, reader)
    form = OutcomeForm(came)
    outcome = reader.cache.get(key, form)
    if outcome is not None:
        return outcome.compression(
            query, came, config.budget, Presentation(config, query).as_they_came(came), Compressor(config)
        )
    compression = _worked_out(query, came, config, None, None, reader)
    if is_worth_it(compression):
        reader.cache.put(key, Outcome.of(compression), form)
    return compression


def _worked_out(
    query: str,
    came: Sequence[Passage],
    config: CompressionConfig,
    frame: Frame | None,
    promised: Promised | None,
    reader: Reader,
) -> Compression:
    """`compressed`, whether it was before or not."""
    arrange: Arrange = sorted if promised is None else list
    promised = promised or Promised()
    items, held = (*promised.passages(), *came), len(promised.parts)
    presentation = Presentation(config, query, frame)
    original = presentation.as_they_came(came)
    tokens = reader.fits(untouched := original.text, config.budget)
    reduction = reduced(items, config, fits=tokens is not None, held=held)
    clock = Clock()
    documents, gaps, reduction = _cut(query, items, reduction, config, clock)
    layout = presentation.layout(items, documents, reader.count, held)
    layout = replace(layout, arrange=arrange, before=promised.text, gaps=gaps, escapes=escapes_of(items, config))
    lines, reduction = _lines(items, reduction, promised, config)
    budget = config.budget - lines.reserve(layout, config.budget)
    came_whole = reduction.is_everything(len(items)) and not (held or gaps or layout.escapes)
    whole = None if came_whole and tokens is None else _whole(layout, untouched, tokens, reader, budget)
    if whole is not None and not held and config.order == "source" and config.mode == "extract":
        choice = _Choice(whole, layout, dict.fromkeys(range(len(items)), 1.0), {}, {})
    else:
        choice = _chosen(query, items, layout, config, reader, promised, budget, fits=whole is not None)
    selection, layout = lines.beside(choice.selection, choice.layout, config.budget)
    choice = replace(choice, selection=selection, layout=layout)
    account = Account(items, reduction, choice.layout, choice.selection, choice.unlikely, choice.known)
    is_nothing = not account.spans and not held and reduction.documents
    if is_nothing and any(not item.text.isspace() for item in items if item.text):
        _log.warning(
            "nothing of %d passages fits into max_tokens=%d, not even one character of one: give more",
            len(items),
            config.budget,
        )
    text, tokens = choice.layout.final(choice.selection.text), choice.selection.tokens
    if tokens > config.budget:  # not even what a format puts around nothing fits
        text, tokens = "", 0
    return Compression(
        query=query,
        text=text,
        passages=tuple(account.kept(choice.relevance, reader.count)),
        dropped=tuple(decision for decision in account.dropped() if decision.index >= held),
        tokens=tokens,
        max_tokens=config.budget,
        stages=(*reduction.stages, *clock.laps, *choice.laps),
        input_count=len(came),
        original=original,
        compressor=Compressor(config),
    )


def _whole(layout: Layout, untouched: str, tokens: int | None, reader: Reader, budget: int) -> Selection | None:
    """All of the documents, if that fits. untouched: the passages as they came; tokens: of these, if they fit."""
    whole = Selection.everything(layout)
    if (final := layout.final(whole.text)) != untouched:
        tokens = reader.fits(final, budget)
    return replace(whole, tokens=tokens) if tokens is not None and tokens <= budget else None


def _cut(
    query: str, items: Sequence[Passage], reduction: Reduction, config: CompressionConfig, clock: Clock
) -> tuple[Sequence[Document], Gaps, Reduction]:
    """Cut passages that are too long: what is left of the documents, what was cut out of the passages, and the
    reduction with those that are duplicates then."""
    limit = limit_of(query, config)
    if limit is None:
        return reduction.documents, {}, reduction
    came = len(passages_of(reduction.documents))
    language = language_of(query, items, config)
    documents, gaps = shortened(query, reduction.documents, items, language, config, limit)
    documents, reduction = reduction.after_cuts(documents, gaps, items)
    clock.lap("truncate", came, len(passages_of(documents)), f"{len(gaps)} of over {limit.characters:,} characters")
    return documents, gaps, reduction


def _chosen(
    query: str,
    items: Sequence[Passage],
    layout: Layout,
    config: CompressionConfig,
    reader: Reader,
    promised: Promised,
    budget: int,
    *,
    fits: bool,
) -> _Choice:
    """What is kept within the budget where not all stays as it came. fits: whether all of it may be kept."""
    clock = Clock()
    language = language_of(query, items, config)
    room = max(budget - layout.tokens(""), 1)
    documents = titled(layout.documents, items)
    reading = reader.read(layout.documents, documents, Manner.of(language, room))
    candidates = reading.candidates
    known = Known()
    if promised.parts and config.exact_dedup is not False:
        known = _known(reading, items, layout, promised, reader)
    clock.lap("segment", len(passages_of(layout.documents)), len(candidates.segments))
    judged = judge(query, documents, reading, language, config)
    relevance = judged.relevance_of(len(items))
    arrange = layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    layout = replace(layout, arrange=arrange, elide=reading.markers, relevance=relevance)
    clock.lap("score", len(candidates.segments), int(np.count_nonzero(judged.scores)))
    whole = all_unknown(candidates, known, layout) if fits or known.numbers else None
    unlikely: Spans = {}
    if config.mode == "preview":
        selection = previews(candidates, judged.worth, relevance, layout, budget)
    elif whole is not None and whole.tokens <= budget:
        selection = whole
    else:
        counts = reader.counts(reading)
        selection = select(reading.structure, judged.worth, layout, budget, known.numbers, counts=counts)
        unlikely = candidates.spans(judged.unlikely)
    clock.lap("select", len(candidates.segments), len(selection.spans))
    return _Choice(selection, layout, relevance, unlikely, known.spans, clock.laps)


def _known(reading: Reading, items: Sequence[Passage], layout: Layout, promised: Promised, reader: Reader) -> Known:
    """What of the candidates was promised."""
    documents = documents_as_they_are([item.text for item in items[: len(promised.parts)]])
    of_promised = reader.candidates(documents, titled(documents, items), reading.manner)
    return known_segments(reading.candidates, layout, of_promised, promised.spans(items))


def _lines(
    items: Sequence[Passage], reduction: Reduction, promised: Promised, config: CompressionConfig
) -> tuple[Lines, Reduction]:
    """The lines about the passages of a low score; those that the reader has already are copies."""
    low = [number for number, reason in reduction.reasons.items() if reason is Reason.METADATA]
    if not low:
        return Lines({}, ()), reduction
    texts = lines_about(items, low)
    had = {part.text: number for number, part in enumerate(promised.parts) if part.metadata_only}
    leaders = {number: had[line] for number, line in texts.items() if line in had}
    reasons = {**reduction.reasons, **dict.fromkeys(leaders, Reason.DUPLICATE)}
    reduction = replace(reduction, reasons=reasons, leaders={**reduction.leaders, **leaders})
    stands = standing(items, config.score_kind)
    order = sorted(set(low).difference(leaders), key=lambda number: (-stands[number], number))
    return Lines(texts, order), reduction


def _extra(stats: Stats) -> dict[str, object]:
    """For the record of a log line: `record.ctxcompress`."""
    return {"ctxcompress": stats.to_dict()}
