"""The agent whose running turn stays within its tokens, and how a run goes on from the middle of a turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.memory import BaseMemory
from llama_index.core.tools import AsyncBaseTool
from llama_index.core.workflow import JsonSerializer
from typing_extensions import override

from ctxcompress.tools.agent_messages import Role
from ctxcompress.tools.component_options import Preset
from ctxcompress.tools.history import Generation, HistoryCompressor
from ctxcompress.tools.output_compressor import on_thread
from llamaindex_ctxcompress.chat_messages import agent_messages, identified, with_texts
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor
from llamaindex_ctxcompress.window import context_window

__all__ = ["CtxCompressFunctionAgent", "CtxContextSerializer"]

_HISTORY_KEY = "ctxcompress_history"
"""The key of the workflow's context that has the generation."""
_MEMORY = "<the memory of the run>"
"""What is written of a memory. It is no JSON, so no other value is written like this."""


class CtxCompressFunctionAgent(FunctionAgent):
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
        super().__init__(*args, **options)
        self._history = HistoryCompressor(
            CtxCompressPostprocessor.config_of({"config": self.config, "preset": self.preset}),
            self.history_tokens,
            keep_last=self.keep_last,
            history_share=self.history_share,
        )
        if self._history.is_share:
            self._history.limit(context_window(self.llm))

    @override
    async def take_step(
        self, ctx: Any, llm_input: list[ChatMessage], tools: Sequence[AsyncBaseTool], memory: BaseMemory
    ) -> AgentOutput:
        """Take a step with the older messages compressed."""
        whole = _settled(await ctx.store.get(self.scratchpad_key, default=[]))
        last: Generation | None = await ctx.store.get(_HISTORY_KEY, default=None)
        shown, generation = await on_thread(partial(self._compressed, [*llm_input, *whole], last))
        if generation is not last:
            await ctx.store.set(_HISTORY_KEY, generation)
        step: Any = _StepContext(ctx, self.scratchpad_key, whole)
        return await super().take_step(step, shown, tools, memory)

    def _compressed(
        self, messages: Sequence[ChatMessage], last: Generation | None
    ) -> tuple[list[ChatMessage], Generation | None]:
        """Return what to show of the messages, and the generation by which they are shown: `last` or a new one."""
        read = identified(agent_messages(messages))
        counted = [message for message in read if message.role is not Role.OTHER]
        window = context_window(self.llm) if self._history.is_share else None
        generation = self._history.next_generation(counted, last, window)
        return [
            messages[place] if message is read[place] else with_texts(messages[place], message.texts)
            for place, message in self._history.shown(read, generation).items()
        ], generation


def _settled(scratchpad: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the scratchpad without what is left of a step that was interrupted and is run again: an answer of the
    model without results behind it, and results that are there twice."""
    found: list[ChatMessage] = []
    answered: set[str] = set()
    for message in scratchpad:
        if message.role != MessageRole.TOOL:
            answered.clear()
        call_id = message.additional_kwargs.get("tool_call_id")
        if call_id is None or call_id not in answered:
            found.append(message)
            answered |= {call_id} if call_id else set()
    while found and found[-1].role == MessageRole.ASSISTANT:
        found.pop()
    return found


@dataclass(frozen=True, slots=True)
class _StepContext:
    """The context of one step, whose scratchpad is empty: its messages are in the input already. What the step adds
    goes behind them."""

    context: Any
    scratchpad_key: str
    scratchpad: Sequence[ChatMessage]

    @property
    def store(self) -> "_StepContext":
        return self

    @property
    def is_running(self) -> bool:
        return True

    async def get(self, key: str, **options: Any) -> Any:
        return [] if key == self.scratchpad_key else await self.context.store.get(key, **options)

    async def set(self, key: str, value: Any) -> None:
        await self.context.store.set(key, [*self.scratchpad, *value] if key == self.scratchpad_key else value)

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
