"""The nouns: what goes in, what comes out, and what was decided in between. All immutable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

__all__ = [
    "Compression",
    "CountsTokens",
    "Decision",
    "KeptPassage",
    "Kind",
    "Passage",
    "Reason",
    "Segment",
    "Span",
    "StageStats",
    "Stats",
]


class Span(NamedTuple):
    """Half-open character offsets ``[start, end)`` into a passage's original text."""

    start: int
    end: int


class Kind(StrEnum):
    """What a segment is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    METADATA = "metadata"


class Segment(NamedTuple):
    """The smallest piece that is kept or dropped as one: a sentence, a table row, a function, a heading.

    The segments of a text partition it: they are in order, without gaps or overlaps. White space
    belongs to the segment before it. A named tuple rather than a dataclass because a long page has
    hundreds of them.
    """

    kind: Kind
    start: int
    end: int
    block: int
    """Number of the paragraph, list item, table or code block it is a part of, from 0."""
    heading: tuple[str, ...] = ()
    """Texts of the headings it stands under, outermost first; a heading's own text is its last."""
    needs: tuple[int, ...] = ()
    """Indices of segments of the same text without which it cannot be read: a row's table header,
    the fence around a line of code."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved chunk. `score` is what the retriever said of it; None means unknown."""

    id: str
    text: str
    score: float | None = field(default=None, kw_only=True)
    doc_id: str | None = field(default=None, kw_only=True)
    file_path: str | None = field(default=None, kw_only=True)
    header_path: tuple[str, ...] | None = field(default=None, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    metadata: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    embedding: Sequence[float] | None = field(default=None, kw_only=True)


class Reason(StrEnum):
    """Why a text was left out."""

    BUDGET = "budget"
    """Other segments were worth more of the budget."""
    DUPLICATE = "duplicate"
    """The same text was kept elsewhere."""
    UNLIKELY = "unlikely"
    """It was hardly likely to be needed, so that the budget was not filled with it (`adaptive`)."""
    EMPTY = "empty"
    """There was nothing but white space."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was left out of one passage for one reason."""

    index: int
    """Position of the passage in the input, from 0."""
    passage: Passage
    spans: tuple[Span, ...]
    """The parts left out: characters of `passage.text`, in order."""
    reason: Reason

    @property
    def text(self) -> str:
        """The text that was left out."""
        return "".join(self.passage.text[start:end] for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """What was kept of one passage.

    ``text == "".join(original.text[start:end] for start, end in spans)`` always holds.
    """

    index: int
    """Position of the passage in the input, from 0."""
    original: Passage
    text: str
    spans: tuple[Span, ...]
    tokens: int
    """Tokens of `text` alone."""
    relevance: float
    """The best of the scores of the passage's segments, kept or not. Of the scorer "evidence" it is the probability
    that the segment is needed; of "bm25" it is comparable within one compression only. 1.0 where all passages fit."""

    @property
    def id(self) -> str:
        return self.original.id

    @property
    def untouched(self) -> bool:
        """Whether all of the original text was kept."""
        return len(self.text) == len(self.original.text)


@dataclass(frozen=True, slots=True)
class StageStats:
    """How one stage of the pipeline changed what there was."""

    name: str
    items_in: int
    items_out: int
    milliseconds: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one compression. Tokens are counted in the final, joined text.

    The counts after threshold, deduplication and limit are those of the input as long as no such stage takes place.
    """

    original_count: int
    after_threshold: int
    after_dedup: int
    after_limit: int
    clusters_merged: int
    metadata_only_count: int
    kept_count: int
    original_tokens: int
    compressed_tokens: int
    stages: tuple[StageStats, ...]

    @property
    def tokens_saved(self) -> int:
        return self.original_tokens - self.compressed_tokens

    @property
    def savings_percent(self) -> float:
        """Share of the original tokens that were saved, 0 to 100."""
        return 100 * self.tokens_saved / self.original_tokens if self.original_tokens else 0.0


class CountsTokens(Protocol):
    """A text that can tell its tokens."""

    def tokens(self) -> int:
        """How many they are."""


@dataclass(frozen=True, slots=True)
class Compression:
    """The result: what was kept, what was dropped and why.

    The spans of `passages` and of `dropped` together cover every input passage exactly once.
    """

    query: str
    text: str
    """The kept passages in source order, joined by the separator: at most `max_tokens` tokens."""
    passages: tuple[KeptPassage, ...]
    dropped: tuple[Decision, ...]
    tokens: int
    """Tokens of `text`."""
    max_tokens: int
    stages: tuple[StageStats, ...]
    input_count: int
    original: CountsTokens = field(compare=False, repr=False)
    """All passages as they came in, to be counted if that is asked for."""

    @property
    def stats(self) -> Stats:
        """The statistics. Asking for them counts the tokens of the whole input, which for long
        inputs costs more than the compression did: so it happens here and not before."""
        return Stats(
            original_count=self.input_count,
            after_threshold=self.input_count,
            after_dedup=self.input_count,
            after_limit=self.input_count,
            clusters_merged=0,
            metadata_only_count=0,
            kept_count=len(self.passages),
            original_tokens=self.original.tokens(),
            compressed_tokens=self.tokens,
            stages=self.stages,
        )
