"""With a cache, results are the same as without one; and after a change nothing old is found."""

import gzip
import json
import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from caches import MAKERS, PLAIN, QUESTIONS, passages
from fresh_modules import fresh
from hypothesis import given
from hypothesis import strategies as st

import ctxcompress.pipeline.call_cache as keys
from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.config.presets import TECHNICAL_SYNONYMS
from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.pipeline import analysis, result_cache
from ctxcompress.pipeline.result_cache import ResultCodec, key_of_outcome
from ctxcompress.pipeline.text_codec import MEMORY_ONLY, CountsCodec, ReadText, TextCodec
from ctxcompress.segment.source_code import outline
from ctxcompress.text.tokens import TokenCounter


class Shared:
    """Compares by the letters that texts share."""

    compares_all = True

    def compare(self, query, texts, /):
        return [float(len(set(query) & set(text))) for text in texts]


FIXTURES = Path(__file__).parents[1] / "code" / "fixtures"

OPTIONS = [
    {},
    {"max_tokens": 25},
    {"max_tokens": 3},
    {"tier": "detailed"},
    {"mode": "preview"},
    {"order": "edges", "max_tokens": 90},
    {"scorer": "bm25", "synonyms": TECHNICAL_SYNONYMS},
    {"adaptive": True, "max_tokens": 90},
    {"language": "de"},
    {"language": "ar", "max_tokens": 60},
    {"encoding": len, "max_tokens": 300},
    {"encoding": "cl100k_base", "ngram_threshold": 0.7},
    {"min_score": 0.5, "type_weights": {"heading": 2.0}},
    {"similarity_threshold": 0.9},
    {"encoder": Shared()},
    {"max_length": 150},
    {"max_length": 200, "preserve_structure": False, "max_tokens": 400},
    {"language": "en", "max_tokens": 700, "order": "relevance"},
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


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_every_option_keeps_what_it_keeps_without_a_cache(cache, options):
    given_options = {"max_tokens": 80, **options}
    if "tier" in options:
        del given_options["max_tokens"]
    plain = Compressor(CompressionConfig(**given_options))
    cached = Compressor(CompressionConfig(**given_options, cache=cache))
    for question in (*QUESTIONS, *QUESTIONS):
        assert cached.compress(question, passages()) == plain.compress(question, passages())


SHARED = {
    "memory": Cache(max_bytes=2_000_000),
    "both": Cache({}, max_bytes=100_000),
}
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            "# the default timeout is thirty seconds. Retries\n- | a b\n\n超时 وقت ``` def f(): x".split(" ")
        ),
        max_size=80,
    ).map(" ".join),
)


@given(
    st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=2, max_size=3), st.integers(1, 60), st.booleans()
)
def test_generated_passages_keep_what_they_keep_without_a_cache(texts, questions, budget, titled):
    given_passages = [Passage(str(n), text, title=text[:9] if titled else None) for n, text in enumerate(texts)]
    plain = Compressor(CompressionConfig(max_tokens=budget))
    for cache in SHARED.values():
        cached = Compressor(CompressionConfig(max_tokens=budget, cache=cache))
        for question in (*questions, questions[0]):
            assert cached.compress(question, given_passages) == plain.compress(question, given_passages)


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


@pytest.mark.parametrize("name", ["page", "mdpage", "hotpot", "musique", "xquad_zh", "xquad_ar", "code", "table"])
def test_cases_keep_what_they_keep_without_a_cache(cases_folder, name, tmp_path):
    data = json.loads(gzip.decompress((cases_folder / f"{name}.json.gz").read_bytes()))
    store = SqliteStore(tmp_path / "c")
    caches = (Cache(), Cache(store, max_bytes=0), Cache(store))
    plain = Compressor(CompressionConfig(max_tokens=400))
    cases = data["cases"][:12]
    for case, other in zip(cases, [*cases[1:], cases[0]], strict=True):
        documents = [data["docs"][key] for key in case["docs"]]
        items = [Passage(str(n), d["text"], title=d["title"]) for n, d in enumerate(documents)]
        for query in (other["query"], case["query"]):
            expected = plain.compress(query, items)
            for cache in caches:
                assert Compressor(CompressionConfig(max_tokens=400, cache=cache)).compress(query, items) == expected


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


