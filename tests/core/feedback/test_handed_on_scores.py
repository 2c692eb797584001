"""What a compression knew already reaches the sheet of the call, so nothing is scored twice."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace

import pytest
from calls import QUESTION, TEXTS, compressed, passages
from handbook import chunks

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.apps.feedback.call_sheet import CallSheet
from ctxcompress.cache import Cache
from ctxcompress.pipeline.scoring import current_listener, listening

ASKED = "how do I keep the cache on disk?"


class _Encoder:
    """Counts how often it is asked."""

    compares_all = True

    def __init__(self) -> None:
        self.calls = 0

    def compare(self, query: str, texts: list[str]) -> list[float]:
        self.calls += 1
        return [text.count("timeout") / (1 + len(query)) for text in texts]


@pytest.mark.parametrize(
    "options", [{}, {"adaptive": True}, {"scorer": "bm25"}, {"format": "verbose"}, {"on_empty": "original"}]
)
def test_the_sheet_is_the_one_of_scoring_again(options):
    compressor = Compressor(CompressionConfig(max_tokens=500, **options))
    with listening() as listener:
        result = compressor.compress(ASKED, chunks())
    assert listener.last is not None
    assert CallSheet.of(result, call=listener.last) == CallSheet.of(result)


def test_an_encoder_is_asked_no_more_than_without_feedback(tmp_path):
    log, encoder = FeedbackLog(tmp_path / "feedback.sqlite"), _Encoder()
    compressor = Compressor(CompressionConfig(max_tokens=30, encoder=encoder))
    compressor.compress(QUESTION, passages())
    without, encoder.calls = encoder.calls, 0
    with listening() as listener:
        result = compressor.compress(QUESTION, passages())
    assert log.remember(result, call=listener.last)
    assert encoder.calls == without > 0
    log.remember(result)
    assert encoder.calls == 2 * without


def test_a_listener_changes_no_result():
    for options in ({}, {"adaptive": True}, {"scorer": "bm25"}):
        plain = replace(compressed(**options), stages=())  # these have the milliseconds
        with listening():
            heard = replace(compressed(**options), stages=())
        assert heard == plain
        assert repr(heard) == repr(plain)
        assert len(pickle.dumps(heard)) == len(pickle.dumps(plain))
    assert current_listener() is None


def test_what_was_not_scored_is_not_heard():
    cached = Compressor(CompressionConfig(max_tokens=30, cache=Cache()))
    with listening() as listener:
        first = cached.compress(QUESTION, passages())
        assert listener.last is not None
        assert cached.compress(QUESTION, passages()) == first
        assert listener.last is None
        cached.compress(QUESTION, passages(), max_tokens=29)
        assert listener.last is not None
        Compressor().compress(QUESTION, passages())  # everything fits
        assert listener.last is None


async def test_calls_on_other_threads_are_heard_by_their_own_listener():
    with listening() as outer:
        with listening() as listener:
            await Compressor(CompressionConfig(max_tokens=30)).acompress(QUESTION, passages())
        assert listener.last is not None
        assert outer.last is None
        with ThreadPoolExecutor(1) as threads:
            threads.submit(compressed).result()
            assert outer.last is None
            threads.submit(copy_context().run, compressed).result()
    assert outer.last is not None
    assert outer.last.original.text == "\n\n".join(TEXTS)
