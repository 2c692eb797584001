"""A context that grows: passages of several retrievals under one budget."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Self

from ctxcompress.compressor import Compressor, PassageInput
from ctxcompress.config import checks
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.metadata import as_passages, own_copy
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Compression, Decision, DeliveredContext, KeptPassage, Reason, StageStats
from ctxcompress.data.spans import inverse
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.pipeline import compressed
from ctxcompress.pipeline.task import Task
from ctxcompress.pipeline.threads import off_loop
from ctxcompress.reduce.reduction import reduced

__all__ = ["Addition", "ContextBuilder"]

_BY_RETRIEVER = (Reason.SCORE, Reason.LIMIT)


@dataclass(frozen=True, slots=True)
class Addition:
    """What became of the passages of one add.

    The spans of `passages` and of `dropped` together cover every passage of the add exactly once; of one that was
    rebalanced, every passage that ever came. Positions (`index`, `stands_for`, `duplicate_of`) count all passages that
    ever came to the builder, from 0.
    """

    query: str
    text: str
    """What was added to the context, without the separator before it; of one that was rebalanced, all of it."""
    passages: tuple[KeptPassage, ...]
    dropped: tuple[Decision, ...]
    tokens: int
    """How many tokens more the context has than before."""
    remaining: int
    """Tokens that are left of the budget."""
    rebalanced: bool
    stages: tuple[StageStats, ...]


@dataclass(frozen=True, slots=True)
class _Round:
    """What one add was asked for."""

    query: str
    passages: tuple[Passage, ...]
    """As they came, but copied: nobody else can change them."""
    max_tokens: int | None
    rebalance: bool


@dataclass(frozen=True, slots=True)
class _State:
    """All that a builder knows. An add makes another one of it."""

    delivered: DeliveredContext = field(default_factory=DeliveredContext)
    tokens: int = 0
    arrived: tuple[Passage, ...] = ()
    by_retriever: tuple[Decision, ...] = ()
    """What was left out by the scores and limits of the retrieval that it came with."""
    queries: tuple[str, ...] = ()

    def asked(self, asked: _Round) -> Self:
        """With the passages and the question of another round."""
        is_new = bool(asked.query.strip()) and asked.query not in self.queries
        queries = (*self.queries, asked.query) if is_new else self.queries
        return replace(self, arrived=(*self.arrived, *asked.passages), queries=queries)


@dataclass(frozen=True, slots=True)
class _Change:
    """What a round brought; positions are those among all."""

    text: str
    kept: tuple[KeptPassage, ...]
    dropped: tuple[Decision, ...]
    stages: tuple[StageStats, ...]


class ContextBuilder:
    """Builds one context of several retrievals, such as an agent's, under a hard budget.

    At any time `render()` has at most `max_tokens` tokens, and without `rebalance` it begins with what it was before:
    what has been promised stays, byte for byte. What is in is not added again: copies, overlapping text, sentences,
    and near copies where the options ask for them (none of it with ``exact_dedup=False``, but near copies).

    `min_score`, `max_chunks_per_doc` and `top_n` are of each add: scores of different retrievals do not compare. All
    passages are held, as copies, for as long as the builder is. It can be shared by threads and tasks: of two adds at
    the same time the one that ends first comes first, and the other one is done again after it.
    """

    __slots__ = ("_config", "_lock", "_state")

    def __init__(self, max_tokens: int | None = None, *, config: CompressionConfig | None = None) -> None:
        """max_tokens: in place of the budget of `config`. Raises ConfigError."""
        self._config = (config or CompressionConfig()).with_options(max_tokens=max_tokens)
        if self._config.mode != "extract":
            raise ConfigError(f'mode is {self._config.mode!r}; a context is built with mode="extract"')
        if self._config.max_tokens == "auto":
            raise ConfigError("max_tokens is 'auto'; a context is built for several questions: give a number or a tier")
        if self._config.format in ("json", "xml"):
            raise ConfigError(
                f"format is {self._config.format!r}, whose end nothing can be added after; "
                'a context is built with format="plain", "compact" or "verbose"'
            )
        self._state = _State()
        self._lock = Lock()

    @property
    def max_tokens(self) -> int:
        """The budget in tokens."""
        return self._config.budget

    @property
    def remaining(self) -> int:
        """Tokens that are left of the budget: exact, separators included."""
        return self.max_tokens - self._state.tokens

    @property
    def passages(self) -> tuple[KeptPassage, ...]:
        """What is in, in its order. The same passage comes again where a later add found more in it."""
        return tuple(self._state.delivered.parts)

    def render(self) -> str:
        """The context: what was kept of the passages, in the order in which they came, in the format of the options."""
        return self._state.delivered.text

    def add(
        self,
        passages: PassageInput,
        *,
        query: str | None = None,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> Addition:
        """Adds what of `passages` answers `query` best and is not in yet.

        What fits as it is comes in as it is; without a query, what comes first. max_tokens: the most that it may take
        of what remains. rebalance: all that ever came is compressed again, within the whole budget and for all
        questions together. What was promised may change then. What a retrieval's own scores and limits left out stays
        left out, and scores decide no more.

        Where it raises (ConfigError, InputError or TokenizerUnavailable) nothing has changed.
        """
        asked = self._round(passages, query, max_tokens, rebalance=rebalance)
        while True:
            before = self._state
            after, addition = _grown(before, asked, self._config)
            if self._replaced(before, after):
                return addition

    async def aadd(
        self,
        passages: PassageInput,
        *,
        query: str | None = None,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> Addition:
        """The same as `add`, on another thread; an encoder that can be awaited is, on this event loop. Where it is
        cancelled nothing has changed."""
        asked = self._round(passages, query, max_tokens, rebalance=rebalance)
        while True:
            before = self._state
            after, addition = await off_loop(self._config, partial(_grown, before, asked))
            if self._replaced(before, after):
                return addition

    def _round(self, passages: PassageInput, query: str | None, max_tokens: int | None, *, rebalance: bool) -> _Round:
        if query is not None and not isinstance(query, str):
            raise InputError(f"query is a {type(query).__name__}; give a string, or None to keep what comes first")
        checks.check_flag("rebalance", rebalance)
        if max_tokens is not None:
            checks.check_count("max_tokens", max_tokens, 1, "or None for all that remains")
            if rebalance:
                raise ConfigError(f"max_tokens={max_tokens} is given with rebalance=True, which has the whole budget")
        config, first = self._config, len(self._state.arrived)
        items = as_passages(passages, metadata_map=config.metadata_map, score_key=config.score_key, first=first)
        return _Round(query or "", tuple(map(own_copy, items)), max_tokens, rebalance)

    def _replaced(self, before: _State, after: _State) -> bool:
        """Whether the state was what an add began with, and is what it ended with now."""
        with self._lock:
            if self._state is not before:
                return False
            self._state = after
            return True


def _grown(state: _State, asked: _Round, config: CompressionConfig) -> tuple[_State, Addition]:
    """The state after a round, and what became of its passages."""
    if config.exact_dedup is None:
        config = config.with_options(exact_dedup=True)
    after, change = (_rebalanced if asked.rebalance else _appended)(state, asked, config)
    return after, Addition(
        query=asked.query,
        text=change.text,
        passages=change.kept,
        dropped=tuple(sorted(change.dropped, key=lambda decision: decision.index)),
        tokens=after.tokens - state.tokens,
        remaining=config.budget - after.tokens,
        rebalanced=asked.rebalance,
        stages=change.stages,
    )


def _appended(state: _State, asked: _Round, config: CompressionConfig) -> tuple[_State, _Change]:
    before, first = state.delivered, len(state.arrived)
    limit = config.budget if asked.max_tokens is None else min(config.budget, state.tokens + asked.max_tokens)
    places = [first + number for number in _with_text(asked.passages)]
    new_passages = [asked.passages[place - first] for place in places]
    config = config.with_options(max_tokens=limit)
    result = compressed(Task(asked.query, new_passages, config, Compressor(config), delivered=before))
    kept, dropped = _numbered(result, [*(part.index for part in before.parts), *places])
    after = replace(
        state.asked(asked),
        delivered=DeliveredContext(result.text, (*_standing_for(before.parts, dropped), *kept)),
        tokens=result.tokens,
        by_retriever=(*state.by_retriever, *(found for found in dropped if found.reason in _BY_RETRIEVER)),
    )
    text = result.text.removeprefix(before.text)
    text = text.removeprefix(config.separator) if before.text else text
    dropped = (*_naming(before.parts, dropped), *_blank(asked.passages, first))
    return after, _Change(text, kept, dropped, result.stages)


def _rebalanced(state: _State, asked: _Round, config: CompressionConfig) -> tuple[_State, _Change]:
    after, first = state.asked(asked), len(state.arrived)
    reasons = reduced(asked.passages, config, fits=False).reasons
    left_out = [
        Decision(first + number, asked.passages[number], _all_of(asked.passages[number]), reason)
        for number, reason in sorted(reasons.items())
        if reason in _BY_RETRIEVER
    ]
    by_retriever = (*state.by_retriever, *left_out)
    gone = {found.index for found in by_retriever}
    places = [place for place in _with_text(after.arrived) if place not in gone]
    new_passages = [after.arrived[place] for place in places]
    # Scores of different retrievals do not compare.
    together = config.with_options(
        min_score=None, score_kind="none", max_chunks_per_doc=0, top_n=None, metadata_only=False
    )
    queries = "\n".join(after.queries)
    result = compressed(Task(queries, new_passages, together, Compressor(together), delivered=DeliveredContext()))
    kept, dropped = _numbered(result, places)
    after = replace(
        after, delivered=DeliveredContext(result.text, kept), tokens=result.tokens, by_retriever=by_retriever
    )
    blank = (found for found in _blank(after.arrived, 0) if found.index not in gone)
    return after, _Change(result.text, kept, (*dropped, *by_retriever, *blank), result.stages)


def _numbered(result: Compression, places: Sequence[int]) -> tuple[tuple[KeptPassage, ...], tuple[Decision, ...]]:
    """What was kept and dropped, with the positions that the passages have among all."""
    kept = (
        replace(part, index=places[part.index], stands_for=tuple(places[number] for number in part.stands_for))
        for part in result.passages
    )
    dropped = (
        replace(
            found,
            index=places[found.index],
            duplicate_of=None if found.duplicate_of is None else places[found.duplicate_of],
        )
        for found in result.dropped
    )
    return tuple(kept), tuple(dropped)


def _naming(parts: Iterable[KeptPassage], dropped: Iterable[Decision]) -> Iterator[Decision]:
    """What was dropped, naming what is in where that is of the very same text."""
    first: dict[str, int] = {}
    for part in parts:
        first.setdefault(part.original.text, part.index)
    for found in dropped:
        is_open = found.reason is Reason.DUPLICATE and found.duplicate_of is None
        yield replace(found, duplicate_of=first.get(found.passage.text)) if is_open else found


def _standing_for(parts: Iterable[KeptPassage], dropped: Iterable[Decision]) -> Iterator[KeptPassage]:
    """What is in, standing for its copies among what was dropped too."""
    copies: dict[int, list[int]] = {}
    for found in dropped:
        if found.duplicate_of is not None:
            copies.setdefault(found.duplicate_of, []).append(found.index)
    for part in parts:
        more = copies.get(part.index, ())
        yield replace(part, stands_for=(*part.stands_for, *more)) if more else part


def _with_text(passages: Sequence[Passage]) -> list[int]:
    return [number for number, passage in enumerate(passages) if passage.text.strip()]


def _blank(passages: Sequence[Passage], first: int) -> Iterator[Decision]:
    """first: the position of the first of the passages among all."""
    for index, passage in enumerate(passages, first):
        if not passage.text.strip():
            yield Decision(index, passage, _all_of(passage), Reason.EMPTY)


def _all_of(passage: Passage) -> tuple[Span, ...]:
    return inverse((), len(passage.text))
