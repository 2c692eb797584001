"""How the cache stores the result of a compression, for the same query, passages and options."""

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.must_keep import written
from ctxcompress.data.passages import Marker, Passage, Span, shown
from ctxcompress.data.results import (
    Compression,
    CountsTokens,
    Decision,
    KeptPassage,
    Reason,
    StageStats,
)
from ctxcompress.data.stats import CacheUse
from ctxcompress.pipeline.call_cache import Fingerprints, key_of
from ctxcompress.pipeline.task import Task

__all__ = ["Keys", "Outcome", "ResultCodec", "is_worth_remembering", "key_of_outcome"]

_NOT_IN_KEY = ("cache", "llm", "must_keep", "telemetry")
"""Options that are not part of the key as they are: caches and observers change no result, with a language
model there is no key, and rules are written first."""
_DEFAULTS = CompressionConfig()
_KEY_OPTIONS = tuple(
    (option.name, getattr(_DEFAULTS, option.name))
    for option in fields(CompressionConfig)
    if option.name not in _NOT_IN_KEY
)
"""The options in the key, with their defaults. Only values that are not the default are written: a default changes only
with the version, which is part of every key."""
_PART_SIZE = 500
"""Bytes of memory for each kept or dropped part, besides its text and spans."""

Spans = tuple[tuple[int, int], ...]
Markers = tuple[tuple[int, str], ...]
Kept = tuple[int, Spans, int, float, tuple[int, ...], Markers, str | None]
"""(index, spans, tokens, relevance, stands_for, markers, the metadata line or None)."""
Stage = tuple[str, int, int, float, str, bool]
"""The fields of StageStats up to `skipped`: an outcome with an emptied or doubtful stage is not remembered."""
T = TypeVar("T")


class Keys(NamedTuple):
    """The keys of one compression in the cache."""

    outcome: str
    without_query: str
    """The same for every query: of the passages and the options."""


class Outcome(NamedTuple):
    """A result without the texts of the passages: it has their positions, and spans."""

    text: str
    tokens: int
    kept: tuple[Kept, ...]
    dropped: tuple[tuple[int, Spans, str, int | None], ...]
    stages: tuple[Stage, ...]

    @classmethod
    def of(cls, compression: Compression) -> "Outcome":
        return cls(
            compression.text,
            compression.tokens,
            tuple(
                (part.index, part.spans, part.tokens, part.relevance, part.stands_for, part.markers, _line(part))
                for part in compression.passages
            ),
            tuple((part.index, part.spans, str(part.reason), part.duplicate_of) for part in compression.dropped),
            tuple((s.name, s.items_in, s.items_out, s.milliseconds, s.note, s.skipped) for s in compression.stages),
        )

    def compression(self, task: Task, original: CountsTokens, use: CacheUse) -> Compression:
        """Rebuild the result of the task. Its milliseconds are those of the first compression."""
        passages = task.input_passages
        return Compression(
            query=task.query,
            text=self.text,
            passages=tuple(_kept_passage(passages[part[0]], part) for part in self.kept),
            dropped=tuple(
                Decision(index, passages[index], _spans(spans), Reason(reason), leader)
                for index, spans, reason, leader in self.dropped
            ),
            tokens=self.tokens,
            max_tokens=task.config.budget,
            stages=tuple(StageStats(*stage) for stage in self.stages),
            input_count=len(passages),
            original=original,
            compressor=task.operations,
            cache=use,
        )


