"""What comes out, and what was decided. All immutable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Literal, Protocol

from ctxcompress.data.citations import Origins, find_quote
from ctxcompress.data.metadata import Record
from ctxcompress.data.passages import Kind, Marker, Passage, Segment, Span
from ctxcompress.data.spans import joined
from ctxcompress.data.stats import StageStats, Stats
from ctxcompress.errors import InputError

__all__ = [
    "Citation",
    "Compression",
    "CountsTokens",
    "Decision",
    "DeliveredContext",
    "Format",
    "KeptPassage",
    "Kind",
    "Marker",
    "Passage",
    "Reason",
    "ResultOperations",
    "Segment",
    "Span",
    "StageStats",
    "Stats",
]

Format = Literal["plain", "compact", "verbose", "json", "xml"]
"""How the final text shows what is kept."""


class Reason(StrEnum):
    """Why a text was left out."""

    SCORE = "score"
    """The retriever's score was below `min_score`."""
    LIMIT = "limit"
    """There were better passages of the same document (`max_chunks_per_doc`), or better ones altogether (`top_n`)."""
    BUDGET = "budget"
    """Other segments were worth more of the budget."""
    DUPLICATE = "duplicate"
    """The same text, or for a whole passage nearly the same, is in another one that is preferred to this."""
    UNLIKELY = "unlikely"
    """It was hardly likely to be needed, so that the budget was not filled with it (`adaptive`), or it is boilerplate
    that the question does not ask for."""
    TRUNCATED = "truncated"
    """The passage was longer than `max_length`, or for a fact than `factual_length`."""
    METADATA = "metadata"
    """The retriever's score was below `score_threshold`, so that a line says what the passage is."""
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
    duplicate_of: int | None = None
    """Position of the passage that stands for this one, where this one was left out as its copy."""

    @property
    def text(self) -> str:
        """The text that was left out."""
        return "".join(self.passage.text[start:end] for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """What was kept of one passage.

    ``text == shown(original.text, spans, markers)`` always holds: without markers, which only source code and what is
    longer than `max_length` has, it is the join of the spans' texts. Only where `metadata_only` is set there are no
    spans, and the text is a line that says what the passage is.
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
    that the segment is needed; of "bm25" it is comparable within one compression only. 1.0 where all came back as it
    was."""
    stands_for: tuple[int, ...] = ()
    """Positions of the passages that were left out as copies of this one."""
    markers: tuple[Marker, ...] = ()
    metadata_only: bool = False
    """Whether the text is about the passage, of which nothing is kept."""

    @classmethod
    def from_record(cls, index: int, passage: Passage, record: object) -> "KeptPassage":
        """What an adapter gave out, of the record that it left in the metadata: not from its original, of which it
        has the spans only. Without a record all of the text was kept; its tokens are then 0, which is not counted.

        index: where it stands. What in a record is not as adapters write it counts as missing.
        """
        said = Record.read(record)
        return cls(
            index=index if said.index is None else said.index,
            original=passage if said.score is None else replace(passage, score=said.score),
            text=passage.text,
            spans=(Span(0, len(passage.text)),) if said.spans is None else tuple(Span(*ends) for ends in said.spans),
            tokens=said.tokens or 0,
            relevance=1.0 if said.relevance is None else said.relevance,
            markers=tuple(Marker(*place) for place in said.markers),
            metadata_only=said.is_line,
        )

    @property
    def id(self) -> str:
        return self.original.id

    @property
    def untouched(self) -> bool:
        """Whether all of the original text was kept."""
        return not self.metadata_only and self.text == self.original.text


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a quote comes from: what of it stands in one passage."""

    passage: Passage
    index: int
    """Position of the passage in the input, from 0."""
    spans: tuple[Span, ...]
    """Characters of the passage's original text. Several where something was left out in between."""
    texts: tuple[str, ...]
    """What stands there."""

    @property
    def text(self) -> str:
        """All of what is quoted of the passage."""
        return "".join(self.texts)

    @classmethod
    def find(cls, quote: str, parts: Sequence[KeptPassage]) -> "tuple[Citation, ...]":
        """Each place of a quote in what was kept of passages: see `Compression.cite`."""
        read = [part for part in parts if not part.metadata_only]
        origins: dict[int, Origins] = {}
        found: list[Citation] = []
        for places in find_quote([part.text for part in read], quote):
            for number, start, end in places:
                part = read[number]
                if number not in origins:
                    origins[number] = Origins(part.text, part.spans, part.markers)
                of_place = origins[number].at(start, end)
                if of_place:
                    spans = tuple(Span(first, last) for first, last, _ in of_place)
                    found.append(cls(part.original, part.index, spans, tuple(text for _, _, text in of_place)))
        return tuple(found)


class CountsTokens(Protocol):
    """The text of passages, which can tell its tokens."""

    def tokens(self, left: Mapping[int, Sequence[Span]] | None = None) -> int:
        """How many they are. left: number of a passage -> what is left of its text, for those of which something is;
        None for all of all."""


class ResultOperations(Protocol):
    """What can compress a passage again, for the same question."""

    def expand(self, query: str, passage: Passage, max_tokens: int) -> str:
        """What of the passage answers the question best, in at most so many tokens."""

    def render(self, compression: "Compression", format: Format) -> str:
        """What was kept in another format, within the budget that it was kept for."""

    def xray(self, compression: "Compression", *, brief: bool = False) -> str:
        """A page that shows what became of every passage, or in brief a part of a page."""

    def trace(self, compression: "Compression", directory: str | PathLike[str]) -> Path | None:
        """Where that page was written; None if it was not."""


@dataclass(frozen=True, slots=True)
class Compression:
    """The result: what was kept, what was dropped and why.

    The spans of `passages` and of `dropped` together cover every input passage exactly once.
    """

    query: str
    text: str
    """The kept passages in their order, in the format that was asked for: at most `max_tokens` tokens."""
    passages: tuple[KeptPassage, ...]
    dropped: tuple[Decision, ...]
    tokens: int
    """Tokens of `text`."""
    max_tokens: int
    stages: tuple[StageStats, ...]
    input_count: int
    original: CountsTokens = field(compare=False, repr=False)
    """All passages as they came in, to be counted if that is asked for."""
    compressor: ResultOperations = field(compare=False, repr=False)

    @property
    def stats(self) -> Stats:
        """The statistics. Asking for them counts the tokens of the whole input, which for long
        inputs costs more than the compression did: so it happens here and not before."""
        after = {stage.name: stage.items_out for stage in self.stages}
        return Stats(
            original_count=self.input_count,
            after_threshold=after["threshold"],
            after_dedup=after["semantic"],
            after_limit=after["limit"],
            clusters_merged=after["threshold"] - after["semantic"],
            metadata_only_count=sum(part.metadata_only for part in self.passages),
            kept_count=sum(not part.metadata_only for part in self.passages),
            original_tokens=self.original.tokens(),
            compressed_tokens=self.tokens,
            stages=self.stages,
        )

    def render(self, format: Format) -> str:
        """The kept passages as "plain", "compact", "verbose", "json" or "xml", in at most `max_tokens` tokens.

        In the format that was asked for it is `text`. In another one it shows `passages` where they fit with its
        headers; where they do not, all that came in is compressed again for that format. See docs/formats.md.

        Raises ConfigError on another name, or for the lines of `mode="preview"`, which have no other format.
        """
        return self.compressor.render(self, format)

    def cite(self, quote: str) -> tuple[Citation, ...]:
        """Where a quote from the final text comes from: the passages, with exact character offsets; none if it is not
        a quote.

        One citation for each place, in the order of the text; a quote that goes over several passages has one for each.
        White space may differ, and the quote may have marks around it and dots ("...") for what it leaves out. Lines
        about passages (`metadata_only`) and the headers of formats cannot be cited. Raises InputError if `quote` is no
        string.
        """
        if not isinstance(quote, str):
            raise InputError(f"quote is a {type(quote).__name__}; give a string")
        return Citation.find(quote, self.passages)

    def xray(self) -> str:
        """A page in HTML that shows what became of every passage: what is kept by its score, what is left out by its
        reason, and how many tokens each reason saved. See docs/xray.md.

        It is complete in itself, without scripts and without anything from elsewhere, and no text can be more than text
        in it. It holds the texts of the passages. The scores are worked out again for it, and all tokens counted, so
        that it takes longer than the compression did; an `encoder` is asked once more, and what it raises is raised on.
        """
        return self.compressor.xray(self)

    def trace(self, directory: str | PathLike[str]) -> Path | None:
        """Writes that page into a folder, which is made if it is not there, and says where; None where it could not be
        written, which is logged as a warning. An `encoder` is not asked again: the scores are those of words alone.

        The file is called by its time, `ctxcompress-20261121T180102.123456Z-1f0c93ab.html`, and can be read by its
        owner only. Of these files the folder keeps the last 100; others in it are left alone.
        """
        return self.compressor.trace(self, directory)

    def _repr_html_(self) -> str:
        """What notebooks show: the numbers, and what is kept."""
        return self.compressor.xray(self, brief=True)

    def expand(self, id: str, *, max_tokens: int | None = None) -> str:
        """The text of the passage with this id, be it kept or dropped: in full, or what of it answers the query best
        in at most `max_tokens` tokens.

        Raises InputError if no passage has it. Of several with one id it is the first.
        """
        passages = self.input_passages()
        for passage in passages:
            if passage.id == id or " ".join(passage.id.split()) == id:  # as a preview shows it
                return passage.text if max_tokens is None else self.compressor.expand(self.query, passage, max_tokens)
        known = ", ".join(repr(passage.id) for passage in passages[:10])
        raise InputError(f"no passage has the id {id!r}; the first ones are {known or 'none'}")

    def input_passages(self) -> list[Passage]:
        """The passages as they came in, in their order."""
        passages = {part.index: part.original for part in self.passages}
        passages.update((part.index, part.passage) for part in self.dropped)
        return [passages[index] for index in sorted(passages)]


@dataclass(frozen=True, slots=True)
class DeliveredContext:
    """What the reader has already."""

    text: str = ""
    parts: Sequence[KeptPassage] = ()
    """What that text consists of."""

    def passages(self) -> list[Passage]:
        """The parts as passages. An embedding says nothing of a part."""
        return [
            part.original if part.untouched else replace(part.original, text=part.text, embedding=None)
            for part in self.parts
        ]

    def spans(self, items: Sequence[Passage]) -> dict[int, tuple[Span, ...]]:
        """Number of an item whose text came before -> the spans of it that were promised."""
        of_text: dict[str, list[Span]] = {}
        for part in self.parts:
            of_text.setdefault(part.original.text, []).extend(part.spans)
        return {number: joined(sorted(of_text[item.text])) for number, item in enumerate(items) if item.text in of_text}
