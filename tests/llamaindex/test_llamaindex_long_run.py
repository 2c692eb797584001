"""An agent of LlamaIndex with everything on: 500 documents, 30 steps, and a restart in the middle."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from li_models import ScriptedModel
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import Memory
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.chat_store.sql import MessageStatus
from llama_index.core.tools import FunctionTool, RetrieverTool
from llama_index.core.workflow import Context, JsonSerializer
from long_runs import (
    FACTS,
    GOALS,
    MUST_KEEP,
    RESTART_AFTER,
    STEPS,
    Call,
    Seen,
    corpus,
    count,
    handles,
    list_documents,
    must_keep_in,
    names,
    plan,
    ranked,
    read_document,
    read_log,
    size,
    web_search,
)
from telemetry import Told

from ctxcompress import CompressionConfig
from ctxcompress.agents.left_out import DiskStore
from ctxcompress.cache import Cache
from llamaindex_ctxcompress import (
    CtxCompressFunctionAgent,
    CtxCompressMemoryBlock,
    CtxCompressPostprocessor,
    CtxCompressRetriever,
    CtxContextBuilder,
    builder_tools,
    compress_tool,
    expand_tool,
    prompt_tokens,
)

WINDOW = 25_000
MEMORY, BLOCK, HISTORY = 6_000, 1_200, 6_000
EXPANDED, CONTEXT = 700, 2_500
STEPS_OF_TURN = 5
SYSTEM = "You are a librarian. Answer from the documents."


class Librarian(ScriptedModel):
    """Calls tools by the plan."""

    plan: Sequence[Sequence[Call]] = ()

    def answer(self, number: int) -> ChatResponse:
        calls = self.plan[number]
        return ChatResponse(message=ChatMessage(role="assistant", content="" if calls else "That is all."), raw=calls)

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        known = [handle for message in self.prompts[-1] for handle in handles(message.content or "")]
        return [
            ToolSelection(
                tool_id=f"{len(self.prompts)}-{number}",
                tool_name=name,
                tool_kwargs={key: known[-1] if value == "?" else value for key, value in given.items()},
            )
            for number, (name, given) in enumerate(response.raw or [])
        ]


class Library(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(node=TextNode(text=corpus()[name], id_=name, metadata={"file_path": name}), score=score)
            for name, score in ranked(query_bundle.query_str, 6)
        ]


def turns(first: int, end: int) -> list[list[Call]]:
    """Return the calls of these steps, with an answer after every fifth."""
    steps = plan()
    return [
        calls
        for turn in range(first, end, STEPS_OF_TURN)
        for calls in [*steps[turn : turn + STEPS_OF_TURN], list[Call]()]
    ]


class Process:
    """All that lives in one process. Only the files are shared."""

    def __init__(self, folder: Path, first: int, end: int) -> None:
        self.folder = folder
        self.told = Told()
        self.llm = Librarian(plan=turns(first, end), window=WINDOW)
        shared: Any = {"must_keep": MUST_KEEP, "telemetry": self.told.telemetry, "cache": Cache()}
        store = DiskStore(folder / "left_out.db")
        library = Library()
        postprocessor = CtxCompressPostprocessor(max_tokens=400, **shared)
        functions = (web_search, read_document, list_documents, read_log)
        budgets: dict[Any, Any] = {web_search: "2%", list_documents: "2%"}
        self.tools = [
            *(
                compress_tool(
                    FunctionTool.from_defaults(function),
                    max_tokens=budgets.get(function, 500),
                    model=self.llm,
                    store=store,
                    **shared,
                )
                for function in functions
            ),
            expand_tool(store, max_tokens=EXPANDED, must_keep=MUST_KEEP),
            RetrieverTool.from_defaults(
                CtxCompressRetriever(library, postprocessor=postprocessor),
                name="find_passages",
                description="Find passages.",
            ),
            *builder_tools(CtxContextBuilder(max_tokens=CONTEXT, **shared), library, state_key="context"),
        ]
        agent = CtxCompressFunctionAgent(
            name="agent",
            history_tokens=HISTORY,
            config=CompressionConfig(**shared),
            description="An agent.",
            system_prompt=SYSTEM,
            tools=self.tools,
            llm=self.llm,
            streaming=False,
        )
        self.workflow = AgentWorkflow(agents=[agent])
        self.block = CtxCompressMemoryBlock(max_tokens=BLOCK, **shared)
        self.results: list[Any] = []

    def memory(self) -> Memory:
        return Memory.from_defaults(
            session_id="ada",
            token_limit=MEMORY,
            token_flush_size=1_000,
            memory_blocks=[self.block],
            async_database_uri=f"sqlite+aiosqlite:///{self.folder / 'chat.db'}",
        )

    async def run(self, goals: list[str], context: Context, memory: Memory) -> None:
        for goal in goals:
            handler = self.workflow.run(user_msg=goal, ctx=context, memory=memory)
            answer = await handler
            self.results += answer.tool_calls


@dataclass
class Run:
    """The run, before and after the restart."""

    folder: Path
    before: Process
    after: Process
    context: Context

    @property
    def prompts(self) -> list[list[ChatMessage]]:
        return self.before.llm.prompts + self.after.llm.prompts

    @property
    def results(self) -> list[Any]:
        return self.before.results + self.after.results


async def in_two_processes(folder: Path) -> Run:
    goals = [*GOALS, *(f"{goal} Look at what raises errors." for goal in GOALS)]
    half = RESTART_AFTER // STEPS_OF_TURN
    before = Process(folder, 0, RESTART_AFTER)
    context, file = Context(before.workflow), folder / "context.json"
    await before.run(goals[:half], context, before.memory())
    file.write_text(json.dumps(context.to_dict(serializer=JsonSerializer())), encoding="utf-8")

    after = Process(folder, RESTART_AFTER, STEPS)
    saved = json.loads(file.read_text(encoding="utf-8"))
    context = Context.from_dict(after.workflow, saved, serializer=JsonSerializer())
    memory = after.memory()
    after.block.messages = await memory.aget_all(status=MessageStatus.ARCHIVED)
    await after.run(goals[half:], context, memory)
    return Run(folder, before, after, context)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run one half of the plan, throw everything away but the files, and run the other half."""
    return asyncio.run(in_two_processes(tmp_path_factory.mktemp("run")))


