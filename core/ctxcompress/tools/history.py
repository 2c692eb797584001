"""The history of an agent's run, compressed in generations.

As long as the messages fit, nothing happens. When they exceed the budget, older messages are compressed for the current
goal, to a share of the budget. That is a generation: until the messages exceed the budget again, or the user writes
something for which text that was left out is likely needed, the older messages are shown byte for byte the same, so
that prompt caches stay valid. Each generation starts from the whole messages, so what one has left out can come back in
the next.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple

from typing_extensions import TypedDict  # comes with pydantic, which takes no other before Python 3.12

from ctxcompress.compressor import Compressor
from ctxcompress.config.checks import check_count
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import KeptPassage
from ctxcompress.errors import BudgetTooSmall, ConfigError
from ctxcompress.tools.agent_messages import (
    AgentMessage,
    Role,
    Step,
    ends_of_turns,
    goal_of,
    passages_of,
    query_for,
    steps_of,
    untouched_steps,
)
from ctxcompress.tools.markers import shorter_marker
from ctxcompress.tools.prompt_size import RememberedCounts

__all__ = ["LEFT_OUT", "Generation", "HistoryCompressor", "Shortened", "check_history"]

LEFT_OUT = "[left out]"
"""What stands in place of a text of which nothing is kept, where a message must not be empty."""
_MESSAGE_TOKENS = 4
"""Tokens around each message in a prompt."""
_MEDIA_TOKENS = 85
"""Tokens of an image, as LangChain estimates them."""
_SHORT = 20
"""Tokens of a text that is not worth compressing."""
_SHORT_OF_USER = 150
"""The same for what the user said: it tends to hold for the whole run."""
_MOST_SKELETON = 0.5
"""The share of the room that calls, and everything else that cannot be shortened, may take before steps are dropped."""
_SHARE_OF_TEXTS = 0.75
"""The share of the room that goes to texts if steps are dropped. The other steps' calls share what is left."""
_SMALLER = 0.7
"""The most of the last attempt's budget that the next one gets, where texts and calls together had too many tokens."""
_log = logging.getLogger("ctxcompress")

Kept = Mapping[str, str]
"""Id of a passage -> its kept text."""


class Shortened(TypedDict):
    """The texts that are shown in place of a message's own."""

    digest: str
    """Identifies the message's own texts: if they have changed, they are shown."""
    texts: list[str]


class Generation(TypedDict):
    """How the older messages are shown until the next generation. It can be written as JSON."""

    number: int
    goal: str | None
    """The id of the message that it was made for."""
    shortened: dict[str, Shortened]
    """Id of a message -> what is shown of it."""
    dropped: list[str]
    """The ids of messages that are not shown."""
    original_tokens: int
    """The tokens of all messages when the generation was made."""
    compressed_tokens: int
    """The tokens of what was shown of them."""


