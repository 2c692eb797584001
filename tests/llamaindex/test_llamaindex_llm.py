"""The option `llm`: any of LlamaIndex's LLMs selects, is awaited, instrumented and cached."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from language_models import ANSWER, QUERY, naming, page
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import Field
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from pydantic import ValidationError

from ctxcompress.cache import Cache
from ctxcompress.language_model import Prompt
from llamaindex_ctxcompress import CtxCompressPostprocessor, LLMSelector, compress_tool, query_tool

SELECTED = [f"## Riga\n\n[…] {ANSWER}"]


class Chat(CustomLLM):
    """Answers what a function makes of the two messages, and counts its calls, sync and async."""

    answer: Callable[[Prompt], str] = Field(default=naming(ANSWER), exclude=True)
    version: int = 1
    raw: Any = Field(default=None, exclude=True)
    asked: list[str] = Field(default_factory=list, exclude=True)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="chat-for-tests")

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("it is a chat model")

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("nothing is streamed")

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        self.asked.append("sync")
        return self._response(messages)

    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        self.asked.append("async")
        return self._response(messages)

    def _response(self, messages):
        system, user = (message.content for message in messages)
        return ChatResponse(message=ChatMessage(self.answer(Prompt(system, user)), role="assistant"), raw=self.raw)


class Completing(CustomLLM):
    """Completes a text, and cannot chat."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="completing")

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        return CompletionResponse(text=naming(ANSWER)(Prompt("", prompt)))

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("nothing is streamed")


def nodes():
    return [NodeWithScore(node=TextNode(text=page().text, id_="page"), score=0.8)]


def compressed(llm, **options):
    postprocessor = CtxCompressPostprocessor(max_tokens=120, llm=llm, **options)
    return [item.text for item in postprocessor.postprocess_nodes(nodes(), query_str=QUERY)]


class Events(BaseEventHandler):
    """Keeps the events."""

    seen: list[Any] = Field(default_factory=list)

    def handle(self, event, **kwargs):
        self.seen.append(event)

    def stats(self):
        (event,) = [event for event in self.seen if event.class_name() == "CompressionEvent"]
        return event.stats["llm"]


@pytest.fixture
def events():
    root, handler = get_dispatcher(), Events()
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


def test_an_llm_selects_and_its_events_are_seen_with_the_statistics(events):
    assert compressed(Chat()) == SELECTED
    names = [event.class_name() for event in events.seen]
    assert names.count("LLMChatStartEvent") == names.count("LLMChatEndEvent") == 1
    assert events.stats()["outcome"] == "used"
    assert events.stats()["is_estimated"]


class Spans(BaseSpanHandler[BaseSpan]):
    """Keeps the parent of each span."""

    parents: dict[str, str | None] = Field(default_factory=dict)

    def new_span(self, id_, bound_args, instance=None, parent_span_id=None, tags=None, **kwargs):
        self.parents[id_.partition("-")[0]] = parent_span_id and parent_span_id.partition("-")[0]

    def prepare_to_exit_span(self, id_, bound_args, instance=None, result=None, **kwargs):
        pass

    def prepare_to_drop_span(self, id_, bound_args, instance=None, err=None, **kwargs):
        pass


@pytest.fixture
def spans():
    root, handler = get_dispatcher(), Spans()
    root.add_span_handler(handler)
    yield handler.parents
    root.span_handlers.remove(handler)


async def test_its_span_is_within_the_span_of_the_postprocessor(spans):
    compressed(Chat())
    assert spans["Chat.chat"] == "CtxCompressPostprocessor._postprocess_nodes"
    postprocessor = CtxCompressPostprocessor(max_tokens=120, llm=Chat())
    await postprocessor.apostprocess_nodes(nodes(), query_bundle=QueryBundle(QUERY))
    assert spans["Chat.achat"] == "CtxCompressPostprocessor._apostprocess_nodes"


async def test_an_async_engine_awaits_it():
    model = Chat()
    postprocessor = CtxCompressPostprocessor(max_tokens=120, llm=model)
    kept = await postprocessor.apostprocess_nodes(nodes(), query_bundle=QueryBundle(QUERY))
    assert [item.text for item in kept] == SELECTED
    assert model.asked == ["async"]


