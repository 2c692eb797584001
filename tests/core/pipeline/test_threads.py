"""Cancelled work ends at its next stage, and cancelled work that has no thread yet never begins."""

import pytest
from held_calls import QUERY, TEXTS, Held, cancel_in_the_midst, stages_of

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.cache import Cache
from ctxcompress.data.metadata import as_passages


class HeldCache(Cache):
    """Knows nothing, notes what it is asked, and holds up who asks for a text."""

    def __init__(self, held):
        super().__init__()
        self.held, self.asked = held, []

    def get(self, key, codec, allowance=None):
        self.asked.append(key.partition(":")[0])
        if key.startswith("text:"):
            self.held.hold_up()

    def put(self, key, value, codec, allowance=None):
        pass


CALLS = {
    "compress": lambda config: Compressor(config).acompress(QUERY, TEXTS),
    "builder": lambda config: ContextBuilder(config=config).aadd(TEXTS, query=QUERY),
    "tool": lambda config: QueryTool.of(config).answer_off_loop(
        QueryTool.of(config).parameters.read({"query": QUERY}), as_passages(TEXTS)
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_fifty_cancelled_calls_end_at_their_next_stage_or_are_not_begun(call, monkeypatch):
    held = Held()
    config = CompressionConfig(max_tokens=60, encoding=held)
    calls = [call(config) for _ in range(50)]  # a tool compresses once when it is made, to load what it needs
    stages = stages_of(monkeypatch)
    await cancel_in_the_midst(held, calls)
    assert held.counted <= 2
    assert stages in ([], ["reduce_passages"] * 2)


async def test_passages_that_are_not_read_yet_are_not_read(monkeypatch):
    held, stages = Held(), stages_of(monkeypatch)
    cache = HeldCache(held)
    config = CompressionConfig(max_tokens=60, cache=cache)
    await cancel_in_the_midst(held, [Compressor(config).acompress(QUERY, TEXTS)], workers=1)
    assert stages == ["reduce_passages"]
    assert cache.asked.count("text") == 1


async def test_a_cancelled_add_changes_nothing():
    held = Held()
    builder = ContextBuilder(config=CompressionConfig(max_tokens=60, encoding=held))
    await cancel_in_the_midst(held, [builder.aadd(TEXTS, query=QUERY)], workers=1)
    assert builder.render() == ""
    assert builder.add(TEXTS[:1], query=QUERY).passages