class HistoryCompressor:
    """Compresses the older messages of a run to `history_tokens`. Threads can share it."""

    def __init__(
        self, config: CompressionConfig, history_tokens: int, *, keep_last: int = 3, history_share: float = 0.5
    ) -> None:
        """Raises ConfigError for a value that cannot work.

        keep_last: the number of steps that always stay as they are. history_share: how much of what `history_tokens`
        leave beside these a new generation fills.
        """
        check_history(history_tokens, keep_last, history_share)
        self.history_tokens = history_tokens
        self.keep_last = keep_last
        self.history_share = history_share
        self._config = config.for_expansion(history_tokens).with_options(adaptive=config.adaptive)
        self._counts = RememberedCounts(Compressor(config).count)

    def next_generation(self, messages: Sequence[AgentMessage], last: Generation | None) -> Generation | None:
        """Return the generation to show the messages by: `last` itself, unless it is time for a new one.

        Raises TokenizerUnavailable.
        """
        shown = self.shown(messages, last)
        fits = sum(map(self.tokens, shown.values())) <= self.history_tokens
        goal = goal_of(messages)
        goal_id = None if goal is None else messages[goal].id
        if fits and (last is None or last["goal"] == goal_id):
            return last
        history = _History(self, messages, goal)
        if fits and last is not None and not history.lacks(shown):
            return {**last, "goal": goal_id}
        found = history.generation(last["number"] + 1 if last else 1)
        if last is not None and _is_shown_alike(found, last):
            return last if found["goal"] == last["goal"] else {**last, "goal": goal_id}
        if found["compressed_tokens"] > self.history_tokens:
            _log.warning(
                "the messages have %d tokens, %d more than history_tokens: the last %d steps and what cannot be "
                "shortened are too long; raise history_tokens, or lower keep_last",
                found["compressed_tokens"],
                found["compressed_tokens"] - self.history_tokens,
                self.keep_last,
            )
        return found

    def shown(self, messages: Sequence[AgentMessage], generation: Generation | None) -> dict[int, AgentMessage]:
        """Return the position of each message that is shown -> the message with the texts that are shown."""
        if generation is None:
            return dict(enumerate(messages))
        dropped = frozenset(generation["dropped"])
        shown = {place: message for place, message in enumerate(messages) if message.id not in dropped}
        for place, message in shown.items():
            shorter = generation["shortened"].get(message.id or "")
            if shorter and shorter["digest"] == _digest(message.texts):
                shown[place] = replace(message, texts=shorter["texts"])
        return shown

    def tokens(self, message: AgentMessage) -> int:
        """Count the tokens of a message: its texts, everything else, and what a prompt puts around it."""
        texts = sum(map(self._counts, message.texts))
        return _MESSAGE_TOKENS + texts + self._counts(message.rest) + _MEDIA_TOKENS * message.media

    def is_short(self, message: AgentMessage, text: str) -> bool:
        """Return whether a text of a message is so short that it is not compressed."""
        return self._counts(text) <= (_SHORT_OF_USER if message.role is Role.USER else _SHORT)

    def compressed(
        self,
        query: str,
        passages: Sequence[Passage],
        max_tokens: int,
        frame: Callable[[Passage, str], str] | None,
        *,
        has_rules: bool,
    ) -> Kept:
        """Return what is kept of these passages. frame: what else counts beside each of them. has_rules: whether
        `must_keep` holds; raises BudgetTooSmall if it does and `max_tokens` cannot hold what it names."""
        config = self._config if has_rules else self._config.with_options(must_keep=())
        compressor = Compressor(config.with_options(max_tokens=max_tokens))
        return {part.id: part.text for part in compressor.compress_part(query, passages, frame=frame).passages}

    def likely_needed(self, query: str, passages: Sequence[Passage]) -> Sequence[KeptPassage]:
        """Return the parts of these passages that the query is likely to need; all if the scorer cannot tell."""
        if self._config.scorer != "evidence":
            return [KeptPassage.from_record(place, passage, None) for place, passage in enumerate(passages)]
        only_likely = self._config.with_options(adaptive=True, on_empty="drop", must_keep=())
        return Compressor(only_likely).compress(query, passages).passages


class _Older(NamedTuple):
    """A step that may be shortened or dropped."""

    step: Step
    skeleton: int
    """The tokens of the step with all texts left out that can be."""


class _Plan(NamedTuple):
    """The older steps as they will be shown."""

    shown: Collection[int]
    """The numbers of the steps that are shown."""
    kept: Kept
    tokens: int


