"""What `must_keep` names, in nodes, in tools' outputs and in what is written down."""

import pickle
import re
from pickle import PicklingError

import pytest
from li_nodes import QUERY, text_node
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore
from llama_index.core.tools import FunctionTool
from pydantic import ValidationError

from ctxcompress.errors import BudgetTooSmall
from llamaindex_ctxcompress import CtxCompressPostprocessor, compress_tool

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
