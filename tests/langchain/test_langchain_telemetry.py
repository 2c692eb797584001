"""The option `telemetry` of LangChain's components: one span for each compression, whatever component makes it."""

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from telemetry import Told

from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, compress_tool, query_tool

QUERY = "what is the default timeout?"
DOCUMENTS = [
    Document(f"The default timeout is 30 seconds. Logs are kept for {n} weeks. " * 5, metadata={"source": f"{n}.md"})
    for n in range(4)
]
RETRIEVER = RunnableLambda(lambda query: DOCUMENTS)


@pytest.fixture
def told() -> Told:
    return Told()


async def test_the_compressor_and_the_retriever_tell(told: Told) -> None:
    compressor = CtxCompressor(max_tokens=60, telemetry=told.telemetry)
    kept = compressor.compress_documents(DOCUMENTS, QUERY)
    assert await compressor.acompress_documents(DOCUMENTS, QUERY) == kept
    retriever = CtxCompressRetriever(base_retriever=RETRIEVER, compressor=compressor)
    assert retriever.invoke(QUERY) == kept
    assert [span.attributes["ctxcompress.token.saved"] > 0 for span in told.spans] == [True] * 3
    assert told.metric("ctxcompress.passage.input") == 12


def test_tools_tell(told: Told) -> None:
    @tool
    def search(query: str) -> str:
        """Search."""
        return "\n\n".join(document.page_content for document in DOCUMENTS)

    compress_tool(search, max_tokens=60, telemetry=told.telemetry).invoke({"query": QUERY})
    assert len(told.spans) == 1
    query_tool(RETRIEVER, max_tokens=60, telemetry=told.telemetry).invoke({"query": QUERY})
    assert len(told.spans) == 2


def test_a_tool_whose_search_results_are_shortened_tells_once(told: Told) -> None:
    @tool
    def search(query: str) -> list[dict[str, str]]:
        """Search."""
        return [
            {"url": f"https://{n}.example", "content": document.page_content} for n, document in enumerate(DOCUMENTS)
        ]

    compress_tool(search, max_tokens=150, telemetry=told.telemetry).invoke({"query": QUERY})
    [span] = told.spans
    saved = span.attributes["ctxcompress.token.saved"]
    assert saved > 0
    compress_tool(search, max_tokens=5000, telemetry=told.telemetry).invoke({"query": QUERY})
    assert told.metric("ctxcompress.token.saved") == saved  # because these fit, and stay as they are


def test_true_stays_true_when_it_is_written_down() -> None:
    assert CtxCompressor(telemetry=True).model_dump()["telemetry"] is True
    assert CtxCompressor.model_json_schema()["properties"]["telemetry"]["type"] == "boolean"
