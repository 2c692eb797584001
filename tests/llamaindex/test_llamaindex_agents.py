"""The agents whose running turn stays within its tokens, and runs that go on from the middle of a turn.

A function agent hands its calls over, which providers write in three ways; ReAct and CodeAct write them as text.
"""

import json
import re
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from li_models import ScriptedModel, texts
from llama_index.core.agent.react.types import ActionReasoningStep, ObservationReasoningStep
from llama_index.core.agent.workflow import AgentInput, AgentOutput, AgentWorkflow, ToolCallResult
from llama_index.core.base.llms import types
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.workflow import Context
from long_runs import generations
from workflows.errors import WorkflowCancelledByUser

from ctxcompress import CompressionConfig, Compressor
from llamaindex_ctxcompress import (
    CtxCompressCodeActAgent,
    CtxCompressFunctionAgent,
    CtxCompressMemoryBlock,
    CtxCompressReActAgent,
    CtxContextSerializer,
)

STEPS = 20
LIMIT = 2_500
WINDOW = 10_000
GOAL = "On which port does the relay of the harbour listen?"
FACT = "The relay of the harbour listens on port 7411."
ANSWER = "It is 7411."
count = Compressor().count


def page(number: int) -> str:
    """Read a page of the manual."""
    fact = FACT if number == 2 else "Ticket INC-2041 is open." if number == 3 else ""
    lines = (f"In week {week} of chapter {number} the weather was good, and nobody came. " for week in range(12))
    return f"{''.join(lines)}{fact} That was chapter {number}."


def page_in(code: str) -> int:
    return int(re.findall(r"page\((\d+)\)", code)[-1])


async def execute(code: str) -> str:
    """Run code that reads a page."""
    return page(page_in(code))


class Written(ScriptedModel):
    """Writes calls as providers do, in one of three `styles`."""

    style: str = "none"

    def answer(self, number: int) -> ChatResponse:
        response = super().answer(number)
        for place, (name, given) in enumerate((response.raw or {"calls": ()})["calls"]):
            call = f"call-{number}-{place}"
            if self.style == "kwargs":
                written = {"id": call, "function": {"name": name, "arguments": json.dumps(given)}}
                response.message.additional_kwargs["tool_calls"] = [written]
            elif self.style == "blocks":
                block: Any = getattr(types, "ToolCallBlock")  # noqa: B009 - older versions have none
                response.message.blocks = [block(tool_call_id=call, tool_name=name, tool_kwargs=given)]
        return response


@dataclass(frozen=True)
class Kind:
    """An agent, and how its model writes."""

    agent: Callable[..., Any]
    call: Callable[[int], Any]
    final: str = ANSWER
    result: str = ""
    """What stands before the text of a page."""
    role: str = "user"
    """Of a result."""
    style: str = "none"

    def script(self, steps: int = STEPS, first: int = 0) -> list[Any]:
        return [*map(self.call, range(first, first + steps)), self.final]

    def model(self, *answers: Any) -> Written:
        return Written(script=answers or self.script(), style=self.style)

    def said(self, number: int) -> str:
        """Return the text of a call."""
        call = self.call(number)
        return call if isinstance(call, str) else call[0]


def function(llm: ScriptedModel, **options: Any) -> CtxCompressFunctionAgent:
    given: dict[str, Any] = {"history_tokens": LIMIT, "streaming": False, "tools": [page], **options}
    return CtxCompressFunctionAgent(name="reader", description="Reads.", system_prompt="Be brief.", llm=llm, **given)


def react(llm: ScriptedModel, **options: Any) -> CtxCompressReActAgent:
    given = {"name": "reader", "history_tokens": LIMIT, "tools": [page], "system_prompt": "Be brief.", **options}
    return CtxCompressReActAgent(llm=llm, **given)


def code_act(llm: ScriptedModel, **options: Any) -> CtxCompressCodeActAgent:
    given = {"name": "reader", "history_tokens": LIMIT, "tools": [page], "system_prompt": "Be brief.", **options}
    return CtxCompressCodeActAgent(given.pop("code_execute_fn", execute), llm=llm, **given)


