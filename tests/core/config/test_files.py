"""Configuration files, TOML and JSON: as documentation and code search tools publish them, and with a cache."""

import json

import pytest
from published_settings import PUBLISHED, changed

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.cache import Cache, QdrantStore, SqliteStore
from ctxcompress.config.files import default_path
from ctxcompress.config.options import starting_config
from ctxcompress.errors import ConfigError

OFF = "[search]\nmin_confidence = 0.3\n[compression]\nenabled = false"
CODE = {
    "enabled": True,
    "cache": "memory",
    "smartTruncation": {"enabled": True, "maxLength": 2000, "preserveStructure": True},
    "metadataOnly": {"enabled": True, "scoreThreshold": 0.4},
    "llm": {"enabled": False},
}
PAGES = [Passage("a", "One. Two. Three.", score=0.9, doc_id="d"), Passage("b", "Four.", score=0.01, doc_id="d")]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user's folder for caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def read(tmp_path, home):
    """Reads a configuration: a text is TOML, anything else is written as JSON."""

    def from_file(given):
        path = tmp_path / ("kb.toml" if isinstance(given, str) else "kb.config.json")
        path.write_text(given if isinstance(given, str) else json.dumps(given))
        return CompressionConfig.from_file(path)

    return from_file


def engines(*tables):
    """The configuration of a code search, with the table of each engine."""
    found = [{"options": {"search": {"optimization": {"compression": table}}}} for table in tables]
    return {"knowledge": {"engines": [{"id": "plain"}, *found]}}


@pytest.mark.parametrize("given", [{"compression": CODE}, engines(CODE)], ids=["table", "engine"])
def test_a_published_configuration_of_a_code_search_is_read(read, given):
    config = read(given)
    assert isinstance(config.cache, Cache)
    assert config.with_options(cache=None) == PUBLISHED["code"]


@pytest.mark.parametrize("given", [OFF, engines({**CODE, "enabled": False})])
def test_a_configuration_that_is_switched_off_lets_every_text_pass(read, given):
    config = read(given)
    result = compress("two?", PAGES, config=config)
    assert result.text == "One. Two. Three.\n\nFour."
    assert not result.dropped
    assert config.cache is None
    assert compress("two?", PAGES, config=config, max_tokens=2).tokens <= 2  # what is given in code wins


@pytest.mark.parametrize("option", "cache encoder encoding format llm must_keep scorer telemetry".split())
def test_a_file_names_no_code(read, option):
    with pytest.raises(ConfigError, match=option):
        read(f'[compression]\n{option} = "os:system"')


def test_a_configuration_that_is_switched_off_writes_no_cache(read, home):
    read('[compression]\nenabled = false\ncache = "persistent"\nencoder = "static"')
    assert not home.exists()


def test_a_persistent_cache_is_in_the_users_folder(read, home):
    config = read('[compression]\ncache = "persistent"')
    assert isinstance(config.cache.store, SqliteStore)
    assert config.cache.max_bytes == 0
    assert config.cache.store.path == default_path() == home / "ctxcompress" / "cache.sqlite"
    Compressor(config).compress("two?", PAGES, max_tokens=3)
    assert default_path().is_file()
    assert home.joinpath("ctxcompress").stat().st_mode & 0o077 == 0


def test_both_is_memory_in_front_of_a_file(read, tmp_path):
    table = {"kind": "both", "path": str(tmp_path / "c.db"), "maxBytes": 999, "ttl": 60}
    cache = read({"compression": {"cache": table}}).cache
    assert (cache.store.path, cache.store.max_bytes, cache.ttl) == (tmp_path / "c.db", 999, 60)
    assert cache.max_bytes > 999
    assert isinstance(read('[compression]\ncache = "both"').cache.store, SqliteStore)


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ("", type(None)),
        ("max_bytes = 5", type(None)),
        ('kind = "memory"', type(None)),
        ('path = "{path}"', SqliteStore),
        ('kind = "persistent"\npath = "{path}"\nmax_bytes = 5', SqliteStore),
    ],
)
def test_the_table_of_a_cache_has_the_arguments_of_its_class(read, tmp_path, table, kind):
    cache = read("[compression.cache]\n" + table.format(path=tmp_path / "c.db")).cache
    assert isinstance(cache.store, kind)
    assert "max_bytes" not in table or (cache.store if kind is SqliteStore else cache).max_bytes == 5


