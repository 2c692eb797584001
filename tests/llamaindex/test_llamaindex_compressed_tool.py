"""What only LlamaIndex has of tools with shorter outputs: nodes, blocks, old tools, and texts in a context."""

import copy
import pickle
from typing import Any

import pytest
from framework import tokens
from li_nodes import QUERY, TEXTS, scored, text_node
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, TextNode
from llama_index.core.tools import (
    AsyncBaseTool,
    BaseTool,
    FunctionTool,
    QueryEngineTool,
    RetrieverTool,
    ToolMetadata,
    ToolOutput,
    adapt_to_async_tool,
)
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from llamaindex_way import WAY
from long_runs import handles
from pydantic import BaseModel
from search_shapes import KUBERNETES, tavily

from ctxcompress.agents.left_out import DiskStore, MemoryStore
from llamaindex_ctxcompress import ContextStore, CtxCompressPostprocessor, compress_tool, expand_tool

PAGE = "\n\n".join(result["content"] for result in tavily()["results"])
MANUAL = "\n".join(f"Chapter {n}: the part {n * 7} is {'blue' if n == 150 else 'grey'}." for n in range(300))
PICTURE = ImageBlock(url="https://a.example/a.png")
FINDER = WAY.finding(*scored(text_node(n, text) for n, text in enumerate([*TEXTS, *PAGE.split("\n\n")[:9]])))


def nodes(query: str) -> list[TextNode]:
    """Find nodes."""
    return [TextNode(text=text, id_=text[:9]) for text in PAGE.split("\n\n")]


def picture(query: str) -> list[Any]:
    """Look at the screen."""
    return [TextBlock(text=PAGE), PICTURE, TextBlock(text=PAGE)]


def manual(query: str) -> str:
    """Read the manual."""
    return MANUAL


async def noted(ctx: Context, query: str) -> str:
    """Read the manual, and note it."""
    await ctx.store.set("asked", query)
    return MANUAL


class OldTool(BaseTool):
    """A tool that is no AsyncBaseTool."""

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata("An old one.", name="old")

    def __call__(self, input: Any) -> ToolOutput:
        return ToolOutput(content=PAGE, tool_name="old", raw_input={"input": input}, raw_output=PAGE)


class Counting(AsyncBaseTool):
    """A tool whose output depends on an option, and that counts its calls."""

    def __init__(self, many: int = 60) -> None:
        self.many, self.called = many, 0

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata("Count.", name="counting")

    def call(self, input: Any) -> ToolOutput:
        self.called += 1
        text = " ".join(f"Sentence {n} of {self.many}, in call {self.called}." for n in range(self.many))
        return ToolOutput(content=text, tool_name="counting", raw_input={"input": input}, raw_output=text)

    async def acall(self, input: Any) -> ToolOutput:
        return self.call(input)


def function(fn: Any) -> FunctionTool:
    return FunctionTool.from_defaults(fn)


def of_retriever() -> RetrieverTool:
    return RetrieverTool.from_defaults(FINDER, name="find", description="Find.")


@pytest.mark.parametrize(
    "inner", [function(nodes), function(picture), of_retriever()], ids=["nodes", "blocks", "retriever"]
)
async def test_an_output_differs_in_its_content_alone(inner):
    outer = compress_tool(inner, max_tokens=120)
    assert isinstance(outer, type(inner))
    assert outer.metadata is inner.metadata
    given = {"input" if inner.metadata.name == "find" else "query": KUBERNETES}
    long = await inner.acall(**given)
    for short in (outer(**given), outer.call(**given), await outer.acall(**given)):
        same = {"tool_name", "raw_input", "raw_output", "is_error"}
        assert short.model_dump(include=same) == long.model_dump(include=same)
        assert 0 < tokens(short.content) <= 120 < tokens(long.content)
        assert all(block.text for block in short.blocks if isinstance(block, TextBlock))
        assert [block for block in short.blocks if isinstance(block, ImageBlock)] == [PICTURE] * (
            inner.metadata.name == "picture"
        )
    nothing = compress_tool(inner, max_tokens=100, min_tokens=0, adaptive=True, on_empty="drop")
    asked = dict.fromkeys(given, "which zebra crossed the Alps?")
    assert inner.metadata.name == "find" or "Nothing in this result answers the query." in nothing(**asked).content


async def test_nodes_are_compressed_as_passages_whatever_tool_returns_them():
    inner = of_retriever()
    output = compress_tool(inner, max_tokens=60)(input=QUERY)
    one = CtxCompressPostprocessor(max_tokens=60, separator="\n\n")
    kept = one.postprocess_nodes(output.raw_output, query_str=QUERY)
    assert output.content == "\n\n".join(node.get_content(MetadataMode.LLM) for node in kept)
    assert WAY.texts(output.raw_output) == WAY.texts(inner(input=QUERY).raw_output)

    def search(query: str) -> list[Any]:
        """Search the handbook."""
        return FINDER.retrieve(query)

    tool = compress_tool(function(search), max_tokens=60)
    assert tool(query=QUERY).content == (await tool.acall(query=QUERY)).content == output.content


async def test_an_old_tool_and_a_query_engine():
    old = compress_tool(OldTool(), max_tokens=50)
    assert tokens(old(KUBERNETES).content) <= 50
    assert tokens((await adapt_to_async_tool(old).acall(KUBERNETES)).content) <= 50
    engine = QueryEngineTool.from_defaults(RetrieverQueryEngine.from_args(FINDER, llm=MockLLM()))
    output = compress_tool(engine, max_tokens=50)(input=QUERY)
    assert tokens(output.content) <= 50 < tokens(engine(input=QUERY).content)
    assert output.raw_output.source_nodes


