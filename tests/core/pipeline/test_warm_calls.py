"""With a cache, another question about the same passages does again only what depends on the question."""

from caches import QUESTIONS, passages

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache


def test_stages_of_which_the_cache_has_the_result_take_no_time():
    cached = Compressor(CompressionConfig(max_tokens=60, cache=Cache()))
    cold, warm = (cached.compress(question, passages()) for question in QUESTIONS[:2])
    assert any(stage.milliseconds for stage in cold.stages)
    assert not any(stage.milliseconds for stage in warm.stages if stage.name in ("exact", "limit", "repeats"))
    assert [stage.name for stage in warm.stages] == [stage.name for stage in cold.stages]


def test_doubtful_scores_are_warned_of_with_each_question(warned):
    doubtful = [Passage(p.id, f"{p.text} {n}", score=0.1 * n) for n, p in enumerate([*passages(), *passages()])]
    cached = Compressor(CompressionConfig(max_tokens=60, min_score=0.3, cache=Cache()))
    for question in QUESTIONS[:3]:
        warned.clear()
        assert any(stage.doubtful for stage in cached.compress(question, doubtful).stages)
        assert "score_kind" in warned.text
