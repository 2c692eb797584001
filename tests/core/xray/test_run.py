"""The x-ray of a run: what compressors, builders, searches and both frameworks did, on one page."""

from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode
from xray_page import check_safe, read, written

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.apps.search import compress_search_results
from ctxcompress.apps.xray import RunXray
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor

ANSWER = "The default timeout is 30 seconds."
TEXT = f"{ANSWER} " + "Lighthouses were painted white so that ships see them. " * 30
HOSTILE = "who is <script>alert(1)</script> there?"


def heads(page: str) -> list[str]:
    return [written(node) for node in read(page).find("h2")]


def test_every_step_of_a_run_is_on_the_page() -> None:
    run = RunXray()
    config = CompressionConfig(telemetry=run)
    compress("what is the default timeout?", [TEXT], max_tokens=30, config=config)
    ContextBuilder(30, config=config).add([Passage("a", TEXT)], query="the timeout of a builder?")
    compress_search_results([{"url": "https://a.org", "content": TEXT}], "timeout", max_tokens=200, config=config)
    CtxCompressor(max_tokens=30, telemetry=run).compress_documents([Document(TEXT)], "the timeout in LangChain?")
    nodes = [NodeWithScore(node=TextNode(text=TEXT))]
    CtxCompressPostprocessor(max_tokens=30, telemetry=run).postprocess_nodes(nodes, query_str="in LlamaIndex?")
    page = run.page()
    assert heads(page) == [
        "1. what is the default timeout?",
        "2. the timeout of a builder?",
        "3. search results: timeout",
        "4. the timeout in LangChain?",
        "5. in LlamaIndex?",
    ]
    assert page.count(ANSWER) >= 4
    assert "5 steps" in written(read(page))


def test_the_tokens_of_all_steps_are_added_up() -> None:
    run = RunXray()
    results = [compress("timeout?", [TEXT], max_tokens=size, telemetry=run) for size in (20, 40)]
    tokens = sum(result.tokens for result in results), sum(result.stats.original_tokens for result in results)
    assert "{:,} of {:,} tokens".format(*tokens) in written(read(run.page()))


def test_no_text_of_a_run_acts_as_markup() -> None:
    run = RunXray()
    compress(HOSTILE, [f"{HOSTILE} </main><img src=x onerror=alert(1)> {TEXT}"], max_tokens=40, telemetry=run)
    found = [{"url": "javascript:alert(1)", "content": f"<script>{TEXT}</script>"}]
    compress_search_results(found, "timeout", config=CompressionConfig(telemetry=run))
    page = run.page(HOSTILE)
    check_safe(read(page))
    assert "<script" not in page


def test_only_the_last_steps_are_held() -> None:
    run = RunXray(most=2)
    for number in range(5):
        compress(f"question {number}?", [TEXT], max_tokens=20, telemetry=run)
    page = run.page()
    assert heads(page) == ["4. question 3?", "5. question 4?"]
    assert "the last 2 are shown" in page


def test_a_run_without_steps_has_a_page() -> None:
    assert "0 steps" in written(read(RunXray().page()))