class _History:
    """The messages of a run, of which the older ones are to be compressed."""

    def __init__(self, compressor: HistoryCompressor, messages: Sequence[AgentMessage], goal: int | None) -> None:
        self._compressor = compressor
        self._messages = messages
        self._goal = goal
        steps = steps_of(messages)
        untouched = untouched_steps(steps, messages, goal, compressor.keep_last)
        older = [step for number, step in enumerate(steps) if number not in untouched]
        self._older = [_Older(step, sum(self._tokens_of(place, {}) for place in step.places)) for step in older]
        self._ends = ends_of_turns(older, messages)
        self._step_of = {place: number for number, step in enumerate(older) for place in step.places}
        self._passages = [
            passage
            for place in sorted(self._step_of)
            for passage in passages_of(place, messages[place])
            if passage.text.strip() and not compressor.is_short(messages[place], passage.text)
        ]

    def generation(self, number: int) -> Generation:
        """Return the older messages compressed for the goal."""
        original = sum(map(self._compressor.tokens, self._messages))
        goal = None if self._goal is None else self._messages[self._goal].id
        generation = Generation(
            number=number,
            goal=goal,
            shortened={},
            dropped=[],
            original_tokens=original,
            compressed_tokens=original,
        )
        limit = self._compressor.history_tokens
        if original > limit:
            fixed = original - sum(self._compressor.tokens(self._messages[place]) for place in self._step_of)
            plan = self._best_plan(max(limit - fixed, 0))
            self._write(generation, plan)
            generation["compressed_tokens"] = fixed + plan.tokens
        return generation

    def lacks(self, shown: Mapping[int, AgentMessage]) -> bool:
        """Return whether something that the goal is likely to need is missing from the messages shown."""
        query = query_for(self._messages, self._goal)
        for part in self._compressor.likely_needed(query, self._passages):
            place = _place(part.id)
            texts = "\n".join(shown[place].texts) if place in shown else ""
            if any(part.original.text[start:end].strip() not in texts for start, end in part.spans):
                return True
        return False

    def _write(self, generation: Generation, plan: _Plan) -> None:
        for place, number in self._step_of.items():
            message, shorter = self._messages[place], self._with(place, plan.kept)
            if message.id is not None and number not in plan.shown:
                generation["dropped"].append(message.id)
            elif message.id is not None and tuple(shorter.texts) != tuple(message.texts):
                generation["shortened"][message.id] = Shortened(digest=_digest(message.texts), texts=[*shorter.texts])

    def _best_plan(self, room: int) -> _Plan:
        """Return what to show of the older steps, in a share of `room` unless `must_keep` takes more."""
        share = int(room * self._compressor.history_share)
        for most in (share, room):
            try:
                return self._plan(most)
            except BudgetTooSmall as error:
                needed = error.tokens
        _log.warning(
            "must_keep names %d tokens of the history, and there is room for %d: it does not hold for older messages; "
            "raise history_tokens, or give narrower patterns",
            needed,
            room,
        )
        return self._plan(share, has_rules=False)

    def _plan(self, room: int, *, has_rules: bool = True) -> _Plan:
        """Return what to show of the older steps, in at most `room` tokens. Raises BudgetTooSmall."""
        skeleton = sum(each.skeleton for each in self._older)
        is_roomy = skeleton <= room * _MOST_SKELETON
        always = set(range(len(self._older))) if is_roomy else set()
        budget = room - skeleton if is_roomy else int(room * _SHARE_OF_TEXTS)
        query = query_for(self._messages, self._goal)
        while budget > 0 and self._passages:
            frame = None if is_roomy else self._with_calls
            kept = self._compressor.compressed(query, self._passages, budget, frame, has_rules=has_rules)
            shown = self._with_turns(always | {self._step_of[_place(passage)] for passage in kept})
            tokens = self._tokens(shown, kept)
            if tokens <= room:
                return self._filled(_Plan(shown, kept, tokens), room)
            budget = min(budget - (tokens - room), int(budget * _SMALLER))
        return self._filled(_Plan(always, {}, self._tokens(always, {})), room)

    def _filled(self, plan: _Plan, room: int) -> _Plan:
        """Add the calls of the newest steps that are not shown, as many as fit."""
        for number in range(len(self._older) - 1, -1, -1):
            if number not in plan.shown:
                shown = self._with_turns({*plan.shown, number})
                tokens = plan.tokens + self._tokens(shown.difference(plan.shown), plan.kept)
                if tokens > room:
                    break
                plan = _Plan(shown, plan.kept, tokens)
        return plan

    def _with_turns(self, numbers: Collection[int]) -> set[int]:
        """Add the first and the last step of the turns of these steps, so that user and model still take turns."""
        return set(numbers).union(*(self._ends[turn] for turn in {self._older[number].step.turn for number in numbers}))

    def _with_calls(self, passage: Passage, text: str) -> str:
        """Return a text with what is shown beside it, which counts: the calls that a result needs."""
        places = self._older[self._step_of[_place(passage.id)]].step.places
        return "".join((*(self._messages[place].rest for place in places), LEFT_OUT, text))

    def _with(self, place: int, kept: Kept) -> AgentMessage:
        """Return a message with its short texts and what is kept of the others."""
        message = self._messages[place]
        texts = [
            text
            if not text.strip() or self._compressor.is_short(message, text)
            else _shortened(message, text, kept.get(f"{place}:{part}", ""))
            for part, text in enumerate(message.texts)
        ]
        if any(message.texts) and not any(texts) and not message.rest and not message.media:
            texts[0] = LEFT_OUT
        return replace(message, texts=texts)

    def _tokens(self, numbers: Iterable[int], kept: Kept) -> int:
        return sum(self._tokens_of(place, kept) for number in numbers for place in self._older[number].step.places)

    def _tokens_of(self, place: int, kept: Kept) -> int:
        return self._compressor.tokens(self._with(place, kept))


def _shortened(message: AgentMessage, text: str, kept: str) -> str:
    """Return what is kept of a text, with the handle that its marker has."""
    body, handle = message.body(text)
    if kept == body or not handle:
        return text if kept == body else kept
    return "\n".join(filter(None, (kept, shorter_marker(handle))))


def _is_shown_alike(one: Generation, other: Generation) -> bool:
    return one["shortened"] == other["shortened"] and one["dropped"] == other["dropped"]


def _digest(texts: Iterable[str]) -> str:
    state = blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8))
        state.update(data)
    return state.hexdigest()


def _place(id: str) -> int:
    return int(id.partition(":")[0])


def check_history(history_tokens: object, keep_last: object, history_share: object) -> None:
    """Raise ConfigError for a value that cannot work. history_tokens: None compresses no history."""
    if history_tokens is not None:
        check_count("history_tokens", history_tokens, 1)
    check_count("keep_last", keep_last, 1)
    if isinstance(history_share, bool) or not isinstance(history_share, float) or not 0 < history_share < 1:
        raise ConfigError(f"history_share is {history_share!r}; give a number between 0 and 1, such as 0.5")