@dataclass(frozen=True, slots=True)
class ResultCodec:
    """Encodes an outcome for these passages as JSON."""

    passages: Sequence[Passage]

    def encode(self, value: Outcome, /) -> bytes:
        return json.dumps(value, separators=(",", ":")).encode()

    def decode(self, data: bytes, /) -> Outcome:
        """Return the outcome. Raises ValueError if `data` is damaged or belongs to other passages."""
        try:
            text, tokens, kept, dropped, stages = json.loads(data)
            outcome = Outcome(
                _checked(str, text),
                _checked(int, tokens),
                tuple(map(self._kept, kept)),
                tuple(
                    (self._index(index), self._spans(index, spans), Reason(reason), self._leader(leader))
                    for index, spans, reason, leader in dropped
                ),
                tuple(map(_stage, stages)),
            )
        except (TypeError, RecursionError) as error:
            raise ValueError(f"it has the wrong structure ({type(error).__name__})") from error
        return outcome

    def estimated_size(self, value: Outcome, /) -> int:
        spans = sum(len(part[1]) for part in value.kept) + sum(len(part[1]) for part in value.dropped)
        return _PART_SIZE * (2 + len(value.kept) + len(value.dropped)) + 4 * len(value.text) + 150 * spans

    def _kept(self, part: Iterable[Any]) -> Kept:
        index, spans, tokens, relevance, members, markers, line = part
        return (
            self._index(index),
            self._spans(index, spans),
            _checked(int, tokens),
            _checked(float, relevance),
            tuple(map(self._index, members)),
            tuple((_checked(int, before), _checked(str, text)) for before, text in markers),
            None if line is None else _checked(str, line),
        )

    def _index(self, number: object) -> int:
        if not isinstance(number, int) or not 0 <= number < len(self.passages):
            raise ValueError("it names a passage that does not exist")
        return number

    def _leader(self, number: object) -> int | None:
        return None if number is None else self._index(number)

    def _spans(self, index: int, spans: Iterable[Iterable[object]]) -> Spans:
        found = tuple((_checked(int, start), _checked(int, end)) for start, end in spans)
        ends = [0, *(offset for span in found for offset in span), len(self.passages[index].text)]
        if ends != sorted(ends):
            raise ValueError(f"it has spans that do not fit the text of passage {index}")
        return found


def _stage(stage: Iterable[object]) -> Stage:
    name, items_in, items_out, time, note, skipped = stage
    return (
        _checked(str, name),
        _checked(int, items_in),
        _checked(int, items_out),
        _checked(float, time),
        _checked(str, note),
        _checked(bool, skipped),
    )


def key_of_outcome(
    query: str, passages: Sequence[Passage], config: CompressionConfig, frame: str, fingerprint: Fingerprints
) -> Keys | None:
    """Return the cache keys, or None if the outcome depends on something that a key cannot hold.

    That is an encoder, a language model, whose answers are cached alone, a function that counts tokens or finds what
    must be kept, or an embedding that is no list of numbers. frame: all that the frame adds; empty without one.
    """
    must_keep = written(config.must_keep)
    if must_keep is None or config.own_encoder is not None or config.llm is not None:
        return None
    if not isinstance(config.encoding, str):
        return None
    options = [(name, value) for name, default in _KEY_OPTIONS if (value := getattr(config, name)) != default]
    try:
        embeddings = [] if config.similarity_threshold is None else list(map(_embedding_hash, passages))
    except (TypeError, ValueError, OverflowError):
        return None
    fields = [_key_fields(item, fingerprint) for item in passages]
    without_query = key_of("input", options, must_keep, embeddings, fields)
    outcome = without_query and key_of("outcome", query, frame, without_query)
    return Keys(outcome, without_query) if outcome and without_query else None


def is_worth_remembering(compression: Compression) -> bool:
    """Tell whether to remember the outcome. One whose stages warned is not, so that they warn each time."""
    return bool(compression.passages) and not any(stage.emptied or stage.doubtful for stage in compression.stages)


def _embedding_hash(passage: Passage) -> str | None:
    """Raises TypeError, ValueError or OverflowError unless the embedding is None or a list of numbers."""
    if passage.embedding is None:
        return None
    return blake2b(array("d", passage.embedding).tobytes(), digest_size=16).hexdigest()


def _key_fields(passage: Passage, fingerprint: Fingerprints) -> tuple[object, ...]:
    """Return all fields of a passage but its embedding. The metadata counts because it may hold offsets in a file."""
    return (
        passage.id,
        fingerprint(passage.text),
        passage.score,
        passage.doc_id,
        passage.file_path,
        passage.header_path,
        passage.title,
        dict(passage.metadata),
    )


def _line(part: KeptPassage) -> str | None:
    return part.text if part.metadata_only else None


def _kept_passage(passage: Passage, part: Kept) -> KeptPassage:
    index, pairs, tokens, relevance, members, marker_pairs, line = part
    spans, markers = _spans(pairs), tuple(Marker(*marker) for marker in marker_pairs)
    text = shown(passage.text, spans, markers) if line is None else line
    return KeptPassage(index, passage, text, spans, tokens, relevance, members, markers, line is not None)


def _spans(spans: Spans) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in spans)


def _checked(kind: type[T], value: object) -> T:
    if not isinstance(value, kind):
        raise ValueError(f"it has a {type(value).__name__} where a {kind.__name__} should be")
    return value
