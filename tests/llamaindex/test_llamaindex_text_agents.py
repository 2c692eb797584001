"""The agents that write their calls as text, with their running turn within its tokens: ReAct and CodeAct."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest
from li_models import ScriptedModel, generations, texts
from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.react.types import ActionReasoningStep, ObservationReasoningStep
from llama_index.core.agent.workflow import AgentInput, AgentOutput, AgentWorkflow
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.agents.left_out import MemoryStore
from llamaindex_ctxcompress import (
    CtxCompressCodeActAgent,
    CtxCompressReActAgent,
    CtxContextSerializer,
    compress_tool,
)

STEPS = 20
LIMIT = 2_500
GOAL = "On which port does the relay of the harbour listen?"
FACT = "The relay of the harbour listens on port 7411."
ANSWER = "It is 7411."
count = Compressor().count


def page(number: int) -> str:
    """Read a page of the manual."""
    lines = (f"In week {week} of chapter {number} the weather was good, and nobody came. " for week in range(12))
    return f"{''.join(lines)}{FACT if number == 2 else ''} That was chapter {number}."


async def execute(code: str) -> str:
    """Run code that reads a page."""
    return page(int(re.findall(r"page\((\d+)\)", code)[-1]))


@dataclass(frozen=True)
class Kind:
    """An agent that writes its calls as text."""

    agent: Callable[..., Any]
    call: Callable[[int], str]
    final: str
    result: str
    """What stands before the text of a page."""

    def script(self, steps: int = STEPS, first: int = 0) -> list[str]:
        return [*map(self.call, range(first, first + steps)), self.final]


def react(llm: ScriptedModel, **options: Any) -> CtxCompressReActAgent:
    given = {"name": "reader", "history_tokens": LIMIT, "tools": [page], "system_prompt": "Be brief.", **options}
    return CtxCompressReActAgent(llm=llm, **given)


def code_act(llm: ScriptedModel, **options: Any) -> CtxCompressCodeActAgent:
    given = {"name": "reader", "history_tokens": LIMIT, "tools": [page], "system_prompt": "Be brief.", **options}
    return CtxCompressCodeActAgent(given.pop("code_execute_fn", execute), llm=llm, **given)


KINDS = {
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
both = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def size(prompt: Sequence[ChatMessage]) -> int:
    """Count the tokens of the messages of a prompt, and what stands around each of them."""
    return sum(4 + count(text) for text in texts(prompt) if text)


@both
@pytest.mark.parametrize(("streaming", "is_alone"), [(False, True), (True, False)])
async def test_a_turn_of_many_steps_stays_within_its_tokens(kind: Kind, streaming: bool, is_alone: bool) -> None:
    llm = ScriptedModel(script=kind.script())
    agent = kind.agent(llm, streaming=streaming)
    workflow: Any = agent if is_alone else AgentWorkflow(agents=[agent])
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    answer = await workflow.run(user_msg=GOAL, memory=memory, max_iterations=STEPS + 5)
    assert str(answer) == ANSWER
    assert len(llm.prompts) == STEPS + 1
    for number, prompt in enumerate(llm.prompts):
        system, goal, *turn = prompt
        assert system.role == "system"
        assert "page" in (system.content or "")
        assert goal.content == GOAL
        assert size(prompt[1:]) <= LIMIT
        assert [message.role.value for message in turn] == ["assistant", "user"] * (len(turn) // 2)
        newest = range(max(number - 3, 0), number)
        assert texts(turn[-2 * len(newest) :] if newest else turn) == [
            text for n in newest for text in (kind.call(n), f"{kind.result}{page(n)}")
        ]
        assert set(texts(turn[::2])) <= set(kind.script())  # calls are whole, or not there
        assert number < 3 or FACT in "".join(texts(turn))
    assert 2 <= generations(llm.prompts) <= STEPS // 3
    remembered = "\n".join(texts(memory.get_all()))
    assert all(page(number) in remembered for number in range(STEPS))


@both
async def test_the_input_event_tells_what_the_model_reads(kind: Kind) -> None:
    llm = ScriptedModel(script=kind.script())
    handler = kind.agent(llm).run(user_msg=GOAL, max_iterations=STEPS + 5)
    given = [texts(event.input) async for event in handler.stream_events() if isinstance(event, AgentInput)]
    await handler
    assert given == [texts(prompt) for prompt in llm.prompts]


@both
async def test_the_next_turn_begins_within_the_tokens(kind: Kind) -> None:
    llm = ScriptedModel(script=[*kind.script(15), *kind.script(15, first=15)])
    agent = kind.agent(llm)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    context = Context(agent)
    for goal in (GOAL, "Does anybody come in week 3 of chapter 20?"):
        await agent.run(user_msg=goal, memory=memory, ctx=context)
    assert len(llm.prompts) == 32
    for number, prompt in enumerate(llm.prompts):
        assert size(prompt[1:]) <= LIMIT
        assert (GOAL if number < 16 else "Does anybody come in week 3 of chapter 20?") in texts(prompt)


async def test_results_of_code_are_results_in_later_turns_too() -> None:
    """What the model was shown of them stays the same when they have gone from the turn into the memory."""
    llm = ScriptedModel(script=[*KINDS["code"].script(15), ANSWER])
    agent = code_act(llm)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    context = Context(agent)
    await agent.run(user_msg=GOAL, memory=memory, ctx=context)
    await agent.run(user_msg="And that of the harbour?", memory=memory, ctx=context)
    last, first = texts(llm.prompts[15]), texts(llm.prompts[16])
    assert page(0) not in "".join(last)
    assert first == [*last, ANSWER, "And that of the harbour?"]


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


@both
async def test_what_an_interrupted_step_left_behind_is_not_shown_twice(kind: Kind) -> None:
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


async def test_observations_of_the_role_tool_are_results() -> None:
    llm = ScriptedModel(script=KINDS["react"].script())
    formatter = ReActChatFormatter.from_defaults(observation_role=MessageRole.TOOL)
    await react(llm, formatter=formatter).run(user_msg=GOAL, max_iterations=STEPS + 5)
    assert {message.role.value for message in llm.prompts[-1]} == {"system", "user", "assistant", "tool"}
    assert all(size(prompt[1:]) <= LIMIT for prompt in llm.prompts)


@both
async def test_handles_stay_in_the_prompt(kind: Kind) -> None:
    tool = compress_tool(FunctionTool.from_defaults(page), max_tokens=150, store=MemoryStore())

    async def run(code: str) -> str:
        return str(tool(int(re.findall(r"page\((\d+)\)", code)[-1])).content)

    given: dict[str, Any] = {"tools": [tool]} if kind.agent is react else {"code_execute_fn": run}
    llm = ScriptedModel(script=kind.script())
    await kind.agent(llm, history_tokens=1_500, **given).run(user_msg=GOAL, max_iterations=STEPS + 5)
    for prompt in llm.prompts:
        assert size(prompt[1:]) <= 1_500
        assert all("expand ctx-" in text for text in texts(prompt[3::2]))


@pytest.mark.skipif(
    version("llama-index-workflows").startswith("1."), reason="hands on the results of an interrupted step twice"
)
@both
async def test_a_run_goes_on_from_the_middle_of_its_turn(kind: Kind) -> None:
    llm = ScriptedModel(script=kind.script())
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


@both
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history_tokens": 0}, "history_tokens is 0"),
        ({"keep_last": "many"}, "keep_last"),
        ({"history_share": 1.5}, "history_share is 1.5"),
        ({"preset": "docs", "config": CompressionConfig()}, "preset"),
    ],
)
def test_values_that_cannot_work_are_refused(kind: Kind, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind.agent(ScriptedModel(), **options)