def test_threads_share_what_was_read(cache):
    plain = Compressor(CompressionConfig(max_tokens=80))
    expected = [plain.compress(question, passages()) for question in QUESTIONS]
    cached = Compressor(CompressionConfig(max_tokens=80, cache=cache))
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            found = list(pool.map(lambda question: cached.compress(question, passages()), QUESTIONS * 4))
            assert found == expected * 4


# What is found


def test_another_question_finds_the_texts_and_the_same_one_the_outcome(cache):
    spy = Spy(cache)
    cached = Compressor(CompressionConfig(max_tokens=60, cache=spy))
    cached.compress(QUESTIONS[0], passages())
    assert spy.hits == []
    cached.compress(QUESTIONS[1], passages())
    assert set(spy.hits) >= {"passages"} or spy.hits.count("text") == 4
    spy.hits.clear()
    cached.compress(QUESTIONS[0], passages())
    assert spy.hits == ["outcome"]


def test_other_passages_find_the_texts_that_they_share(cache):
    spy = Spy(cache)
    cached = Compressor(CompressionConfig(max_tokens=60, language="en", cache=spy))
    cached.compress(QUESTIONS[0], passages()[:2])
    cached.compress(QUESTIONS[0], passages()[1:3])
    assert spy.hits == ["text"]  # the one that both have


def test_after_some_questions_tokens_are_counted_and_words_indexed_for_all_that_follow(tmp_path):
    for kind in ("memory", "both"):
        spy = Spy(MAKERS[kind](tmp_path))
        cached = Compressor(CompressionConfig(max_tokens=60, cache=spy))
        plain = Compressor(CompressionConfig(max_tokens=60))
        for number in range(12):
            question = f"{QUESTIONS[number % 3]} and number {number}?"
            assert cached.compress(question, passages()) == plain.compress(question, passages())
            counted = [key for key in spy.values if key.startswith("text:") and "o200k_base" in key]
            is_worth_storing = not TokenCounter("o200k_base").is_fast
            assert bool(counted) == (number >= 8 and is_worth_storing)


def changed_passage(**fields):
    one, *others = passages()
    values = {
        name: getattr(one, name) for name in ("id", "text", "title", "file_path", "header_path", "doc_id", "score")
    }
    values |= fields
    return [Passage(values.pop("id"), values.pop("text"), **values), *others]


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
    spy = Spy(Cache())
    cached, plain = (
        Compressor(CompressionConfig(max_tokens=60, cache=spy)),
        Compressor(CompressionConfig(max_tokens=60)),
    )
    cached.compress(QUESTIONS[0], passages())
    assert cached.compress(QUESTIONS[0], changed_passage(**changed)) == plain.compress(
        QUESTIONS[0], changed_passage(**changed)
    )
    assert "outcome" not in spy.hits


def test_a_changed_text_is_not_found():
    spy = Spy(Cache())
    cached = Compressor(CompressionConfig(max_tokens=30, cache=spy))
    cached.compress(QUESTIONS[0], passages()[:1])
    text = passages()[0].text.replace("30 seconds", "31 seconds")
    assert "31 seconds" in cached.compress(QUESTIONS[0], [Passage("one", text, title="Client")]).text
    assert spy.hits == []


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 61},
        {"encoding": "cl100k_base"},
        {"separator": "\n"},
        {"scorer": "bm25"},
        {"order": "relevance"},
        {"mode": "preview"},
    ],
    ids=str,
)
def test_a_changed_option_has_another_outcome(options, cache):
    spy = Spy(cache)
    compressor = Compressor(CompressionConfig(max_tokens=60, cache=spy))
    compressor.compress(QUESTIONS[0], passages())
    expected = Compressor(CompressionConfig(max_tokens=60)).compress(QUESTIONS[0], passages(), **options)
    assert compressor.compress(QUESTIONS[0], passages(), **options) == expected
    assert "outcome" not in spy.hits


def test_tokens_are_those_of_the_tokenizer_that_is_asked_for(cache):
    for encoding in ("o200k_base", "cl100k_base", len, lambda text: text.split()):
        config = CompressionConfig(max_tokens=60, encoding=encoding)
        expected = Compressor(config).compress(QUESTIONS[0], passages())
        assert Compressor(config.with_options(cache=cache)).compress(QUESTIONS[0], passages()) == expected


