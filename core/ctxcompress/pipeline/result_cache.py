"""The outcome of a compression, to be remembered for when the same is asked again of the same passages."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeVar

from ctxcompress.cache.protocol import Fingerprints, key_of
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Marker, Passage, Span
from ctxcompress.data.results import (
    Compression,
    CountsTokens,
    Decision,
    KeptPassage,
    Reason,
    ResultOperations,
    StageStats,
)
from ctxcompress.data.spans import shown

__all__ = ["Outcome", "ResultCodec", "is_worth_remembering", "key_of_outcome"]

_OTHERWISE = ("cache", "encoder")
"""Options that are not written into the key: one changes nothing, with the other there is no key."""
_BYTES = 500
"""Of memory that an entry takes beside its text, and about what each passage of it takes."""

Spans = tuple[tuple[int, int], ...]
Markers = tuple[tuple[int, str], ...]
Kept = tuple[int, Spans, int, float, tuple[int, ...], Markers, str | None]
"""The last is the line that is shown in the place of a passage, if one is."""
T = TypeVar("T")


class Outcome(NamedTuple):
    """What was kept, what was dropped and why, without the passages: numbers of passages, and spans of their texts."""

    text: str
    tokens: int
    kept: tuple[Kept, ...]
    dropped: tuple[tuple[int, Spans, str, int | None], ...]
    stages: tuple[tuple[str, int, int, float, str, bool], ...]
    """The fields of StageStats up to `skipped`: an outcome with an emptied or doubtful stage is not remembered."""

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

    def compression(
        self, query: str, items: Sequence[Passage], budget: int, original: CountsTokens, compressor: ResultOperations
    ) -> Compression:
        """The same of these passages. The milliseconds are those of the first time."""
        return Compression(
            query=query,
            text=self.text,
            passages=tuple(_kept(items[part[0]], part) for part in self.kept),
            dropped=tuple(
                Decision(index, items[index], _spans(spans), Reason(reason), leader)
                for index, spans, reason, leader in self.dropped
            ),
            tokens=self.tokens,
            max_tokens=budget,
            stages=tuple(StageStats(*stage) for stage in self.stages),
            input_count=len(items),
            original=original,
            compressor=compressor,
        )


@dataclass(frozen=True, slots=True)
class ResultCodec:
    """Of an outcome of compressing these passages, as JSON."""

    items: Sequence[Passage]

    def encode(self, value: Outcome, /) -> bytes:
        return json.dumps(value, separators=(",", ":")).encode()

    def decode(self, data: bytes, /) -> Outcome:
        """Raises ValueError if it is no outcome, or cannot be one of these passages."""
        try:
            text, tokens, kept, dropped, stages = json.loads(data)
            outcome = Outcome(
                _of(str, text),
                _of(int, tokens),
                tuple(
                    (
                        self._index(index),
                        self._spans(index, spans),
                        _of(int, own),
                        _of(float, worth),
                        tuple(map(self._index, members)),
                        tuple((_of(int, before), _of(str, text)) for before, text in markers),
                        None if line is None else _of(str, line),
                    )
                    for index, spans, own, worth, members, markers, line in kept
                ),
                tuple(
                    (self._index(index), self._spans(index, spans), Reason(reason), self._leader(leader))
                    for index, spans, reason, leader in dropped
                ),
                tuple(
                    (
                        _of(str, name),
                        _of(int, ins),
                        _of(int, outs),
                        _of(float, time),
                        _of(str, note),
                        _of(bool, skipped),
                    )
                    for name, ins, outs, time, note, skipped in stages
                ),
            )
        except (TypeError, RecursionError) as error:
            raise ValueError(f"it is not made as it should be ({type(error).__name__})") from error
        return outcome

    def estimated_size(self, value: Outcome, /) -> int:
        spans = sum(len(part[1]) for part in value.kept) + sum(len(part[1]) for part in value.dropped)
        return _BYTES * (2 + len(value.kept) + len(value.dropped)) + 4 * len(value.text) + 150 * spans

    def _index(self, number: object) -> int:
        if not isinstance(number, int) or not 0 <= number < len(self.items):
            raise ValueError("it names a passage that is not there")
        return number

    def _leader(self, number: object) -> int | None:
        return None if number is None else self._index(number)

    def _spans(self, index: int, spans: Iterable[Iterable[object]]) -> Spans:
        found = tuple((_of(int, start), _of(int, end)) for start, end in spans)
        ends = [0, *(offset for span in found for offset in span), len(self.items[index].text)]
        if ends != sorted(ends):
            raise ValueError("it has spans that are none of its passages")
        return found


def key_of_outcome(
    query: str, items: Sequence[Passage], config: CompressionConfig, fingerprint: Fingerprints
) -> str | None:
    """The key under which the outcome can be remembered; None where it depends on what no key can tell.

    Those are an encoder, a function that counts tokens, and the embeddings that `similarity_threshold` compares.
    """
    if config.encoder is not None or not isinstance(config.encoding, str) or config.similarity_threshold is not None:
        return None
    options = [(name, value) for name, usual in _USUAL if (value := getattr(config, name)) != usual]
    return key_of("outcome", query, options, [_told(item, fingerprint) for item in items])


def is_worth_remembering(compression: Compression) -> bool:
    """Tell whether to remember the outcome. One whose stages logged a warning is not, so that they log it each time."""
    return bool(compression.passages) and not any(stage.emptied or stage.doubtful for stage in compression.stages)


def _told(item: Passage, fingerprint: Fingerprints) -> tuple[object, ...]:
    """All of a passage but its embedding. Of the metadata, places in the file are looked at."""
    text, metadata = fingerprint(item.text), dict(item.metadata)
    return item.id, text, item.score, item.doc_id, item.file_path, item.header_path, item.title, metadata


def _line(part: KeptPassage) -> str | None:
    return part.text if part.metadata_only else None


def _kept(item: Passage, part: Kept) -> KeptPassage:
    index, spans, tokens, relevance, members, markers, line = part
    parts, between = _spans(spans), tuple(Marker(*marker) for marker in markers)
    text = shown(item.text, parts, between) if line is None else line
    return KeptPassage(index, item, text, parts, tokens, relevance, members, between, line is not None)


def _spans(spans: Spans) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in spans)


def _of(kind: type[T], value: object) -> T:
    if not isinstance(value, kind):
        raise ValueError(f"it has a {type(value).__name__} where a {kind.__name__} should be")
    return value


_DEFAULT = CompressionConfig()
_USUAL = tuple((o.name, getattr(_DEFAULT, o.name)) for o in fields(CompressionConfig) if o.name not in _OTHERWISE)
"""The options with their defaults, which are another version's business if they change."""
