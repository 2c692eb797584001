"""The passages that are left while filters run, with what `must_keep` names of them, and the documents after that."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Reason, StageStats
from ctxcompress.data.table import Floats
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError
from ctxcompress.guarded import called_in_time
from ctxcompress.reduce.overlaps import Link
from ctxcompress.text.lines import shortened

__all__ = ["MUST_KEEP", "Candidates", "DeliveredTexts", "Reduction", "nothing_matches", "places_in_documents"]

MUST_KEEP = "must_keep"
"""The name of the stage that looks for what must be kept. It is skipped if nothing is found."""
_MOST_SHOWN, _LONGEST_SHOWN = 5, 60
"""Of the rules that a note names: how many, with how many characters."""


def nothing_matches(rules: Sequence[object]) -> str:
    """Return a note about rules that find nothing; "" without any."""
    shown = [shortened(str(rule), _LONGEST_SHOWN) for rule in rules[:_MOST_SHOWN]]
    more = len(rules) - len(shown)
    return f"nothing matches {', '.join([*shown, f'{more} more'] if more else shown)}" if rules else ""


def _within(pieces: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Return the spans that lie within a piece. Both are in order."""
    found, number = [], 0
    for span in spans:
        while number < len(pieces) and pieces[number].end < span.end:
            number += 1
        if number < len(pieces) and pieces[number].start <= span.start:
            found.append(span)
    return found


def places_in_documents(required: Mapping[int, Sequence[Span]], documents: Sequence[Document]) -> Spans:
    """Return number of a document -> the spans of its text that must be kept, from those of the passages."""
    found: Spans = {}
    for number, document in enumerate(documents if required else ()):
        spans = [
            Span(begin + span.start - piece.span.start, begin + span.end - piece.span.start)
            for piece, begin in zip(document.pieces, document.starts, strict=True)
            for span in _within((piece.span,), required.get(piece.passage, ()))
        ]
        if spans:
            found[number] = tuple(spans)
    return found


@dataclass(frozen=True, slots=True)
class DeliveredTexts:
    """The passages that were delivered before, which stand for their duplicates."""

    count: int = 0
    vectors: dict[str, Floats] = field(default_factory=dict)
    """Text -> the vector that an encoder made of it, for later additions too: making vectors may cost money."""

    def extended(self, passages: Sequence[Passage]) -> "DeliveredTexts":
        """Return the texts with these passages after the others."""
        return DeliveredTexts(self.count + len(passages), self.vectors)

    def vectors_of(self, passages: Sequence[Passage], encoder: object) -> Floats | None:
        """Return a normalized vector for each passage; None if there is none.

        These are the embeddings of the passages if all of them carry one, else vectors from the encoder, which makes
        one for each text.
        """
        carried = [as_numbers(passage.embedding) for passage in passages if passage.embedding is not None]
        found = [vector for vector in carried if vector is not None and vector.ndim == 1 and np.isfinite(vector).all()]
        if len(found) == len(passages) and len({vector.size for vector in found}) == 1:
            return unit(np.array(found))
        if not isinstance(encoder, Encoder | PassageVectors):
            return None
        texts = without_surrogates([passage.text for passage in passages])
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if missing:
            made = called_in_time("encoder", partial(_made, missing, encoder))
            self.vectors.update(zip(missing, made, strict=True))
        return np.array([self.vectors[text] for text in texts])


def _made(texts: Sequence[str], encoder: Encoder | PassageVectors) -> Floats:
    """Return the normalized vectors that the encoder makes of the texts."""
    encode = encoder.encode_document if isinstance(encoder, Encoder) else encoder.encode_passages
    vectors = checked_numbers(encode(texts), f"{len(texts)} passages", 2)
    if len(vectors) != len(texts):
        raise ConfigError(f"the encoder gave {len(vectors)} vectors for {len(texts)} passages; give one for each")
    return unit(vectors)


