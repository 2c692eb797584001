"""The way through the adapter for LangChain."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import Annotated, Any, NotRequired

from framework import Call, Find, Framework, Output, Played
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import BaseChatModel, FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tracers.context import collect_runs
from langchain_core.utils.function_calling import convert_to_openai_tool
from long_runs import handles
from meanings import Asked, meaning
from pydantic import Field

import langchain_ctxcompress as lc
from ctxcompress.agents.left_out import MemoryStore
from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache
from ctxcompress.language_model import Prompt
from langchain_ctxcompress.retriever import ScoredSearch

USAGE = {"input_tokens": 900, "output_tokens": 3, "total_tokens": 903}


class DocumentWithState(Document):
    """Shaped like the working state of LangChain's embedding filters, which langchain-community holds."""

    state: dict[str, Any] = Field(default_factory=dict)

    def to_document(self) -> Document:
        return Document(page_content=self.page_content, metadata=self.metadata)


class Meanings(Asked, Embeddings):
    """Embeds by a function, and remembers what it was asked."""

    def __init__(self, embed: Callable[[str], Any], in_batches: Callable[[Any], Any]) -> None:
        self._embed, self._in_batches = embed, in_batches
        self.asked = []

    def _asked(self, method: str, texts: list[str]) -> Any:
        self.asked.append((method, texts))
        vectors = [self._embed(text) for text in texts]
        return vectors[0] if method.endswith("query") else self._in_batches(vectors)

    def embed_query(self, text: str) -> Any:
        return self._asked("query", [text])

    def embed_documents(self, texts: list[str]) -> Any:
        return self._asked("texts", texts)

    async def aembed_query(self, text: str) -> Any:
        return self._asked("async query", [text])

    async def aembed_documents(self, texts: list[str]) -> Any:
        return self._asked("async texts", texts)


class Chat(BaseChatModel):
    """Answers what a function makes of the messages, and counts its calls, sync and async."""

    answer: Callable[[Prompt], Any] = Field(exclude=True, repr=False)
    version: int = 1
    asked: list[str] = Field(default_factory=list, exclude=True, repr=False)

    @property
    def _llm_type(self) -> str:
        return "chat-for-tests"

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        return self._result("sync", messages)

    async def _agenerate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        return self._result("async", messages)

    def _result(self, way: str, messages: Any) -> ChatResult:
        self.asked.append(way)
        *system, user = (message.content for message in messages)
        message = AIMessage(self.answer(Prompt("".join(system), user)), usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=message)])


class Scripted(FakeMessagesListChatModel):
    """Says what it is told, and remembers what it was shown. "?" stands for the last handle that it was shown."""

    shown: list[list[dict[str, Any]]] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **_: Any) -> "Scripted":
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.shown.append([message.model_dump() for message in messages])
        result = super()._generate(messages, *args, **kwargs)
        message = copy.deepcopy(result.generations[0].message)
        for call in message.tool_calls:
            if call["args"].get("handle") == "?":
                call["args"]["handle"] = [handle for m in messages for handle in handles(str(m.text))][-1]
        result.generations[0].message = message
        return result


def finder(find: Find, afind: Callable[[str], Any] | None = None) -> RunnableLambda[str, list[Document]]:
    return RunnableLambda(lambda query: list(find(query)), afunc=afind, name="finder")


def called(tool: BaseTool, **given: Any) -> Any:
    """The call of a tool in a message of a model."""
    return {"type": "tool_call", "id": "call-1", "name": tool.name, "args": given}


