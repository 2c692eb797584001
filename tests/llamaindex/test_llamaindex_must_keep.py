"""What `must_keep` names, in nodes, in tools' outputs and in what is written down."""

import pickle
import re
from pickle import PicklingError

import pytest
from li_nodes import QUERY, text_node
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from pydantic import ValidationError

from ctxcompress.agents.left_out import MemoryStore
from ctxcompress.errors import BudgetTooSmall
from llamaindex_ctxcompress import (
    CtxCompressPostprocessor,
    CtxContextBuilder,
    builder_tools,
    compress_tool,
    expand_tool,
)

FILLER = " ".join(f"Ship {n} came late." for n in range(100))
TEXT = f"{FILLER} The account is INV-77. {FILLER}"


def _nodes():
    return [NodeWithScore(node=text_node(0), score=0.9), NodeWithScore(node=text_node(1, TEXT), score=0.1)]


def read(query: str) -> str:
    """Read a page."""
    return TEXT


@pytest.mark.parametrize(
    "options", [{}, {"min_score": 0.5}, {"metadata_only": True}, {"top_n": 1}, {"max_length": 100}]
)
def test_nodes_keep_it_whatever_the_filters(options):
    postprocessor = CtxCompressPostprocessor(max_tokens=150, must_keep=[re.compile(r"INV-\d+")], **options)
    kept = postprocessor.postprocess_nodes(_nodes(), query_str=QUERY)
    assert "The account is INV-77." in kept[-1].node.get_content(MetadataMode.NONE)


def test_a_tools_output_keeps_it():
    shorter = compress_tool(FunctionTool.from_defaults(read), max_tokens=40, must_keep=["INV-77"])
    assert "The account is INV-77." in shorter.call(query="default timeout").content


def test_nodes_that_stay_whole_and_leave_no_room_are_an_error():
    whole = NodeWithScore(node=ImageNode(text=FILLER, image="AAAA"))
    postprocessor = CtxCompressPostprocessor(max_tokens=40, must_keep=["INV-77"])
    with pytest.raises(BudgetTooSmall):
        postprocessor.postprocess_nodes([whole, *_nodes()], query_str=QUERY)
    assert postprocessor.postprocess_nodes([whole, _nodes()[0]], query_str=QUERY)


def test_it_is_written_down_and_read_back():
    rules = ["TICKET-1", re.compile("a+b", re.IGNORECASE), "dates", {"passage": "a", "spans": [[0, 3]]}]
    postprocessor = CtxCompressPostprocessor(must_keep=rules)
    for copy in (
        CtxCompressPostprocessor.from_dict(postprocessor.to_dict()),
        CtxCompressPostprocessor.from_json(postprocessor.to_json()),
        pickle.loads(pickle.dumps(postprocessor)),
    ):
        assert copy.config.must_keep == postprocessor.config.must_keep


def test_a_function_is_kept_by_pickle_where_a_module_defines_it_and_by_no_dictionary():
    postprocessor = CtxCompressPostprocessor(must_keep=[len])
    assert pickle.loads(pickle.dumps(postprocessor)).config.must_keep == postprocessor.config.must_keep
    with pytest.raises(ValidationError, match=r'give {"text": ...}, {"regex": ...} or'):
        CtxCompressPostprocessor.from_dict(postprocessor.to_dict())
    with pytest.raises(PicklingError, match="must_keep has a function that cannot be pickled"):
        pickle.dumps(CtxCompressPostprocessor(must_keep=[lambda text: []]))


def all_tickets(query: str) -> str:
    """Read all tickets."""
    filler = "Ship 7 came late, and nobody saw the cat. " * 5
    return "\n".join(f"TICKET-{n} is open. {filler}" for n in range(100, 160)) + "\nThe default timeout is 30 seconds."


def test_more_than_fits_does_not_end_the_run_where_the_whole_output_is_kept(warned):
    store = MemoryStore()
    tool = FunctionTool.from_defaults(all_tickets)
    shown = compress_tool(tool, max_tokens=150, store=store, must_keep=["ids"]).call(query="default timeout").content
    assert "30 seconds" in shown
    assert "must_keep does not hold for a tool's result" in warned.text
    handle = shown.rpartition("expand ")[2].rstrip("]")
    answer = expand_tool(store, max_tokens=300, must_keep=["ids"]).call(handle=handle, question="default timeout")
    assert "30 seconds" in answer.content
    with pytest.raises(ValueError, match="must_keep names 60 different texts"):
        compress_tool(tool, max_tokens=150, must_keep=["ids"]).call(query="default timeout")


class Tickets(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        text = "The default timeout is 30 seconds." if "timeout" in query_bundle.query_str else all_tickets("")
        return [NodeWithScore(node=TextNode(text=text, id_=query_bundle.query_str))]


async def test_a_full_context_tells_the_model_what_has_no_room():
    search, _ = builder_tools(CtxContextBuilder(max_tokens=60, must_keep=["ids"]), Tickets())
    assert search.call(query="timeout").content == "The default timeout is 30 seconds."
    for output in (search.call(query="tickets"), await search.acall(query="tickets")):
        assert output.content.startswith("Nothing was added: ")
