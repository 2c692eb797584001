"""A tool with shortened outputs is otherwise the same tool for agents, and for code that reads its raw output."""

import ast
import copy
import json
import pickle
from typing import Any

import pytest
from li_nodes import QUERY, TEXTS, scored, text_node
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ImageBlock, TextBlock
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
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
from llama_index.core.workflow import Context
from pydantic import PrivateAttr
from search_shapes import KUBERNETES, brave_text, exa, tavily

from ctxcompress import Compressor, compress_search_results
from llamaindex_ctxcompress import CtxCompressPostprocessor, compress_tool

PAGE = "\n\n".join(result["content"] for result in tavily()["results"])


def tokens(text: str) -> int:
    """As the options count by default; `Settings.tokenizer` is another one."""
    return Compressor().count(text)


def web_search(query: str, max_results: int = 5) -> dict[str, Any]:
    """Search the web."""
    return tavily()


async def brave(q: str) -> str:
    """Search with Brave."""
    return brave_text()


def fetch_page(url: str) -> str:
    """Fetch a page."""
    return PAGE


def records() -> list[dict[str, int]]:
    """List records."""
    return [{"a": n} for n in range(500)]


def nodes(query: str) -> list[TextNode]:
    """Find nodes."""
    return [TextNode(text=text, id_=text[:9]) for text in PAGE.split("\n\n")]


def picture(query: str) -> list[Any]:
    """Look at the screen."""
    return [TextBlock(text=PAGE), ImageBlock(url="https://a.example/a.png")]


