"""Tools of every kind that agents have, and a chat model that calls them as it is told."""

import json
from typing import Annotated, Any

from framework import tokens as count
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import (
    BaseTool,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    create_retriever_tool,
    tool,
)
from langchain_way import Scripted
from lc_documents import make_documents, make_store
from pydantic import BaseModel, Field, PrivateAttr
from search_shapes import KUBERNETES, duckduckgo_text, exa, tavily

__all__ = ["EACH_KIND", "IMAGE", "PAGE", "AsyncListener", "Listener", "Scripted", "calling", "run", "tokens"]

PAGE = "\n\n".join(result["content"] for result in tavily()["results"])
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
RECORDS = [{"name": f"record {n}", "values": list(range(20))} for n in range(40)]


def tokens(text: object) -> int:
    text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return count(text)


@tool(response_format="content_and_artifact")
def web_search(query: str, max_results: int = 5) -> tuple[dict[str, Any], dict[str, Any]]:
    """Search the web."""
    answer = tavily()
    answer["results"] = answer["results"][:max_results]
    return answer, {"raw": tavily()}


@tool
def fetch_page(url: str) -> str:
    """Fetch a page."""
    return PAGE


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
def list_records() -> list[dict[str, Any]]:
    """List all records."""
    return RECORDS


@tool
def screenshot(question: str) -> list[dict[str, Any]]:
    """Look at the screen."""
    return [{"type": "text", "text": PAGE, "id": "t1"}, IMAGE]


@tool
def paragraphs(question: str) -> list[dict[str, Any]]:
    """Read paragraphs."""
    return [{"type": "text", "text": text} for text in PAGE.split("\n\n")]


@tool
def pictures(question: str) -> list[dict[str, Any]]:
    """Look at pictures."""
    return [IMAGE, IMAGE]


@tool
def documents(question: str) -> list[Document]:
    """Find documents."""
    return [
        Document(result["content"], id=str(n), metadata={"source": result["url"]})
        for n, result in enumerate(tavily()["results"])
    ]


@tool
def exa_search(query: str) -> Any:
    """Search with Exa."""
    return exa()


duckduckgo = Tool(name="duckduckgo", description="Search with DuckDuckGo.", func=lambda question: duckduckgo_text())


@tool
def own_message(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
    """Return a message of one's own."""
    return ToolMessage(PAGE, id="own-id", name="own", tool_call_id=tool_call_id, artifact=[1], status="success")


@tool
def own_error(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
    """Return an error."""
    return ToolMessage(PAGE, tool_call_id=tool_call_id, status="error")


def _fails(query: str) -> str:
    raise ToolException(PAGE)


failing = StructuredTool.from_function(_fails, name="failing", description="Fail.", handle_tool_error=True)


class NoSchema(BaseTool):
    """A tool as people write them: no schema, no asynchronous way, state of its own."""

    name: str = "no_schema"
    description: str = "Search somewhere."
    limit: int = Field(default=5, ge=1)
    _calls: list[str] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[str]:
        """What it was asked."""
        return self._calls

    def _run(self, query: str, run_manager: Any = None) -> dict[str, Any]:
        self._calls.append(query)
        assert run_manager is not None
        answer = tavily()
        answer["results"] = answer["results"][: self.limit]
        return answer


class Counting(BaseTool):
    """A tool whose results depend on an option, and that counts its calls."""

    name: str = "counting"
    description: str = "Count."
    many: int = 60
    _called: int = PrivateAttr(default=0)

    @property
    def called(self) -> int:
        """How often it was called."""
        return self._called

    def _run(self, query: str) -> str:
        self._called += 1
        return " ".join(f"Sentence {n} of {self.many}, in call {self._called}." for n in range(self.many))

    async def _arun(self, query: str) -> str:
        return self._run(query)


class Asked(BaseModel):
    question: str
    depth: int = 1


class BothWays(BaseTool):
    """A tool with a schema and both ways, and what the framework hands to it."""

    name: str = "both_ways"
    description: str = "Search in both ways."
    args_schema: type[BaseModel] = Asked
    tags: list[str] | None = Field(default=["a-tag"])
    metadata: dict[str, Any] | None = Field(default={"a": "b"})

    def _run(self, question: str, depth: int = 1, run_manager: Any = None) -> str:
        return PAGE + "sync"

    async def _arun(self, question: str, depth: int = 1, run_manager: Any = None) -> str:
        return PAGE + "async"


json_schema = StructuredTool.from_function(
    lambda query: tavily(),
    name="json_schema",
    description="Search, with a schema in JSON.",
    args_schema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
retrieve = create_retriever_tool(
    make_store(make_documents(12)).as_retriever(search_kwargs={"k": 12}),
    "retrieve",
    "Retrieve documents.",
    response_format="content_and_artifact",
)


EACH_KIND: list[tuple[BaseTool, dict[str, Any]]] = [
    (web_search, {"query": KUBERNETES}),
    (fetch_page, {"url": "https://a.example"}),
    (exa_search, {"query": KUBERNETES}),
    (duckduckgo, {"__arg1": KUBERNETES}),
    (NoSchema(), {"query": KUBERNETES}),
    (BothWays(), {"question": KUBERNETES}),
    (screenshot, {"question": KUBERNETES}),
    (paragraphs, {"question": KUBERNETES}),
    (documents, {"question": KUBERNETES}),
    (own_message, {"query": KUBERNETES}),
    (retrieve, {"query": "What is the default timeout?"}),
    (list_records, {}),
    (json_schema, {"query": KUBERNETES}),
]
"""Tools with long results, and what they are called with."""


class Listener(BaseCallbackHandler):
    """Keeps what handlers are told of tools: the events, and what ended."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.ended: list[Any] = []

    def on_tool_end(self, output: Any, **_: Any) -> None:
        self.ended.append(output)

    def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
        self.events.append((name, data))


class AsyncListener(AsyncCallbackHandler):
    """Keeps the events, and is awaited."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    async def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
        self.events.append((name, data))


def calling(*calls: tuple[BaseTool, dict[str, Any]], turn: str = "1") -> AIMessage:
    """A message in which a model calls all of these at once."""
    return AIMessage(
        "",
        id=f"ai-{turn}",
        tool_calls=[
            {"name": called.name, "args": args, "id": f"{turn}-{n}-{called.name}"}
            for n, (called, args) in enumerate(calls)
        ],
    )


async def run(agent: Any, asked: Any, *, is_async: bool, config: Any = None) -> dict[str, Any]:
    return await agent.ainvoke(asked, config) if is_async else agent.invoke(asked, config)
