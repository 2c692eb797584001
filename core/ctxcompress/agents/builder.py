"""Build one context from the passages of several retrievals, under one budget."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, Self

from ctxcompress.agents.added_positions import (
    blank_passages,
    renumbered,
    whole,
    with_delivered_leaders,
    with_duplicates,
    with_text,
)
from ctxcompress.agents.context_state import ContextState, RecentStates
from ctxcompress.agents.delivered_memory import DeliveredMemory
from ctxcompress.compressor import Compressor, PassageInput, off_loop
from ctxcompress.config import checks
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.metadata import as_passages, copied
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Decision, KeptPassage, Reason, StageStats
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.pipeline import run_pipeline, without_failures
from ctxcompress.pipeline.task import DeliveredContext, Task
from ctxcompress.reduce.stages import reduced

__all__ = ["Addition", "ContextBuilder"]

_RETRIEVER_REASONS = (Reason.SCORE, Reason.FILTER, Reason.LIMIT)
"""Drop reasons that depend on the scores of one retrieval."""


@dataclass(frozen=True, slots=True)
class Addition:
    """What one add kept and dropped.

    The spans of `passages` and of `dropped` together cover every passage of the add exactly once. After a rebalance
    they cover every passage that was ever added. Positions (`index`, `stands_for`, `duplicate_of`) count all passages
    that were ever added to the builder, from 0.
    """

    query: str
    text: str
    """The text added to the context, without the separator before it; after a rebalance, the whole context."""
    passages: tuple[KeptPassage, ...]
    dropped: tuple[Decision, ...]
    tokens: int
    """The tokens by which the context grew."""
    remaining: int
    """The tokens left in the budget."""
    rebalanced: bool
    stages: tuple[StageStats, ...]


class ContextBuilder:
    """Builds one context from several retrievals, such as an agent's, under a hard budget.

    `render()` never has more than `max_tokens` tokens. Without `rebalance`, text is only added at the end: earlier
    content never changes. Text that the context already has is not added again. That includes duplicates, overlapping
    text and repeated sentences, and near-duplicates if the options ask for them.

    `min_score`, `max_chunks_per_doc` and `top_n` apply to each add alone, because scores of different retrievals cannot
    be compared. The builder keeps copies of all passages. Threads and tasks can share it: if two adds run at the same
    time, the one that ends first is added first, and the other one is computed again.
    """

    __slots__ = ("_config", "_lock", "_recent", "_state")

    def __init__(self, max_tokens: int | None = None, *, config: CompressionConfig | None = None) -> None:
        """max_tokens: replaces the budget of `config`.

        Raises ConfigError.
        """
        self._config = (config or CompressionConfig()).with_options(max_tokens=max_tokens)
        if self._config.max_tokens == "auto":
            raise ConfigError(
                "max_tokens is 'auto'; a ContextBuilder has one budget for several queries: give a number or a tier"
            )
        if self._config.format in ("json", "xml", "preview"):
            raise ConfigError(
                f"format is {self._config.format!r}; a ContextBuilder cannot add text to it later: "
                'give format="plain", "compact" or "verbose"'
            )
        self._state = ContextState()
        self._recent = RecentStates()
        self._lock = Lock()

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], max_tokens: int | None = None, *, config: CompressionConfig | None = None
    ) -> Self:
        """Return a builder that goes on from a state as if it had never been interrupted.

        state: what `to_state` returned. max_tokens, config: those of the saved builder, which a state does not hold.

        Raises InputError if the state is damaged or of another version, and ConfigError if the encoding, format or
        separator is another one, or if the context is over the budget.
        """
        builder = cls(max_tokens, config=config)
        builder._state = ContextState.from_data(state, builder._config)
        return builder

    def resumed(self, state: Mapping[str, Any]) -> Self:
        """Return another builder with the same options that goes on from a state: see `from_state`.

        A state that it, or a builder resumed from it, returned lately takes no time to load.
        """
        builder = type(self)(config=self._config)
        builder._recent = self._recent
        builder._state = self._recent.load(state, self._config)
        return builder

    def to_state(self) -> dict[str, Any]:
        """Return all that was added, kept or dropped, as data that JSON can hold.

        Metadata that JSON has no form for, such as a date, becomes text.
        """
        return self._recent.save(self._state, self._config)

    @property
    def max_tokens(self) -> int:
        """The budget in tokens."""
        return self._config.budget

    @property
    def remaining(self) -> int:
        """The exact number of tokens left in the budget, with separators counted."""
        return self.max_tokens - self._state.tokens

    @property
    def passages(self) -> tuple[KeptPassage, ...]:
        """The kept passages in the order of the context. One is listed again if a later add kept more of it."""
        return tuple(self._state.delivered.context.parts)

    @property
    def added(self) -> tuple[Passage, ...]:
        """All passages that were ever added, kept or dropped, by position."""
        return self._state.all_passages

    def render(self) -> str:
        """Return the context: the kept text in the order in which it was added, in the format of the options."""
        return self._state.delivered.context.text

    def add(
        self,
        passages: PassageInput,
        *,
        query: str | None = None,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> Addition:
        """Add the parts of `passages` that best answer `query` and are not in the context yet.

        New passages that fit are added unchanged. Without a query, the beginning of the passages is added.

        max_tokens: the maximum for this add; None for all that remains.
        rebalance: compress all passages that were ever added again, for all queries together and within the whole
            budget. Earlier content may change. Passages that a retrieval's own scores or limits dropped stay dropped;
            otherwise scores no longer count.

        If this raises ConfigError, InputError or TokenizerUnavailable, the context is unchanged.
        """
        request = self._request(passages, query, max_tokens, rebalance=rebalance)
        while True:
            before = self._state
            after, addition = _extended(before, request, self._config)
            if self._replace_state(before, after):
                return addition

    async def aadd(
        self,
        passages: PassageInput,
        *,
        query: str | None = None,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> Addition:
        """Run `add` on another thread, but an async encoder on this event loop.

        If the call is cancelled, the context is unchanged.
        """
        request = self._request(passages, query, max_tokens, rebalance=rebalance)
        while True:
            before = self._state
            after, addition = await off_loop(self._config, partial(_extended, before, request))
            if self._replace_state(before, after):
                return addition

    def _request(
        self, passages: PassageInput, query: str | None, max_tokens: int | None, *, rebalance: bool
    ) -> "_AddRequest":
        if query is not None and not isinstance(query, str):
            raise InputError(f"query is a {type(query).__name__}; give a string, or None for no query")
        checks.check_flag("rebalance", rebalance)
        if max_tokens is not None:
            checks.check_count("max_tokens", max_tokens, 1, "or None for all that remains")
            if rebalance:
                raise ConfigError(
                    f"max_tokens={max_tokens} is given with rebalance=True, which always uses the whole budget; "
                    "give one of them"
                )
        config, first = self._config, len(self._state.all_passages)
        new = as_passages(passages, metadata_map=config.metadata_map, first=first)
        own = (replace(p, metadata=copied(dict(p.metadata)), embedding=copied(p.embedding)) for p in new)
        return _AddRequest(query or "", tuple(own), max_tokens, rebalance)

    def _replace_state(self, before: ContextState, after: ContextState) -> bool:
        """Set the state to `after` if it is still `before`, and tell whether it was."""
        with self._lock:
            if self._state is not before:
                return False
            self._state = after
            return True


@dataclass(frozen=True, slots=True)
class _AddRequest:
    """The arguments of one add, checked."""

    query: str
    passages: tuple[Passage, ...]
    """Copies, which nobody else can change."""
    max_tokens: int | None
    rebalance: bool


_Change = tuple[str, tuple[KeptPassage, ...], tuple[Decision, ...], tuple[StageStats, ...]]
"""The text, what an add kept and dropped, with positions among all passages that were ever added, and the stages."""


def _extended(state: ContextState, request: _AddRequest, config: CompressionConfig) -> tuple[ContextState, Addition]:
    """Return the state after an add, and what it kept and dropped."""
    after, (text, kept, dropped, stages) = (_rebalanced if request.rebalance else _appended)(state, request, config)
    return after, Addition(
        query=request.query,
        text=text,
        passages=kept,
        dropped=tuple(sorted(dropped, key=lambda decision: decision.index)),
        tokens=after.tokens - state.tokens,
        remaining=config.budget - after.tokens,
        rebalanced=request.rebalance,
        stages=stages,
    )


def _appended(state: ContextState, request: _AddRequest, config: CompressionConfig) -> tuple[ContextState, _Change]:
    before, first = state.delivered.context, len(state.all_passages)
    limit = config.budget if request.max_tokens is None else min(config.budget, state.tokens + request.max_tokens)
    numbers = with_text(request.passages)
    new_passages = [request.passages[number] for number in numbers]
    config = config.with_options(max_tokens=limit)
    result = run_pipeline(Task(request.query, new_passages, config, Compressor, delivered=state.delivered))
    positions = [*(part.index for part in before.parts), *(first + number for number in numbers)]
    kept, dropped = renumbered(result, positions)
    parts = (*with_duplicates(before.parts, dropped), *kept)
    by_retriever = [decision for decision in dropped if decision.reason in _RETRIEVER_REASONS]
    after = replace(
        state.with_passages(request.passages, request.query),
        delivered=state.delivered.extended(DeliveredContext(result.text, parts)),
        tokens=result.tokens,
        dropped_by_retriever=(*state.dropped_by_retriever, *by_retriever),
    )
    text = result.text.removeprefix(before.text)
    text = text.removeprefix(config.separator) if before.text else text
    dropped = (*with_delivered_leaders(before.parts, dropped), *blank_passages(request.passages, first))
    return after, (text, kept, dropped, result.stages)


def _rebalanced(state: ContextState, request: _AddRequest, config: CompressionConfig) -> tuple[ContextState, _Change]:
    after, first = state.with_passages(request.passages, request.query), len(state.all_passages)
    # What fails here fails below too, where it is told.
    reasons = without_failures(config, lambda config: reduced(request.passages, config, fits=False).reasons, [])
    by_this_retriever = [
        Decision(first + number, request.passages[number], whole(request.passages[number]), reason)
        for number, reason in sorted(reasons.items())
        if reason in _RETRIEVER_REASONS
    ]
    by_retriever = (*state.dropped_by_retriever, *by_this_retriever)
    excluded = {decision.index for decision in by_retriever}
    positions = [position for position in with_text(after.all_passages) if position not in excluded]
    passages = [after.all_passages[position] for position in positions]
    # Scores of different retrievals cannot be compared.
    without_scores = config.with_options(
        min_score=None, score_kind="none", max_chunks_per_doc=0, top_n=None, metadata_only=False
    )
    query = "\n".join(after.queries)
    result = run_pipeline(
        Task(query, passages, without_scores, Compressor, delivered=DeliveredMemory(), queries=after.queries)
    )
    kept, dropped = renumbered(result, positions)
    after = replace(
        after,
        delivered=DeliveredMemory().extended(DeliveredContext(result.text, kept)),
        tokens=result.tokens,
        dropped_by_retriever=by_retriever,
    )
    blank = (decision for decision in blank_passages(after.all_passages, 0) if decision.index not in excluded)
    return after, (result.text, kept, (*dropped, *by_retriever, *blank), result.stages)