class Finder(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return scored([text_node(number, text) for number, text in enumerate([*TEXTS, *PAGE.split("\n\n")[:9]])])


class OldTool(BaseTool):
    """A tool that is no AsyncBaseTool."""

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata("An old one.", name="old")

    def __call__(self, input: Any) -> ToolOutput:
        return ToolOutput(content=PAGE, tool_name="old", raw_input={"input": input}, raw_output=PAGE)


def function(fn: Any) -> FunctionTool:
    return FunctionTool.from_defaults(fn)


def asked(name: str) -> dict[str, Any]:
    return {"retriever": {"input": QUERY}, "fetch_page": {"url": "https://a.example"}, "brave": {"q": KUBERNETES}}.get(
        name, {"query": KUBERNETES}
    )


def but_content(output: ToolOutput) -> tuple[Any, ...]:
    return output.tool_name, output.raw_input, output.raw_output, output.is_error, getattr(output, "exception", None)


TOOLS = [
    function(web_search),
    function(brave),
    function(fetch_page),
    function(nodes),
    function(picture),
    RetrieverTool.from_defaults(Finder(), name="retriever"),
]


@pytest.mark.parametrize("inner", TOOLS, ids=lambda inner: inner.metadata.name)
async def test_an_output_differs_in_its_content_alone(inner):
    outer = compress_tool(inner, max_tokens=120)
    assert type(outer).__name__ == type(inner).__name__
    assert isinstance(outer, type(inner))
    assert outer.metadata is inner.metadata
    arguments = asked(inner.metadata.name)
    long = await inner.acall(**arguments)
    for short in (outer(**arguments), outer.call(**arguments), await outer.acall(**arguments)):
        assert but_content(short) == but_content(long)
        assert 0 < tokens(short.content) < tokens(long.content)
        assert tokens(short.content) <= 120
    assert (await inner.acall(**arguments)).content == long.content  # the tool itself is as it was


def test_search_results_keep_their_shape():
    output = compress_tool(function(web_search))(query=KUBERNETES)
    assert (
        ast.literal_eval(output.content)
        == compress_search_results(tavily(), KUBERNETES, max_results=9, max_tokens=1_000).results
    )
    output = compress_tool(function(brave))(q=KUBERNETES)
    assert (
        json.loads(output.content)
        == compress_search_results(json.loads(brave_text()), KUBERNETES, max_results=9).results
    )

    def exa_search(query: str) -> Any:
        """Search with Exa."""
        return exa()

    output = compress_tool(function(exa_search))(query=KUBERNETES)
    assert output.content == str(compress_search_results(exa(), KUBERNETES, max_results=9, max_tokens=1_000).results)
    assert output.raw_output == exa()


@pytest.mark.parametrize("content", [tavily(), json.dumps(tavily()), exa()])
def test_search_results_that_fit_stay_as_they_are(content):
    def says(query: str) -> Any:
        """Say it."""
        return content

    inner = function(says)
    assert compress_tool(inner, max_tokens=5_000)(query=KUBERNETES).content == inner(query=KUBERNETES).content
    assert compress_tool(inner, max_tokens=300)(query=KUBERNETES).content != inner(query=KUBERNETES).content


@pytest.mark.parametrize("key", ["body", "content"])
def test_lists_of_an_interface_are_no_search_results_and_many_results_are_kept(key):
    came = [{"url": f"https://api.example/{n}", key: f"It is broken at {n}. " + "Tea is hot. " * 9} for n in range(12)]

    def says(query: str) -> Any:
        """Say it."""
        return came

    text = compress_tool(function(says), max_tokens=500)(query="What is broken at 11?").content
    kept = ast.literal_eval(text)
    assert len(kept) > 5
    assert "It is broken at 11." in kept[-1][key]
    assert all(record in came for record in kept) is (key == "body")


@pytest.mark.parametrize("as_json", [True, False])
def test_a_page_that_was_read_fills_the_budget(as_json):
    text = " ".join(f"Sentence {n} says that part {n} has a limit of {n} seconds." for n in range(900))
    page = {"url": "https://a.example", "content": text}

    def read(query: str) -> Any:
        """Read a page."""
        return json.dumps(page) if as_json else page

    output = compress_tool(function(read), max_tokens=500)(query="the limit of part 777")
    assert 250 < tokens(output.content) <= 500
    assert "part 777 has" in (json.loads if as_json else ast.literal_eval)(output.content)["content"]


def test_nodes_of_a_retriever_are_compressed_as_passages():
    inner = RetrieverTool.from_defaults(Finder())
    output = compress_tool(inner, max_tokens=60)(input=QUERY)
    postprocessor = CtxCompressPostprocessor(max_tokens=60, separator="\n\n")
    kept = postprocessor.postprocess_nodes(output.raw_output, query_str=QUERY)
    assert output.content == "\n\n".join(node.get_content(MetadataMode.LLM) for node in kept)
    assert [node.node.text for node in output.raw_output] == [node.node.text for node in inner(input=QUERY).raw_output]


def test_blocks_stay_blocks():
    output = compress_tool(function(picture), max_tokens=60)(query=KUBERNETES)
    text, image = output.blocks
    assert (type(text), image) == (TextBlock, ImageBlock(url="https://a.example/a.png"))
    output = compress_tool(function(nodes), max_tokens=60)(query=KUBERNETES)
    assert len(output.blocks) > 1
    assert all(block.text for block in output.blocks)


def test_json_and_what_python_writes_keep_whole_values_and_can_be_parsed():
    def in_json(query: str) -> str:
        """In JSON."""
        return json.dumps({"found": records()})

    text = compress_tool(function(in_json), max_tokens=60)(query="Where is a 321?").content
    assert tokens(text) <= 60
    assert {"a": 321} in json.loads(text)["found"]
    text = compress_tool(function(records), max_tokens=60)().content
    assert tokens(text) <= 60
    assert ast.literal_eval(text)[0] in records()


async def test_what_stays_as_it_is():
    def objects(query: str) -> list[object]:
        """Other objects."""
        return [KUBERNETES.__len__ for _ in range(99)]

    inner = function(objects)
    assert compress_tool(inner, max_tokens=10)(query="x").content == inner(query="x").content

    def short(query: str) -> str:
        """Short."""
        return "A short text."

    assert compress_tool(function(short), max_tokens=1)(query="x").content == "A short text."

    def failed(query: str) -> str:
        """Fail."""
        return "x"

    error = ToolOutput(content=PAGE, tool_name="f", raw_input={}, raw_output=None, is_error=True)
    inner = FunctionTool.from_defaults(failed, callback=lambda _: error)
    assert compress_tool(inner, max_tokens=10)(query="x") is error
    assert await compress_tool(inner, max_tokens=10).acall(query="x") is error


async def test_a_function_that_returns_nodes_is_compressed_like_a_retriever():
    def search(query: str) -> list[Any]:
        """Search the handbook."""
        return Finder().retrieve(QUERY)

    expected = compress_tool(RetrieverTool.from_defaults(Finder()), max_tokens=60)(input=QUERY).content
    tool = compress_tool(function(search), max_tokens=60)
    assert tool(query=QUERY).content == expected
    assert (await tool.acall(query=QUERY)).content == expected
    assert tokens(expected) <= 60


async def test_an_old_tool_and_a_query_engine():
    old = compress_tool(OldTool(), max_tokens=50)
    assert tokens(old(KUBERNETES).content) <= 50
    assert tokens((await adapt_to_async_tool(old).acall(KUBERNETES)).content) <= 50
    engine = QueryEngineTool.from_defaults(RetrieverQueryEngine.from_args(Finder(), llm=MockLLM()))
    output = compress_tool(engine, max_tokens=50)(input=QUERY)
    assert tokens(output.content) <= 50 < tokens(engine(input=QUERY).content)
    assert output.raw_output.source_nodes


def test_the_query_is_the_argument_that_is_named_or_called_so_or_the_only_text():
    def read(path: str, question: str = "", look_for: str = "") -> str:
        """Read a file."""
        return " ".join(f"The word number {n} is {word}." for n, word in enumerate(("lion", "tiger", "bear") * 40))

    outer = compress_tool(function(read), max_tokens=10)
    assert "tiger" in outer(path="a/b.txt", question="which number is tiger?").content
    assert "bear" in outer(path="bear").content
    assert "bear" in outer("bear").content
    named = compress_tool(function(read), max_tokens=10, query_argument="look_for")
    assert "tiger" in named(path="bear", question="lion", look_for="tiger").content


class ReAct(CustomLLM):
    """Says what it is told, and remembers what it was shown."""

    says: list[str]
    _shown: list[str] = PrivateAttr(default_factory=list)

    @property
    def shown(self) -> list[str]:
        """The prompts that it got."""
        return self._shown

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self._shown.append(prompt)
        return CompletionResponse(text=self.says[len(self._shown) - 1])

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt)