@dataclass(frozen=True)  # without slots: the preference is a cached property
class Candidates:
    """The passages that are left, and why the others were dropped."""

    passages: Sequence[Passage]
    """All passages. Those at the beginning were delivered before; they stand for their duplicates."""
    numbers: Sequence[int]
    """The numbers of the passages that are left, ascending."""
    stands: Sequence[float]
    """How good the retriever found each passage: more is better, -inf if this is unknown."""
    required: Spans
    """Number of a passage -> what `must_keep` names in it. A duplicate with more of it than its leader stays."""
    delivered: DeliveredTexts
    fits: bool
    """Whether all passages fit unchanged. Then a filter drops nothing unless an option asks for it."""
    reasons: Mapping[int, Reason] = field(default_factory=dict)
    """Number of a passage -> why it was dropped."""
    leaders: Mapping[int, int] = field(default_factory=dict)
    """Number of a passage that was dropped as a duplicate -> number of the passage that stands for it."""
    links: Sequence[Link] = ()
    """The overlaps between passages."""

    @cached_property
    def preferred(self) -> Sequence[int]:
        """The numbers of the passages that are left and not blank, from the best to the worst, whatever their order."""

        def standing(number: int) -> tuple[float, int, str, int, str]:
            text, id_ = self.passages[number].text, self.passages[number].id
            return -self.stands[number], -len(text), text, len(id_), id_

        return sorted((number for number in self.numbers if self.passages[number].text.strip()), key=standing)

    def keep(self, numbers: Iterable[int], otherwise: Reason) -> "Candidates":
        """Drop all passages but these and those with something that must be kept.

        otherwise: why the others are dropped.
        """
        return self._only({*numbers, *self.required}, otherwise)

    def best(self) -> int:
        """Return the number of the passage that the retriever found best."""
        return max(self.numbers, key=self.stands.__getitem__)

    def without_duplicates(self, leaders: Mapping[int, int]) -> "Candidates":
        """Drop the members of groups of duplicates, but for those with something to keep that their leaders lack.

        leaders: number of a member -> number of its leader. A member that was delivered before stays.
        """
        first = self.delivered.count
        pairs = leaders.items()
        merged = {member: leader for member, leader in pairs if member >= first and self._has(leader, member)}
        if not merged:
            return self
        earlier = {member: merged.get(leader, leader) for member, leader in self.leaders.items()}
        left = self._only(set(self.numbers).difference(merged), Reason.DUPLICATE)
        return replace(left, leaders=earlier | merged)

    def left_in(self, documents: Sequence[Document]) -> Spans | None:
        """Return number of a passage -> its parts that must be kept and are in a document. These are all of those that
        are left, except for repeated ones; None if another one is missing."""
        left = {number: self.required[number] for number in self.numbers if number in self.required}
        pieces: dict[int, list[Span]] = {}
        for document in documents if left else ():
            for piece in document.pieces:
                pieces.setdefault(piece.passage, []).append(piece.span)
        found = {number: tuple(_within(pieces.get(number, ()), spans)) for number, spans in left.items()}
        has = set[str]().union(*(self._texts(number, spans) for number, spans in found.items()))
        is_all = all(self._texts(number, spans) <= has for number, spans in left.items())
        return {number: spans for number, spans in found.items() if spans} if is_all else None

    def _has(self, leader: int, member: int) -> bool:
        """Tell whether a leader has all that must be kept of a member, also if it was delivered before."""
        texts = self._texts(member, self.required.get(member, ()))
        if leader < self.delivered.count:
            return all(text in self.passages[leader].text for text in texts)
        return texts <= self._texts(leader, self.required.get(leader, ()))

    def _texts(self, number: int, spans: Sequence[Span]) -> set[str]:
        return {self.passages[number].text[start:end] for start, end in spans}

    def _only(self, numbers: set[int], otherwise: Reason) -> "Candidates":
        left = [number for number in self.numbers if number in numbers]
        if len(left) == len(self.numbers):
            return self
        dropped = dict.fromkeys(set(self.numbers).difference(left), otherwise)
        return replace(self, numbers=left, reasons={**self.reasons, **dropped})


@dataclass(frozen=True, slots=True)
class Reduction:
    """The documents that are left, and the passages that were dropped."""

    documents: Sequence[Document]
    reasons: Mapping[int, Reason]
    """Number of a passage -> why all of it was dropped."""
    leaders: Mapping[int, int]
    """Number of a passage that was dropped as a duplicate -> number of the passage that stands for it."""
    stages: Sequence[StageStats]
    required: Spans = field(default_factory=dict)
    """Number of a passage -> the parts of it that must be kept and are in a document."""

    def for_others(self) -> "Reduction | None":
        """Return the reduction for calls that take no time for it; None if it warned, as they should too."""
        if any(stage.emptied or stage.doubtful for stage in self.stages):
            return None
        return replace(self, stages=tuple(replace(stage, milliseconds=0.0) for stage in self.stages))

    def __len__(self) -> int:
        """Return the number of characters that are left."""
        return sum(len(document.text) for document in self.documents)

    def is_everything(self, count: int) -> bool:
        """Tell whether all of this number of passages are left, unchanged."""
        return len(self.documents) == count and all(document.is_passage for document in self.documents)
