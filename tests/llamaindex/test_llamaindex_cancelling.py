"""A task that is cancelled takes its threads with it."""

import pytest
from held_calls import QUERY, TEXTS, Held, cancel_in_the_midst, stages_of
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool

from llamaindex_ctxcompress import CtxCompressPostprocessor, compress_tool


def postprocessed(held):
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in TEXTS]
    return CtxCompressPostprocessor(max_tokens=60, encoding=held).apostprocess_nodes(nodes, query_str=QUERY)


def called(held):
    def read(query: str) -> str:
        return "\n".join(TEXTS)

    tool = FunctionTool.from_defaults(read)
    return compress_tool(tool, max_tokens=60, min_tokens=0, encoding=held).acall(query=QUERY)


@pytest.mark.parametrize("call", [postprocessed, called])
async def test_cancelled_calls_end_at_their_next_stage_or_are_not_begun(call, monkeypatch):
    held, stages = Held(), stages_of(monkeypatch)
    await cancel_in_the_midst(held, [call(held) for _ in range(20)])
    assert held.counted <= 2
    assert stages in ([], ["reduce_passages"] * 2)