@pytest.mark.parametrize("llm", [Completing(), LLMSelector(Chat(), breadth=4)], ids=["completing", "selector"])
def test_other_forms_of_an_llm_are_taken_too(llm):
    assert compressed(llm) == SELECTED


@pytest.mark.parametrize(
    ("raw", "tokens"),
    [
        ({"usage": {"prompt_tokens": 900, "completion_tokens": 3}}, (900, 3, False)),
        ({"usage": {"input_tokens": 900, "output_tokens": 3}}, (900, 3, False)),
        ({}, None),
        (None, None),
        (["odd"], None),
    ],
)
def test_tokens_are_as_the_provider_says_or_counted(raw, tokens, events):
    compressed(Chat(raw=raw))
    stats = events.stats()
    if tokens is None:
        assert stats["is_estimated"]
        assert stats["input_tokens"] > 300
    else:
        assert (stats["input_tokens"], stats["output_tokens"], stats["is_estimated"]) == tokens


def raising(prompt):
    raise TimeoutError("key sk-123")


@pytest.mark.parametrize("answer", [raising, lambda prompt: "", lambda prompt: "all", lambda prompt: None])
def test_a_model_that_fails_or_refuses_leaves_the_result_without_it(answer, events):
    kept = compressed(Chat(answer=answer))
    assert events.stats()["outcome"].startswith("failed: ")
    assert kept == compressed(None)


def test_the_mock_llm_repeats_the_prompt_which_names_nothing():
    assert compressed(MockLLM()) == compressed(None)


def test_answers_are_cached_by_the_parameters_of_the_model():
    cache, models = Cache(), [Chat(version=1), Chat(version=1), Chat(version=2)]
    for model in models:
        assert compressed(model, cache=cache) == SELECTED
    assert [len(model.asked) for model in models] == [1, 0, 1]


def test_what_is_no_llm_is_refused():
    for llm in ("gpt", object(), LLMSelector("gpt")):
        with pytest.raises(ValidationError, match=r"llm is .*a model of its framework"):
            CtxCompressPostprocessor(llm=llm)


def test_an_llm_is_written_down_and_read_back_by_its_name():
    postprocessor = CtxCompressPostprocessor(max_tokens=120, llm=MockLLM(max_tokens=7))
    assert CtxCompressPostprocessor.from_dict(postprocessor.to_dict()).llm.max_tokens == 7
    assert pickle.loads(pickle.dumps(postprocessor)).llm.max_tokens == 7


def test_one_that_llamaindex_cannot_read_back_must_be_given_again():
    model = Chat()
    data = CtxCompressPostprocessor(max_tokens=120, llm=model).to_dict()
    with pytest.raises(ValueError, match=r"from_dict\(data, llm=...\)"):
        CtxCompressPostprocessor.from_dict(data)
    assert CtxCompressPostprocessor.from_dict(data, llm=model).llm is model
    selector = CtxCompressPostprocessor(max_tokens=120, llm=LLMSelector(model)).to_dict()
    assert selector["llm"] == "<llm LLMSelector>"


def test_tools_take_an_llm_too():
    def read_page(query: str) -> str:
        """Read a page."""
        return page().text

    model = Chat()
    short = compress_tool(FunctionTool.from_defaults(read_page), max_tokens=120, llm=model, min_tokens=0)
    assert short(query=QUERY).content == SELECTED[0]
    assert model.asked == ["sync"]


async def test_the_search_tool_asks_once_however_often_its_answer_has_to_be_shortened():
    class Finder(BaseRetriever):
        def _retrieve(self, query_bundle):
            return nodes()

    model = Chat()
    search = query_tool(Finder(), max_tokens=130, llm=model)
    output = await search.acall(query=QUERY, show_stats=True)
    assert SELECTED[0] in output.content
    assert model.asked == ["async"]


def test_nodes_that_stay_whole_share_the_budget_and_the_answer():
    model = Chat()
    postprocessor = CtxCompressPostprocessor(max_tokens=100, llm=model)
    picture = NodeWithScore(node=ImageNode(text="a picture of the harbour"), score=0.1)
    kept = postprocessor.postprocess_nodes([*nodes(), picture], query_str=QUERY)
    assert [item.node.get_content() for item in kept] == [*SELECTED, "a picture of the harbour"]
    assert model.asked == ["sync"]
