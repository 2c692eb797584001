"""The entry points: give a query and passages, and get the parts of the passages that best answer it."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TypeVar, Unpack

from ctxcompress.config.options import CompressionConfig, Options
from ctxcompress.data.metadata import as_passages
from ctxcompress.data.must_keep import Finds, MustKeep, missing_texts
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Citation, Compression, Explanation, Format, KeptPassage, ResultOperations
from ctxcompress.data.stats import observed, observer_of
from ctxcompress.encoders.encoder import AsyncEncoder, OnLoop
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError, warn
from ctxcompress.guarded import Guard, guarding, on_own_thread, on_thread
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.pipeline import analyse_ahead, confidence_again, run_pipeline
from ctxcompress.pipeline.task import Frame, Presentation, Task, resolve_auto_budget
from ctxcompress.plugins import plugin
from ctxcompress.reduce.reduction import MUST_KEEP, nothing_matches
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Compressor", "PassageInput", "compress", "off_loop"]

T = TypeVar("T")

PassageInput = Iterable[Passage | str | Mapping[str, object]]
"""Passages, strings, or mappings with a text."""

_PAGES = ("ctxcompress.pages", "xray")
"""The plug-in that makes pages about compressions."""

_log = logging.getLogger("ctxcompress")


class Compressor:
    """Compresses passages with the options of `config`. It has no state, so threads can share it."""

    __slots__ = ("config",)

    def __init__(self, config: CompressionConfig | None = None) -> None:
        if config is not None and not isinstance(config, CompressionConfig):
            raise ConfigError(
                f"config is a {type(config).__name__}; give a CompressionConfig, or CompressionConfig.from_file(path)"
            )
        self.config = CompressionConfig() if config is None else config

    def compress(
        self, query: str | None, passages: PassageInput, *, frame: Frame | None = None, **options: Unpack[Options]
    ) -> Compression:
        """Return the parts of `passages` that best answer `query`, in source order, within the budget.

        The final text has at most `max_tokens` tokens, including separators and frames. If all passages fit, they are
        returned unchanged, except for what the options drop. Without a query, or if nothing matches it, the beginning
        of the passages is kept.

        frame: a function that returns a passage's kept text as the prompt shows it, for example with a header.
        options: options of CompressionConfig, for this call only.

        Raises ConfigError for a wrong option, such as a text of `must_keep` that looks like a regular expression and
        occurs nowhere; any other text that occurs nowhere is a CtxCompressWarning. Raises InputError if the query is
        not a string, or a passage is not a string, mapping or Passage. Raises BudgetTooSmall if the budget cannot hold
        what `must_keep` names, and PatternTimeout if a regular expression of it takes too long. Raises
        TokenizerUnavailable if the encoding cannot be loaded.
        """
        result = self.compress_part(query, passages, frame=frame, **options)
        _warn_of_missing(result, options.get("must_keep", self.config.must_keep))
        return result

    def compress_part(
        self,
        query: str | None,
        passages: PassageInput,
        *,
        frame: Frame | None = None,
        ranked: Sequence[float] | None = None,
        **options: Unpack[Options],
    ) -> Compression:
        """Do the same for one of many inputs: there is no warning if `must_keep` names something in others only.

        ranked: see `Task.ranked`.
        """
        if query is not None and not isinstance(query, str):
            raise InputError(f"query is a {type(query).__name__}; give a string, or None for no query")
        config = self.config.with_options(**options)
        compressor = Compressor(resolve_auto_budget(query or "", config))
        read = compressor._read(passages)
        result = run_pipeline(Task(query or "", read, compressor.config, Compressor, frame, ranked=ranked))
        if _log.isEnabledFor(logging.INFO):
            stats = result.stats
            saved = f"{stats.original_tokens} -> {stats.compressed_tokens} tokens"
            extra = {"ctxcompress": stats.to_dict()}  # log handlers find it as record.ctxcompress
            _log.info("%d -> %d passages, %s", stats.original_count, stats.kept_count, saved, extra=extra)
        return result

    async def acompress(
        self, query: str | None, passages: PassageInput, *, frame: Frame | None = None, **options: Unpack[Options]
    ) -> Compression:
        """Run `compress` on another thread, but an async encoder on this event loop.

        If the call is cancelled, the thread stops after its current stage.
        """
        config = self.config.with_options(**options)
        result = await off_loop(config, lambda config: Compressor(config).compress(query, passages, frame=frame))
        # The result may be used after this event loop has ended, so it gets what is not bound to it.
        return replace(result, compressor=_unbound(result.compressor, config))

    def _read(self, passages: PassageInput) -> tuple[Passage, ...]:
        return as_passages(passages, metadata_map=self.config.metadata_map)

    def analyse(self, passages: PassageInput) -> None:
        """Analyse passages before the first query, and store what is found in the `cache` of the options.

        A compression of them then spends less time on what does not depend on the query. It finds the analysis of
        passages that have the same text, title, file path and document, if the texts are in the same language. Give the
        option `language` if they are in several.

        Raises ConfigError without a cache, and InputError for a wrong passage.
        """
        analyse_ahead(self._read(passages), self.config)

    def resolve_auto_budget(self, query: str | None) -> "Compressor":
        """Return a compressor with the budget for this query in place of ``max_tokens="auto"``."""
        return Compressor(resolve_auto_budget(query or "", self.config))

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Return a block in which all compressions are attempts at one: they share `timeout`, `llm` is asked
        once, and `telemetry` is told of the last only."""
        config = self.config
        with (
            guarding(Guard.within(config.timeout, of_attempts=True)),
            observed(observer_of(config.telemetry), forgives=config.on_error != "raise"),
        ):
            yield

    def check_droppable(self, passages: Iterable[Passage]) -> None:
        """Raise BudgetTooSmall if `must_keep` names anything in passages for which a caller has no room at all."""
        found = Finds.of(self.config.must_keep, dict(enumerate(passages))).spans
        if found:
            raise BudgetTooSmall(
                f"must_keep names something in {len(found)} passages, for which other text leaves no room in "
                f"max_tokens={self.config.budget}; give more tokens, or less other text"
            )

    def count(self, text: str) -> int:
        """Count the tokens of a text with the `encoding` of the options. Raises TokenizerUnavailable."""
        return TokenCounter(self.config.encoding)(text)

    def expand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """Return the parts of one passage that best answer the query, in at most `max_tokens` tokens.

        The filters, limits and truncation of the options do not apply.
        """
        return Compressor(self.config.for_expansion(max_tokens)).compress(query, [passage]).text

    async def aexpand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """Run `expand` on another thread."""
        return (await Compressor(self.config.for_expansion(max_tokens)).acompress(query, [passage])).text

    def formatted(self, passages: Iterable[KeptPassage], *, query: str = "") -> str:
        """Return all of these passages in the format of `config`. Nothing is dropped.

        For the passages that `compress` kept with the same query and options, this is the final text. The numbers in
        headers count the passages given.

        query: shown by the format "json".

        Raises TokenizerUnavailable for "json", which shows tokens.
        """
        return Presentation(self.config, query).formatted(passages)

    def entries(self, passages: Iterable[KeptPassage]) -> list[str]:
        """Return the part of `formatted` that belongs to each passage: its header and its text."""
        return Presentation(self.config).entries(passages)

    def cite(self, quote: str, passages: Iterable[KeptPassage]) -> tuple[Citation, ...]:
        """Find the kept passages that a quote comes from: see `Compression.cite`."""
        return Citation.find(quote, tuple(passages))

    def confidence(self, query: str | None, passages: PassageInput) -> float:
        """Return the probability that the passages answer the query, without compressing them: see
        `Compression.confidence`."""
        return confidence_again(query or "", self._read(passages), self.config)

    def render(self, compression: Compression, format: Format) -> str:
        """Return a compression made by this compressor in another format: see `Compression.render`."""
        if format == self.config.format:
            return compression.text
        config = self.config.with_options(format=format, separator="\n\n", max_tokens=compression.max_tokens)
        text = Presentation(config, compression.query).formatted(compression.passages)
        are_same = "preview" not in (format, self.config.format)  # which keeps one sentence of each passage
        if are_same and compression.passages and TokenCounter(config.encoding).fits(text, config.budget) is not None:
            return text
        return run_pipeline(Task(compression.query, compression.input_passages(), config, Compressor)).text

    def xray(self, compression: Compression, *, brief: bool = False) -> str:
        """Return an HTML page about a compression made by this compressor: see `Compression.xray`.

        brief: return the short form that notebooks show.
        """
        page: str = plugin(*_PAGES).html_page(compression, self.config, brief=brief)
        return page

    def explain(self, compression: Compression, quote: str) -> tuple[Explanation, ...]:
        """Return why the pieces of a quote were kept or dropped: see `Compression.explain`."""
        found: tuple[Explanation, ...] = plugin(*_PAGES).explanations(compression, self.config, quote)
        return found

    def trace(self, compression: Compression, directory: str | PathLike[str]) -> Path | None:
        """Write that page into a folder: see `Compression.trace`."""
        path: Path | None = plugin(*_PAGES).written_page(compression, self.config, directory)
        return path


