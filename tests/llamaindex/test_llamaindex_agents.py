"""The agent whose running turn stays within its tokens, and runs that go on from the middle of a turn."""

import json
import shutil
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from li_models import ScriptedModel, generations, texts
from llama_index.core.agent.workflow import AgentInput, AgentOutput, AgentWorkflow, ToolCallResult
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from workflows.errors import WorkflowCancelledByUser

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.agents.left_out import MemoryStore
from llamaindex_ctxcompress import (
    CtxCompressFunctionAgent,
    CtxCompressMemoryBlock,
    CtxContextSerializer,
    compress_tool,
    expand_tool,
)

STEPS = 20
LIMIT = 2_500
WINDOW = 10_000
GOAL = "On which port does the relay of the harbour listen?"
FACT = "The relay of the harbour listens on port 7411."
count = Compressor().count


def page(number: int) -> str:
    """Read a page of the manual."""
    fact = FACT if number == 2 else "Ticket INC-2041 is open." if number == 3 else ""
    lines = (f"In week {week} of chapter {number} the weather was good, and nobody came. " for week in range(12))
    return f"{''.join(lines)}{fact} That was chapter {number}."


class Scripted(ScriptedModel):
    """Reads a page in each step. Providers write calls in different ways, so there are three `styles`."""

    style: str = "none"
    steps: int = STEPS

    def answer(self, number: int) -> ChatResponse:
        raw = {"number": number} if number % (self.steps + 1) < self.steps else None
        return ChatResponse(message=self._message(f"call-{number}", raw), raw=raw, delta="")

    def _message(self, call: str, arguments: dict[str, int] | None) -> ChatMessage:
        if arguments is None:
            return ChatMessage(role="assistant", content="It is 7411.")
        if self.style == "kwargs":
            written = {"id": call, "function": {"name": "page", "arguments": json.dumps(arguments)}}
            return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [written]})
        if self.style == "blocks":
            block: Any = getattr(types, "ToolCallBlock")  # noqa: B009 - older versions have none
            return ChatMessage(
                role="assistant", blocks=[block(tool_call_id=call, tool_name="page", tool_kwargs=arguments)]
            )
        return ChatMessage(role="assistant", content="")

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        if not response.raw:
            return []
        number = response.raw["number"]
        return [ToolSelection(tool_id=f"call-{number}", tool_name="page", tool_kwargs={"number": number})]


def agent_of(llm: Scripted, **options: Any) -> CtxCompressFunctionAgent:
    given: dict[str, Any] = {"history_tokens": LIMIT, "streaming": False, "tools": [page], **options}
    return CtxCompressFunctionAgent(name="reader", description="Reads.", system_prompt="Be brief.", llm=llm, **given)


STYLES = ["none", "kwargs", *(["blocks"] if hasattr(types, "ToolCallBlock") else [])]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("streaming", "is_alone"), [(False, True), (True, False)])
async def test_a_turn_of_many_steps_stays_within_its_tokens(style: str, streaming: bool, is_alone: bool) -> None:
    llm = Scripted(style=style)
    agent = agent_of(llm, streaming=streaming)
    workflow: Any = agent if is_alone else AgentWorkflow(agents=[agent])
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    answer = await workflow.run(user_msg=GOAL, memory=memory, max_iterations=STEPS + 5)
    assert str(answer) == "It is 7411."
    assert len(llm.prompts) == STEPS + 1
    for number, prompt in enumerate(llm.prompts):
        assert texts(prompt)[:2] == ["Be brief.", GOAL]
        assert sum(count(text) for text in texts(prompt[1:])) <= LIMIT
        results = [message.additional_kwargs["tool_call_id"] for message in prompt if message.role == "tool"]
        assert results[-3:] == [f"call-{n}" for n in range(max(number - 3, 0), number)]
        assert [message.role.value for message in prompt[2:]] == ["assistant", "tool"] * len(results)
        assert texts(prompt)[-1] == (page(number - 1) if number else GOAL)
        assert number < 3 or FACT in "".join(texts(prompt))
    assert 2 <= generations(llm.prompts) <= STEPS // 3
    whole = texts(memory.get_all())
    assert [text for text in whole if text.startswith("In week")] == [page(number) for number in range(STEPS)]


async def test_the_input_event_tells_what_the_model_reads() -> None:
    llm = Scripted()
    handler = agent_of(llm).run(user_msg=GOAL, max_iterations=STEPS + 5)
    given = [texts(event.input) async for event in handler.stream_events() if isinstance(event, AgentInput)]
    await handler
    assert given == [texts(prompt) for prompt in llm.prompts]


async def test_a_new_question_brings_back_what_the_first_did_not_need() -> None:
    llm = Scripted(steps=15)
    agent = agent_of(llm, history_tokens=1_500, config=CompressionConfig(adaptive=True))
    memory = Memory.from_defaults(session_id="ada", token_limit=100_000)
    context = Context(agent)
    asked = "In which week of chapter 9 was the weather good?"
    await agent.run(user_msg=asked, memory=memory, ctx=context)
    assert FACT not in "".join(texts(llm.prompts[-1]))
    await agent.run(user_msg=GOAL, memory=memory, ctx=context)
    assert FACT in "".join(texts(llm.prompts[16]))


