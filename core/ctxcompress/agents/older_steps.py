"""The older steps of an agent's run: what is shown of them within a number of tokens."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ctxcompress.agents.agent_messages import (
    AgentMessage,
    Role,
    Step,
    ends_of_turns,
    passages_of,
    query_for,
    steps_of,
    untouched_steps,
)
from ctxcompress.agents.framework_models import RememberedCounts
from ctxcompress.agents.markers import shorter_marker
from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig
from ctxcompress.config.presets import NO_LIMIT
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import KeptPassage
from ctxcompress.errors import BudgetTooSmall, warn

__all__ = ["LEFT_OUT", "MessageTexts", "OlderSteps", "Shown"]

LEFT_OUT = "[left out]"
"""What stands in place of a text of which nothing is kept, where a message must not be empty."""
_MESSAGE_TOKENS = 4
"""Tokens around each message and each call in a prompt, as `count_prompt` counts them."""
_MEDIA_TOKENS = 85
"""Tokens of an image, as LangChain estimates them."""
_SHORT = 20
"""Tokens of a text that is not worth compressing."""
_SHORT_OF_USER = 150
"""The same for what the user said: it tends to hold for the whole run."""
_MOST_SKELETON = 0.5
"""The share of the room that calls, and everything else that cannot be shortened, may take before steps are dropped."""
_LEAST = 0.5
"""How much is filled of what is to be filled, however long the newest steps are."""
_SHARE_OF_TEXTS = 0.75
"""The share of the room that goes to texts if steps are dropped. The other steps' calls share what is left."""
_SMALLER = 0.7
"""The most of the last attempt's budget that the next one gets, where texts and calls together had too many tokens."""

Kept = Mapping[str, str]
"""Id of a passage -> its kept text."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of the older steps."""

    messages: Mapping[int, AgentMessage]
    """The position of each message that is shown -> the message with the texts that are shown."""
    tokens: int


class MessageTexts:
    """Counts and compresses the texts of messages. Threads can share it."""

    def __init__(self, config: CompressionConfig) -> None:
        """config: its filters, budget and format do not apply to messages."""
        self._config = config.for_expansion(NO_LIMIT).with_options(adaptive=config.adaptive)
        self._counts = RememberedCounts(Compressor(config).count)

    def tokens(self, message: AgentMessage) -> int:
        """Count the tokens of a message: its texts, everything else, and what a prompt puts around it."""
        texts = sum(map(self._counts, message.texts))
        around = _MESSAGE_TOKENS * (1 + len(message.calls))
        return around + texts + self._counts(message.rest) + _MEDIA_TOKENS * message.media

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

    def likely_needed(self, query: str, passages: Sequence[Passage], max_tokens: int) -> Sequence[KeptPassage]:
        """Return the parts of these passages that the query is likely to need, in at most `max_tokens` tokens; all if
        the scorer cannot tell."""
        if self._config.scorer != "evidence":
            return [
                KeptPassage(place, passage, passage.text, (Span(0, len(passage.text)),), tokens=0, relevance=1.0)
                for place, passage in enumerate(passages)
            ]
        least = self._config.adaptive or True
        only_likely = self._config.with_options(max_tokens=max_tokens, adaptive=least, on_empty="drop", must_keep=())
        return Compressor(only_likely).compress(query, passages).passages


class _Older(NamedTuple):
    """A step that may be shortened or dropped."""

    step: Step
    skeleton: int
    """The tokens of the step with all texts left out that can be."""


class _Plan(NamedTuple):
    """The older steps as they will be shown."""

    numbers: Collection[int]
    """The numbers of the steps that are shown."""
    kept: Kept
    tokens: int


