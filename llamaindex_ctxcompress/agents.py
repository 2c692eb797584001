"""The agents whose running turn stays within its tokens, and how a run goes on from the middle of a turn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, BaseWorkflowAgent, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.memory import BaseMemory
from llama_index.core.workflow import Context, JsonSerializer
from typing_extensions import override

from ctxcompress.adapters.component_options import Preset
from ctxcompress.agents.agent_messages import Role
from ctxcompress.agents.history import Generation, HistoryCompressor
from ctxcompress.agents.output_compressor import on_thread
from llamaindex_ctxcompress.chat_messages import agent_messages, identified, with_results, with_texts
from llamaindex_ctxcompress.models import context_window
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["CtxCompressCodeActAgent", "CtxCompressFunctionAgent", "CtxCompressReActAgent", "CtxContextSerializer"]

_OPTIONS = ("history_tokens", "keep_last", "history_share", "preset", "config")
_HISTORY_KEY = "ctxcompress_history"
"""The key of the workflow's context that has the generation."""
_MEMORY = "<the memory of the run>"
"""What is written of a memory. It is no JSON, so no other value is written like this."""


class _CompressedTurn(BaseWorkflowAgent):
    """What the agents of this module share: a step reads the memory and the turn so far within `history_tokens`."""

    model_config = ConfigDict(extra="forbid")

    history_tokens: int | str = Field(
        default="50%", description="The most tokens of the messages, or a share of what the model can read."
    )
    keep_last: int = Field(default=3, description="The number of steps that stay as they are.")
    history_share: float = Field(
        default=0.5, description="How much of what these leave of `history_tokens` is filled with older messages."
    )
    preset: Preset | None = Field(default=None, description="The options to start from.")
    config: Any = Field(
        default=None, description="The options: a CompressionConfig, or the path of a TOML or JSON file."
    )
    _history: HistoryCompressor = PrivateAttr()

    def __init__(self, *args: Any, **options: Any) -> None:
        ours = {name: options.pop(name) for name in _OPTIONS if name in options}
        super().__init__(*args, **options)
        for name, value in ours.items():  # not above: CodeActAgent takes no other options than its own
            self.__pydantic_validator__.validate_assignment(self, name, value)
        self._history = HistoryCompressor(
            CtxCompressPostprocessor.config_of({"config": self.config, "preset": self.preset}),
            self.history_tokens,
            keep_last=self.keep_last,
            history_share=self.history_share,
        )
        if self._history.is_share:
            self._history.limit(context_window(self.llm))

    @property
    def _turn_key(self) -> str:
        """The key of the workflow's context that has the turn so far."""
        return str(self.scratchpad_key)  # type: ignore[attr-defined]

    def _as_messages(self, turn: Sequence[Any]) -> Sequence[ChatMessage]:
        """Return the message that the model reads of each item of the turn."""
        return turn

    def _newest(self, steps: int) -> int:  # noqa: ARG002 - for agents that write a turn as one message
        """Return how many of the last steps stay as they are, where the turn has made as many steps so far."""
        return self.keep_last

    def _makes_call(self, text: str) -> bool:  # noqa: ARG002 - for agents that write calls as text
        """Return whether a message of the model with this text is a call, whose result is the message after it."""
        return False

    @override
    async def take_step(
        self, ctx: Any, llm_input: list[ChatMessage], tools: Sequence[Any], memory: BaseMemory
    ) -> AgentOutput:
        """Take a step with the older messages compressed."""
        turn = await ctx.store.get(self._turn_key, default=[])
        turn = [turn[place] for place in _settled(self._as_messages(turn))]
        question = await ctx.store.get("user_msg_str", default=None)
        last: Generation | None = await ctx.store.get(_HISTORY_KEY, default=None)
        compressed = partial(self._compressed, llm_input, self._as_messages(turn), question, last)
        shown, generation = await on_thread(compressed)
        if generation is not last:
            await ctx.store.set(_HISTORY_KEY, generation)
        step: Any = _StepContext(ctx, self._turn_key, turn)
        return await super().take_step(step, shown, tools, memory)  # type: ignore[safe-super]

    def _compressed(
        self, given: Sequence[ChatMessage], turn: Sequence[ChatMessage], question: str | None, last: Generation | None
    ) -> tuple[list[ChatMessage], Generation | None]:
        """Return what to show of the messages, and the generation by which they are shown: `last` or a new one."""
        messages, begin = [*given, *turn], _begin_of_turn(given, question)
        read = with_results(identified(agent_messages(messages)), begin, self._makes_call)
        if begin < len(given) and given[-1].role == MessageRole.USER:
            # An answer that could not be read, and what is asked for in its place. Without ids they stay as they are.
            read[len(given) - 2 : len(given)] = [
                replace(message, id=None) for message in read[len(given) - 2 : len(given)]
            ]
        counted = [message for message in read if message.role is not Role.OTHER]
        steps = sum(message.role is Role.ASSISTANT for message in read[begin:])
        window = context_window(self.llm) if self._history.is_share else None
        generation = self._history.next_generation(counted, last, window, keep_last=self._newest(steps))
        return [
            messages[place] if message is read[place] else with_texts(messages[place], message.texts)
            for place, message in self._history.shown(read, generation).items()
        ], generation


