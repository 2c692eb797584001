"""The fifth step: the result, with the final text and what became of each passage; and what the cache has of it."""

from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from ctxcompress.config.options import OPTIONS
from ctxcompress.data.documents import Spans
from ctxcompress.data.must_keep import written
from ctxcompress.data.passages import Marker, Passage, Span, intersection, inverse, shown, spans_of
from ctxcompress.data.results import Compression, Decision, KeptPassage, Reason
from ctxcompress.data.stats import CacheUse, StageStats
from ctxcompress.errors import warn
from ctxcompress.pipeline.analysis import Analyser
from ctxcompress.pipeline.call_cache import CallCache, key_of
from ctxcompress.pipeline.reducing import Reduced
from ctxcompress.pipeline.selecting import Choice
from ctxcompress.pipeline.task import Task
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Keys", "is_worth_remembering", "keys_of", "present", "result_of", "rows_of"]


def present(
    task: Task, reduced: Reduced, choice: Choice, analyser: Analyser, stages: Sequence[StageStats]
) -> Compression:
    """Build the result. stages: those after the reduction."""
    outcome, budget = _Outcome(task, reduced, choice), task.config.budget
    if not choice.is_emptied and outcome.is_empty:
        warn(f"no passage fits into max_tokens={budget}, not even one character; give a greater max_tokens")
    fits = outcome.tokens <= budget  # else even an empty text does not fit with what the format puts around it
    return Compression(
        query=task.query,
        text=outcome.text if fits else "",
        passages=tuple(outcome.kept(analyser.count)),
        dropped=tuple(outcome.dropped()),
        tokens=outcome.tokens if fits else 0,
        max_tokens=budget,
        stages=(*reduced.stages, *stages),
        input_count=len(task.input_passages),
        original=task.original,
        compressor=task.operations(task.config),
        cache=analyser.cache.use(),
        llm=choice.llm,
    )