class OlderSteps:
    """The steps of a run that may be shortened or dropped: all but the newest, the goal, and what belongs to these."""

    def __init__(self, texts: MessageTexts, messages: Sequence[AgentMessage], goal: int | None, keep_last: int) -> None:
        """goal: the position of the message for which they are compressed. keep_last: the number of steps that always
        stay as they are."""
        self._texts = texts
        self._messages = messages
        self._query = query_for(messages, goal)
        steps = steps_of(messages)
        untouched = untouched_steps(steps, messages, goal, keep_last)
        older = [step for number, step in enumerate(steps) if number not in untouched]
        self._newest = [place for step in steps[-keep_last:] for place in step.places]
        self._older = [_Older(step, sum(self._tokens_of(place, {}) for place in step.places)) for step in older]
        self._ends = ends_of_turns(older, messages)
        self._step_of = {place: number for number, step in enumerate(older) for place in step.places}
        self._passages = [
            passage for place in self.places for passage in passages_of(place, messages[place]) if passage.text.strip()
        ]

    @property
    def places(self) -> Sequence[int]:
        """The positions of their messages."""
        return sorted(self._step_of)

    def missing_in(self, texts: Collection[str], max_tokens: int) -> bool:
        """Return whether something that the goal is likely to need is in none of these texts. max_tokens: how much of
        it counts."""
        return any(
            all(part.original.text[start:end].strip() not in text for text in texts)
            for part in self._texts.likely_needed(self._query, self._passages, max_tokens)
            for start, end in part.spans
        )

    def within(self, room: int, share: float, *, is_stable: bool) -> Shown:
        """Return what to show of the steps in a share of `room` tokens, unless `must_keep` takes more.

        is_stable: whether less of the room is filled where the share would not leave as much as the newest steps have,
        which tell how long the next ones are.
        """
        most = int(room * share)
        plan = self._best_plan(self._with_room_for_more(room, most) if is_stable else most, room)
        messages = {
            place: self._with(place, plan.kept) for place in self.places if self._step_of[place] in plan.numbers
        }
        return Shown(messages, plan.tokens)

    def _with_room_for_more(self, room: int, most: int) -> int:
        newest = (self._messages[place] for place in self._newest)
        coming = sum(self._texts.tokens(message) for message in newest if message.role is not Role.USER)
        return min(most, max(room - coming, int(most * _LEAST)))

    def _best_plan(self, share: int, room: int) -> _Plan:
        """Return what to show in `share` tokens, in `room` if `must_keep` takes as many."""
        for most in (share, room):
            try:
                return self._plan(most)
            except BudgetTooSmall as error:
                needed = error.tokens
        warn(
            f"must_keep names {needed} tokens of the history, and there is room for {room}: it does not hold for older "
            "messages; raise history_tokens, or give narrower patterns"
        )
        return self._plan(share, has_rules=False)

    def _plan(self, room: int, *, has_rules: bool = True) -> _Plan:
        """Return what to show of the older steps, in at most `room` tokens. Raises BudgetTooSmall."""
        skeleton = sum(each.skeleton for each in self._older)
        is_roomy = skeleton <= room * _MOST_SKELETON
        always = set(range(len(self._older))) if is_roomy else set()
        budget = room - skeleton if is_roomy else int(room * _SHARE_OF_TEXTS)
        # Short texts of steps that are shown stay whole; where steps are dropped, they compete with all others.
        passages = [each for each in self._passages if not self._is_short(each)] if is_roomy else self._passages
        while budget > 0 and passages:
            frame = None if is_roomy else self._with_calls
            kept = self._texts.compressed(self._query, passages, budget, frame, has_rules=has_rules)
            shown = self._with_turns(always | {self._step_of[_place(passage)] for passage in kept})
            tokens = self._tokens(shown, kept)
            if tokens <= room:
                return self._filled(_Plan(shown, kept, tokens), room)
            budget = min(budget - (tokens - room), int(budget * _SMALLER))
        return self._filled(_Plan(always, {}, self._tokens(always, {})), room)

    def _filled(self, plan: _Plan, room: int) -> _Plan:
        """Add the calls of the newest steps that are not shown, as many as fit."""
        for number in range(len(self._older) - 1, -1, -1):
            if number not in plan.numbers:
                shown = self._with_turns({*plan.numbers, number})
                tokens = plan.tokens + self._tokens(shown.difference(plan.numbers), plan.kept)
                if tokens > room:
                    break
                plan = _Plan(shown, plan.kept, tokens)
        return plan

    def _with_turns(self, numbers: Collection[int]) -> set[int]:
        """Add the first and the last step of the turns of these steps, so that user and model still take turns."""
        return set(numbers).union(*(self._ends[turn] for turn in {self._older[number].step.turn for number in numbers}))

    def _is_short(self, passage: Passage) -> bool:
        return self._texts.is_short(self._messages[_place(passage.id)], passage.text)

    def _with_calls(self, passage: Passage, text: str) -> str:
        """Return a text with what is shown beside it, which counts: the calls that a result needs."""
        places = self._older[self._step_of[_place(passage.id)]].step.places
        return "".join((*(self._messages[place].rest for place in places), LEFT_OUT, text))

    def _with(self, place: int, kept: Kept) -> AgentMessage:
        """Return a message with its short texts and what is kept of the others."""
        message = self._messages[place]
        texts = [
            text
            if not text.strip() or self._texts.is_short(message, text)
            else _shortened(message, text, kept.get(f"{place}:{part}", ""))
            for part, text in enumerate(message.texts)
        ]
        if any(message.texts) and not any(texts) and not message.rest and not message.media:
            texts[0] = LEFT_OUT
        return replace(message, texts=texts)

    def _tokens(self, numbers: Iterable[int], kept: Kept) -> int:
        return sum(self._tokens_of(place, kept) for number in numbers for place in self._older[number].step.places)

    def _tokens_of(self, place: int, kept: Kept) -> int:
        return self._texts.tokens(self._with(place, kept))


def _shortened(message: AgentMessage, text: str, kept: str) -> str:
    """Return what is kept of a text, with the handle that its marker has."""
    body, handle = message.body(text)
    if kept == body or not handle:
        return text if kept == body else kept
    return "\n".join(filter(None, (kept, shorter_marker(handle))))


def _place(id: str) -> int:
    return int(id.partition(":")[0])