STYLES = ["none", "kwargs", *(["blocks"] if hasattr(types, "ToolCallBlock") else [])]
CALLING = {
    style: Kind(function, lambda n: ("", [("page", {"number": n})]), role="tool", style=style) for style in STYLES
}
WRITING = {
    "react": Kind(
        react,
        lambda n: f"Thought: I have not read chapter {n} yet.\nAction: page\nAction Input: {{'number': {n}}}",
        f"Thought: I can answer without using any more tools.\nAnswer: {ANSWER}",
        "Observation: ",
    ),
    "code": Kind(
        code_act,
        lambda n: f"I read chapter {n}.\n<execute>\nprint(page({n}))\n</execute>",
        ANSWER,
        "Result of executing the code given:\n\n",
    ),
}
KINDS = {**CALLING, **WRITING}
OF_EACH_CLASS = {"function": CALLING["kwargs"], **WRITING}
of_each_class = pytest.mark.parametrize("kind", OF_EACH_CLASS.values(), ids=OF_EACH_CLASS)
writing = pytest.mark.parametrize("kind", WRITING.values(), ids=WRITING)


def size(prompt: Sequence[ChatMessage]) -> int:
    """Count the tokens of the messages of a prompt, and what stands around each of them."""
    return sum(4 + count(text) for text in texts(prompt) if text)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(("streaming", "is_alone"), [(False, True), (True, False)])
