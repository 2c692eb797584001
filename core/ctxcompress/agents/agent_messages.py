"""The messages of an agent, whatever its framework: who says what, and which tool results belong to which call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ctxcompress.agents.markers import without_marker
from ctxcompress.data.passages import Passage

__all__ = [
    "HANDLE_KEY",
    "AgentMessage",
    "Role",
    "Step",
    "ends_of_turns",
    "goal_of",
    "passages_of",
    "query_for",
    "steps_of",
    "untouched_steps",
]

HANDLE_KEY = "ctxcompress_handle"
"""The key of a passage's metadata that has the handle at the end of a tool's result, "" if there is none."""
_FEW_WORDS = 6
"""A shorter message of the user, such as "yes, go on", says too little to compress for it alone."""
_LONGEST_TITLE = 200


class Role(StrEnum):
    """Who a message is from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    OTHER = "other"
    """A system prompt, or anything else that always stays as it is."""


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """A message of any framework: its texts, and what else the model reads of it."""

    role: Role
    texts: Sequence[str] = ()
    """The text parts, which can be shortened."""
    id: str | None = None
    """What identifies the message. A message without an id always stays as it is."""
    rest: str = ""
    """Everything else that the model reads as text, such as the calls of tools."""
    media: int = 0
    """The number of images and other parts that are no text."""
    calls: Sequence[str] = ()
    """The ids of the tool calls that it makes."""
    answers: str | None = None
    """The id of the tool call that it answers."""
    name: str | None = None
    """The name of the speaker or of the tool."""
    title: str | None = None
    """What a tool's result is about: the arguments of the call."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """More about the message, such as its time."""

    @property
    def speaker(self) -> str:
        """The role, and the name where there is one."""
        return f"{self.role} {self.name}" if self.name else str(self.role)

    def body(self, text: str) -> tuple[str, str]:
        """Return one of the texts without its marker, and the handle of the marker: only results of tools have one."""
        return without_marker(text) if self.role is Role.TOOL else (text, "")


class Step(NamedTuple):
    """A message of the user, or an answer of the model with the results of its tool calls."""

    places: Sequence[int]
    """The positions of its messages."""
    turn: int
    """The number of messages of the user up to here: what follows a message of the user belongs to its turn."""
    is_complete: bool
    """Whether every tool call has its result and every result its call."""


def steps_of(messages: Sequence[AgentMessage]) -> list[Step]:
    """Return the steps of a run, in the order of their first messages. Messages of other roles are in none."""
    groups: list[list[int]] = []
    turns: list[int] = []
    calling: dict[str, int] = {}
    turn = 0
    for place, message in enumerate(messages):
        if message.role is Role.OTHER:
            continue
        if message.answers is not None and message.answers in calling:
            groups[calling[message.answers]].append(place)
            continue
        turn += message.role is Role.USER
        calling |= dict.fromkeys(message.calls, len(groups))
        groups.append([place])
        turns.append(turn)
    return [
        Step(places, turn, _is_complete([messages[place] for place in places]))
        for places, turn in zip(groups, turns, strict=True)
    ]


def _is_complete(messages: Sequence[AgentMessage]) -> bool:
    calls = {call for message in messages for call in message.calls}
    return calls == {message.answers for message in messages if message.role is Role.TOOL}


def untouched_steps(
    steps: Sequence[Step], messages: Sequence[AgentMessage], goal: int | None, keep_last: int
) -> frozenset[int]:
    """Return the numbers of the steps that stay as they are: the last ones, the goal, what is incomplete or has no id,
    and the messages of the user that these follow."""
    found = set(range(max(len(steps) - keep_last, 0), len(steps)))
    for number, step in enumerate(steps):
        if not step.is_complete or goal in step.places or any(messages[place].id is None for place in step.places):
            found.add(number)
    turns = {steps[number].turn for number in found}
    opening = {step.turn: number for number, step in reversed(list(enumerate(steps)))}
    return frozenset(
        found | {opening[turn] for turn in turns if messages[steps[opening[turn]].places[0]].role is Role.USER}
    )


def ends_of_turns(steps: Sequence[Step], messages: Sequence[AgentMessage]) -> Mapping[int, Sequence[int]]:
    """Return turn -> the numbers of its first and its last step, if the first one is a message of the user."""
    ends: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        if step.turn not in ends:
            ends[step.turn] = [number] if messages[step.places[0]].role is Role.USER else []
        elif ends[step.turn]:
            ends[step.turn][1:] = [number]
    return ends


def goal_of(messages: Sequence[AgentMessage]) -> int | None:
    """Return the position of the last message of the user that has a text; None if there is none."""
    asked = (place for place in range(len(messages) - 1, -1, -1) if messages[place].role is Role.USER)
    return next((place for place in asked if any(map(str.strip, messages[place].texts))), None)


def query_for(messages: Sequence[AgentMessage], goal: int | None) -> str:
    """Return what the user wants now: the text of the goal, after earlier ones where it is very short.

    Without a goal it is the last text of the model.
    """
    role = Role.ASSISTANT if goal is None else Role.USER
    said: list[str] = []
    for message in reversed(messages[: len(messages) if goal is None else goal + 1]):
        text = " ".join(message.texts).strip()
        if message.role is role and text:
            said.insert(0, text)
            if goal is None or sum(len(each.split()) for each in said) >= _FEW_WORDS:
                break
    return "\n".join(said)


def passages_of(place: int, message: AgentMessage) -> Iterator[Passage]:
    """Yield a passage for each text of a message; its id is the position of the message and that of the text.

    The marker at the end of a tool's result is no part of the passage; its handle is in the metadata.
    """
    for part, text in enumerate(message.texts):
        body, handle = message.body(text)
        yield Passage(
            f"{place}:{part}",
            body,
            title=message.title[:_LONGEST_TITLE] if message.title else None,
            metadata={
                **message.metadata,
                "role": str(message.role),
                "turn": place + part / len(message.texts),
                HANDLE_KEY: handle,
            },
        )
