"""`trace_to`: a page for each call, whatever calls it."""

import json
import threading

import pytest
from li_nodes import QUERY, four_nodes
from llama_index.core.schema import QueryBundle

from ctxcompress import Compressor
from ctxcompress.apps import xray as module
from llamaindex_ctxcompress import CtxCompressPostprocessor


def test_each_call_writes_one_page(tmp_path):
    postprocessor = CtxCompressPostprocessor(max_tokens=200, trace_to=tmp_path / "traces")
    plain = CtxCompressPostprocessor(max_tokens=200)
    kept = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert kept == plain.postprocess_nodes(four_nodes(), query_str=QUERY)
    (page,) = (path.read_text(encoding="utf-8") for path in (tmp_path / "traces").iterdir())
    assert QUERY in page


async def test_the_asynchronous_call_does_too_and_not_on_the_event_loop(tmp_path, monkeypatch):
    written_on = []
    write = module.write_page
    monkeypatch.setattr(module, "write_page", lambda *page: written_on.append(threading.get_ident()) or write(*page))
    postprocessor = CtxCompressPostprocessor(max_tokens=200, trace_to=str(tmp_path))
    await postprocessor.apostprocess_nodes(four_nodes(), query_bundle=QueryBundle(QUERY))
    assert len(list(tmp_path.iterdir())) == 1
    assert threading.get_ident() not in written_on


def test_the_page_counts_what_the_language_model_sees(tmp_path):
    CtxCompressPostprocessor(max_tokens=10_000, trace_to=tmp_path).postprocess_nodes(four_nodes(), query_str=QUERY)
    shown = "\n\n".join(item.get_content("llm") for item in four_nodes())
    (page,) = (path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert f"of {Compressor().count(shown):,} tokens" in page


def test_a_folder_that_cannot_be_made_breaks_no_engine(tmp_path, warned):
    (tmp_path / "file").write_text("")
    postprocessor = CtxCompressPostprocessor(max_tokens=200, trace_to=tmp_path / "file")
    assert postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert "could not be written" in warned.text


@pytest.mark.parametrize("wrong", [3, True, ["folder"]])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(ValueError, match="trace_to"):
        CtxCompressPostprocessor(trace_to=wrong)


def test_it_can_be_written_down(tmp_path):
    postprocessor = CtxCompressPostprocessor(trace_to=tmp_path)
    assert json.loads(postprocessor.to_json())["trace_to"] == str(tmp_path)
    assert CtxCompressPostprocessor.from_dict(postprocessor.to_dict()).trace_to == str(tmp_path)
