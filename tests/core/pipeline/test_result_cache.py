"""With a cache, results are the same as without one; and after a change nothing old is found."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from caches import MAKERS, QUESTIONS, passages
from fresh_modules import fresh
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.config.presets import TECHNICAL_SYNONYMS
from ctxcompress.pipeline import analysis, outcome


class Shared:
    """Compares by the letters that texts share."""

    compares_all = True

    def compare(self, query, texts, /):
        return [float(len(set(query) & set(text))) for text in texts]


FIXTURES = Path(__file__).parents[1] / "code" / "fixtures"

OPTIONS = [
    {},
    {"max_tokens": 25},
    {"format": "preview"},
    {"order": "edges", "max_tokens": 90},
    {"scorer": "bm25", "synonyms": TECHNICAL_SYNONYMS},
    {"adaptive": True, "max_tokens": 90},
    {"language": "ar", "max_tokens": 60},
    {"encoding": "cl100k_base", "ngram_threshold": 0.7},
    {"min_score": 0.5, "type_weights": {"heading": 2.0}},
    {"similarity_threshold": 0.9},
    {"encoder": Shared()},
    {"max_length": 200, "max_tokens": 400},
]


class Spy(Cache):
    """A cache that notes what it was asked for and had."""

    def __init__(self, cache):
        self.cache, self.hits, self.values = cache, [], {}

    def get(self, key, codec, allowance=None):
        value = self.cache.get(key, codec, allowance)
        if value is not None:
            self.hits.append(key.partition(":")[0])
        return value

    def put(self, key, value, codec, allowance=None):
        self.values[key] = value
        self.cache.put(key, value, codec, allowance)


@pytest.fixture(params=MAKERS)
def cache(request, tmp_path):
    return MAKERS[request.param](tmp_path)


@pytest.mark.parametrize(("number", "kind"), list(zip(range(len(OPTIONS)), cycle(MAKERS), strict=False)))
def test_every_option_keeps_what_it_keeps_without_a_cache(number, kind, tmp_path):
    config = CompressionConfig(**{"max_tokens": 80, **OPTIONS[number]})
    plain, cached = Compressor(config), Compressor(config.with_options(cache=MAKERS[kind](tmp_path)))
    for question in (*QUESTIONS[:2], QUESTIONS[0]):
        assert cached.compress(question, passages()) == plain.compress(question, passages())


TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            "# the default timeout is thirty seconds. Retries\n- | a b\n\n超时 وقت ``` def f(): x".split(" ")
        ),
        max_size=80,
    ).map(" ".join),
)


@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_written_and_read_back_it_is_the_same(tmp_path_factory, texts, question):
    given_passages = [Passage(str(n), text) for n, text in enumerate(texts)]
    expected = Compressor(CompressionConfig(max_tokens=20)).compress(question, given_passages)
    store = SqliteStore(tmp_path_factory.mktemp("cache") / "c")
    disk = Cache(store, max_bytes=0)
    cached = Compressor(CompressionConfig(max_tokens=20, cache=disk))
    assert cached.compress("x", given_passages).query == "x"
    assert cached.compress(question, given_passages) == expected  # with texts that are read back
    again = cached.compress(question, given_passages)  # with an outcome that is
    assert again == expected
    assert [part.text for part in again.passages] == [part.text for part in expected.passages]
    assert (again.stats.summary(), again.input_count) == (expected.stats.summary(), expected.input_count)
    store.close()


def test_a_builder_builds_what_it_builds_without_a_cache(cache):
    for _ in range(2):
        plain = ContextBuilder(config=CompressionConfig(max_tokens=120))
        cached = ContextBuilder(config=CompressionConfig(max_tokens=120, cache=cache))
        for question, few in zip(QUESTIONS, ([0, 1], [1, 2], [3], [0, 3], [2]), strict=True):
            items = [passages()[number] for number in few]
            for builder in (plain, cached):
                builder.add(items, query=question, max_tokens=60)
            assert cached.render() == plain.render()
            assert cached.passages == plain.passages
        for builder in (plain, cached):
            builder.add([], query="retries", rebalance=True)
        assert cached.render() == plain.render()


# What is found


def changed_passage(**fields):
    one, *others = passages()
    return [replace(one, **fields), *others]


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "1"},
        {"title": "Server"},
        {"file_path": "a.py"},
        {"header_path": ("A",)},
        {"doc_id": "d"},
        {"score": 0.5},
        {"metadata": {"start_line": 7}},
    ],
    ids=str,
)
def test_a_changed_passage_has_another_outcome(changed):
    spy, plain, given_ = Spy(Cache()), Compressor(CompressionConfig(max_tokens=60)), changed_passage(**changed)
    cached = Compressor(plain.config.with_options(cache=spy))
    cached.compress(QUESTIONS[0], passages())
    assert cached.compress(QUESTIONS[0], given_) == plain.compress(QUESTIONS[0], given_)
    assert "outcome" not in spy.hits


@pytest.mark.parametrize("kind", MAKERS)
def test_another_version_finds_nothing(kind, tmp_path, monkeypatch):
    cache = MAKERS[kind](tmp_path)
    Compressor(CompressionConfig(max_tokens=60, cache=cache)).compress(QUESTIONS[0], passages())
    monkeypatch.setattr("ctxcompress.version.__version__", "99.0")
    newer = fresh("ctxcompress.pipeline.call_cache")
    for module in (analysis, outcome):
        monkeypatch.setattr(module, "key_of", newer.key_of)
    spy = Spy(cache)
    Compressor(CompressionConfig(max_tokens=60, cache=spy)).compress(QUESTIONS[0], passages())
    assert set(spy.hits) <= {"fits"}  # which is the tokenizer's, and lives as long as the process


# The lookups of one call


def test_a_result_says_what_the_cache_had(cache):
    plain = Compressor(CompressionConfig(max_tokens=60)).compress(QUESTIONS[0], passages())
    cached = Compressor(CompressionConfig(max_tokens=60, cache=cache))
    cold = cached.compress(QUESTIONS[0], passages())
    other = cached.compress(QUESTIONS[1], passages())
    warm = cached.compress(QUESTIONS[0], passages())
    assert (plain.stats.cache_hits, plain.stats.cache_misses) == (0, 0)
    assert cold.stats.cache_hits == 0
    assert cold.stats.cache_misses > 4
    assert other.stats.cache_hits > 0
    assert (warm.stats.cache_hits, warm.stats.cache_misses) == (1, 0)
    assert cold == plain == warm
    assert cold.stats == plain.stats == warm.stats
    assert cold.stats.summary() == warm.stats.summary()
    assert warm.stats.to_dict()["cache_hits"] == 1


def test_a_warning_comes_each_time(cache, warned):
    compressor = Compressor(CompressionConfig(max_tokens=60, min_score=0.9, score_kind="absolute", cache=cache))
    found = []
    for _ in range(2):
        warned.clear()
        compressor.compress(QUESTIONS[0], changed_passage(score=0.1)[:1])
        found.append(warned.messages)
    assert found[0] == found[1] != []


def test_inputs_are_handed_back_not_those_of_the_first_time():
    cached = Compressor(CompressionConfig(max_tokens=60, cache=Cache()))
    for version in (1, 2):
        items = [Passage("one", passages()[0].text, metadata={"version": version})]
        assert cached.compress(QUESTIONS[0], items).passages[0].original is items[0]


# Damage


def test_damaged_entries_are_found_out_again(tmp_path, caplog):
    disk = Cache(SqliteStore(tmp_path / "c"), max_bytes=0)
    expected = Compressor(CompressionConfig(max_tokens=60)).compress(QUESTIONS[0], passages())
    cached = Compressor(CompressionConfig(max_tokens=60, cache=disk))
    for damage in (
        "x'00'",
        "substr(data, 1, 30)",
        "CAST(data || 'x' AS BLOB)",
        "(SELECT data FROM ctxcache ORDER BY key DESC LIMIT 1)",
        "'text'",
        "x''",
    ):
        cached.compress(QUESTIONS[0], passages())
        with closing(sqlite3.connect(disk.store.path)) as connection, connection:
            connection.execute(f"UPDATE ctxcache SET data = {damage}")
        caplog.clear()
        with caplog.at_level(logging.WARNING, "ctxcompress"):
            assert cached.compress(QUESTIONS[0], passages()) == expected
        assert "damaged" in caplog.text


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_source_code_is_read_back_as_it_was(path):
    disk, plain = Cache(), Compressor(CompressionConfig(max_tokens=90))
    item = Passage("one", path.read_text(), file_path=path.name)
    for budget in (90, 300, 90):
        cached = Compressor(CompressionConfig(max_tokens=budget, cache=disk))
        for question in ("what is added to the total?", "how is it opened?"):
            expected = plain.compress(question, [item], max_tokens=budget)
            assert cached.compress(question, [item]) == expected == cached.compress(question, [item])


# Ahead of the first query, and again


@pytest.mark.parametrize("form", ["memory", "sqlite"])
def test_a_query_finds_the_analysis_of_its_passages(form, tmp_path):
    cache, one = MAKERS[form](tmp_path), passages()[0]
    given_ = [replace(one, id=str(n), text=f"{one.text}\n\nPage {n}.") for n in range(5)]
    Compressor(CompressionConfig(cache=cache)).analyse(given_)
    assert cache.stats().entries == 5
    if form == "sqlite":  # another process opens the file anew
        cache = MAKERS[form](tmp_path)
    result = Compressor(CompressionConfig(max_tokens=40, cache=cache)).compress(QUESTIONS[0], given_[:3])
    assert result == Compressor(CompressionConfig(max_tokens=40)).compress(QUESTIONS[0], given_[:3])
    assert result.cache.hits == 3


def test_a_result_by_other_embeddings_is_another_one():
    texts = ["The lamp of the harbour is red.", "A ferry leaves at noon."]
    compressor = Compressor(CompressionConfig(similarity_threshold=0.9, cache=Cache()))
    for apart in (True, False, True):
        embeddings = [1.0, 0.0], [0.0, 1.0] if apart else [1.0, 0.0]
        items = [Passage(str(n), text, embedding=embeddings[n]) for n, text in enumerate(texts)]
        assert len(compressor.compress("which lamp?", items).passages) == 1 + apart
