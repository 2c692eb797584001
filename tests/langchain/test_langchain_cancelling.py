"""A task that is cancelled takes its threads with it."""

import pytest
from held_calls import QUERY, TEXTS, Held, cancel_in_the_midst, stages_of
from langchain_core.documents import Document

from langchain_ctxcompress import CtxCompressor
from langchain_ctxcompress.outputs import Outputs

DOCUMENTS = [Document(text) for text in TEXTS]
CALLS = {
    "documents": lambda held: CtxCompressor(max_tokens=60, encoding=held).acompress_documents(DOCUMENTS, QUERY),
    "a tool's result": lambda held: Outputs.of(min_tokens=0, complexity=None, max_tokens=60, encoding=held).ashortened(
        "\n".join(TEXTS), QUERY
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_cancelled_calls_end_at_their_next_stage_or_are_not_begun(call, monkeypatch):
    held, stages = Held(), stages_of(monkeypatch)
    await cancel_in_the_midst(held, [call(held) for _ in range(20)])
    assert held.counted <= 2
    assert stages in ([], ["reduce_passages"] * 2)
