"""The sheet of a call: its probabilities and budgets are those of a compression, and it survives the file."""

import zlib
from dataclasses import replace

import pytest
from calls import ANSWER, TEXTS, compressed
from handbook import chunks

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.apps.feedback.call_sheet import CallSheet
from ctxcompress.pipeline.scoring import current_listener, listening

QUESTION = "how do I keep the cache on disk?"


def test_a_sheet_says_what_each_passage_and_segment_was_worth():
    sheet = CallSheet.of(compressed())
    assert sheet.budget == 30
    assert sheet.scores == pytest.approx((1.0, 0.5, 0.1))
    assert all(tokens > 10 for tokens in sheet.tokens)
    best = max(sheet.parts, key=lambda part: part.probability)
    assert TEXTS[0][best.start : best.end].rstrip() == ANSWER
    assert sum(part.tokens for part in sheet.parts) == pytest.approx(sum(sheet.tokens), rel=0.1)


def test_it_has_no_text_and_survives_the_file():
    sheet = CallSheet.of(compressed())
    data = sheet.encode()
    assert CallSheet.decode(data) == sheet
    assert not any(word in zlib.decompress(data).decode() for word in ("timeout", "client", "p0"))


@pytest.mark.parametrize(
    "data", [b"", b"x" * 40, zlib.compress(b"[]"), zlib.compress(b"[9,1,1,[],[],[]]"), zlib.compress(b"{")]
)
def test_damaged_bytes_are_a_value_error(data):
    with pytest.raises(ValueError, match=r".*"):
        CallSheet.decode(data)


@pytest.mark.parametrize("budget", [200, 500, 1000])
def test_the_budgets_are_those_at_which_a_compression_keeps_a_segment(budget):
    given = chunks()
    compressor = Compressor(CompressionConfig(max_tokens=2000))
    sheet = CallSheet.of(compressor.compress(QUESTION, given))
    kept = {part.index: part.spans for part in compressor.compress(QUESTION, given, max_tokens=budget).passages}
    told, wrong = 0, 0
    for part in sheet.parts:
        end = part.start + len(given[part.passage].text[part.start : part.end].rstrip())
        is_kept = any(first <= part.start and end <= last for first, last in kept.get(part.passage, ()))
        told += part.budget <= budget
        wrong += part.budget <= budget and not is_kept
    assert told > 5
    assert wrong <= max(1, 0.02 * told)  # an estimate: a function may be cut differently, an orphan stays out


@pytest.mark.parametrize("threshold", [0.012, 0.05, 0.2])
def test_the_probabilities_are_those_that_adaptive_compares(threshold):
    given = chunks()
    compressor = Compressor(CompressionConfig(max_tokens=20_000))
    sheet = CallSheet.of(compressor.compress(QUESTION, given))
    result = compressor.compress(QUESTION, given, adaptive=threshold)
    kept = {part.index: part.spans for part in result.passages}
    likely = [part for part in sheet.parts if part.probability >= threshold]
    assert likely
    assert all(any(a <= part.start and part.start < b for a, b in kept.get(part.passage, ())) for part in likely)


# What a compression knew already


@pytest.mark.parametrize(
    "options", [{}, {"adaptive": True}, {"scorer": "bm25"}, {"format": "verbose"}, {"on_empty": "original"}]
)
def test_the_sheet_is_the_one_of_scoring_again(options):
    compressor = Compressor(CompressionConfig(max_tokens=500, **options))
    with listening() as listener:
        result = compressor.compress(QUESTION, chunks())
    assert listener.last is not None
    assert CallSheet.of(result, call=listener.last) == CallSheet.of(result)


def test_a_listener_changes_no_result_and_nothing_is_scored_twice(tmp_path):
    class Encoder:
        compares_all, calls = True, 0

        def compare(self, query, texts):
            self.calls += 1
            return [text.count("timeout") / (1 + len(query)) for text in texts]

    log, encoder = FeedbackLog(tmp_path / "feedback.sqlite"), Encoder()
    plain = replace(compressed(encoder=encoder), stages=(), compressor=None)  # stages have the milliseconds
    without, encoder.calls = encoder.calls, 0
    with listening() as listener:
        result = compressed(encoder=encoder)
    assert repr(replace(result, stages=(), compressor=None)) == repr(plain)
    assert log.remember(result, call=listener.last)
    assert encoder.calls == without > 0
    assert current_listener() is None
