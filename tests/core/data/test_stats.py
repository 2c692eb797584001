"""The statistics of a compression: as lines for people, as JSON, and in the log."""

import json
import logging

import pytest
from published_settings import PUBLISHED

from ctxcompress import Compressor, Passage, compress
from ctxcompress.data.results import Stats

QUERY = "how to configure authentication"


def seed_results():
    """Nine results: the last three are weak, two say the same as another one, and one is the third of its document."""
    topics = "gates towers walls roofs".split()
    pages = [("a.md", topics[0]), ("a.md", topics[1]), ("a.md", topics[2]), ("b.md", topics[3])]
    texts = [
        f"Whoever wants to configure the {topic} of a town asks the guard who keeps {topic}." for _, topic in pages
    ]
    weak = [f"Far from the question, number {n} is only mentioned beside the road." for n in range(3)]
    given = [*zip([path for path, _ in pages], texts, strict=True), ("a.md", texts[0] + " "), ("b.md", texts[3] + "\n")]
    given += [(f"{n}.md", text) for n, text in enumerate(weak)]
    scores = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.2, 0.1, 0.05]
    return [Passage(f"r{n}", text, score=scores[n], file_path=path) for n, (path, text) in enumerate(given)]


@pytest.fixture
def seed_result():
    return compress(QUERY, seed_results(), config=PUBLISHED["docs"])


def test_the_seeds_five_numbers(seed_result):
    assert seed_result.stats.summary().splitlines()[:6] == [
        "Compression Stats:",
        "- Original results: 9",
        "- After score filter (≥0.3): 6",
        "- After deduplication: 4",
        "- After document limit (2 per doc): 3",
        "- Clusters merged: 2",
    ]


def test_tokens_saved_are_counted_in_the_final_text(seed_result):
    count = Compressor().count
    stats = seed_result.stats
    assert stats.original_tokens == count("\n\n".join(result.text for result in seed_results()))
    assert stats.compressed_tokens == count(seed_result.text) == seed_result.tokens
    assert stats.tokens_saved == stats.original_tokens - stats.compressed_tokens
    assert stats.savings_percent == pytest.approx(100 * stats.tokens_saved / stats.original_tokens)
    last = seed_result.stats.summary().splitlines()[-1]
    assert last == (
        f"- Tokens: {stats.original_tokens:,} -> {stats.compressed_tokens:,}, {stats.savings_percent:.1f} % saved"
    )


def native(value):
    if isinstance(value, dict):
        return all(type(key) is str and native(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(native, value))
    return type(value) in (int, float, str, bool)


def test_the_dictionary_is_json(seed_result):
    found = seed_result.stats.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert native(found)
    numbers = {name: value for name, value in found.items() if name not in ("savings_percent", "stages")}
    assert numbers == {name: getattr(seed_result.stats, name) for name in numbers}
    assert set(numbers) == {
        "original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged", "metadata_only_count",
        "kept_count", "original_tokens", "compressed_tokens", "tokens_saved", "cache_hits", "cache_misses",
    }  # fmt: skip
    assert found["savings_percent"] == round(seed_result.stats.savings_percent, 2)
    assert found["stages"][0] == {
        "name": "threshold", "items_in": 9, "items_out": 6, "note": "≥0.3",
        "milliseconds": seed_result.stages[0].milliseconds,
    }  # fmt: skip


def test_the_metrics_of_a_search():
    counts = dict.fromkeys("after_threshold after_dedup after_limit clusters_merged kept_count".split(), 7)
    stats = Stats(
        **counts, original_count=10, metadata_only_count=3, original_tokens=5_000, compressed_tokens=3_500, stages=()
    )
    assert stats.metrics() == {
        "totalChunks": 10,
        "metadataOnlyChunks": 3,
        "tokensBeforeCompression": 5000,
        "tokensAfterCompression": 3500,
        "tokensSaved": 1500,
        "compressionRate": "30.0%",
    }


# The log


def test_one_line_at_info_says_it_all(caplog):
    with caplog.at_level(logging.INFO, "ctxcompress"):
        result = compress(QUERY, seed_results(), config=PUBLISHED["docs"])
    (record,) = caplog.records
    stats = result.stats
    assert (record.name, record.levelno) == ("ctxcompress", logging.INFO)
    assert record.getMessage() == (f"9 -> 3 passages, {stats.original_tokens} -> {stats.compressed_tokens} tokens")
    assert record.ctxcompress == stats.to_dict()
