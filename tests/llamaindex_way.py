"""The way through the adapter for LlamaIndex."""

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from framework import Call, Find, Framework, Output, Played
from li_models import ScriptedModel
from llama_index.core import MockEmbedding
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import Field
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import Memory
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import call_tool_with_selection
from meanings import Asked, meaning

import llamaindex_ctxcompress as li
from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache
from ctxcompress.language_model import Prompt


class Meanings(Asked, BaseEmbedding):
    """Embeds by a function, and remembers what it was asked."""

    embed: Callable[[str], Any] = Field(default=meaning, exclude=True)
    in_batches: Callable[[Any], Any] = Field(default=lambda vectors: vectors, exclude=True)
    embed_batch_size: int = 100
    asked: list[tuple[str, list[str]]] = Field(default_factory=list, exclude=True)

    def _asked(self, method: str, texts: list[str]) -> Any:
        self.asked.append((method, list(texts)))
        vectors = [self.embed(text) for text in texts]
        return vectors[0] if method.endswith("query") else self.in_batches(vectors)

    def _get_query_embedding(self, query: str) -> Any:
        return self._asked("query", [query])

    async def _aget_query_embedding(self, query: str) -> Any:
        return self._asked("async query", [query])

    def _get_text_embedding(self, text: str) -> Any:
        raise AssertionError("texts are embedded in batches")

    def _get_text_embeddings(self, texts: list[str]) -> Any:
        return self._asked("texts", texts)

    async def _aget_text_embeddings(self, texts: list[str]) -> Any:
        return self._asked("async texts", texts)


class Chat(CustomLLM):
    """Answers what a function makes of the messages, and counts its calls, sync and async."""

    answer: Callable[[Prompt], Any] = Field(exclude=True)
    version: int = 1
    raw: Any = Field(default=None, exclude=True)
    window: int = 10_000
    asked: list[str] = Field(default_factory=list, exclude=True)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="chat-for-tests", context_window=self.window, num_output=0)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        self.asked.append("sync")
        return CompletionResponse(text=self.answer(Prompt("", prompt)))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise AssertionError("nothing is streamed")

    @llm_chat_callback()
    def chat(self, messages: Any, **_: Any) -> ChatResponse:
        return self._response("sync", messages)

    @llm_chat_callback()
    async def achat(self, messages: Any, **_: Any) -> ChatResponse:
        return self._response("async", messages)

    def _response(self, way: str, messages: Any) -> ChatResponse:
        self.asked.append(way)
        system, user = (message.content for message in messages)
        return ChatResponse(message=ChatMessage(self.answer(Prompt(system, user)), role="assistant"), raw=self.raw)


class Finder(BaseRetriever):
    """Finds what a function finds."""

    def __init__(self, find: Find, afind: Callable[[str], Any] | None = None) -> None:
        super().__init__()
        self._find, self._afind = find, afind

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self._find(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle) if self._afind is None else await self._afind(query_bundle.query_str)


class Heard(BaseEventHandler):
    """Keeps all events."""

    events: list[Any] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Heard"

    def handle(self, event: Any, **_: Any) -> None:
        self.events.append(event)


@contextmanager
def events() -> Iterator[list[Any]]:
    """Yield the list into which a handler at the root puts all events, as tracing tools put theirs."""
    handler, root = Heard(), get_dispatcher()
    before = list(root.event_handlers)
    root.event_handlers = [*before, handler]
    try:
        yield handler.events
    finally:
        root.event_handlers = before


