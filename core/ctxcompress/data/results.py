"""The result of a compression: what was kept, what was dropped and why. All types are immutable."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Literal, Protocol

from ctxcompress.data.documents import Origins, find_quote
from ctxcompress.data.passages import Marker, Passage, Span
from ctxcompress.data.stats import CacheUse, Failure, LLMStats, Observation, StageStats, Stats
from ctxcompress.errors import InputError

__all__ = [
    "Citation",
    "Compression",
    "CountsTokens",
    "Decision",
    "Explanation",
    "Failure",
    "Format",
    "KeptPassage",
    "Marker",
    "Passage",
    "Reason",
    "ResultOperations",
    "Span",
    "StageStats",
    "Stats",
    "drop_counts",
]

Format = Literal["plain", "compact", "verbose", "json", "xml", "preview"]
"""The format of the final text."""


class Reason(StrEnum):
    """Why a text was dropped."""

    SCORE = "score"
    """The retriever's score is below `min_score`."""
    FILTER = "filter"
    """A filter of another package dropped it: see the entry points "ctxcompress.filters"."""
    LIMIT = "limit"
    """The document has enough better passages (`max_chunks_per_doc`), or the input has (`top_n`)."""
    BUDGET = "budget"
    """The budget went to segments that are worth more."""
    DUPLICATE = "duplicate"
    """Another passage has the same text. For a whole passage, nearly the same text counts, too."""
    UNLIKELY = "unlikely"
    """The query hardly needs it (`adaptive`, or because it is too short to be understood alone), it is boilerplate that
    it does not ask for, or `llm` did not name it."""
    TRUNCATED = "truncated"
    """The passage is longer than `max_length`, or than `factual_length` for a factual query."""
    METADATA = "metadata"
    """The retriever's score is below the limit of `metadata_only`, so a metadata line replaces the passage."""
    EMPTY = "empty"
    """The passage is empty or only white space."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The parts of one passage that were dropped for one reason."""

    index: int
    """The position of the passage in the input, from 0."""
    passage: Passage
    spans: tuple[Span, ...]
    """The dropped parts: characters of `passage.text`, in order."""
    reason: Reason
    duplicate_of: int | None = None
    """For a duplicate, the position of the passage that stands for it."""

    @property
    def text(self) -> str:
        """The dropped text."""
        return "".join(self.passage.text[start:end] for start, end in self.spans)


