"""What users call: a question and passages in, what of the passages answers it best out."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Unpack

from ctxcompress.config.options import CompressionConfig, Options
from ctxcompress.data.metadata import as_passages
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Citation, Compression, Format, KeptPassage, Stats
from ctxcompress.errors import CtxCompressError, InputError
from ctxcompress.pipeline.auto_budget import resolve_auto_budget
from ctxcompress.pipeline.pipeline import compressed
from ctxcompress.pipeline.presentation import Presentation
from ctxcompress.pipeline.task import Frame, Task
from ctxcompress.pipeline.threads import off_loop
from ctxcompress.tokens import TokenCounter
from ctxcompress.xray.collect import collect_xray
from ctxcompress.xray.page import brief as in_brief
from ctxcompress.xray.page import page
from ctxcompress.xray.trace import write_page

__all__ = ["Compressor", "PassageInput", "compress"]

PassageInput = Iterable[Passage | str | Mapping[str, object]]
"""Passages, texts, or mappings with a text."""

_log = logging.getLogger("ctxcompress")


class Compressor:
    """Compresses passages as `config` says. Holds no state between calls and can be shared by threads."""

    __slots__ = ("config",)

    def __init__(self, config: CompressionConfig | None = None) -> None:
        self.config = config or CompressionConfig()

    def compress(
        self, query: str | None, passages: PassageInput, *, frame: Frame | None = None, **options: Unpack[Options]
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
        operations = Compressor(resolve_auto_budget(query or "", config))
        result = compressed(Task(query or "", items, operations.config, operations, frame))
        if _log.isEnabledFor(logging.INFO):
            stats = result.stats
            saved = f"{stats.original_tokens} -> {stats.compressed_tokens} tokens"
            _log.info("%d -> %d passages, %s", stats.original_count, stats.kept_count, saved, extra=_extra(stats))
        return result

    async def acompress(
        self, query: str | None, passages: PassageInput, *, frame: Frame | None = None, **options: Unpack[Options]
    ) -> Compression:
        """The same as `compress`, on another thread; an encoder that can be awaited is, on this event loop.

        Where it is cancelled the thread stops too, at the end of the stage that it is in.
        """
        config = self.config.with_options(**options)
        result = await off_loop(config, lambda config: Compressor(config).compress(query, passages, frame=frame))
        return replace(
            result, compressor=Compressor(config).resolve_auto_budget(query)
        )  # this loop will not always be there

    def resolve_auto_budget(self, query: str | None) -> "Compressor":
        """The same with the budget that fits this question, where `max_tokens` is "auto"."""
        return Compressor(resolve_auto_budget(query or "", self.config))

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
        return compressed(Task(compression.query, compression.input_passages(), config, self)).text

    def xray(self, compression: Compression, *, brief: bool = False) -> str:
        """A page about `compression`, which this compressor made: see `Compression.xray`; in brief for notebooks."""
        return in_brief(compression) if brief else page(collect_xray(compression, self.config))

    def trace(self, compression: Compression, directory: str | PathLike[str]) -> Path | None:
        """Writes that page into a folder: see `Compression.trace`."""
        try:  # the encoder is not asked again, which could cost, and fail
            return write_page(page(collect_xray(compression, self.config, asks_encoder=False)), directory)
        except CtxCompressError as error:
            _log.warning("the page of a compression could not be made (%s)", error)
            return None


def compress(
    query: str | None, passages: PassageInput, *, config: CompressionConfig | None = None, **options: Unpack[Options]
) -> Compression:
    """What of `passages` answers `query` best within the budget: see `Compressor.compress`."""
    return Compressor(config).compress(query, passages, **options)


def _extra(stats: Stats) -> dict[str, object]:
    """For the record of a log line: `record.ctxcompress`."""
    return {"ctxcompress": stats.to_dict()}