async def test_handles_and_what_must_be_kept_stay_in_the_prompt() -> None:
    store = MemoryStore()
    config = CompressionConfig(must_keep=["INC-2041"])
    tool = compress_tool(FunctionTool.from_defaults(page), max_tokens=150, store=store, must_keep=["INC-2041"])
    llm = Scripted()
    agent = agent_of(llm, tools=[tool, expand_tool(store)], history_tokens=1_500, config=config)
    await agent.run(user_msg=GOAL, max_iterations=STEPS + 5)
    for number, prompt in enumerate(llm.prompts):
        results = [message for message in prompt if message.role == "tool"]
        assert all("expand ctx-" in (message.content or "") for message in results)
        assert number <= 3 or "INC-2041" in "".join(texts(prompt))


async def test_a_share_is_of_what_the_model_can_read() -> None:
    llm = Scripted()
    agent = agent_of(llm, history_tokens="15%")
    await agent.run(user_msg=GOAL, max_iterations=STEPS + 5)
    largest = max(sum(map(count, texts(prompt[1:]))) for prompt in llm.prompts)
    assert WINDOW * 10 // 100 < largest <= WINDOW * 15 // 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history_tokens": 0}, "history_tokens is 0"),
        ({"history_tokens": "much"}, "history_tokens is 'much'"),
        ({"keep_last": 0}, "keep_last is 0"),
        ({"history_share": 1.5}, "history_share is 1.5"),
        ({"preset": "docs", "config": CompressionConfig()}, "preset"),
        ({"history_tokens": "0.0001%"}, "less than one token"),
    ],
)
def test_values_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agent_of(Scripted(), **options)


def memory_in(folder: Path, block: CtxCompressMemoryBlock) -> Memory:
    uri = f"sqlite+aiosqlite:///{folder / 'chat.db'}"
    return Memory.from_defaults(session_id="ada", token_limit=50_000, memory_blocks=[block], async_database_uri=uri)


@pytest.mark.skipif(
    version("llama-index-workflows").startswith("1."), reason="hands on the results of an interrupted step twice"
)
@pytest.mark.parametrize(("event", "is_alone"), [(AgentOutput, False), (ToolCallResult, True)])
async def test_a_run_goes_on_from_the_middle_of_its_turn(tmp_path: Path, event: type, is_alone: bool) -> None:
    """Everything but the chat store and the written context is thrown away after half of the steps."""

    def made(folder: Path) -> tuple[Scripted, Any, Memory]:
        llm = Scripted()
        agent = agent_of(llm)
        block = CtxCompressMemoryBlock(max_tokens=200)
        return llm, agent if is_alone else AgentWorkflow(agents=[agent]), memory_in(folder, block)

    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    llm, workflow, memory = made(first)
    handler = workflow.run(user_msg=GOAL, memory=memory, max_iterations=STEPS + 5)
    seen, saved = 0, ""
    async for each in handler.stream_events():
        seen += isinstance(each, event)
        if seen == STEPS // 2:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # LlamaIndex warns where it leaves the memory out
                saved = json.dumps(handler.ctx.to_dict(serializer=CtxContextSerializer(memory)))
            shutil.copytree(first, second)  # what is on the disk
            await handler.cancel_run()
            break
    with pytest.raises(WorkflowCancelledByUser):
        await handler
    prompts = llm.prompts

    llm, workflow, memory = made(second)
    # The model goes on with its script. An answer that was not handed on yet is asked for again.
    llm.prompts.extend(prompts[: STEPS // 2 - (event is AgentOutput)])
    context = Context.from_dict(workflow, json.loads(saved), serializer=CtxContextSerializer(memory))
    assert context.is_running
    answer = await workflow.run(ctx=context)
    assert str(answer) == "It is 7411."
    calls = [call.tool_kwargs["number"] for call in answer.tool_calls]
    assert sorted(set(calls)) == list(range(STEPS))
    assert len(calls) == STEPS
    assert 2 <= generations(llm.prompts) <= STEPS // 3
    assert all(sum(map(count, texts(prompt[1:]))) <= LIMIT for prompt in llm.prompts)
    assert [text for text in texts(await memory.aget_all()) if text.startswith("In week")] == [
        page(number) for number in range(STEPS)
    ]
    uninterrupted = Scripted()
    await agent_of(uninterrupted).run(user_msg=GOAL, max_iterations=STEPS + 5)
    assert [texts(prompt) for prompt in uninterrupted.prompts] == [texts(prompt) for prompt in llm.prompts]


async def test_what_an_interrupted_step_left_behind_is_not_shown_twice() -> None:
    llm = Scripted()
    workflow = AgentWorkflow(agents=[agent_of(llm, history_tokens=100_000)])
    result = ChatMessage(role="tool", content=page(0), additional_kwargs={"tool_call_id": "call-0"})
    called = ChatMessage(role="assistant", content="")
    llm.prompts.append([])
    context = Context(workflow)
    await context.store.set("scratchpad", [called, result, result, called])
    await workflow.run(user_msg=GOAL, ctx=context, max_iterations=STEPS + 5)
    assert texts(llm.prompts[1]) == ["Be brief.", GOAL, "", page(0)]


def test_only_the_memory_is_written_as_a_sign() -> None:
    memory = Memory.from_defaults(session_id="ada")
    serializer = CtxContextSerializer(memory)
    assert serializer.deserialize(serializer.serialize(memory)) is memory
    for value in ("<the memory of the run>", {"memory": "<the memory of the run>"}, [1, None], ChatMessage("Hello.")):
        assert serializer.deserialize(serializer.serialize(value)) == value