@pytest.mark.parametrize("kind", MAKERS)
def test_another_version_finds_nothing(kind, tmp_path, monkeypatch):
    cache = MAKERS[kind](tmp_path)
    Compressor(CompressionConfig(max_tokens=60, cache=cache)).compress(QUESTIONS[0], passages())
    monkeypatch.setattr("ctxcompress.version.__version__", "99.0")
    newer = fresh("ctxcompress.pipeline.call_cache")
    for module in (analysis, result_cache):
        monkeypatch.setattr(module, "key_of", newer.key_of)
    spy = Spy(cache)
    Compressor(CompressionConfig(max_tokens=60, cache=spy)).compress(QUESTIONS[0], passages())
    assert set(spy.hits) <= {"fits"}  # which is the tokenizer's, and lives as long as the process


def test_what_no_key_can_tell_has_no_outcome():
    config = CompressionConfig()
    finger = keys.Fingerprints()
    assert key_of_outcome("q", passages(), config, "", finger)
    assert key_of_outcome("q", passages(), config.with_options(encoding=len), "", finger) is None
    assert key_of_outcome("q", passages(), config.with_options(encoder=Shared()), "", finger) is None
    assert key_of_outcome("q", changed_passage(title=object()), config, "", finger) is None
    by_meaning = config.with_options(similarity_threshold=0.9)
    assert key_of_outcome("q", changed_passage(embedding=["no number"]), by_meaning, "", finger) is None


def test_embeddings_are_in_the_key_where_they_are_compared():
    finger, by_meaning = keys.Fingerprints(), CompressionConfig(similarity_threshold=0.9)
    embeddings = (None, [0.5, 1.0], [0.5, 2.0], (0.5, 1.0, 0.0))
    found = [key_of_outcome("q", changed_passage(embedding=numbers), by_meaning, "", finger) for numbers in embeddings]
    assert None not in found
    assert len(set(found)) == 4
    ignored = [
        key_of_outcome("q", changed_passage(embedding=numbers), CompressionConfig(), "", finger)
        for numbers in embeddings
    ]
    assert len(set(ignored)) == 1


class Header:
    """A frame that says what it adds."""

    def __init__(self, header, description):
        self.header, self.description = header, description

    def __call__(self, passage, text, /):
        return f"{self.header}: {text}"


def test_the_outcome_of_a_frame_that_describes_itself_is_cached(cache):
    spy = Spy(cache)
    cached = Compressor(CompressionConfig(max_tokens=60, cache=spy))
    plain = Compressor(CompressionConfig(max_tokens=60))
    for header in ("one", "a much longer header"):
        frame = Header(header, header)
        for hits in ([], ["outcome"]):
            spy.hits.clear()
            found = cached.compress(QUESTIONS[0], passages(), frame=frame)
            assert found == plain.compress(QUESTIONS[0], passages(), frame=frame)
            assert (
                found.stats.original_tokens
                == plain.compress(QUESTIONS[0], passages(), frame=frame).stats.original_tokens
            )
            assert [hit for hit in spy.hits if hit == "outcome"] == hits


def test_the_outcome_of_a_frame_that_does_not_is_not_cached(cache):
    spy = Spy(cache)
    cached = Compressor(CompressionConfig(max_tokens=60, cache=spy))
    for frame in (Header("one", None), lambda passage, text: f"two: {text}"):
        for _ in range(2):
            cached.compress(QUESTIONS[0], passages(), frame=frame)
    assert not any(key.startswith("outcome") for key in spy.values)


def test_the_preset_docs_caches_outcomes(cache):
    config = CompressionConfig.from_preset("docs", max_tokens=60)
    items = [replace(item, embedding=[float(n), 1.0], score=0.9) for n, item in enumerate(passages())]
    cached = Compressor(config.with_options(cache=cache))
    first, again = (cached.compress(QUESTIONS[0], items) for _ in range(2))
    assert (first.cache.is_outcome, again.cache.is_outcome) == (False, True)
    assert again == first == Compressor(config).compress(QUESTIONS[0], items)


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