class LlamaIndex(Framework):
    package = li
    Component = li.CtxCompressPostprocessor
    noun = "nodes"
    no_retriever = "give a BaseRetriever"

    def item(
        self,
        text: str,
        id: str | None = None,
        *,
        metadata: Mapping[Any, Any] | None = None,
        score: float | None = None,
        embedding: list[float] | None = None,
        is_all_shown: bool = False,
    ) -> NodeWithScore:
        given: dict[str, Any] = {"text": text, "metadata": dict(metadata or {}), "embedding": embedding}
        hidden = [] if is_all_shown else list(given["metadata"])
        node = TextNode(**given, **({} if id is None else {"id_": id}), excluded_llm_metadata_keys=hidden)
        item = NodeWithScore(node=node)
        item.score = score  # as rerankers do, past all validation
        return item

    def text(self, item: NodeWithScore) -> str:
        return item.node.get_content(MetadataMode.NONE)

    def id(self, item: NodeWithScore) -> str:
        return item.node.node_id

    def metadata(self, item: NodeWithScore) -> dict[Any, Any]:
        return item.node.metadata

    def score(self, item: NodeWithScore) -> Any:
        return item.score

    def shown(self, items: Sequence[NodeWithScore], separator: str = "\n\n") -> str:
        return separator.join(item.node.get_content(MetadataMode.LLM) for item in items)

    def formatted(self, items: Sequence[NodeWithScore], **options: Any) -> str:
        return li.format_nodes(items, **options)

    def compress(self, component: Any, items: Sequence[Any], query: str | None) -> list[NodeWithScore]:
        return component.postprocess_nodes(items, query_str=query)

    async def acompress(self, component: Any, items: Sequence[Any], query: str | None) -> list[NodeWithScore]:
        return await component.apostprocess_nodes(items, query_str=query)

    def more_of(self, component: Any, item: Any, items: Sequence[Any], query: str = "", **given: Any) -> Any:
        return component.expand(item, items, query_str=query, **given)

    async def amore_of(self, component: Any, item: Any, items: Sequence[Any], query: str = "", **given: Any) -> Any:
        return await component.aexpand(item, items, query_str=query, **given)

    def written(self, component: Any) -> str:
        return component.to_json()

    def read(self, written: str, **given: Any) -> Any:
        return li.CtxCompressPostprocessor.from_json(written, **given)

    @contextmanager
    def hearing(self) -> Iterator[list[Mapping[str, Any]]]:
        heard: list[Mapping[str, Any]] = []
        with events() as seen:
            yield heard
        heard += [event.stats for event in seen if event.class_name() == "CompressionEvent"]

    def analyse(self, component: Any, items: Sequence[NodeWithScore]) -> Sequence[Any]:
        nodes = [item.node for item in items]
        assert li.CtxAnalysisTransformer(postprocessor=component)(nodes) is nodes
        return items

    def retriever(self, find: Find, afind: Callable[[str], Any] | None = None) -> BaseRetriever:
        return Finder(find, afind)

    def retrieve(self, retriever: Any, query: str) -> list[NodeWithScore]:
        return retriever.retrieve(query)

    async def aretrieve(self, retriever: Any, query: str) -> list[NodeWithScore]:
        return await retriever.aretrieve(query)

    def compressing(self, retriever: Any, *, decompose: Any = False, **options: Any) -> Any:
        return li.CtxCompressRetriever(retriever, decompose=decompose, **options)

    def researching(self, retriever: Any, cache: ResearchCache) -> Any:
        return li.CtxResearchRetriever(retriever, cache)

    def embeddings(self, embed: Callable[[str], Any] = meaning, **texts: Any) -> Meanings:
        return Meanings(embed=embed, **texts)

    def small_embeddings(self) -> BaseEmbedding:
        return MockEmbedding(embed_dim=8)

    def chat(self, answer: Callable[[Prompt], Any], **fields: Any) -> Chat:
        return Chat(answer=answer, **fields)

    def with_window(self, window: int) -> Chat:
        return Chat(answer=lambda _: "ok", window=window)

    def tool(self, function: Callable[..., Any]) -> FunctionTool:
        return FunctionTool.from_defaults(**{"async_fn" if iscoroutinefunction(function) else "fn": function})

    def name_of(self, tool: Any) -> str:
        return tool.metadata.name

    def schema(self, tool: Any) -> dict[str, Any]:
        return tool.metadata.to_openai_tool()["function"]

    def call(self, tool: Any, **given: Any) -> Output:
        return _output(tool.call(**given))

    async def acall(self, tool: Any, **given: Any) -> Output:
        return _output(await tool.acall(**given))

    def told(self, tool: Any, **given: Any) -> Output:
        selection = ToolSelection(tool_id="1", tool_name=self.name_of(tool), tool_kwargs=given)
        return _output(call_tool_with_selection(selection, [tool]))

    def parsed(self, text: str) -> Any:
        try:
            return ast.literal_eval(text)
        except (SyntaxError, ValueError):
            return json.loads(text)

    def beside(self, output: Output) -> tuple[list[NodeWithScore], Mapping[str, Any]]:
        assert output.text == output.beside.text == str(output.beside)
        return output.beside.nodes, getattr(output.beside, "compression_stats", {})

    def builder_items(self, holder: Any) -> list[NodeWithScore]:
        return holder.nodes

    def store(self) -> li.ContextStore:
        return li.ContextStore()

    def conversation(self, context_key: str | None = None) -> dict[str, Any]:
        return {}

    async def state_of(self, conversation: Any, key: str) -> Any:
        return await conversation["context"].store.get(key)

    async def play(self, conversation: Any, turns: Sequence[Sequence[Call]], tools: Sequence[Any]) -> Played:
        from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
        from llama_index.core.workflow import Context, JsonSerializer

        llm = ScriptedModel(script=[*(("", calls) for calls in turns), "done"])
        agent = FunctionAgent(name="agent", description="An agent.", tools=list(tools), llm=llm, streaming=False)
        workflow, serializer = AgentWorkflow(agents=[agent]), JsonSerializer()
        context = (
            Context.from_dict(workflow, conversation["saved"], serializer=serializer)
            if conversation
            else Context(workflow)
        )
        handler = workflow.run(user_msg="which part is blue?", ctx=context)
        answers = [call.tool_output.content for call in (await handler).tool_calls]
        conversation["context"] = context
        conversation["saved"] = json.loads(json.dumps(context.to_dict(serializer=serializer)))
        return Played(answers, [[message.content or "" for message in prompt] for prompt in llm.prompts])

    def makers(self) -> dict[str, Callable[..., Any]]:
        found, tool = Finder(lambda _: []), FunctionTool.from_defaults(_look)
        return {
            "ContextStore": li.ContextStore,
            "CtxAnalysisTransformer": partial(
                li.CtxAnalysisTransformer, postprocessor=li.CtxCompressPostprocessor(cache=Cache())
            ),
            "CtxCompressCodeActAgent": partial(li.CtxCompressCodeActAgent, _look, llm=MockLLM()),
            "CtxCompressFunctionAgent": partial(li.CtxCompressFunctionAgent, llm=MockLLM(), history_tokens=500),
            "CtxCompressMemoryBlock": li.CtxCompressMemoryBlock,
            "CtxCompressPostprocessor": li.CtxCompressPostprocessor,
            "CtxCompressReActAgent": partial(li.CtxCompressReActAgent, llm=MockLLM()),
            "CtxCompressRetriever": partial(li.CtxCompressRetriever, found),
            "CtxContextBuilder": li.CtxContextBuilder,
            "CtxContextSerializer": partial(li.CtxContextSerializer, Memory.from_defaults()),
            "CtxResearchRetriever": partial(li.CtxResearchRetriever, found, ResearchCache()),
            "EmbeddingsEncoder": partial(li.EmbeddingsEncoder, self.small_embeddings()),
            "LLMSelector": partial(li.LLMSelector, MockLLM()),
            "builder_tools": partial(li.builder_tools, li.CtxContextBuilder()),
            "cite": partial(li.cite, "timeout", []),
            "compress_tool": partial(li.compress_tool, tool),
            "expand_tool": partial(li.expand_tool, li.ContextStore()),
            "format_nodes": partial(li.format_nodes, []),
            "preview_tools": partial(li.preview_tools, found),
            "prompt_tokens": li.prompt_tokens,
            "query_tool": partial(li.query_tool, found),
            "record": partial(li.record, [], log=None),
        }


def _look(query: str) -> str:
    """Look it up."""
    return query


def _output(output: Any) -> Output:
    return Output(output.content, output.raw_output, output.is_error)


WAY = LlamaIndex()
