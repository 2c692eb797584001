"""Runs in the trace, callbacks and the event loop."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, CallbackManager
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from lc_documents import QUERY, make_documents, tokens_in_prompt

from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

COMPRESSOR = CtxCompressor(max_tokens=60)


class AsyncRecorder(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []

    async def on_chain_start(self, serialized, inputs, **kwargs):
        self.seen.append((kwargs["name"], inputs))

    async def on_chain_end(self, outputs, **kwargs):
        self.seen.append(("end", outputs))


class RunInline(BaseCallbackHandler):
    """Asks to be called on the event loop's own thread, and notes the thread."""

    run_inline = True

    def __init__(self) -> None:
        self.threads: list[int] = []

    def on_chain_start(self, serialized, inputs, **kwargs):
        self.threads.append(threading.get_ident())


def outputs_of(kept):
    return {"documents": len(kept), "tokens": tokens_in_prompt(kept), "max_tokens": 60}


def without_stats(outputs):
    assert outputs["stats"]["compressed_tokens"] == outputs["tokens"]
    assert 0 <= outputs["confidence"] <= 1
    return {name: value for name, value in outputs.items() if name not in ("stats", "confidence")}


def test_a_call_is_a_run_with_query_documents_and_tokens():
    collector = RunCollectorCallbackHandler()
    kept = COMPRESSOR.compress_documents(make_documents(9), QUERY, callbacks=[collector])
    [run] = collector.traced_runs
    assert (run.name, run.error) == ("CtxCompressor", None)
    assert run.inputs == {"query": QUERY, "documents": 9}
    assert without_stats(run.outputs) == outputs_of(kept)


async def test_an_async_call_is_the_same_run():
    collector = RunCollectorCallbackHandler()
    kept = await COMPRESSOR.acompress_documents(make_documents(9), QUERY, callbacks=[collector])
    [run] = collector.traced_runs
    assert (run.name, run.inputs, without_stats(run.outputs)) == (
        "CtxCompressor",
        {"query": QUERY, "documents": 9},
        outputs_of(kept),
    )


async def test_an_async_handler_is_awaited():
    recorder = AsyncRecorder()
    kept = await COMPRESSOR.acompress_documents(make_documents(3), QUERY, callbacks=[recorder])
    start, (name, outputs) = recorder.seen
    assert start == ("CtxCompressor", {"query": QUERY, "documents": 3})
    assert (name, without_stats(outputs)) == ("end", outputs_of(kept))


def test_a_callback_manager_is_accepted_and_its_run_becomes_the_parent():
    collector = RunCollectorCallbackHandler()
    parent = CallbackManager.configure([collector]).on_chain_start(None, {}, name="parent")
    COMPRESSOR.compress_documents(make_documents(), QUERY, callbacks=parent.get_child())
    parent.on_chain_end({})
    [run] = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["CtxCompressor"]


def test_without_callbacks_the_run_belongs_to_the_runnable_it_is_called_in():
    collector = RunCollectorCallbackHandler()
    chain = RunnableLambda(lambda query: COMPRESSOR.compress_documents(make_documents(), query), name="outer")
    chain.invoke(QUERY, {"callbacks": [collector]})
    [run] = collector.traced_runs
    assert (run.name, [child.name for child in run.child_runs]) == ("outer", ["CtxCompressor"])


def test_a_subclass_goes_by_its_own_name():
    class Shorten(CtxCompressor):
        pass

    collector = RunCollectorCallbackHandler()
    Shorten().compress_documents(make_documents(), QUERY, callbacks=[collector])
    assert [run.name for run in collector.traced_runs] == ["Shorten"]


def out_of_order(text: str) -> int:
    raise OSError("the tokenizer is out of order")


def test_an_error_is_raised_on_and_ends_the_run():
    collector = RunCollectorCallbackHandler()
    compressor = CtxCompressor(encoding=out_of_order)
    with pytest.raises(OSError, match="out of order"):
        compressor.compress_documents(make_documents(), QUERY, callbacks=[collector])
    [run] = collector.traced_runs
    assert "out of order" in run.error
    assert run.end_time is not None


async def test_an_async_error_is_raised_on_and_ends_the_run():
    collector = RunCollectorCallbackHandler()
    compressor = CtxCompressor(encoding=out_of_order)
    with pytest.raises(OSError, match="out of order"):
        await compressor.acompress_documents(make_documents(), QUERY, callbacks=[collector])
    [run] = collector.traced_runs
    assert "out of order" in run.error


def test_retriever_and_compressor_both_show_in_the_retrievers_run():
    base = RunnableLambda(lambda query: make_documents(), name="base")
    collector = RunCollectorCallbackHandler()
    CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR).invoke(QUERY, {"callbacks": [collector]})
    [run] = collector.traced_runs
    assert run.name == "CtxCompressRetriever"
    assert [child.name for child in run.child_runs] == ["base", "CtxCompressor"]


async def test_retriever_and_compressor_both_show_in_the_async_retrievers_run():
    base = RunnableLambda(lambda query: make_documents(), name="base")
    collector = RunCollectorCallbackHandler()
    await CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR).ainvoke(QUERY, {"callbacks": [collector]})
    [run] = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["base", "CtxCompressor"]


def test_the_runnable_shows_documents_and_numbers():
    collector = RunCollectorCallbackHandler()
    given = {"documents": make_documents(), "query": QUERY}
    kept = COMPRESSOR.as_runnable().invoke(given, {"callbacks": [collector]})
    [run] = collector.traced_runs
    assert (run.name, run.inputs, run.outputs) == ("compress_documents", given, {"output": kept})
    assert [without_stats(child.outputs) for child in run.child_runs] == [outputs_of(kept)]


async def test_the_event_loop_runs_on_while_documents_are_compressed():
    loop_is_free = threading.Event()
    waited = []

    def wait_for_the_loop(text: str) -> int:
        waited.append(loop_is_free.wait(timeout=5))
        return len(text)

    compressor = CtxCompressor(encoding=wait_for_the_loop)
    asyncio.get_running_loop().call_soon(loop_is_free.set)
    await compressor.acompress_documents(make_documents(2), QUERY)
    assert waited
    assert all(waited)


async def test_callbacks_of_an_async_call_stay_on_the_event_loops_thread():
    handler = RunInline()
    await COMPRESSOR.acompress_documents(make_documents(2), QUERY, callbacks=[handler])
    assert handler.threads == [threading.get_ident()]