class CtxCompressFunctionAgent(_CompressedTurn, FunctionAgent):
    """A FunctionAgent that reads its messages within `history_tokens`, also those of the turn that it is in.

    When the messages of the memory and of the turn have more tokens, the model gets shorter ones in place of the older
    ones: verbatim parts of their texts, or nothing of a call with its results. The user's last message and the last
    `keep_last` steps stay as they are. What the model gets of older messages then stays byte for byte the same until
    `history_tokens` are exceeded again, or the user writes something that is likely to need what was left out. System
    messages and the schemas of tools do not count.

    The scratchpad of the turn stays whole, and goes into the memory whole. The workflow's context has what was
    shortened and dropped under "ctxcompress_history", so a run that goes on from a saved context shows the same bytes.

    It is used as FunctionAgent is, alone or in an AgentWorkflow. Raises ConfigError, a ValueError, for a value that
    cannot work, and ValidationError, also a ValueError, for an option that there is not.
    """


class CtxCompressReActAgent(_CompressedTurn, ReActAgent):
    """A ReActAgent that reads its messages within `history_tokens`, also those of the turn that it is in.

    The rules are those of CtxCompressFunctionAgent. A thought with its action stays whole, or is left out with its
    observation. The system message, with the descriptions of the tools, does not count.
    """

    @property
    @override
    def _turn_key(self) -> str:
        return self.reasoning_key

    @override
    def _as_messages(self, turn: Sequence[Any]) -> Sequence[ChatMessage]:
        # The formatter writes a message for each step behind the system message.
        return [self.formatter.format([], chat_history=[], current_reasoning=[step])[-1] for step in turn]

    @override
    def _newest(self, steps: int) -> int:
        # An earlier turn is one long message in the memory, which must not stay whole as one of the last steps.
        return max(min(self.keep_last, steps), 1)


class CtxCompressCodeActAgent(_CompressedTurn, CodeActAgent):
    """A CodeActAgent that reads its messages within `history_tokens`, also those of the turn that it is in.

    The rules are those of CtxCompressFunctionAgent. An answer with code stays whole, or is left out with what the code
    printed. The system message, with the descriptions of the tools, does not count. Raises TypeError for an option that
    there is not.
    """

    @override
    def _makes_call(self, text: str) -> bool:
        return self._extract_code_from_response(text) is not None


def _begin_of_turn(messages: Sequence[ChatMessage], question: str | None) -> int:
    """Return the position after the user's question: what follows is of the turn, whoever it seems to be from."""
    for place in range(len(messages), 0, -1):
        message = messages[place - 1]
        if question is not None and message.role == MessageRole.USER and question in (message.content or ""):
            return place
    return len(messages)


def _settled(turn: Sequence[ChatMessage]) -> list[int]:
    """Return the positions of the turn's messages without what is left of a step that was interrupted and is run
    again: an answer of the model without results behind it, and results that are there twice."""
    found: list[int] = []
    answered: set[str] = set()
    for place, message in enumerate(turn):
        if message.role == MessageRole.ASSISTANT:
            answered.clear()
        # Agents that make one call at a time write its result as a message of the user, without an id.
        call_id = message.additional_kwargs.get("tool_call_id") or ("" if message.role == MessageRole.USER else None)
        if call_id is None or call_id not in answered:
            found.append(place)
            answered |= set() if call_id is None else {call_id}
    while found and turn[found[-1]].role == MessageRole.ASSISTANT:
        found.pop()
    return found


@dataclass(frozen=True, slots=True)
class _StepContext:
    """The context of one step, whose turn is empty: its messages are in the input already. What the step adds goes
    behind them."""

    context: Any
    turn_key: str
    turn: Sequence[Any]

    @property
    def store(self) -> "_StepContext":
        return self

    @property
    def is_running(self) -> bool:
        # To ask a context of a workflow within a step is deprecated: it always is.
        return isinstance(self.context, Context) or bool(self.context.is_running)

    async def get(self, key: str, **options: Any) -> Any:
        return [] if key == self.turn_key else await self.context.store.get(key, **options)

    async def set(self, key: str, value: Any) -> None:
        await self.context.store.set(key, [*self.turn, *value] if key == self.turn_key else value)

    def write_event_to_stream(self, event: Any) -> None:
        self.context.write_event_to_stream(event)


class CtxContextSerializer(JsonSerializer):
    """Writes a workflow's context as JSON, also in the middle of a turn, and reads it with the memory that is given.

    `Memory` cannot be written into a Context, so a run that goes on from the middle of a turn would have none. This
    writes a sign in its place, and puts `memory` there when it reads the sign:

        saved = handler.ctx.to_dict(serializer=CtxContextSerializer(memory))
        context = Context.from_dict(workflow, saved, serializer=CtxContextSerializer(the_new_memory))
        answer = await workflow.run(ctx=context)

    With a chat store on disk, the new memory has what the old one had. The step that ran when the context was saved is
    run again.
    """

    def __init__(self, memory: BaseMemory) -> None:
        super().__init__()
        self._memory = memory

    @override
    def serialize(self, value: Any) -> str:
        return _MEMORY if isinstance(value, BaseMemory) else super().serialize(value)

    @override
    def deserialize(self, value: str) -> Any:
        return self._memory if value == _MEMORY else super().deserialize(value)