@pytest.fixture(scope="module")
def seen(run: Run) -> Seen:
    return Seen([[(message.role.value, message.content or "") for message in prompt] for prompt in run.prompts])


def test_every_step_is_made_once(run):
    made = sorted((call.tool_name, json.dumps(call.tool_kwargs, sort_keys=True)) for call in run.results)
    assert len(made) == sum(map(len, plan()))
    assert {name for name, _ in made} == {name for calls in plan() for name, _ in calls}
    assert not any(call.tool_output.is_error for call in run.results)


def test_every_output_is_within_its_budget(run):
    share = WINDOW * 2 // 100
    budgets = {"expand": EXPANDED, "search_and_add": CONTEXT // 4, "context_status": 300, "find_passages": 400}
    budgets |= {"web_search": share, "list_documents": share}
    for call in run.results:
        assert count(call.tool_output.content.strip()) <= budgets.get(call.tool_name, 500), call.tool_name


def test_the_memory_is_within_its_tokens(seen):
    for prompt in seen.prompts[:: STEPS_OF_TURN + 1]:
        assert size(prompt) <= MEMORY + BLOCK
        assert all(size([message]) <= BLOCK + 20 for message in prompt if "<memory>" in message[1])


def test_every_prompt_is_within_its_tokens(run):
    for prompt in run.prompts:
        assert prompt_tokens([message for message in prompt if message.role != "system"]) <= HISTORY


def test_the_prompt_changes_its_beginning_only_with_a_new_turn_or_generation(run, seen):
    turns = len(seen.prompts) // (STEPS_OF_TURN + 1)
    assert turns == STEPS // STEPS_OF_TURN
    generations = asyncio.run(run.context.store.get("ctxcompress_history"))["number"]
    of_turns = [
        Seen(seen.prompts[first : first + STEPS_OF_TURN + 1]).generations()
        for first in range(0, len(seen.prompts), STEPS_OF_TURN + 1)
    ]
    assert sum(of_turns) <= generations < turns
    assert 1 <= seen.generations() < turns + generations
    assert seen.known() > 0.7


def whole_output(call: Any) -> str | None:
    """Return all that a tool returned in a call; None for tools whose outputs are not shortened."""
    wholes = {
        "web_search": lambda asked: str(web_search(asked["query"])),
        "read_document": lambda asked: corpus()[names()[asked["number"]]],
        "list_documents": lambda _: str(list_documents("")),
        "read_log": lambda _: read_log(""),
    }
    return wholes[call.tool_name](call.tool_kwargs) if call.tool_name in wholes else None


def test_all_handles_give_the_whole_outputs(run, seen):
    expand = expand_tool(DiskStore(run.folder / "left_out.db"), max_tokens=1_000_000)
    for call in run.results:
        for handle in handles(call.tool_output.content):
            text = asyncio.run(_in_context(expand, run.context, handle=handle))
            assert call.tool_name == "expand" or text == whole_output(call)
    shown = seen.handles
    assert len(shown) > 15
    assert set(shown) == {handle for call in run.results for handle in handles(call.tool_output.content)}


async def _in_context(expand: FunctionTool, context: Context, **asked: Any) -> str:
    return str((await expand.acall(ctx=context, **asked)).content)


def test_facts_that_were_left_out_can_be_read_at_the_end(run):
    expand = expand_tool(DiskStore(run.folder / "left_out.db"), max_tokens=EXPANDED)
    outputs = {call.tool_kwargs["number"]: call for call in run.results if call.tool_name == "read_document"}
    for fact in FACTS:
        (handle,) = handles(outputs[fact.document].tool_output.content)
        answer = asyncio.run(_in_context(expand, run.context, handle=handle, question=fact.question))
        assert fact.sentence in answer
        assert count(answer) <= EXPANDED


def test_what_must_be_kept_is_in_every_prompt_after_it_was_found(seen):
    due: set[str] = set()
    for prompt in seen.prompts:
        assert due <= must_keep_in("\n".join(text for _, text in prompt))
        due |= {found for role, text in prompt if role == "tool" for found in must_keep_in(text)}
    assert due >= {"INC-2041", "INC-3310", "INC-7702"}


def test_the_context_goes_on_after_the_restart(run):
    saved = asyncio.run(run.context.store.get("context"))
    builder = CtxContextBuilder.from_dict(saved, must_keep=MUST_KEEP)
    added = [call.tool_output.content for call in run.results if call.tool_name == "search_and_add"]
    assert builder.render() == "\n\n".join(text for text in added if not text.startswith("Nothing"))
    assert 0 <= builder.remaining < CONTEXT // 4


def test_what_is_told_covers_both_processes(run):
    assert all(process.told.metric("ctxcompress.token.saved") > 0 for process in (run.before, run.after))
