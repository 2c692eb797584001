"""With a cache, another question about the same passages does again only what depends on the question."""

from collections import Counter
from collections.abc import Iterator

import pytest
from caches import QUESTIONS, passages

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache
from ctxcompress.pipeline import analysis, reducing
from ctxcompress.score import corpus, mentions
from ctxcompress.select import novelty

_WITHOUT_QUESTION = (
    (reducing, "reduced"),
    (analysis, "read_each"),
    (analysis, "read_together"),
    (analysis, "Structure"),
    (analysis, "counts_of"),
    (corpus, "levels"),
    (corpus, "split_each"),
    (mentions, "_links"),
    (novelty, "_repeating"),
)
"""Functions whose result does not depend on the question."""
_LATER = {"counts_of", "_repeating"}
"""Those that a single question may not need: they run with the second one."""


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Counts the calls of these functions."""
    calls = Counter[str]()

    def counted(name, function):
        def call(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        return call

    for module, name in _WITHOUT_QUESTION:
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    return calls


def test_what_does_not_depend_on_the_question_is_done_once(done):
    titled = [Passage(p.id, p.text, title=f"Title {number}") for number, p in enumerate(passages())]
    cached = Compressor(CompressionConfig(max_tokens=60, cache=Cache()))
    cached.compress(QUESTIONS[0], titled)
    assert set(done) == {name for _, name in _WITHOUT_QUESTION} - _LATER
    done.clear()
    cached.compress(QUESTIONS[1], titled)
    assert set(done) <= _LATER
    done.clear()
    for number in range(12):
        cached.compress(f"{QUESTIONS[2]} {number}", titled)
    assert set(done) <= _LATER  # an encoding that counts slowly counts after several questions
    done.clear()
    cached.compress(QUESTIONS[2], titled)
    assert not done


def test_stages_of_which_the_cache_has_the_result_take_no_time():
    cached = Compressor(CompressionConfig(max_tokens=60, cache=Cache()))
    cold, warm = (cached.compress(question, passages()) for question in QUESTIONS[:2])
    assert any(stage.milliseconds for stage in cold.stages)
    assert not any(stage.milliseconds for stage in warm.stages if stage.name in ("exact", "limit", "repeats"))
    assert [stage.name for stage in warm.stages] == [stage.name for stage in cold.stages]


def test_other_options_and_other_passages_are_reduced_anew(done):
    cached = Compressor(CompressionConfig(max_tokens=60, cache=Cache()))
    cached.compress(QUESTIONS[0], passages())
    cached.compress(QUESTIONS[0], passages(), top_n=2)
    cached.compress(QUESTIONS[0], passages()[::-1])
    assert done["reduced"] == 3
    for options in ({}, {"top_n": 2}):
        plain = Compressor(CompressionConfig(max_tokens=60)).compress(QUESTIONS[1], passages(), **options)
        assert cached.compress(QUESTIONS[1], passages(), **options) == plain
    assert done["reduced"] == 5  # and those without a cache


def test_doubtful_scores_are_warned_of_with_each_question(warned):
    doubtful = [Passage(p.id, f"{p.text} {n}", score=0.1 * n) for n, p in enumerate([*passages(), *passages()])]
    cached = Compressor(CompressionConfig(max_tokens=60, min_score=0.3, cache=Cache()))
    for question in QUESTIONS[:3]:
        warned.clear()
        assert any(stage.doubtful for stage in cached.compress(question, doubtful).stages)
        assert "score_kind" in warned.text