async def test_errors_stay_as_they_are():
    error = ToolOutput(content=PAGE, tool_name="f", raw_input={}, raw_output=None, is_error=True)
    inner = FunctionTool.from_defaults(manual, callback=lambda _: error)
    for options in ({"max_tokens": 10}, {"max_tokens": 150, "store": MemoryStore()}):
        assert compress_tool(inner, **options)(query="x") is error
        assert await compress_tool(inner, **options).acall(query="x") is error


async def test_an_option_that_is_changed_later_counts_and_an_output_is_shortened_once():
    inner, counted = Counting(), []
    outer = compress_tool(inner, max_tokens=20, encoding=lambda text: counted.append(text) or tokens(text))
    outer.many = 70
    assert "of 70, in call 1." in outer("x").content
    in_one_way = len(counted)
    assert "of 70, in call 2." in outer.call("x").content
    assert len(counted) == 2 * in_one_way
    assert "of 70, in call 3." in (await outer.acall("x")).content
    assert (outer.called, inner.many, inner.called) == (3, 60, 0)


@pytest.mark.parametrize("copied", [lambda tool: pickle.loads(pickle.dumps(tool)), copy.deepcopy, copy.copy])
def test_it_can_be_pickled_and_copied_where_the_tool_can(copied, tmp_path):
    store = DiskStore(tmp_path / "left.db")
    outer = compress_tool(Counting(many=70), max_tokens=100, query_argument="input", store=store)
    outer("x")
    twin = copied(outer)
    twin.many = 90
    assert (type(twin).__name__, twin.called, outer.many) == ("Counting", 1, 70)
    text = twin(input="sentence 88").content
    assert "Sentence 88 of 90, in call 2." in text
    assert tokens(text) <= 100
    assert str(store.get("", *handles(text))).startswith("Sentence 0 of 90")


# What was left out


async def in_context(*tools: Any, calls: Any = ()) -> tuple[list[str], Context]:
    """Return what the tools answer in an agent that calls each of them at once, and its context."""
    conversation = WAY.conversation()
    played = await WAY.play(conversation, [calls], tools)
    return played.answers, conversation["context"]


def test_to_a_model_it_is_the_same_tool():
    inner = FunctionTool.from_defaults(async_fn=noted)
    outer = compress_tool(inner, store=ContextStore())
    assert (outer.metadata, outer.requires_context, outer.ctx_param_name) == (inner.metadata, True, "ctx")
    shown = expand_tool(ContextStore(), name="show_more").metadata
    assert shown.name == "show_more"
    assert list(shown.get_parameters_dict()["properties"]) == ["handle", "lines", "question"]
    with pytest.raises(ValueError, match="max_bytes is 0"):
        ContextStore(max_bytes=0)


@pytest.mark.parametrize("store", [ContextStore(), MemoryStore()], ids=["context", "memory"])
async def test_tools_that_ask_for_the_context_get_it_and_blocks_get_a_block_with_the_marker(store):
    inner = (FunctionTool.from_defaults(async_fn=noted), function(picture), of_retriever())
    tools = [compress_tool(tool, max_tokens=150, store=store) for tool in inner]
    calls = [("noted", {"query": KUBERNETES}), ("picture", {"query": KUBERNETES}), ("find", {"input": QUERY})]
    answers, context = await in_context(*tools, calls=calls)
    assert await context.store.get("asked") == KUBERNETES
    assert [len(handles(answer)) for answer in answers] == [1, 1, 1]
    assert all(tokens(answer) <= 150 for answer in answers)
    output = tools[1](query=KUBERNETES)
    assert output.blocks[-1].text.startswith("[… ")
    assert PICTURE in output.blocks


async def test_texts_in_a_context_are_bounded_and_expire():
    now = [1_000.0]
    store = ContextStore(max_bytes=25_000, ttl=60, clock=lambda: now[0])
    numbered = FunctionTool.from_defaults(lambda query: f"{query}\n{MANUAL}", name="numbered", description="Number.")
    short, reads = compress_tool(numbered, max_tokens=150, store=store), expand_tool(store)
    context = Context(AgentWorkflow(agents=[FunctionAgent(tools=[short], llm=MockLLM())]))
    kept = []
    for number in range(4):
        now[0] += 10
        kept += handles((await short.acall(query=f"number {number}", ctxcompress_context=context)).content)

    async def alive() -> list[bool]:
        read = [(await reads.acall(handle=handle, lines="1", ctx=context)).content for handle in kept]
        return [text.startswith("number") for text in read]

    assert await alive() == [False, False, True, True]
    now[0] += 55
    assert await alive() == [False, False, False, True]
    now[0] += 55
    assert await alive() == [False] * 4


class Typed(BaseModel):
    name: str = ""


class TypedWorkflow(Workflow):
    @step
    async def run_tools(self, ctx: Context[Typed], event: StartEvent) -> StopEvent:
        output = await event.short.acall(query="which part is blue?", ctxcompress_context=ctx)
        read = await event.reads.acall(handle=handles(output.content)[0], lines="7", ctx=ctx)
        return StopEvent(result=read.content)


@pytest.mark.parametrize("store", [ContextStore(), MemoryStore()], ids=["context", "memory"])
async def test_a_context_with_a_typed_state_is_left_alone(store):
    short, reads = compress_tool(function(manual), max_tokens=150, store=store), expand_tool(store)
    assert (await TypedWorkflow().run(short=short, reads=reads)).strip() == MANUAL.split("\n")[6]