class _Outcome:
    """Combines the outcomes of all steps. `kept` and `dropped` together cover every character exactly once.

    The parts that were delivered before have no outcome.
    """

    def __init__(self, task: Task, reduced: Reduced, choice: Choice) -> None:
        layout = choice.layout
        selection = reduced.lines.beside(choice.selection, layout, task.config.budget)
        self._task, self._reduction, self._shown = task, reduced.reduction, selection.composed.shown
        self.text, self.tokens = layout.final(selection.text), selection.tokens
        explained = (
            (Reason.DUPLICATE, _repeated_parts(task.passages, self._reduction, task.delivered_count)),
            (Reason.DUPLICATE, choice.delivered),
            (Reason.TRUNCATED, {index: spans_of(gaps) for index, gaps in layout.gaps.items()}),
            (Reason.DUPLICATE, layout.of_passages(selection.duplicates)),
            (Reason.UNLIKELY, layout.of_passages(choice.unlikely)),
            (Reason.UNLIKELY, layout.of_passages(selection.orphans)),
        )
        self._explained: dict[int, list[tuple[Reason, Sequence[Span]]]] = {}
        """Number of a passage -> drop reasons with the spans that they explain. The first reason for a part counts."""
        for reason, parts in explained:
            for index, spans in parts.items():
                self._explained.setdefault(index, []).append((reason, spans))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept, though there is text."""
        is_shown = any(part.text for part in self._shown.values())
        is_nothing = not (is_shown or self._task.delivered_count) and self._reduction.documents
        return bool(is_nothing) and any(p.text and not p.text.isspace() for p in self._task.passages)

    def kept(self, count: TokenCounter) -> Iterator[KeptPassage]:
        """Yield the kept passages in the order in which they are shown."""
        stands_for: dict[int, list[int]] = {}
        for member, leader in sorted(self._reduction.leaders.items()):
            stands_for.setdefault(leader, []).append(member)
        texts = [part.text for part in self._shown.values()]
        tokens = [self.tokens] if texts == [self.text] else count.of_all(texts)
        for part, of_text in zip(self._shown.values(), tokens, strict=True):
            yield KeptPassage(
                part.passage,
                self._task.passages[part.passage],
                part.text,
                part.spans,
                tokens=of_text,
                relevance=part.relevance,
                stands_for=tuple(stands_for.get(part.passage, ())),
                markers=part.markers,
                metadata_only=part.is_line,
            )

    def dropped(self) -> Iterator[Decision]:
        """Yield the dropped parts in the order of the passages."""
        first, passages, reduction = self._task.delivered_count, self._task.passages, self._reduction
        whole = {length: inverse((), length) for length in {len(passage.text) for passage in passages}}
        # one tuple for many passages of one length
        for index, passage in enumerate(passages[first:], first):
            if index in reduction.reasons:
                reason = reduction.reasons[index]
                if reason is Reason.METADATA and index not in self._shown:
                    reason = Reason.BUDGET  # not even its metadata line fits
                yield Decision(index, passage, whole[len(passage.text)], reason, reduction.leaders.get(index))
            elif index in self._shown or index in self._explained:
                yield from self._dropped_parts(index, passage)
            else:
                yield Decision(index, passage, whole[len(passage.text)], _default_reason(passage.text))

    def _dropped_parts(self, index: int, passage: Passage) -> Iterator[Decision]:
        text, is_shown = passage.text, index in self._shown
        unexplained = inverse(self._shown[index].spans if is_shown else (), len(text))
        reasons: dict[Reason, tuple[Span, ...]] = {}
        for reason, spans in self._explained.get(index, ()):
            found = intersection(unexplained, spans)
            reasons[reason] = tuple(sorted((*reasons.get(reason, ()), *found)))
            unexplained = intersection(unexplained, inverse(found, len(text)))
        reasons = {reason: spans for reason, spans in reasons.items() if spans}
        if reasons and not any(text[start:end].strip() for start, end in unexplained):
            beside = next(iter(reasons))  # white space has the reason of the text beside it
            reasons[beside], unexplained = tuple(sorted((*reasons[beside], *unexplained))), ()
        for reason, found in reasons.items():
            yield Decision(index, passage, found, reason)
        if unexplained or not (is_shown or text):
            yield Decision(index, passage, unexplained, _default_reason(text))


def _repeated_parts(passages: Sequence[Passage], reduction: Reduction, first: int) -> Spans:
    """Return the parts of passages, from number `first` on, that no document has, because another passage has them."""
    whole = {document.passage for document in reduction.documents if document.is_passage}
    in_documents: dict[int, list[Span]] = {}
    for document in reduction.documents:
        for passage, span, _ in () if document.is_passage else document.pieces:
            in_documents.setdefault(passage, []).append(span)
    return {
        index: repeated
        for index, passage in enumerate(passages[first:], first)
        if index not in whole and (repeated := inverse(in_documents.get(index, ()), len(passage.text)))
    }


def _default_reason(text: str) -> Reason:
    """Return the drop reason of a text that no step dropped."""
    return Reason.EMPTY if not text or text.isspace() else Reason.BUDGET


_NOT_IN_KEY = ("cache", "must_keep", "on_error", "telemetry", "timeout")
"""Options that are not part of the key as they are: caches, observers and what becomes of failures change no result,
and rules are written first."""
_KEY_OPTIONS = [(name, option.default) for name, option in OPTIONS.items() if name not in _NOT_IN_KEY]
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
    config = task.config
    if not cache or task.delivered is not None or not isinstance(config.encoding, str):
        return Keys()
    adds, must_keep = getattr(task.frame, "description", None), written(config.must_keep)
    if must_keep is None or (task.frame is not None and adds is None):
        return Keys()
    if config.own_encoder is not None or config.llm is not None:
        return Keys()
    options = [(name, value) for name, default in _KEY_OPTIONS if (value := getattr(config, name)) != default]
    try:
        embeddings = [] if config.similarity_threshold is None else list(map(_embedding_hash, task.input_passages))
    except (TypeError, ValueError, OverflowError):
        return Keys()
    passages = [  # all of a passage but its embedding; its metadata may hold offsets in a file
        (p.id, cache.fingerprint(p.text), p.score, p.doc_id, p.file_path, p.header_path, p.title, dict(p.metadata))
        for p in task.input_passages
    ]
    without_query = key_of("input", options, must_keep, embeddings, passages)
    outcome = without_query and key_of("outcome", task.query, adds, task.ranked, without_query)
    return Keys(outcome, without_query) if outcome else Keys()


def _embedding_hash(passage: Passage) -> str | None:
    """Raises TypeError, ValueError or OverflowError unless the embedding is None or a list of numbers."""
    if passage.embedding is None:
        return None
    return blake2b(array("d", passage.embedding).tobytes(), digest_size=16).hexdigest()


def is_worth_remembering(result: Compression) -> bool:
    """Tell whether to remember a result. One whose stages warned is not, so that they warn each time."""
    return bool(result.passages) and not any(stage.emptied or stage.doubtful for stage in result.stages)


def rows_of(result: Compression) -> Sequence[Any]:
    """Return a result as data that JSON can hold, with the numbers of the passages in place of their texts."""
    kept = [
        (p.index, p.text if p.metadata_only else None, p.spans, p.tokens, p.relevance, p.stands_for, p.markers)
        for p in result.passages
    ]
    dropped = [(part.index, part.spans, part.reason, part.duplicate_of) for part in result.dropped]
    stages = [(s.name, s.items_in, s.items_out, s.milliseconds, s.note, s.skipped) for s in result.stages]
    return result.text, result.tokens, kept, dropped, stages


def result_of(rows: Sequence[Any], task: Task, use: CacheUse) -> Compression:
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
        original=task.original,
        compressor=task.operations(task.config),
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
