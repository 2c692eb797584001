"""LlamaIndex's agents do with our pieces what they do without: the same scripts, and the same outcome.

Where nothing has to be left out, a run with the agents of this package, compressed tools and the memory block differs
from a run without in nothing: prompts, events, answers, memory, state and errors.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from li_models import Call, ScriptedModel, texts
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.workflow import Context
from llama_index.core.workflow.errors import WorkflowRuntimeError

from llamaindex_ctxcompress import (
    CtxCompressCodeActAgent,
    CtxCompressFunctionAgent,
    CtxCompressMemoryBlock,
    CtxCompressReActAgent,
    compress_tool,
)

GOAL = "What is 5 plus 3?"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def slowly_add(a: int, b: int) -> int:
    """Add two numbers, and let others go first."""
    for _ in range(5):
        await asyncio.sleep(0)
    return a + b


def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(f"It failed: {reason}")


async def note(ctx: Context, text: str) -> str:
    """Write something into the state."""
    state = await ctx.store.get("state")
    state["notes"] = [*state["notes"], text]
    await ctx.store.set("state", state)
    return f"Noted: {text}"


async def execute(code: str) -> str:
    """Run code."""
    return f"It printed {len(code)}."


TOOLS = [
    FunctionTool.from_defaults(add),
    FunctionTool.from_defaults(async_fn=slowly_add),
    FunctionTool.from_defaults(fail),
    FunctionTool.from_defaults(async_fn=note),
    FunctionTool.from_defaults(add, name="answer_with_sum", return_direct=True),
]


@dataclass(frozen=True)
class Pieces:
    """What the agents of a run are made of."""

    function: Callable[..., Any] = FunctionAgent
    react: Callable[..., Any] = ReActAgent
    code: Callable[..., Any] = CodeActAgent
    limit: Mapping[str, Any] = field(default_factory=dict)
    tool: Callable[[Any], Any] = lambda tool: tool
    blocks: Callable[[], Sequence[Any]] = tuple

    @property
    def tools(self) -> list[BaseTool]:
        return [self.tool(tool) for tool in TOOLS]


PLAIN = Pieces()
OURS = Pieces(
    CtxCompressFunctionAgent,
    CtxCompressReActAgent,
    CtxCompressCodeActAgent,
    limit={"history_tokens": "50%"},
    tool=lambda tool: compress_tool(tool, max_tokens=1_000),
    blocks=lambda: [CtxCompressMemoryBlock(max_tokens=500)],
)

SUM: Call = ("add", {"a": 5, "b": 3})
ACT = "Thought: I must add.\nAction: add\nAction Input: {'a': 5, 'b': 3}"
DONE = "Thought: I can answer without using any more tools.\nAnswer: It is 8."
Made = Callable[[Pieces, bool], tuple[list[ScriptedModel], Any]]
"""From pieces and whether answers are streamed to the models and what runs."""


def one(kind: str, *script: Any, **options: Any) -> Made:
    """Return what makes a single agent with a script."""

    def made(pieces: Pieces, streaming: bool) -> tuple[list[ScriptedModel], Any]:
        model = ScriptedModel(script=script)
        given = {"llm": model, "streaming": streaming, "system_prompt": "Be brief.", **pieces.limit, **options}
        if kind == "code":
            agent = pieces.code(execute, tools=[], **given)
        else:
            agent = getattr(pieces, kind)(tools=pieces.tools, **given)
        return [model], agent

    return made


def in_workflow(kind: str, *script: Any) -> Made:
    """Return what makes a workflow of a single agent, with a state."""

    def made(pieces: Pieces, streaming: bool) -> tuple[list[ScriptedModel], Any]:
        models, agent = one(kind, *script)(pieces, streaming)
        return models, AgentWorkflow(agents=[agent], initial_state={"notes": []})

    return made


def with_handoff(first: str, second: str) -> Made:
    """Return what makes a workflow in which one agent hands over to another."""
    scripts: Mapping[str, Sequence[Any]] = {"function": [("", [SUM]), "It is 8."], "react": [ACT, DONE]}

    def made(pieces: Pieces, streaming: bool) -> tuple[list[ScriptedModel], Any]:
        handing = ("I hand over.", [("handoff", {"to_agent": "second", "reason": "It can add."})])
        models = [ScriptedModel(script=[handing]), ScriptedModel(script=scripts[second])]
        given = {"streaming": streaming, **pieces.limit}
        root = getattr(pieces, first)(name="first", description="Hands over.", llm=models[0], **given)
        other = getattr(pieces, second)(name="second", description="Adds.", llm=models[1], tools=pieces.tools, **given)
        return models, AgentWorkflow(agents=[root, other], root_agent="first")

    return made


RUNS: dict[str, Made] = {
    "no tool": one("function", "Hello."),
    "a tool": one("function", ("", [SUM]), "It is 8."),
    "text and calls": one("function", ("I add.", [SUM]), ("Once more.", [SUM]), "It is 8."),
    "calls in parallel": one("function", ("", [("slowly_add", {"a": 1, "b": 1}), SUM, SUM]), "It is 8."),
    "calls that must not be parallel": one("function", ("", [SUM, SUM]), "It is 8.", allow_parallel_tool_calls=False),
    "an error in a tool": one("function", ("", [("fail", {"reason": "why not"})]), "Sorry."),
    "a tool that is not there": one("function", ("", [("subtract", {"a": 1, "b": 1})]), "Sorry."),
    "arguments that are missing": one("function", ("", [("add", {"a": 1})]), "Sorry."),
    "an error among results": one("function", ("", [("fail", {"reason": "x"}), SUM]), "It is 8."),
    "an answer by a tool": one("function", ("", [("answer_with_sum", {"a": 5, "b": 3})])),
    "too many steps": one("function", *[("", [SUM])] * 20),
    "a state": in_workflow("function", ("", [("note", {"text": "a"})]), ("", [("note", {"text": "b"})]), "Done."),
    "structured output": one("function", "It is 8.", structured_output_fn=lambda messages: {"number": len(messages)}),
    "react": one("react", ACT, DONE),
    "react in a workflow": in_workflow("react", ACT, ACT, DONE),
    "react, no tool": one("react", DONE),
    "react, an error in a tool": one("react", "Thought: x\nAction: fail\nAction Input: {'reason': 'y'}", DONE),
    "react, what cannot be read": one("react", "Action: add 5 and 3", ACT, DONE),
    "react, an answer by a tool": one("react", ACT.replace("Action: add", "Action: answer_with_sum")),
    "code": one("code", "I run it.\n<execute>\nprint(5 + 3)\n</execute>", "It is 8."),
    "code, several steps": one("code", *["<execute>\nprint(5 + 3)\n</execute>"] * 3, "It is 8."),
    "code in a workflow": in_workflow("code", "<execute>\nprint(5 + 3)\n</execute>", "It is 8."),
    "a handoff": with_handoff("function", "function"),
    "a handoff to react": with_handoff("function", "react"),
}


AT_ONCE = ("calls in parallel", "calls that must not be parallel", "an error among results")
"""Runs in which the order of results is not given: LlamaIndex runs all calls of an answer at once."""


async def outcome(made: Made, pieces: Pieces, *, streaming: bool) -> Mapping[str, Any]:
    """Run twice in one context, and return all that can be seen of it."""
    models, workflow = made(pieces, streaming)
    memory = Memory.from_defaults(session_id="1", token_limit=50_000, memory_blocks=[*pieces.blocks()])
    context = Context(workflow)
    seen: dict[str, Any] = {"events": [], "answers": []}
    for goal in (GOAL, "Thank you.")[: 1 + (len(models) == 1 and len(models[0].script) == 1)]:
        handler = workflow.run(user_msg=goal, memory=memory, ctx=context)
        seen["events"] += [_event(event) async for event in handler.stream_events()]
        try:
            answer = await handler
        except (WorkflowRuntimeError, IndexError) as error:
            seen["answers"].append(repr(error))
            continue
        calls = [(call.tool_name, call.tool_kwargs) for call in answer.tool_calls]
        seen["answers"].append((str(answer), calls, getattr(answer, "structured_response", None)))
    seen["prompts"] = [[_message(message) for message in prompt] for model in models for prompt in model.prompts]
    seen["memory"] = [_message(message) for message in await memory.aget_all()]
    seen["state"] = await context.store.get("state", default=None)
    return seen


def _message(message: ChatMessage) -> tuple[str, str, Any]:
    return message.role.value, message.content or "", message.additional_kwargs.get("tool_call_id")


def _event(event: Any) -> tuple[str, Any]:
    """Return the kind of an event, and what it says. Ids of calls of ReAct and CodeAct are random."""
    result = getattr(event, "tool_output", None)
    said = {
        "input": texts(getattr(event, "input", ())),
        "response": str(getattr(event, "response", "")),
        "delta": getattr(event, "delta", ""),
        "result": result
        and (result.content, result.is_error, str(result.raw_output), repr(getattr(result, "exception", None))),
    }
    return type(event).__name__, said


def _without_order(seen: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an outcome without the order in which tools that run at the same time have returned."""
    return {
        "events": sorted(
            repr((kind, sorted(said["input"]), said["response"], said["result"])) for kind, said in seen["events"]
        ),
        "prompts": [sorted(map(repr, prompt)) for prompt in seen["prompts"]],
        "memory": sorted(map(repr, seen["memory"])),
        "answers": [answer[0] for answer in seen["answers"]],
    }


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("name", RUNS)
async def test_a_run_is_the_same_with_our_pieces(name: str, streaming: bool) -> None:
    without = await outcome(RUNS[name], PLAIN, streaming=streaming)
    assert without["prompts"]
    assert without["answers"]
    with_ours = await outcome(RUNS[name], OURS, streaming=streaming)
    if name in AT_ONCE:
        assert _without_order(with_ours) == _without_order(without)
    else:
        assert with_ours == without