async def test_a_turn_of_many_steps_stays_within_its_tokens(kind: Kind, streaming: bool, is_alone: bool) -> None:
    llm = kind.model()
    agent = kind.agent(llm, streaming=streaming)
    workflow: Any = agent if is_alone else AgentWorkflow(agents=[agent])
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    answer = await workflow.run(user_msg=GOAL, memory=memory, max_iterations=STEPS + 5)
    assert str(answer) == ANSWER
    assert len(llm.prompts) == STEPS + 1
    calls = {kind.said(number) for number in range(STEPS)}
    for number, prompt in enumerate(llm.prompts):
        system, goal, *turn = prompt
        assert (system.role.value, goal.content) == ("system", GOAL)
        assert ("page" if kind.result else "Be brief.") in (system.content or "")
        assert size(prompt[1:]) <= LIMIT
        assert [message.role.value for message in turn] == ["assistant", kind.role] * (len(turn) // 2)
        newest = range(max(number - 3, 0), number)
        assert texts(turn[-2 * len(newest) :] if newest else turn) == [
            text for n in newest for text in (kind.said(n), f"{kind.result}{page(n)}")
        ]
        ids = [message.additional_kwargs.get("tool_call_id") for message in turn[1::2]]
        assert ids[-3:] == [f"call-{n}-0" if kind.role == "tool" else None for n in newest]
        assert set(texts(turn[::2])) <= calls  # they are whole, or not there
        assert number < 3 or FACT in "".join(texts(turn))
    assert 2 <= generations([*map(texts, llm.prompts)]) <= STEPS // 3
    remembered = "\n".join(texts(memory.get_all()))
    assert all(page(number) in remembered for number in range(STEPS))


@of_each_class
async def test_the_input_event_tells_what_the_model_reads(kind: Kind) -> None:
    llm = kind.model()
    handler = kind.agent(llm).run(user_msg=GOAL, max_iterations=STEPS + 5)
    given = [texts(event.input) async for event in handler.stream_events() if isinstance(event, AgentInput)]
    await handler
    assert given == [texts(prompt) for prompt in llm.prompts]


async def test_a_share_is_of_what_the_model_can_read() -> None:
    llm = CALLING["none"].model()
    agent = function(llm, history_tokens="15%")
    await agent.run(user_msg=GOAL, max_iterations=STEPS + 5)
    largest = max(sum(map(count, texts(prompt[1:]))) for prompt in llm.prompts)
    assert WINDOW * 10 // 100 < largest <= WINDOW * 15 // 100


@of_each_class
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
def test_values_that_cannot_work_are_refused(kind: Kind, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind.agent(ScriptedModel(), **options)


def memory_in(folder: Path, block: CtxCompressMemoryBlock) -> Memory:
    uri = f"sqlite+aiosqlite:///{folder / 'chat.db'}"
    return Memory.from_defaults(session_id="ada", token_limit=50_000, memory_blocks=[block], async_database_uri=uri)


@pytest.mark.skipif(
    version("llama-index-workflows").startswith("1."), reason="hands on the results of an interrupted step twice"
)
@pytest.mark.parametrize(("event", "is_alone"), [(AgentOutput, False), (ToolCallResult, True)])
async def test_a_run_goes_on_from_the_middle_of_its_turn(tmp_path: Path, event: type, is_alone: bool) -> None:
    """Everything but the chat store and the written context is thrown away after half of the steps."""

    def made(folder: Path) -> tuple[ScriptedModel, Any, Memory]:
        llm = CALLING["none"].model()
        agent = function(llm)
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
    assert 2 <= generations([*map(texts, llm.prompts)]) <= STEPS // 3
    assert all(sum(map(count, texts(prompt[1:]))) <= LIMIT for prompt in llm.prompts)
    assert [text for text in texts(await memory.aget_all()) if text.startswith("In week")] == [
        page(number) for number in range(STEPS)
    ]
    uninterrupted = CALLING["none"].model()
    await function(uninterrupted).run(user_msg=GOAL, max_iterations=STEPS + 5)
    assert [texts(prompt) for prompt in uninterrupted.prompts] == [texts(prompt) for prompt in llm.prompts]


async def test_what_an_interrupted_step_left_behind_is_not_shown_twice() -> None:
    llm = CALLING["none"].model()
    workflow = AgentWorkflow(agents=[function(llm, history_tokens=100_000)])
    result = ChatMessage(role="tool", content=page(0), additional_kwargs={"tool_call_id": "call-0-0"})
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


async def test_what_the_parser_asks_for_is_no_wish_of_the_user() -> None:
    """ReAct's parser quotes what it could not read: nothing is compressed for that. The model sees it whole."""
    unread = "Action: see in which week of chapter 5 the weather was good" + " and who came in week 7 of chapter 4" * 45
    script = [*KINDS["react"].script(14)[:-1], unread, *KINDS["react"].script(10, first=14)]
    llm = ScriptedModel(script=script)
    await react(llm).run(user_msg=GOAL, max_iterations=len(script) + 1)
    assert len(llm.prompts) == len(script)
    before, asked_again = (texts(prompt) for prompt in llm.prompts[14:16])
    assert asked_again[2] == GOAL  # as the framework has it
    assert asked_again[3] == unread
    assert "Error while parsing" in asked_again[4]
    assert unread in asked_again[4]
    assert asked_again[5:] != before[2:]  # there was no room for everything
    for number, prompt in enumerate(llm.prompts):
        assert size(prompt[1:]) <= LIMIT
        assert number < 3 or FACT in "".join(texts(prompt))


@writing
async def test_what_an_interrupted_step_of_an_agent_that_writes_left_behind_is_not_shown_twice(kind: Kind) -> None:
    llm = ScriptedModel(script=[kind.final])
    agent = kind.agent(llm, history_tokens=100_000)
    left: list[Any] = [ChatMessage(kind.call(0), role="assistant"), ChatMessage(f"{kind.result}{page(0)}", role="user")]
    if kind.agent is react:
        action = ActionReasoningStep(
            thought="I have not read chapter 0 yet.", action="page", action_input={"number": 0}
        )
        left = [action, ObservationReasoningStep(observation=page(0))]
    context = Context(agent)
    await context.store.set("current_reasoning" if kind.agent is react else "scratchpad", [*left, left[1], left[0]])
    await agent.run(user_msg=GOAL, ctx=context)
    assert texts(llm.prompts[0])[1:] == [GOAL, kind.call(0), f"{kind.result}{page(0)}"]


@pytest.mark.skipif(
    version("llama-index-workflows").startswith("1."), reason="hands on the results of an interrupted step twice"
)
@writing
async def test_a_run_of_an_agent_that_writes_goes_on_from_the_middle_of_its_turn(kind: Kind) -> None:
    llm = kind.model()
    agent = kind.agent(llm)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    handler = agent.run(user_msg=GOAL, memory=memory, max_iterations=STEPS + 5)
    seen, saved = 0, ""
    async for event in handler.stream_events():
        seen += isinstance(event, AgentOutput)
        if seen == STEPS // 2:
            saved = json.dumps(handler.ctx.to_dict(serializer=CtxContextSerializer(memory)))
            break
    await handler
    uninterrupted = [texts(prompt) for prompt in llm.prompts]

    again = ScriptedModel(script=kind.script())
    again.prompts.extend(llm.prompts[: STEPS // 2 - 1])  # the answer that was not handed on yet is asked for again
    agent = kind.agent(again)
    later = ChatMemoryBuffer.from_defaults([ChatMessage(GOAL, role="user")], token_limit=100_000)
    context = Context.from_dict(agent, json.loads(saved), serializer=CtxContextSerializer(later))
    assert str(await agent.run(ctx=context)) == ANSWER
    assert [texts(prompt) for prompt in again.prompts] == uninterrupted