class CallsEachTool(FunctionCallingLLM, MockLLM):
    """Calls all of the tools at once, then answers."""

    _shown: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    @property
    def shown(self) -> list[list[ChatMessage]]:
        """The messages that it got, call by call."""
        return self._shown

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True)

    async def achat(self, messages: Any, **given: Any) -> ChatResponse:
        self._shown.append([message.model_copy(deep=True) for message in messages])
        calls = given["tools"] if len(self._shown) == 1 else []
        return ChatResponse(message=ChatMessage(role="assistant", content="done"), raw=calls)

    def _prepare_chat_with_tools(self, tools: Any, chat_history: Any = None, **_: Any) -> dict[str, Any]:
        return {"messages": chat_history, "tools": [tool.metadata.name for tool in tools]}

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        return [
            ToolSelection(tool_id=f"c{n}", tool_name=name, tool_kwargs=asked(name))
            for n, name in enumerate(response.raw or [])
        ]


async def in_context(ctx: Context, query: str) -> str:
    """Search, and note it."""
    await ctx.store.set("asked", query)
    return PAGE


async def run_function_agent(*tools: Any) -> tuple[list[ChatMessage], Any]:
    """A model that calls all of the tools at once, then answers: what it was shown, and what became of the context."""
    llm = CallsEachTool()
    agent = FunctionAgent(name="agent", description="An agent.", tools=list(tools), llm=llm, streaming=False)
    workflow = AgentWorkflow(agents=[agent])
    context = Context(workflow)
    await workflow.run(user_msg=KUBERNETES, ctx=context)
    # Tools run at the same time, and the first to end is the first to be shown.
    last = sorted(llm.shown[-1], key=lambda message: message.additional_kwargs.get("tool_call_id", ""))
    return last, await context.store.get("asked")


