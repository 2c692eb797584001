"""The history of an agent's run, compressed in generations.

As long as the messages fit, nothing happens. When they exceed the budget, older messages are compressed for the current
goal, to a share of the budget. That is a generation: until the messages exceed the budget again, or the user writes
something for which text that was left out is likely needed, the older messages are shown byte for byte the same, so
that prompt caches stay valid. Each generation starts from the whole messages, so what one has left out can come back in
the next.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from typing_extensions import TypedDict  # comes with pydantic, which takes no other before Python 3.12

from ctxcompress.agents.agent_messages import HANDLE_KEY, AgentMessage, goal_of, passages_of
from ctxcompress.agents.markers import shorter_marker
from ctxcompress.agents.older_steps import MessageTexts, OlderSteps
from ctxcompress.compressor import Compressor
from ctxcompress.config.checks import check_count
from ctxcompress.config.options import CompressionConfig
from ctxcompress.config.presets import is_share, tokens_in_window
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression
from ctxcompress.errors import BudgetTooSmall, ConfigError, warn
from ctxcompress.render.formats import Guard
from ctxcompress.text.lines import INVISIBLE, one_line, shortened, spelled

__all__ = ["Generation", "HistoryCompressor", "Shortened", "check_history", "recall", "recalled_text"]

_LONGEST_NAME = 60
_TIMES = ("timestamp", "created_at", "sent_at", "datetime", "date", "time", "ts")
_SEPARATOR = "\n\n"
_guard = Guard(rf"\[[{INVISIBLE}]*+{spelled('message')}[\s{INVISIBLE}]*+\d")


async def recall(config: CompressionConfig, messages: Sequence[AgentMessage], query: str) -> Compression:
    """Return the parts of `messages` that best answer `query`, in their order, with headers within the budget.

    Runs on another thread, but an async encoder on this event loop.
    """
    passages = [
        replace(passage, id=f"{place + 1}:{message.speaker}")
        for place, message in enumerate(messages)
        for passage in passages_of(place, message)
        if passage.text.strip()
    ]
    config = config.with_options(format="plain", separator=_SEPARATOR)
    try:
        return await Compressor(config).acompress(query, passages, frame=_entry)
    except BudgetTooSmall as error:
        warn(f"must_keep does not hold for the memory: {error}")
        return await Compressor(config.with_options(must_keep=())).acompress(query, passages, frame=_entry)


def recalled_text(compression: Compression) -> str:
    """Return what `recall` kept, each part under a line such as "[message 3, user, 2026-05-01]".

    No text of a message can forge such a line: a look-alike gets a backslash.
    """
    return _SEPARATOR.join(_entry(part.original, part.text) for part in compression.passages)


def _entry(passage: Passage, text: str) -> str:
    number, _, speaker = passage.id.partition(":")
    time = next((str(passage.metadata[name]) for name in _TIMES if passage.metadata.get(name)), "")
    known = (f"message {number}", _name(speaker), _name(time))
    handle = passage.metadata.get(HANDLE_KEY)
    marker = f"\n{shorter_marker(str(handle))}" if handle else ""
    return f"[{', '.join(filter(None, known))}]\n{_guard(text)}{marker}"


def _name(name: str) -> str:
    return shortened(one_line(name).replace("]", ")"), _LONGEST_NAME)


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
        self, config: CompressionConfig, history_tokens: int | str, *, keep_last: int = 3, history_share: float = 0.5
    ) -> None:
        """Raises ConfigError for a value that cannot work.

        history_tokens: "25%" is a share of the context window. keep_last: the number of
        steps that always stay as they are. history_share: how much of what `history_tokens` leave beside these a new
        generation fills.
        """
        check_history(history_tokens, keep_last, history_share)
        self.history_tokens = history_tokens
        self.keep_last = keep_last
        self.history_share = history_share
        self._texts = MessageTexts(config)

    @property
    def is_share(self) -> bool:
        """Whether `history_tokens` is a share of the context window."""
        return is_share(self.history_tokens)

    def limit(self, window: int | None = None) -> int:
        """Return `history_tokens`, or the share that it is of this context window.

        Raises ConfigError for a share of a window that is not known.
        """
        if isinstance(self.history_tokens, int):
            return self.history_tokens
        return tokens_in_window("history_tokens", self.history_tokens, window)

    def next_generation(
        self,
        messages: Sequence[AgentMessage],
        last: Generation | None,
        window: int | None = None,
        *,
        keep_last: int | None = None,
    ) -> Generation | None:
        """Return the generation to show the messages by: `last` itself, unless it is time for a new one.

        window: the context window of the model. keep_last: used instead of the attribute. Raises TokenizerUnavailable,
        and ConfigError as `limit` does.
        """
        limit, newest = self.limit(window), keep_last or self.keep_last
        shown = self.shown(messages, last)
        fits = sum(map(self.tokens, shown.values())) <= limit
        goal = goal_of(messages)
        goal_id = None if goal is None else messages[goal].id
        is_new_goal = last is not None and last["goal"] != goal_id
        if fits and not is_new_goal:
            return last
        older = OlderSteps(self._texts, messages, goal, newest)
        texts = [text for message in shown.values() for text in message.texts]
        if fits and last is not None and not older.missing_in(texts, limit):
            return {**last, "goal": goal_id}
        found = Generation(
            number=last["number"] + 1 if last else 1,
            goal=goal_id,
            shortened={},
            dropped=[],
            original_tokens=sum(map(self.tokens, messages)),
            compressed_tokens=sum(map(self.tokens, messages)),
        )
        self._fill(found, messages, older, limit, is_new_goal=is_new_goal)
        shows = found["shortened"], found["dropped"]
        if last is not None and shows == (last["shortened"], last["dropped"]):
            return {**last, "goal": goal_id} if is_new_goal else last
        if found["compressed_tokens"] > limit:
            warn(
                f"the messages have more than history_tokens={limit}: the last {newest} steps and what cannot be "
                "shortened are too long; raise history_tokens, or lower keep_last"
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
        return self._texts.tokens(message)

    def _fill(
        self,
        generation: Generation,
        messages: Sequence[AgentMessage],
        older: OlderSteps,
        limit: int,
        *,
        is_new_goal: bool,
    ) -> None:
        """Write into a generation how the older messages are shown. For a new goal they fill their whole share, because
        more of them may matter; otherwise the next steps must fit, too."""
        original = generation["original_tokens"]
        if original <= limit:
            return
        fixed = original - sum(self.tokens(messages[place]) for place in older.places)
        found = older.within(max(limit - fixed, 0), self.history_share, is_stable=not is_new_goal)
        _write(generation, {place: messages[place] for place in older.places}, found.messages)
        generation["compressed_tokens"] = fixed + found.tokens


def _write(generation: Generation, older: Mapping[int, AgentMessage], shown: Mapping[int, AgentMessage]) -> None:
    for place, message in older.items():
        if message.id is None:
            continue
        if place not in shown:
            generation["dropped"].append(message.id)
        elif tuple(shown[place].texts) != tuple(message.texts):
            texts = [*shown[place].texts]
            generation["shortened"][message.id] = Shortened(digest=_digest(message.texts), texts=texts)


def _digest(texts: Iterable[str]) -> str:
    state = blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8))
        state.update(data)
    return state.hexdigest()


def check_history(history_tokens: object, keep_last: object, history_share: object) -> None:
    """Raise ConfigError for a value that cannot work. history_tokens: None compresses no history."""
    if history_tokens is not None and not is_share(history_tokens):
        check_count("history_tokens", history_tokens, 1, "or a share of the context window, such as '25%'")
    check_count("keep_last", keep_last, 1)
    if isinstance(history_share, bool) or not isinstance(history_share, float) or not 0 < history_share < 1:
        raise ConfigError(f"history_share is {history_share!r}; give a number between 0 and 1, such as 0.5")
