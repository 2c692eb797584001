"""What the cache stores of a whole compression, for the same query, passages and options."""

from array import array
from collections.abc import Sequence
from dataclasses import fields
from hashlib import blake2b
from typing import Any, NamedTuple

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.must_keep import written
from ctxcompress.data.passages import Marker, Passage, Span, shown
from ctxcompress.data.results import Compression, CountsTokens, Decision, KeptPassage, Reason, StageStats
from ctxcompress.data.stats import CacheUse
from ctxcompress.pipeline.call_cache import CallCache, key_of
from ctxcompress.pipeline.task import Task, description_of

__all__ = ["Keys", "is_worth_remembering", "keys_of", "result_of", "rows_of"]

_NOT_IN_KEY = ("cache", "encoder", "llm", "must_keep", "telemetry")
"""Options that are not part of the key as they are: caches and observers change no result, with an encoder or a
language model there is no key, and rules are written first."""
_DEFAULTS = CompressionConfig()
_KEY_OPTIONS = tuple(
    (option.name, getattr(_DEFAULTS, option.name))
    for option in fields(CompressionConfig)
    if option.name not in _NOT_IN_KEY
)
"""The options in the key, with their defaults. Only values that are not the default are written: a default changes only
with the version, which is part of every key."""


class Keys(NamedTuple):
    """The keys of one compression in the cache. None if the result depends on something that a key cannot hold."""

    outcome: str | None = None
    without_query: str | None = None
    """The same for every query: of the passages and the options."""


def keys_of(task: Task, cache: CallCache) -> Keys:
    """Return the keys of a task's result.

    A key cannot hold a delivered context, a frame that does not say what it adds, an encoder, a language model, whose
    answers are cached alone, a function that counts tokens or finds what must be kept, or an embedding that is no list
    of numbers.
    """
    config, frame = task.config, "" if task.frame is None else description_of(task.frame)
    if not cache or task.delivered is not None or frame is None or not isinstance(config.encoding, str):
        return Keys()
    must_keep = written(config.must_keep)
    if must_keep is None or config.encoder is not None or config.llm is not None:
        return Keys()
    options = [(name, value) for name, default in _KEY_OPTIONS if (value := getattr(config, name)) != default]
    try:
        embeddings = [] if config.similarity_threshold is None else list(map(_embedding_hash, task.input_passages))
    except (TypeError, ValueError, OverflowError):
        return Keys()
    passages = [_key_fields(passage, cache) for passage in task.input_passages]
    without_query = key_of("input", options, must_keep, embeddings, passages)
    outcome = without_query and key_of("outcome", task.query, frame, task.ranked, without_query)
    return Keys(outcome, without_query) if outcome else Keys()


def _embedding_hash(passage: Passage) -> str | None:
    """Raises TypeError, ValueError or OverflowError unless the embedding is None or a list of numbers."""
    if passage.embedding is None:
        return None
    return blake2b(array("d", passage.embedding).tobytes(), digest_size=16).hexdigest()


def _key_fields(passage: Passage, cache: CallCache) -> tuple[object, ...]:
    """Return all fields of a passage but its embedding. The metadata counts because it may hold offsets in a file."""
    return (
        passage.id,
        cache.fingerprint(passage.text),
        passage.score,
        passage.doc_id,
        passage.file_path,
        passage.header_path,
        passage.title,
        dict(passage.metadata),
    )


def is_worth_remembering(result: Compression) -> bool:
    """Tell whether to remember a result. One whose stages warned is not, so that they warn each time."""
    return bool(result.passages) and not any(stage.emptied or stage.doubtful for stage in result.stages)


def rows_of(result: Compression) -> Sequence[Any]:
    """Return a result that is worth remembering as data that JSON can hold, with the numbers of the passages in place
    of their texts."""
    kept = [
        (p.index, p.text if p.metadata_only else None, p.spans, p.tokens, p.relevance, p.stands_for, p.markers)
        for p in result.passages
    ]
    dropped = [(part.index, part.spans, part.reason, part.duplicate_of) for part in result.dropped]
    stages = [(s.name, s.items_in, s.items_out, s.milliseconds, s.note, s.skipped) for s in result.stages]
    return result.text, result.tokens, kept, dropped, stages


def result_of(rows: Sequence[Any], task: Task, original: CountsTokens, use: CacheUse) -> Compression:
    """Rebuild the result of a task. Its milliseconds are those of the first compression."""
    text, tokens, kept, dropped, stages = rows
    passages = task.input_passages
    return Compression(
        query=task.query,
        text=text,
        passages=tuple(_kept_passage(passages[row[0]], *row) for row in kept),
        dropped=tuple(
            Decision(index, passages[index], _spans(spans), Reason(reason), leader)
            for index, spans, reason, leader in dropped
        ),
        tokens=tokens,
        max_tokens=task.config.budget,
        stages=tuple(StageStats(*stage) for stage in stages),
        input_count=len(passages),
        original=original,
        compressor=task.operations,
        cache=use,
    )


def _kept_passage(
    passage: Passage,
    index: int,
    line: str | None,
    pairs: Sequence[Sequence[int]],
    tokens: int,
    relevance: float,
    members: Sequence[int],
    marked: Sequence[tuple[int, str]],
) -> KeptPassage:
    """line: the metadata line, if the passage is shown as one."""
    spans, markers = _spans(pairs), tuple(Marker(*marker) for marker in marked)
    text = shown(passage.text, spans, markers) if line is None else line
    return KeptPassage(index, passage, text, spans, tokens, relevance, tuple(members), markers, line is not None)


def _spans(pairs: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple(Span(start, end) for start, end in pairs)