async def test_a_function_agent_sees_the_same_messages_but_for_what_tools_return():
    inner = [function(web_search), function(brave), function(in_context)]
    long, _ = await run_function_agent(*inner)
    short, noted = await run_function_agent(*(compress_tool(tool, max_tokens=400) for tool in inner))
    assert noted == KUBERNETES
    assert len(long) == len(short)
    results = 0
    for before, after in zip(long, short, strict=True):
        assert (after.role, after.additional_kwargs) == (before.role, before.additional_kwargs)
        if before.role == "tool":
            results += 1
            assert tokens(after.content) <= 400 < tokens(before.content)
        else:
            assert after == before
    assert results == 3


async def test_a_react_agent_observes_less():
    says = [
        f'Thought: I search.\nAction: web_search\nAction Input: {{"query": "{KUBERNETES}"}}',
        "Thought: I know.\nAnswer: done",
    ]
    sizes = []
    for tool in (function(web_search), compress_tool(function(web_search), max_tokens=300)):
        llm = ReAct(says=says)
        answer = await ReActAgent(tools=[tool], llm=llm, streaming=False).run(user_msg=KUBERNETES)
        assert str(answer) == "done"
        sizes.append(tokens(llm.shown[1].split("Observation:")[-1]))
    assert sizes[1] <= 320 < sizes[0]


class Counting(AsyncBaseTool):
    """A tool whose output depends on an option, and that counts its calls."""

    def __init__(self, many: int = 60) -> None:
        self.many = many
        self.called = 0

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata("Count.", name="counting")

    def call(self, input: Any) -> ToolOutput:
        self.called += 1
        text = " ".join(f"Sentence {n} of {self.many}, in call {self.called}." for n in range(self.many))
        return ToolOutput(content=text, tool_name="counting", raw_input={"input": input}, raw_output=text)

    async def acall(self, input: Any) -> ToolOutput:
        return self.call(input)


async def test_an_option_that_is_changed_later_counts():
    inner = Counting()
    outer = compress_tool(inner, max_tokens=20)
    outer.many = 70
    assert "of 70, in call 1." in outer("x").content
    assert "of 70, in call 2." in outer.call("x").content
    assert "of 70, in call 3." in (await outer.acall("x")).content
    assert (outer.called, inner.many, inner.called) == (3, 60, 0)


def test_an_output_is_shortened_once():
    counted = []
    outer = compress_tool(Counting(), max_tokens=20, encoding=lambda text: counted.append(text) or len(text.split()))
    outer("x")
    in_one_way = len(counted)
    outer.call("x")
    assert len(counted) == 2 * in_one_way


@pytest.mark.parametrize("copied", [lambda tool: pickle.loads(pickle.dumps(tool)), copy.deepcopy, copy.copy])
def test_it_can_be_pickled_and_copied_where_the_tool_can(copied):
    outer = compress_tool(Counting(many=70), max_tokens=30, query_argument="input")
    outer("x")
    twin = copied(outer)
    twin.many = 90
    assert (type(twin).__name__, twin.called, outer.many) == ("Counting", 1, 70)
    output = twin(input="sentence 88")
    assert "Sentence 88 of 90, in call 2." in output.content
    assert tokens(output.content) <= 30


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_tokens": 0}, ValueError, "max_tokens is 0"),
        ({"min_tokens": "1"}, ValueError, "min_tokens is '1'"),
        ({"complexity": "hard"}, ValueError, "complexity is 'hard'"),
        ({"max_token": 5}, ValueError, "there is no option 'max_token'; did you mean 'max_tokens'"),
    ],
)
def test_values_that_cannot_work_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        compress_tool(function(web_search), **options)


def test_what_is_no_tool_is_refused():
    with pytest.raises(TypeError, match="tool is a function; give a BaseTool"):
        compress_tool(web_search)


@pytest.mark.parametrize(
    "each", [function(fetch_page), function(nodes), function(picture)], ids=lambda t: t.metadata.name
)
def test_a_text_of_which_nothing_is_kept_says_so(each):
    less = compress_tool(each, max_tokens=100, min_tokens=0, adaptive=True, on_empty="drop")
    asking = {"url" if each.metadata.name == "fetch_page" else "query": "which zebra crossed the Alps?"}
    assert "Nothing in this result answers the query." in less.call(**asking).content