def test_a_table_can_name_a_server(read):
    pytest.importorskip("qdrant_client", reason="qdrant-client is not installed: pip install 'ctxcompress[qdrant]'")
    cache = read('[compression.cache]\nurl = "http://localhost:1"\ncollection = "chunks"').cache
    assert isinstance(cache.store, QdrantStore)
    assert cache.store.collection == "chunks"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "[search]\nmin_confidense = 1",
            r"\[search\] has an unknown key 'min_confidense'; did you mean 'min_confidence'",
        ),
        ("[compression]\nmax_token = 9", r"\[compression\] has an unknown key 'max_token'; did you mean 'max_tokens'"),
        ("[compression]\nzzz = 9", "keep_all_sources, language, llm, max_chunks_per_doc"),  # each name once
        ('[compression]\npreset = "doc"', "preset is 'doc'; give one of"),
        ("search = 5", r"search is 5; make it a table: \[search\]"),
        ('[search]\ndedup_enabled = "yes"', "search.dedup_enabled is 'yes'; only false"),
        ('[compression]\nenabled = "no"', "compression.enabled is 'no'; give true or false"),
        ("max_tokens = 500", r"kb.toml has 'max_tokens' outside of a table; put it under \[compression\]"),
        ("[compression", "kb.toml is not TOML"),
        (
            "[compression.smartTruncation]\nenabled = false\nmaxLenght = 2000",
            r"\[compression.smartTruncation\] .* 'maxLenght'; did you mean 'maxLength'",
        ),
        ("[compression]\nllm = 5", r"compression.llm is 5; make it a table: \[compression.llm\]"),
        ("[compression.llm]\nenabled = true", r"compression\.llm is on, but no file can hold .*; set enabled = false"),
        ("[compression.smartTruncation]\npreserveStructure = false", "is False; only true is possible here"),
        ('[compression]\ncache = "redis"', "cache is 'redis'; give one of memory, persistent, qdrant, both"),
        ('[compression]\ncache = "qdrant"', r'"qdrant" needs url and collection; give them in \[compression.cache\]'),
        ("[compression.cache]\nmax_byte = 5", "unknown key 'max_byte'; did you mean 'max_bytes'"),
        ('[compression.cache]\nkind = "both"\nzzz = 1', "unknown key 'zzz'; a persistent cache has max_bytes, path"),
        ("[compression.cache]\nmax_bytes = 0", "max_bytes is 0"),
        ("[compression.cache]\npath = 5", "compression.cache.path is 5; give the path of a file"),
        ([1], "kb.config.json holds a list; make it an object"),
        ({"max_tokens": 5}, r"'max_tokens' outside of a table; put it under \[compression\]"),
        ({"compression": {"maxTokens": 5}}, "unknown key 'maxTokens'; did you mean 'max_tokens'"),
        (engines(CODE, CODE), "2 engines in knowledge.engines have a compression table; leave it in one"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(read, given, message):
    with pytest.raises(ConfigError, match=message):
        read(given)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": 1e}'])
def test_what_is_no_json_is_refused(tmp_path, text):
    (tmp_path / "a.JSON").write_text(text)
    with pytest.raises(ConfigError, match=r"a\.JSON is not JSON"):
        CompressionConfig.from_file(tmp_path / "a.JSON")


# Tables of a search

ABSOLUTE = {"score_kind": "absolute"}
"""Scores are compared as they are."""


@pytest.mark.parametrize(
    ("search", "options"),
    [
        ("", {}),
        ("dedup_enabled = true", {"similarity_threshold": 0.85}),
        ("dedup_threshold = 0.9", {"similarity_threshold": 0.9}),
        ("dedup_enabled = false\ndedup_threshold = 0.9", {}),
        ("ngram_dedup_enabled = true", {"ngram_threshold": 0.7}),
        ("ngram_dedup_threshold = 0.5", {"ngram_threshold": 0.5}),
        ("ngram_dedup_enabled = false", {}),
        ("min_score = 0.2\ntop_n = 4", {"min_score": 0.2, "top_n": 4}),
        (
            'min_confidence = 0.4\n[compression]\nmax_tokens = 7\nsynonyms = { car = ["auto"] }\n[server]\nport = 80',
            {"min_score": 0.4, "max_tokens": 7, "synonyms": {"car": ("auto",)}},
        ),
    ],
)
def test_a_stage_of_a_search_is_on_if_its_switch_or_its_threshold_says_so(read, search, options):
    assert changed(read("[search]\n" + search)) == options


def test_a_file_can_start_from_a_preset(read):
    config = read('[compression]\npreset = "docs"\nmin_score = 0.5')
    assert config == CompressionConfig.from_preset("docs", min_score=0.5)
    assert read('[search]\ndedup_enabled = false\n[compression]\npreset = "docs"').similarity_threshold is None
    assert read('[compression]\npreset = "page"\nmax_tokens = 9').budget == 9


@pytest.mark.parametrize("table", ["smartTruncation", "metadataOnly", "llm"])
def test_a_stage_of_code_search_tools_can_be_off(read, table):
    assert read(f"[compression.{table}]\nenabled = false") == CompressionConfig()
    assert read(f"[compression]\nenabled = true\n{table} = {{ enabled = false }}") == CompressionConfig()
    with pytest.raises(ConfigError, match=rf"compression\.{table}\.enabled is 1; only"):
        read(f"[compression.{table}]\nenabled = 1")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("[compression.smartTruncation]", {"max_length": 2_000}),
        ("[compression.smartTruncation]\nmaxLength = 900", {"max_length": 900}),
        ("[compression.smartTruncation]\nenabled = true\npreserveStructure = true", {"max_length": 2_000}),
        ("[compression.metadataOnly]\nenabled = true", {**ABSOLUTE, "metadata_only": 0.4}),
        ("[compression.metadataOnly]\nscoreThreshold = 3", {**ABSOLUTE, "metadata_only": 3}),
        ('[compression]\nmetadataOnly = {}\nscore_kind = "similarity"', {"metadata_only": 0.4}),
        ("[compression]\nmax_length = 500\nsmartTruncation = { maxLength = 900 }", {"max_length": 500}),
        ('[compression]\npreset = "code"\nmax_length = 900\nmetadataOnly = { enabled = false }', {"max_length": 900}),
        ('[compression]\npreset = "code"\nsmartTruncation = { enabled = false }', {"metadata_only": 0.4}),
    ],
)
def test_the_tables_of_a_code_search_are_options(read, text, options):
    assert changed(read(text)) == options


# Where options start


def test_options_start_at_a_config_a_file_a_preset_or_the_defaults(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text("[compression]\ntop_n = 7")
    config = CompressionConfig(top_n=7)
    assert starting_config(config, None) is config
    assert starting_config(path, None) == starting_config(str(path), None) == config
    assert starting_config(None, "docs") == CompressionConfig.from_preset("docs")
    assert starting_config(None, None) == CompressionConfig()
    assert starting_config(None, None, default="web") == CompressionConfig.from_preset("web")
    assert starting_config(config, None, default="web") == config