async def off_loop(config: CompressionConfig, work: Callable[[CompressionConfig], T]) -> T:
    """Run `work` with the options on another thread, but an async encoder and an async language model on this event
    loop: see `on_thread`."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    encoder = OnLoop(config.encoder, loop) if isinstance(config.encoder, AsyncEncoder) else config.encoder
    selector = LLMSelector.of(config.llm)
    llm = selector and selector.on_loop(loop)
    if encoder is config.encoder and llm is selector:
        return await on_thread(partial(work, config))
    return await on_own_thread(partial(work, config.with_options(encoder=encoder, llm=llm)))


def _unbound(used: ResultOperations, config: CompressionConfig) -> ResultOperations:
    """Return the operations with the encoder and the language model of these options, if they have any."""
    if not isinstance(used, Compressor):
        return used
    encoder = used.config.own_encoder and config.encoder
    return Compressor(used.config.with_options(encoder=encoder or used.config.encoder, llm=config.llm))


def _warn_of_missing(result: Compression, must_keep: Sequence[MustKeep]) -> None:
    """Warn of the texts that occur nowhere, and of all rules if none finds anything."""
    if not must_keep or not result.input_count:
        return
    missing = missing_texts(must_keep, result.input_passages())
    skipped = [stage.note for stage in result.stages if stage.name == MUST_KEEP and stage.skipped]
    if note := next(iter(skipped), nothing_matches(missing)):
        warn(f"must_keep: {note}; check how it is written")


def compress(
    query: str | None, passages: PassageInput, *, config: CompressionConfig | None = None, **options: Unpack[Options]
) -> Compression:
    """Return the parts of `passages` that best answer `query`, in source order, within the budget.

    See `Compressor.compress`.
    """
    return Compressor(config).compress(query, passages, **options)