def drop_counts(dropped: Iterable[Decision]) -> Mapping[str, int]:
    """Return the number of passages that lost text for each drop reason."""
    return Counter(str(reason) for _, reason in {(decision.index, decision.reason) for decision in dropped})


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """The kept text of one passage.

    `text` is the join of the spans' texts, with the gap markers of source code and truncated passages between them. If
    `metadata_only` is set, there are no spans, and `text` is a metadata line, which says what the passage is.
    """

    index: int
    """The position of the passage in the input, from 0."""
    original: Passage
    text: str
    spans: tuple[Span, ...]
    tokens: int
    """The tokens of `text` alone."""
    relevance: float
    """The best score of the passage's segments, kept or dropped: with the scorer "evidence" the probability that it is
    needed, with others comparable only within one compression. It is 1.0 if the whole input fits."""
    stands_for: tuple[int, ...] = ()
    """The positions of the passages that were dropped as duplicates of this one."""
    markers: tuple[Marker, ...] = ()
    metadata_only: bool = False
    """Whether `text` is a metadata line in place of the passage's text."""

    @property
    def id(self) -> str:
        return self.original.id

    @property
    def untouched(self) -> bool:
        """Whether the whole original text was kept."""
        return not self.metadata_only and self.text == self.original.text


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of a quote: the part of it that is in one passage."""

    passage: Passage
    index: int
    """The position of the passage in the input, from 0."""
    spans: tuple[Span, ...]
    """Characters of the passage's original text; several spans if text between them was dropped."""
    texts: tuple[str, ...]
    """The text of each span."""

    @property
    def text(self) -> str:
        """All text that is quoted from the passage."""
        return "".join(self.texts)

    @classmethod
    def find(cls, quote: str, parts: Sequence[KeptPassage]) -> "tuple[Citation, ...]":
        """Return the sources of a quote from kept passages: see `Compression.cite`."""
        quotable = [part for part in parts if not part.metadata_only]
        origins = cache(lambda n: Origins(quotable[n].text, quotable[n].spans, quotable[n].markers))
        found: list[Citation] = []
        for places in find_quote([part.text for part in quotable], quote):
            for number, start, end in places:
                part = quotable[number]
                quoted = origins(number).at(start, end)
                if quoted:
                    spans = tuple(Span(first, last) for first, last, _ in quoted)
                    found.append(cls(part.original, part.index, spans, tuple(text for _, _, text in quoted)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a piece of a passage was kept or dropped."""

    index: int
    """The position of the passage in the input, from 0."""
    span: Span
    """Characters of the passage's text."""
    text: str
    reason: Reason | None
    """Why it was dropped; None if it is kept."""
    why: str
    """In words: its score and rank, what it came along with, what the reason means."""


class CountsTokens(Protocol):
    """The input's text, which counts its tokens on demand."""

    def tokens(self, left: Mapping[int, Sequence[Span]] | None = None) -> int:
        """Count the tokens. left: passage number -> the spans to count, and no others; None counts the whole text."""


class ResultOperations(Protocol):
    """The operations of a result that need the compressor: a Compressor has them."""

    def expand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """Return the parts of the passage that best answer the query, in at most `max_tokens` tokens."""

    def confidence(self, query: str | None, passages: Sequence[Passage]) -> float:
        """Return the probability that the passages answer the query."""

    def render(self, compression: "Compression", format: Format) -> str:
        """Return the kept passages in another format, within the same budget."""

    def xray(self, compression: "Compression", *, brief: bool = False) -> str:
        """Return a page that shows what was kept and dropped of every passage. brief: return a shorter fragment."""

    def explain(self, compression: "Compression", quote: str) -> "tuple[Explanation, ...]":
        """Return why each piece of the input that the quote overlaps was kept or dropped."""

    def trace(self, compression: "Compression", directory: str | PathLike[str]) -> Path | None:
        """Write that page into a folder and return its path, or None if that failed."""


@dataclass(frozen=True, slots=True)
class Compression:
    """The result of a compression: what was kept, what was dropped and why.

    The spans of `passages` and of `dropped` together cover every input passage exactly once.
    """

    query: str
    text: str
    """The final text: the kept passages in the format of the options, in at most `max_tokens` tokens."""
    passages: tuple[KeptPassage, ...]
    dropped: tuple[Decision, ...]
    tokens: int
    """The tokens of `text`."""
    max_tokens: int
    stages: tuple[StageStats, ...]
    input_count: int
    original: CountsTokens = field(compare=False, repr=False)
    """The text of the whole input, whose tokens are counted on demand."""
    compressor: ResultOperations = field(compare=False, repr=False)
    cache: CacheUse = field(default=CacheUse(), compare=False, repr=False)
    """What the cache had. It does not count when results are compared."""
    llm: LLMStats | None = None
    failures: tuple[Failure, ...] = field(default=(), compare=False)
    """What was plugged in and failed, so that this is the result without it."""

    @property
    def is_original(self) -> bool:
        """Whether the passages are as they came, whatever the budget: see the option `on_error`."""
        return any(failure.is_original for failure in self.failures)

    @property
    def stats(self) -> Stats:
        """The statistics of the compression.

        Reading them counts the tokens of the whole input, which may take longer than the compression.
        """
        after = {stage.name: stage.items_out for stage in self.stages}
        return Stats(
            original_count=self.input_count,
            after_threshold=after["threshold"],
            after_dedup=after["semantic"],
            after_limit=after["limit"],
            clusters_merged=after["threshold"] - after["semantic"],
            metadata_only_count=sum(part.metadata_only for part in self.passages),
            kept_count=sum(part.untouched or bool(part.spans) for part in self.passages),
            original_tokens=self.original.tokens(),
            compressed_tokens=self.tokens,
            stages=self.stages,
            cache_hits=self.cache.hits,
            cache_misses=self.cache.misses,
            llm=self.llm,
            failures=self.failures,
        )

    def observation(self) -> Observation:
        """Return what an observer is told. This counts the tokens of the whole input."""
        stats = self.stats
        return Observation(
            passages=stats.original_count,
            kept=stats.kept_count,
            original_tokens=stats.original_tokens,
            compressed_tokens=stats.compressed_tokens,
            max_tokens=self.max_tokens,
            dropped=drop_counts(self.dropped),
            seconds={} if self.cache.is_outcome else {stage.name: stage.milliseconds / 1e3 for stage in stats.stages},
            cache=self.cache,
            result=self,
        )

    @property
    def confidence(self) -> float:
        """The probability, from 0 to 1, that the passages answer the query at all. It is 0.5 without a query, and for a
        query that asks for a summary or has no content word.

        It judges by the share of the query's words that occur, and that occur together. Passages about the right
        subject that lack the answer itself still have a high confidence, and a query in another language a low one.
        What the filters drop does not count. Reading it takes about half as long as the compression.
        """
        return self.compressor.confidence(self.query, self.input_passages())

    def render(self, format: Format) -> str:
        """Return the kept passages in another format, such as "compact", in at most `max_tokens` tokens.

        In the format of the options this is `text`. If `passages` do not fit with the headers of another format, or one
        of the two is "preview", the whole input is compressed again for that format. See docs/formats.md.

        Raises ConfigError for an unknown format, and BudgetTooSmall if the headers of the other format leave no room
        for what `must_keep` names.
        """
        return self.compressor.render(self, format)

    def cite(self, quote: str) -> tuple[Citation, ...]:
        """Find the passages that a quote from the final text comes from, with exact character offsets.

        Return one citation for each occurrence and each passage that it runs through, in the order of the text. White
        space may differ, and the quote may have quotation marks around it and dots ("...") for parts that it drops.
        Metadata lines and the headers of formats cannot be cited. Raises InputError if `quote` is not a string.
        """
        return Citation.find(quote, self.passages)

    def xray(self) -> str:
        """Return an HTML page that shows every passage: kept text by its score, dropped text by its reason, and the
        tokens that each reason saved. See docs/xray.md.

        The page is one file with the texts of the passages. It has no scripts and loads nothing, and no passage can
        inject markup. Making it takes longer than the compression: all segments are scored again, and an `encoder` is
        called again. Raises PluginError if that fails.
        """
        return self.compressor.xray(self)

    def explain(self, quote: str) -> tuple[Explanation, ...]:
        """Return why each segment that a quote from the input overlaps was kept or dropped, in words.

        The quote may be shortened as for `cite`. Raises InputError if it is no string, or not in the input.
        """
        found = self.compressor.explain(self, quote)
        if not found:
            raise InputError(f"{quote[:80]!r} is in no passage; give a text as it stands in the input")
        return found

    def trace(self, directory: str | PathLike[str]) -> Path | None:
        """Write the page of `xray`, with scores from words alone, into a folder that is made if necessary, and return
        its path. If the page cannot be written, log a warning and return None.

        The file is named after the time, `ctxcompress-20261121T180102.123456Z-1f0c93ab.html`, and only its owner can
        read it. The folder keeps the last 100 of these files.
        """
        return self.compressor.trace(self, directory)

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks show: the numbers and the kept text."""
        return self.compressor.xray(self, brief=True)

    def expand(self, id: str, *, max_tokens: int | None = None) -> str:
        """Return the text of the passage with this id, kept or dropped.

        With `max_tokens`, return only the parts that best answer the query. If several passages have the id, the first
        one counts. Raises InputError if none has it.
        """
        passages = self.input_passages()
        for passage in passages:
            if passage.id == id or " ".join(passage.id.split()) == id:  # as a preview shows it
                return passage.text if max_tokens is None else self.compressor.expand(self.query, passage, max_tokens)
        known = ", ".join(repr(passage.id) for passage in passages[:10])
        raise InputError(f"no passage has the id {id!r}; the first ones are {known or 'none'}")

    def input_passages(self) -> list[Passage]:
        """Return the input passages, unchanged and in order."""
        passages = {part.index: part.original for part in self.passages}
        passages.update((part.index, part.passage) for part in self.dropped)
        return [passages[index] for index in sorted(passages)]