@given(
    st.lists(st.one_of(st.text(), st.integers(), st.none(), st.booleans(), st.floats(allow_nan=False)), max_size=4),
    st.data(),
)
def test_keys_differ_where_a_part_does(parts, draw):
    other = draw.draw(st.lists(st.one_of(st.text(), st.integers(), st.none(), st.booleans()), max_size=4))
    same = [(type(part), part) for part in parts] == [(type(part), part) for part in other]
    assert (keys.key_of("kind", *parts) == keys.key_of("kind", *other)) == same


def test_a_warning_comes_each_time(cache, warned):
    compressor = Compressor(CompressionConfig(max_tokens=60, min_score=0.9, normalize_scores=False, cache=cache))
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


ROWS = st.recursive(
    st.one_of(
        st.none(), st.integers(-2, 40), st.text(max_size=3), st.sampled_from(["paragraph", "heading"]), st.floats()
    ),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=30,
)


@given(ROWS)
def test_forms_refuse_what_they_did_not_write(value):
    data = json.dumps(value).encode()
    for codec in (TextCodec("some text"), ResultCodec(passages()), MEMORY_ONLY):
        with pytest.raises(ValueError, match=r"."):
            codec.decode(data)


@given(st.binary(max_size=40).filter(lambda data: len(data) != 12))
def test_forms_refuse_bytes(data):
    for codec in (TextCodec("some text"), ResultCodec(passages()), CountsCodec(3)):
        with pytest.raises(ValueError, match=r"."):
            codec.decode(data)


def test_a_form_of_another_text_is_refused():
    found = Spy(Cache())
    Compressor(CompressionConfig(max_tokens=20, cache=found)).compress(QUESTIONS[0], passages()[:1])
    [read] = [value for key, value in found.values.items() if key.startswith("text:") and isinstance(value, ReadText)]
    codec = TextCodec(passages()[0].text)
    assert codec.decode(codec.encode(read)) == read
    with pytest.raises(ValueError, match="does not belong to a text of"):
        TextCodec(passages()[0].text + "x").decode(codec.encode(read))
    assert PLAIN.estimated_size(codec.encode(read)) < codec.estimated_size(read)


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_an_outline_is_read_back_as_it_was(path):
    text = path.read_text()
    nodes = outline(text, path.name)
    assert nodes
    codec = TextCodec(text)
    read = codec.decode(codec.encode(ReadText(text, nodes, [])))
    assert read.outline == nodes
    disk, plain = Cache(), Compressor(CompressionConfig(max_tokens=90))
    item = Passage("one", text, file_path=path.name)
    for budget in (90, 300, 90):
        cached = Compressor(CompressionConfig(max_tokens=budget, cache=disk))
        for question in ("what is added to the total?", "how is it opened?"):
            found, expected = cached.compress(question, [item]), plain.compress(question, [item], max_tokens=budget)
            assert found == expected
            assert cached.compress(question, [item]).passages == expected.passages


def test_markers_are_remembered(tmp_path):
    item = Passage("four", passages()[3].text, file_path="client.py")
    expected = Compressor(CompressionConfig(max_tokens=60)).compress("when is it a ValueError?", [item])
    assert any(part.markers for part in expected.passages)
    for _ in range(2):
        cache = Cache(SqliteStore(tmp_path / "c"))
        assert (
            Compressor(CompressionConfig(max_tokens=60, cache=cache)).compress("when is it a ValueError?", [item])
            == expected
        )


def test_lines_about_passages_are_remembered(cache):
    items = [replace(item, score=score) for item, score in zip(passages(), (0.9, 0.1, 0.2, 0.3), strict=True)]
    config = CompressionConfig(max_tokens=150, metadata_only=True)
    expected = Compressor(config).compress(QUESTIONS[0], items)
    assert any(part.metadata_only for part in expected.passages)
    cached = Compressor(config.with_options(cache=cache))
    assert cached.compress(QUESTIONS[0], items) == expected
    again = cached.compress(QUESTIONS[0], items)
    assert again == expected
    assert [part.text for part in again.passages] == [part.text for part in expected.passages]


def test_code_that_is_nested_too_deep_to_be_written_is_read_again():
    node = Node(NodeKind.STATEMENT, 0, 1)
    for _ in range(100_000):
        node = Node(NodeKind.CLASS, 0, 1, body=0, tail=1, children=(node,))
    assert TextCodec("x").encode(ReadText("x", (node,), [])) is None
