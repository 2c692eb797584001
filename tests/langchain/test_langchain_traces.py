"""`trace_to`: a page for each call, whatever calls it."""

import threading

import pytest
from langchain_core.runnables import RunnableLambda
from lc_documents import QUERY, make_documents

from ctxcompress.apps import xray as module
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever


def test_each_call_writes_a_page(tmp_path):
    compressor = CtxCompressor(max_tokens=60, trace_to=tmp_path / "traces")
    plain = CtxCompressor(max_tokens=60)
    assert compressor.compress_documents(make_documents(), QUERY) == plain.compress_documents(make_documents(), QUERY)
    CtxCompressRetriever(base_retriever=RunnableLambda(lambda _: make_documents()), compressor=compressor).invoke(QUERY)
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "traces").iterdir()]
    assert len(pages) == 2
    assert all(QUERY in page and "docs/0.md" in page for page in pages)


async def test_the_asynchronous_call_does_too_and_not_on_the_event_loop(tmp_path, monkeypatch):
    written_on = []
    write = module.write_page
    monkeypatch.setattr(module, "write_page", lambda *page: written_on.append(threading.get_ident()) or write(*page))
    compressor = CtxCompressor(max_tokens=60, trace_to=str(tmp_path))
    await compressor.acompress_documents(make_documents(), QUERY)
    assert len(list(tmp_path.iterdir())) == 1
    assert threading.get_ident() not in written_on


def test_a_folder_that_cannot_be_made_breaks_no_chain(tmp_path, warned):
    (tmp_path / "file").write_text("")
    compressor = CtxCompressor(max_tokens=60, trace_to=tmp_path / "file")
    assert compressor.compress_documents(make_documents(), QUERY)
    assert "could not be written" in warned.text


def test_no_documents_have_a_page_as_well(tmp_path):
    assert CtxCompressor(trace_to=tmp_path).compress_documents([], QUERY) == []
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("wrong", [3, True, ["folder"]])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(ValueError, match="trace_to"):
        CtxCompressor(trace_to=wrong)


def test_it_can_be_written_down(tmp_path):
    compressor = CtxCompressor(trace_to=tmp_path)
    assert compressor.model_dump(mode="json")["trace_to"] == str(tmp_path)
    assert compressor.with_options(max_tokens=5).trace_to == compressor.trace_to
