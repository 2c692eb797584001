"""Batches of the compressor and of the retriever: many inputs share processes, and nothing else changes."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda

from ctxcompress.apps.batch import processes
from ctxcompress.cache import Cache
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, batching

COUNT = 12


def documents(query: str) -> list[Document]:
    texts = [f"Pool {place} opens ten connections for {query}. Its timeout is {place} seconds." for place in range(6)]
    return [Document(text, id=str(place), metadata={"place": [place]}) for place, text in enumerate(texts)]


QUERIES = [f"timeout of pool {number}?" for number in range(COUNT)]
INPUTS: Any = [{"documents": documents(query), "query": query} for query in QUERIES]


class _Runs(BaseCallbackHandler):
    def __init__(self) -> None:
        self.ended: list[object] = []

    def on_chain_end(self, outputs: Any, **_: Any) -> None:
        if isinstance(outputs, dict):
            self.ended.append(outputs["stats"]["original_tokens"])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that were started, by numbers of them; they are started at once."""
    numbers: list[int] = []
    start = processes.ProcessMap._start

    def noted(self: Any) -> None:
        numbers.append(2)
        start(self)

    monkeypatch.setattr(processes, "_PATIENCE", 0.0)
    monkeypatch.setattr(processes, "usable_cores", lambda: 2)
    monkeypatch.setattr(processes.ProcessMap, "_start", noted)
    monkeypatch.setattr(batching, "_ENOUGH", COUNT)
    return numbers


def test_a_batch_of_the_step_is_compressed_in_processes_with_the_errors_of_single_calls(started: list[int]) -> None:
    compressor = CtxCompressor(max_tokens=25)
    expected = [compressor.compress_documents(given["documents"], given["query"]) for given in INPUTS]
    runs, wrong = _Runs(), {"documents": INPUTS[0]["documents"], "query": 7}
    given = [*INPUTS, wrong]
    *found, error = compressor.as_runnable().batch(given, {"callbacks": [runs]}, return_exceptions=True)
    assert found == expected
    assert str(error).startswith("query is a int")
    assert len(runs.ended) == COUNT
    assert started == [2]
    assert compressor.as_runnable().batch(INPUTS[:3]) == expected[:3]
    assert started == [2]


@pytest.mark.slow(reason="processes import LangChain, as for the step")
async def test_batches_of_the_retriever_are_compressed_in_processes(started: list[int]) -> None:
    base = RunnableLambda(documents)
    retriever = CtxCompressRetriever(base_retriever=base, compressor=CtxCompressor(max_tokens=25))
    assert await retriever.abatch(QUERIES) == [retriever.invoke(query) for query in QUERIES]
    assert started == [2]


def test_embeddings_and_caches_stay_in_this_process(started: list[int]) -> None:
    for option in ({"encoder": DeterministicFakeEmbedding(size=4)}, {"cache": Cache()}):
        compressor = CtxCompressor(max_tokens=25, **option)
        assert len(compressor.as_runnable().batch(INPUTS)) == COUNT
    assert not started