class LangChain(Framework):
    package = lc
    Component = lc.CtxCompressor
    noun = "documents"
    no_retriever = "give a retriever"

    def item(
        self,
        text: str,
        id: str | None = None,
        *,
        metadata: Mapping[Any, Any] | None = None,
        score: float | None = None,
        embedding: list[float] | None = None,
        is_all_shown: bool = False,
    ) -> Document:
        given = {**(metadata or {}), **({} if score is None else {"score": score})}
        if embedding is None:
            return Document(text, id=id, metadata=given)
        return DocumentWithState(page_content=text, id=id, metadata=given, state={"embedded_doc": embedding})

    def text(self, item: Document) -> str:
        return item.page_content

    def id(self, item: Document) -> str | None:
        return item.id

    def metadata(self, item: Document) -> dict[Any, Any]:
        return item.metadata

    def score(self, item: Document) -> Any:
        assert item.metadata["ctxcompress"].get("score") == item.metadata["score"]
        return item.metadata["score"]

    def shown(self, items: Sequence[Document], separator: str = "\n\n") -> str:
        return separator.join(self.texts(items))

    def formatted(self, items: Sequence[Document], **options: Any) -> str:
        return lc.format_documents(items, **options)

    def scored(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {**options, "metadata_map": {"score": "score", **options.get("metadata_map", {})}}

    def compress(self, component: Any, items: Sequence[Document], query: Any) -> list[Document]:
        return component.compress_documents(items, query)

    async def acompress(self, component: Any, items: Sequence[Document], query: Any) -> list[Document]:
        return await component.acompress_documents(items, query)

    def more_of(self, component: Any, item: Any, items: Sequence[Any], query: str = "", **given: Any) -> Document:
        return component.expand(item, items, query=query, **given)

    async def amore_of(self, component: Any, item: Any, items: Sequence[Any], query: str = "", **given: Any) -> Any:
        return await component.aexpand(item, items, query=query, **given)

    def written(self, component: Any) -> str:
        without = {name for name in ("encoder", "llm") if getattr(component, name) is not None}
        return component.model_dump_json(exclude=without)

    def read(self, written: str, **given: Any) -> Any:
        return lc.CtxCompressor(**json.loads(written), **given)

    @contextmanager
    def hearing(self) -> Iterator[list[Mapping[str, Any]]]:
        heard: list[Mapping[str, Any]] = []
        with collect_runs() as runs:
            yield heard
        heard += [found.outputs["stats"] for found in runs.traced_runs if "stats" in (found.outputs or {})]

    def analyse(self, component: Any, items: Sequence[Document]) -> Sequence[Document]:
        return lc.CtxAnalysisTransformer(component).transform_documents(items)

    def retriever(self, find: Find, afind: Callable[[str], Any] | None = None) -> Any:
        return finder(find, afind)

    def retrieve(self, retriever: Any, query: str) -> list[Document]:
        return retriever.invoke(query)

    async def aretrieve(self, retriever: Any, query: str) -> list[Document]:
        return await retriever.ainvoke(query)

    def compressing(self, retriever: Any, *, decompose: Any = False, **options: Any) -> Any:
        own = {name: options.pop(name) for name in ("llm",) if name in options}
        return lc.CtxCompressRetriever(base_retriever=retriever, decompose=decompose, **own, **self.scored(options))

    def researching(self, retriever: Any, cache: ResearchCache) -> Any:
        return lc.CtxResearchRetriever(base_retriever=retriever, research_cache=cache)

    def embeddings(self, embed: Callable[[str], Any] = meaning, **texts: Any) -> Meanings:
        return Meanings(embed, texts.get("in_batches", lambda vectors: vectors))

    def small_embeddings(self) -> Embeddings:
        return DeterministicFakeEmbedding(size=8)

    def chat(self, answer: Callable[[Prompt], Any], **fields: Any) -> Chat:
        return Chat(answer=answer, **fields)

    def with_window(self, window: int) -> BaseChatModel:
        return FakeListChatModel(responses=["ok"], profile={"max_input_tokens": window})

    def tool(self, function: Callable[..., Any]) -> BaseTool:
        return StructuredTool.from_function(**{"coroutine" if iscoroutinefunction(function) else "func": function})

    def name_of(self, tool: BaseTool) -> str:
        return tool.name

    def schema(self, tool: BaseTool) -> dict[str, Any]:
        return convert_to_openai_tool(tool)["function"]

    def call(self, tool: BaseTool, **given: Any) -> Output:
        return _output(tool.invoke(called(tool, **given)))

    async def acall(self, tool: BaseTool, **given: Any) -> Output:
        return _output(await tool.ainvoke(called(tool, **given)))

    def told(self, tool: BaseTool, **given: Any) -> Output:
        return self.call(tool, **given)

    def parsed(self, text: str) -> Any:
        return json.loads(text)

    def beside(self, output: Output) -> tuple[list[Document], Mapping[str, Any]]:
        if isinstance(output.beside, dict):
            return output.beside["documents"], output.beside["compression_stats"]
        return output.beside, {}

    def builder_items(self, holder: Any) -> list[Document]:
        return holder.documents

    def store(self) -> Any:
        from langgraph.store.memory import InMemoryStore

        return InMemoryStore()

    def conversation(self, context_key: str | None = None) -> dict[str, Any]:
        from langchain.agents import AgentState
        from langgraph.checkpoint.memory import InMemorySaver

        options: dict[str, Any] = {"checkpointer": InMemorySaver()}
        if context_key is not None:
            annotated = {context_key: NotRequired[Annotated[dict[str, Any], lc.latest_context]]}
            options["state_schema"] = type("State", (AgentState,), {"__annotations__": annotated})
        return options

    async def state_of(self, conversation: dict[str, Any], key: str) -> Any:
        return (await self._state(conversation))[key]

    async def _state(self, conversation: dict[str, Any]) -> dict[str, Any]:
        from langchain.agents import create_agent

        agent: Any = create_agent(Scripted(responses=[]), **conversation)
        return (await agent.aget_state(_thread_of(conversation))).values

    async def play(self, conversation: Any, turns: Sequence[Sequence[Call]], tools: Sequence[Any]) -> Played:
        from langchain.agents import create_agent

        before = len((await self._state(conversation)).get("messages", ()))
        said = [
            AIMessage(
                "", tool_calls=[{"name": name, "args": args, "id": f"{before}-{turn}-{n}"} for n, (name, args) in calls]
            )
            for turn, calls in enumerate(map(enumerate, turns))
        ]
        model = Scripted(responses=[*said, AIMessage("done")])
        agent: Any = create_agent(model, list(tools), **conversation)
        asked = {"messages": [HumanMessage("which part is blue?")]}
        found = await agent.ainvoke(asked, _thread_of(conversation))
        answers = [str(message.text) for message in found["messages"][before:] if isinstance(message, ToolMessage)]
        return Played(answers, [[str(message["content"]) for message in prompt] for prompt in model.shown])

    def makers(self) -> dict[str, Callable[..., Any]]:
        def store() -> Any:
            from langchain_core.vectorstores import InMemoryVectorStore

            return InMemoryVectorStore(DeterministicFakeEmbedding(size=8))

        found = finder(lambda _: [])
        return {
            "CtxAnalysisTransformer": partial(lc.CtxAnalysisTransformer, lc.CtxCompressor(cache=Cache())),
            "CtxCompressMiddleware": lc.CtxCompressMiddleware,
            "CtxCompressRetriever": partial(
                lc.CtxCompressRetriever, base_retriever=found, compressor=lc.CtxCompressor()
            ),
            "CtxCompressRetriever.from_vectorstore": partial(
                lc.CtxCompressRetriever.from_vectorstore, store(), score_kind="similarity"
            ),
            "CtxCompressor": lc.CtxCompressor,
            "CtxContextBuilder": lc.CtxContextBuilder,
            "CtxResearchRetriever": partial(
                lc.CtxResearchRetriever, base_retriever=found, research_cache=ResearchCache()
            ),
            "EmbeddingsEncoder": partial(lc.EmbeddingsEncoder, self.small_embeddings()),
            "LLMSelector": partial(lc.LLMSelector, self.with_window(9)),
            "ScoredSearch": partial(ScoredSearch, store=store(), score_kind="similarity"),
            "builder_tools": partial(lc.builder_tools, lc.CtxContextBuilder()),
            "cite": partial(lc.cite, "timeout", []),
            "compress_tool": partial(lc.compress_tool, StructuredTool.from_function(_look)),
            "expand_tool": partial(lc.expand_tool, MemoryStore()),
            "format_documents": partial(lc.format_documents, []),
            "latest_context": partial(lc.latest_context, {}, {}),
            "preview_tools": partial(lc.preview_tools, found),
            "prompt_tokens": lc.prompt_tokens,
            "query_tool": partial(lc.query_tool, found),
            "record": partial(lc.record, [], log=None),
        }


def _thread_of(conversation: Any) -> Any:
    return {"configurable": {"thread_id": str(id(conversation))}}


def _look(query: str) -> str:
    """Look it up."""
    return query


def _output(message: ToolMessage) -> Output:
    return Output(str(message.text), message.artifact, message.status == "error")


WAY = LangChain()
