"""Long passages are cut, and those of a low score become lines: what comes out, what is dropped, and what it costs."""

import json
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest
from accounts import assert_partition, assert_shown
from hypothesis import given
from hypothesis import strategies as st
from published_settings import PUBLISHED

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.data.results import Reason

LIBRARY = Path(sysconfig.get_path("stdlib"))
SOURCES = {name: (LIBRARY / f"{name}.py").read_text(encoding="utf-8") for name in ("queue", "textwrap", "shelve")}
SENTENCES = [f"The river number {n} runs by the town and turns many a mill." for n in range(60)]
PROSE = " ".join([*SENTENCES[:30], "The ferry crosses at nine.", *SENTENCES[30:]])


def source(name, score=None):
    return Passage(name, SOURCES[name], score=score, file_path=f"{name}.py")


def reasons(result):
    found = {}
    for decision in result.dropped:
        found.setdefault(decision.passage.id, []).append(str(decision.reason))
    return found


def assert_whole(result, passages):
    assert_partition(result, [passage.text for passage in passages])
    for kept in result.passages:
        assert_shown(kept, kept.original.text)
    assert result.tokens <= result.max_tokens


TEXTS = st.sampled_from([*SOURCES.values(), PROSE, "Short.", "", " \n", "x" * 900, "字" * 900])
SCORES = st.sampled_from([None, 0.0, 0.1, 0.39, 0.4, 0.9, 1.0, float("nan")])


@given(
    texts=st.lists(st.tuples(TEXTS, SCORES), max_size=4),
    query=st.sampled_from(["", "queue join", "ferry"]),
    budget=st.integers(1, 1_500),
    most=st.sampled_from([None, 100, 500, 2_000]),
    order=st.sampled_from(["source", "relevance", "edges"]),
    encoding=st.sampled_from(["o200k_base", lambda text: len(text) ** 2 // 10_000 + len(text) // 5]),
)
def test_all_is_accounted_for_within_the_budget_and_again_the_same(texts, query, budget, most, order, encoding):
    passages = [Passage(str(n), text, score=score, file_path="a.py") for n, (text, score) in enumerate(texts)]
    config = CompressionConfig(
        max_tokens=budget,
        max_length=most,
        order=order,
        metadata_only=True,
        encoding=encoding,
    )
    result = Compressor(config).compress(query, passages)
    assert_whole(result, passages)
    assert result == Compressor(config).compress(query, passages)
    assert result.stats.metadata_only_count == sum(kept.metadata_only for kept in result.passages)
    for decision in result.dropped:
        if decision.reason is Reason.METADATA:
            assert decision.index in {kept.index for kept in result.passages if kept.metadata_only}


def test_cutting_what_was_cut_changes_nothing():
    config = PUBLISHED["code"].with_options(max_tokens=5_000)
    passages = [source("queue", 0.9), Passage("prose", PROSE, score=0.8), source("shelve", 0.1)]
    once = compress("When does the ferry cross?", passages, config=config)
    records = [
        {"ctxcompress": {"metadata_only": kept.metadata_only}} for kept in once.passages
    ]  # as adapters leave them
    again = [
        replace(kept.original, text=kept.text, metadata=record)
        for kept, record in zip(once.passages, records, strict=True)
    ]
    assert compress("When does the ferry cross?", again, config=config).text == once.text


def test_a_low_score_leaves_a_line_that_can_be_expanded():
    passages = [source("queue", 0.9), source("shelve", 0.2), source("textwrap")]
    result = compress("queue", passages, metadata_only=True, max_tokens=20_000)
    assert [kept.metadata_only for kept in result.passages] == [False, True, False]
    line = result.passages[1].text
    assert line.startswith("[metadata-only] shelve.py:1-")
    assert "class Shelf" in line
    assert line in result.text
    assert result.passages[1].relevance == 0.0
    assert reasons(result) == {"shelve": ["metadata"]}
    assert result.expand("shelve") == SOURCES["shelve"]
    assert len(result.expand("shelve", max_tokens=100)) > 200
    assert result.stats.metadata_only_count == 1
    assert result.stats.kept_count == 2
    assert "- Metadata only: 1" in result.stats.summary()
    assert_whole(result, passages)


@pytest.mark.parametrize(("on_empty", "lines"), [("keep_best", 1), ("original", 0), ("drop", 2)])
def test_where_all_scores_are_low_on_empty_decides(on_empty, lines):
    passages = [source("shelve", 0.1), source("queue", 0.3)]
    result = compress("q", passages, metadata_only=True, score_kind="absolute", on_empty=on_empty, max_tokens=9_000)
    assert sum(kept.metadata_only for kept in result.passages) == lines
    assert [kept.id for kept in result.passages if not kept.metadata_only][-1:] == (["queue"] if lines < 2 else [])


@pytest.mark.parametrize("start", [CompressionConfig(), *PUBLISHED.values()], ids=["default", *PUBLISHED])
def test_a_result_is_expanded_whatever_the_options_filter_and_cut(start):
    text = "The flag `--retries` says how often a request is made again. " * 20 + "Its default is 7."
    compressor = Compressor(start.with_options(scorer="evidence", metadata_only=True, adaptive=True, format="compact"))
    passage = Passage("a", text, score=0.01)
    assert compressor.expand("--retries", passage, 2_000) == text
    assert "Its default is 7." in compressor.expand("--retries default", passage, 60)
    assert compressor.count(compressor.expand("--retries default", passage, 60)) <= 60


RECORDS = [{"name": f"service-{n}", "port": 8000 + n, "host": f"10.0.0.{n}"} for n in range(12)]


@pytest.mark.parametrize("options", [{"max_length": 100}, {"max_length": 300}, {"factual_length": 100}], ids=str)
@pytest.mark.parametrize("indent", [None, 2])
def test_data_that_is_cut_to_a_length_keeps_whole_records(options, indent):
    text = json.dumps(RECORDS, indent=indent)
    result = compress("port of service-7", [text], max_tokens=500, **options)
    kept = json.loads(result.text)
    assert 0 < len(kept) < 12
    assert all(record in RECORDS for record in kept)
    assert len(result.text) <= max(options.values())
    assert_whole(result, [Passage("0", text)])
