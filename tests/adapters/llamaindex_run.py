"""The long run in LlamaIndex: an agent with everything on, in two processes that share files alone."""

import asyncio
import json
from pathlib import Path
from typing import Any

import long_runs
from li_models import ScriptedModel
from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.memory import Memory
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.storage.chat_store.sql import MessageStatus
from llama_index.core.tools import FunctionTool, RetrieverTool
from llama_index.core.workflow import Context, JsonSerializer
from llamaindex_way import Finder
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

WINDOW, MEMORY, BLOCK, HISTORY, MOST, EXPANDED, CONTEXT = 25_000, 6_000, 1_200, 6_000, 500, 700, 2_500
SHARE, STEPS_OF_TURN = WINDOW * 2 // 100, 5
BUDGETS = {"expand": EXPANDED, "search_and_add": CONTEXT // 4, "context_status": 300, "find_passages": 400}
BUDGETS |= {"web_search": SHARE, "list_documents": SHARE}


def found(query: str) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=long_runs.corpus()[name], id_=name, metadata={"file_path": name}), score=score)
        for name, score in long_runs.ranked(query, 6)
    ]


def script(first: int, end: int) -> list[Any]:
    """Return the answers of these steps, with one to the user after every fifth."""
    steps = [("", calls) for calls in long_runs.plan()]
    turns = range(first, end, STEPS_OF_TURN)
    return [answer for turn in turns for answer in [*steps[turn : turn + STEPS_OF_TURN], "That is all."]]


class Process:
    """All that lives in one process. Only the files are shared."""

    def __init__(self, folder: Path, first: int, end: int) -> None:
        self.told, self.results, library = Told(), list[Any](), Finder(found)
        self.llm = ScriptedModel(script=script(first, end), window=WINDOW)
        shared: Any = {"must_keep": long_runs.MUST_KEEP, "telemetry": self.told.telemetry, "cache": Cache()}
        store = DiskStore(folder / "left_out.db")
        retriever = CtxCompressRetriever(library, postprocessor=CtxCompressPostprocessor(max_tokens=400, **shared))
        budgets: dict[Any, Any] = {long_runs.web_search: "2%", long_runs.list_documents: "2%"}
        options: Any = {"model": self.llm, "store": store, **shared}
        tools = [
            *(
                compress_tool(FunctionTool.from_defaults(tool), max_tokens=budgets.get(tool, MOST), **options)
                for tool in (
                    long_runs.web_search,
                    long_runs.read_document,
                    long_runs.list_documents,
                    long_runs.read_log,
                )
            ),
            expand_tool(store, max_tokens=EXPANDED, must_keep=long_runs.MUST_KEEP),
            RetrieverTool.from_defaults(retriever, name="find_passages", description="Find passages."),
            *builder_tools(CtxContextBuilder(max_tokens=CONTEXT, **shared), library, state_key="context"),
        ]
        agent = CtxCompressFunctionAgent(
            name="agent",
            history_tokens=HISTORY,
            config=CompressionConfig(**shared),
            description="An agent.",
            system_prompt="You are a librarian. Answer from the documents.",
            tools=tools,
            llm=self.llm,
            streaming=False,
        )
        self.workflow = AgentWorkflow(agents=[agent])
        self.block = CtxCompressMemoryBlock(max_tokens=BLOCK, **shared)
        self.memory = Memory.from_defaults(
            session_id="ada",
            token_limit=MEMORY,
            token_flush_size=1_000,
            memory_blocks=[self.block],
            async_database_uri=f"sqlite+aiosqlite:///{folder / 'chat.db'}",
        )

    async def run(self, goals: list[str], context: Context) -> None:
        for goal in goals:
            answer = await self.workflow.run(user_msg=goal, ctx=context, memory=self.memory)
            self.results += answer.tool_calls


async def in_two_processes(folder: Path) -> tuple[Process, Process, Context]:
    goals = [*long_runs.GOALS, *(f"{goal} Look at what raises errors." for goal in long_runs.GOALS)]
    half, serializer, file = long_runs.RESTART_AFTER // STEPS_OF_TURN, JsonSerializer(), folder / "context.json"
    before = Process(folder, 0, long_runs.RESTART_AFTER)
    context = Context(before.workflow)
    await before.run(goals[:half], context)
    file.write_text(json.dumps(context.to_dict(serializer=serializer)), encoding="utf-8")

    after = Process(folder, long_runs.RESTART_AFTER, long_runs.STEPS)
    saved = json.loads(file.read_text(encoding="utf-8"))
    context = Context.from_dict(after.workflow, saved, serializer=serializer)
    after.block.messages = await after.memory.aget_all(status=MessageStatus.ARCHIVED)
    await after.run(goals[half:], context)
    return before, after, context


def run_in(folder: Path) -> long_runs.LongRun:
    """Run one half of the plan, throw everything away but the files, and run the other half."""
    before, after, context = asyncio.run(in_two_processes(folder))
    prompts = before.llm.prompts + after.llm.prompts
    results = [
        long_runs.Result(
            call.tool_name,
            call.tool_kwargs,
            call.tool_output.content,
            BUDGETS.get(call.tool_name, MOST),
            call.tool_output.is_error,
        )
        for call in before.results + after.results
    ]

    def expand(handle: str, max_tokens: int = EXPANDED, **wanted: Any) -> str:
        tool = expand_tool(DiskStore(folder / "left_out.db"), max_tokens=max_tokens)
        return str(asyncio.run(tool.acall(ctx=context, handle=handle, **wanted)).content)

    async def state(key: str) -> Any:
        return await context.store.get(key)

    for prompt in prompts[:: STEPS_OF_TURN + 1]:
        assert prompt_tokens(prompt[1:]) <= MEMORY + BLOCK + 20
    return long_runs.LongRun(
        [[(message.role.value, message.content or "") for message in prompt] for prompt in prompts],
        [prompt_tokens([message for message in prompt if message.role != "system"]) for prompt in prompts],
        HISTORY,
        results,
        expand,
        CtxContextBuilder.from_dict(asyncio.run(state("context")), must_keep=long_runs.MUST_KEEP),
        asyncio.run(state("ctxcompress_history"))["number"],
        [before.told, after.told],
        long_runs.STEPS // STEPS_OF_TURN,
        [
            text
            for text in (message.content or "" for prompt in prompts for message in prompt if message.role == "tool")
            if "[… " in text.rsplit("\n", 1)[-1] and not long_runs.handles(text)
        ],
    )
