"""What `must_keep` names, in documents, in tools' results and in what is written down."""

import json
import re

import lc_tools
import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from lc_tools import Scripted, calling
from pydantic import ValidationError
from search_shapes import KUBERNETES

from langchain_ctxcompress import CtxCompressMiddleware, CtxCompressor, compress_tool, preview_tools, query_tool

FILLER = " ".join(f"Ship {n} came late." for n in range(100))
DOCUMENTS = [
    Document(f"The default timeout is 30 seconds. {FILLER}", id="a"),
    Document(f"{FILLER} The account is INV-77. {FILLER}", id="b"),
]


@tool
def read_page(query: str) -> str:
    """Read a page."""
    return DOCUMENTS[1].page_content


def test_documents_keep_it():
    options = {"max_tokens": 40, "must_keep": [re.compile(r"INV-\d+"), {"passage": "a", "spans": [[35, 53]]}]}
    kept = CtxCompressor(**options).compress_documents(DOCUMENTS, "default timeout")
    assert [document.id for document in kept] == ["a", "b"]
    assert "Ship 0 came late." in kept[0].page_content
    assert "The account is INV-77." in kept[1].page_content


def test_a_tools_result_and_a_search_tool_keep_it():
    shorter = compress_tool(read_page, max_tokens=30, must_keep=["INV-77"])
    assert "The account is INV-77." in shorter.invoke({"query": "default timeout"})
    assert issubclass(type(shorter), type(read_page))


def test_an_agents_tool_results_keep_it():
    model = Scripted(responses=[calling((read_page, {"query": "default timeout"})), AIMessage("done")])
    agent = create_agent(model, [read_page], middleware=[CtxCompressMiddleware(max_tokens=30, must_keep=["ids"])])
    messages = agent.invoke({"messages": [HumanMessage("timeout?")]})["messages"]
    (result,) = [message.content for message in messages if isinstance(message, ToolMessage)]
    assert "INV-77" in result
    assert len(result) < 200


def test_search_results_keep_it():
    web = compress_tool(lc_tools.web_search, max_tokens=250, must_keep=["Take the log."])
    plain = compress_tool(lc_tools.web_search, max_tokens=250)
    assert "Take the log." in json.dumps(web.invoke({"query": KUBERNETES}))
    assert "Take the log." not in json.dumps(plain.invoke({"query": KUBERNETES}))


def test_the_query_tool_gives_up_the_statistics_for_it():
    class Fixed(lc_tools.make_store([]).as_retriever().__class__):
        def _get_relevant_documents(self, query, *, run_manager):
            return DOCUMENTS

    search = query_tool(Fixed(vectorstore=lc_tools.make_store([])), max_tokens=45, must_keep=["The account is INV-77."])
    answer = search.invoke({"query": "default timeout", "show_stats": True})
    assert "The account is INV-77." in answer
    assert "Original results" not in answer


def test_a_model_that_expands_too_little_is_told_how_much_it_takes():
    class Fixed(lc_tools.make_store([]).as_retriever().__class__):
        def _get_relevant_documents(self, query, *, run_manager):
            return DOCUMENTS

    retriever = Fixed(vectorstore=lc_tools.make_store([]))
    search, expand = preview_tools(retriever, max_tokens=90, must_keep=["The account is INV-77."])
    assert "[b] (0.00) The account is INV-77." in search.invoke({"query": "default timeout"})
    assert "The account is INV-77." in expand.invoke({"chunk_id": "b", "max_tokens": 12})
    assert "give at least" in expand.invoke({"chunk_id": "b", "max_tokens": 3})


def test_it_is_written_down_and_read_back():
    rules = ["TICKET-1", re.compile("a+b", re.IGNORECASE), "dates", {"passage": "a", "spans": [[0, 3]]}]
    compressor = CtxCompressor(must_keep=rules)
    dumped = json.loads(compressor.model_dump_json())
    assert dumped["must_keep"] == ["TICKET-1", {"regex": "(?i)a+b"}, "dates", {"passage": "a", "spans": [[0, 3]]}]
    assert CtxCompressor(**dumped).must_keep == compressor.must_keep
    assert compressor.with_options(must_keep=["x"]).config.must_keep != compressor.config.must_keep


def test_a_function_is_written_by_name_and_not_read_back():
    dumped = CtxCompressor(must_keep=[len]).model_dump()
    assert dumped["must_keep"] == [{"function": "len"}]
    with pytest.raises(ValidationError, match=r'give {"text": ...}, {"regex": ...} or'):
        CtxCompressor(**dumped)


def test_a_tools_result_without_it_is_no_reason_for_a_warning(warned):
    tools = (
        compress_tool(read_page, max_tokens=30, must_keep=["OPS-4711"]),
        query_tool(RunnableLambda(lambda _: DOCUMENTS), must_keep=["OPS-4711"]),
    )
    for each in tools:
        each.invoke({"query": "which account?"})
    assert not warned.messages
    CtxCompressor(max_tokens=40, must_keep=["OPS-4711"]).compress_documents(DOCUMENTS, "which account?")
    assert "must_keep: nothing matches 'OPS-4711'; check" in warned.text
