"""The option `llm`: any of LangChain's chat models selects, is traced, awaited and cached."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from language_models import ANSWER, QUERY, naming, page
from lc_tools import Scripted
from pydantic import Field, ValidationError

from ctxcompress.cache import Cache
from ctxcompress.language_model import Prompt
from langchain_ctxcompress import (
    CtxCompressMiddleware,
    CtxCompressor,
    CtxCompressRetriever,
    LLMSelector,
    compress_tool,
    query_tool,
)

DOCUMENTS = [Document(page().text, id="page", metadata={"source": "docs/towns.md"})]
USAGE = {"input_tokens": 900, "output_tokens": 3, "total_tokens": 903}


class Chat(BaseChatModel):
    """Answers what a function makes of the two messages, and counts its calls, sync and async."""

    answer: Callable[[Prompt], str] = Field(default=naming(ANSWER), exclude=True, repr=False)
    version: int = 1
    asked: list[str] = Field(default_factory=list, exclude=True, repr=False)

    @property
    def _llm_type(self) -> str:
        return "chat-for-tests"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs: Any) -> ChatResult:
        self.asked.append("sync")
        return self._result(messages)

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs: Any) -> ChatResult:
        self.asked.append("async")
        return self._result(messages)

    def _result(self, messages):
        system, user = (message.content for message in messages)
        message = AIMessage(self.answer(Prompt(system, user)), usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=message)])


def stats_of(collector):
    (run,) = collector.traced_runs
    return run.outputs["stats"]["llm"]


def compressed(llm, collector=None, **options):
    compressor = CtxCompressor(max_tokens=120, llm=llm, **options)
    callbacks = None if collector is None else [collector]
    return [doc.page_content for doc in compressor.compress_documents(DOCUMENTS, QUERY, callbacks=callbacks)]


SELECTED = [f"## Riga\n\n[…] {ANSWER}"]


def test_a_chat_model_selects_and_its_run_is_a_child_of_the_compressors_run():
    collector = RunCollectorCallbackHandler()
    assert compressed(Chat(), collector) == SELECTED
    (run,) = collector.traced_runs
    assert [(child.name, child.run_type) for child in run.child_runs] == [("select_segments", "llm")]
    assert stats_of(collector) == {
        "outcome": "used",
        "candidates": stats_of(collector)["candidates"],
        "named": 1,
        "calls": 1,
        "input_tokens": 900,
        "output_tokens": 3,
        "is_estimated": False,
        "cost": None,
    }


async def test_the_async_method_awaits_it_with_the_same_result_and_trace():
    model, collector = Chat(), RunCollectorCallbackHandler()
    compressor = CtxCompressor(max_tokens=120, llm=model)
    kept = await compressor.acompress_documents(DOCUMENTS, QUERY, callbacks=[collector])
    assert [document.page_content for document in kept] == SELECTED
    assert model.asked == ["async"]
    assert [child.name for child in collector.traced_runs[0].child_runs] == ["select_segments"]


def test_within_a_retriever_the_run_is_below_the_compressor():
    class Pages(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return DOCUMENTS

    collector = RunCollectorCallbackHandler()
    retriever = CtxCompressRetriever(base_retriever=Pages(), compressor=CtxCompressor(max_tokens=120, llm=Chat()))
    assert [doc.page_content for doc in retriever.invoke(QUERY, {"callbacks": [collector]})] == SELECTED
    (run,) = collector.traced_runs
    assert [child.name for child in run.child_runs[-1].child_runs] == ["select_segments"]


def fail_first(times):
    left = iter(range(times))

    def answer(prompt):
        if next(left, None) is not None:
            raise ConnectionError("key sk-123")
        return naming(ANSWER)(prompt)

    return answer


@pytest.mark.parametrize(
    "llm",
    [
        Chat(answer=fail_first(1)).with_retry(wait_exponential_jitter=False),
        Chat(answer=fail_first(99)).with_fallbacks([Chat()]),
        Chat().bind(temperature=0),
        LLMSelector(Chat(), breadth=4),
        RunnableLambda(lambda messages: naming(ANSWER)(Prompt(*(message.content for message in messages)))),
    ],
    ids=["retry", "fallbacks", "bound", "selector", "strings"],
)
def test_runnables_around_a_model_are_models_too(llm):
    assert compressed(llm) == SELECTED


def test_a_model_that_fails_leaves_the_result_without_it_and_the_trace_says_so():
    collector = RunCollectorCallbackHandler()
    assert compressed(Chat(answer=fail_first(99)), collector) == compressed(None)
    assert stats_of(collector)["outcome"] == "failed: the model raised ConnectionError"
    assert collector.traced_runs[0].error is None


def test_a_refusal_without_text_leaves_the_result_without_it():
    assert compressed(Chat(answer=lambda prompt: "")) == compressed(None)


def test_a_price_makes_the_cost():
    collector = RunCollectorCallbackHandler()
    compressed(LLMSelector(Chat(), price=(2, 8)), collector)
    assert stats_of(collector)["cost"] == pytest.approx((900 * 2 + 3 * 8) / 1e6)


def test_answers_are_cached_by_the_parameters_of_the_model():
    cache, models = Cache(), [Chat(version=1), Chat(version=1), Chat(version=2), Chat(version=2)]
    wrapped = [*models[:3], models[3].bind(top_p=1).with_retry().with_fallbacks([models[0]])]
    for model in wrapped * 2:
        assert compressed(model, cache=cache) == SELECTED
    assert [len(model.asked) for model in models] == [1, 0, 1, 1]


def test_a_model_that_nothing_describes_is_asked_each_time():
    asked, cache = [], Cache()

    def answer(messages):
        asked.append(messages)
        return "1"

    for _ in range(2):
        compressed(RunnableLambda(answer), cache=cache)
    assert len(asked) == 2


def test_what_is_no_chat_model_is_refused():
    for llm in ("gpt", object(), LLMSelector("gpt")):
        with pytest.raises(ValidationError, match=r"llm is .*a model of its framework"):
            CtxCompressor(llm=llm)


def test_a_compressor_with_a_model_can_be_copied_and_pickled():
    model = FakeListChatModel(responses=["1"])
    compressor = CtxCompressor(max_tokens=120, llm=model)
    assert compressor.with_options(max_tokens=5).llm is model
    assert compressor.with_options(llm=None).llm is None
    restored = pickle.loads(pickle.dumps(compressor))
    assert restored.compress_documents(DOCUMENTS, QUERY) == compressor.compress_documents(DOCUMENTS, QUERY)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_in_an_agent_the_model_selects_and_its_numbers_are_not_streamed_to_the_user(is_async):
    @tool
    def read_page(query: str) -> str:
        """Read a page."""
        return page().text

    model = Chat(answer=lambda prompt: f"thinking aloud\n{naming(ANSWER)(prompt)}")
    call = AIMessage("", tool_calls=[{"name": "read_page", "args": {"query": QUERY}, "id": "1"}])
    says = Scripted(responses=[call, AIMessage("30 seconds")])
    middleware = CtxCompressMiddleware(max_tokens=120, min_tokens=0, llm=model)
    agent = create_agent(says, [read_page], middleware=[middleware])
    asked = {"messages": [HumanMessage(QUERY)]}
    if is_async:
        streamed = [message async for message, _ in agent.astream(asked, stream_mode="messages")]
    else:
        streamed = [message for message, _ in agent.stream(asked, stream_mode="messages")]
    texts = [message.text for message in streamed]
    assert SELECTED[0] in texts
    assert "30 seconds" in texts
    assert len(model.asked) == 1
    assert not [text for text in texts if "thinking aloud" in text]


def test_tools_take_a_model_too():
    model = Chat()

    @tool
    def read_page(query: str) -> str:
        """Read a page."""
        return page().text

    collector = RunCollectorCallbackHandler()
    short = compress_tool(read_page, max_tokens=120, llm=model, min_tokens=0)
    assert short.invoke({"query": QUERY}, {"callbacks": [collector]}) == SELECTED[0]
    assert [child.name for child in collector.traced_runs[0].child_runs] == ["select_segments"]

    search = query_tool(RunnableLambda(lambda query: DOCUMENTS), max_tokens=150, llm=model)
    assert f"{SELECTED[0]}\n" in search.invoke({"query": QUERY}) + "\n"
    assert model.asked == ["sync", "sync"]
