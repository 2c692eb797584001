"""The option `telemetry` of LlamaIndex's components: one span for each compression, however many attempts it takes."""

import json
import pickle

import pytest
from li_nodes import QUERY, four_nodes
from llama_index.core.schema import ImageNode, NodeWithScore
from telemetry import Told

from llamaindex_ctxcompress import CtxCompressPostprocessor


@pytest.fixture
def told() -> Told:
    return Told()


async def test_the_postprocessor_tells(told: Told) -> None:
    postprocessor = CtxCompressPostprocessor(max_tokens=60, telemetry=told.telemetry)
    kept = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert await postprocessor.apostprocess_nodes(four_nodes(), query_str=QUERY) == kept
    assert [span.attributes["ctxcompress.token.output"] > 0 for span in told.spans] == [True] * 2
    assert told.metric("ctxcompress.passage.input") == 8


def test_several_attempts_are_one_compression(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxcompress import Compressor

    attempts = []
    compress = Compressor.compress
    monkeypatch.setattr(Compressor, "compress", lambda *a, **o: attempts.append(1) or compress(*a, **o))
    image = NodeWithScore(node=ImageNode(text="An image of the timeout", image="aGk="), score=0.5)
    for budget in range(20, 60):
        attempts.clear()
        postprocessor = CtxCompressPostprocessor(max_tokens=budget, separator="\n", telemetry=told.telemetry)
        postprocessor.postprocess_nodes([image, *four_nodes()], query_str=QUERY)
        assert len(told.spans) == budget - 19
        if len(attempts) > 1:
            return
    pytest.fail("no budget took several attempts")


def test_the_switch_is_written_down_and_an_observer_is_not(told: Told) -> None:
    on = CtxCompressPostprocessor(max_tokens=60, telemetry=True)
    assert json.loads(on.to_json())["telemetry"] is True
    assert CtxCompressPostprocessor.from_dict(on.to_dict()).telemetry is True
    assert pickle.loads(pickle.dumps(on)).telemetry is True
    to_mine = CtxCompressPostprocessor(max_tokens=60, telemetry=told.telemetry)
    assert to_mine.to_dict()["telemetry"] is False
    assert pickle.loads(pickle.dumps(to_mine)).telemetry is False
    assert to_mine.telemetry is told.telemetry
    assert to_mine.with_options(top_n=2).telemetry is told.telemetry
