"""The options of both adapters: the core's, checked when a component is made, carried by copies and written down."""

import copy
import json
import pickle
import re
from dataclasses import MISSING, fields
from typing import Any

import pytest
from both_frameworks import QUERY, Framework, both, tokens
from caches import MAKERS as CACHES
from meanings import Spelled
from option_sources import CONFIG, FORMS, config_as

from ctxcompress import CompressionConfig, CtxCompressError
from ctxcompress.cache import Cache

pytestmark = both
GIVEN: dict[str, Any] = {
    "max_tokens": 60,
    "encoding": "cl100k_base",
    "separator": "\n---\n",
    "language": "en",
    "synonyms": {"timeout": ("deadline", "limit")},
    "order": "edges",
    "on_empty": "original",
    "min_score": 0.25,
    "score_kind": "distance",
    "ngram_threshold": 0.7,
    "similarity_threshold": 0.85,
    "max_chunks_per_doc": 3,
    "top_n": 7,
    "adaptive": 0.2,
    "type_weights": {"code": 0.5},
    "metadata_map": {"title": "source", "score": "relevance_score"},
    "must_keep": ["INV-7", "dates", re.compile("a+b", re.IGNORECASE), {"passage": "a", "spans": [[0, 3]]}],
}


def count_words(text: str) -> list[str]:
    return text.split()


def test_every_option_of_the_core_is_a_field_with_its_default_and_a_description(framework: Framework):
    for option in fields(CompressionConfig):
        default = option.default if option.default_factory is MISSING else option.default_factory()
        field = framework.Component.model_fields[option.name]
        assert field.get_default(call_default_factory=True) == default, option.name
        assert field.description, option.name
    assert framework.Component.model_json_schema()["properties"].keys() >= GIVEN.keys()


def test_options_reach_the_core_as_they_were_given(framework: Framework):
    component = framework.Component(**GIVEN)
    assert component.config == CompressionConfig(**GIVEN) == framework.Component.config_of(GIVEN)
    assert component.config is component.config
    assert framework.Component().config == CompressionConfig()
    GIVEN["synonyms"]["retry"] = ()
    assert "retry" not in component.config.synonyms
    del GIVEN["synonyms"]["retry"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": "25%"},
        {"tier": "summary", "max_tokens": 10},
        {"separator": None},
        {"synonyms": {"a": "b"}},
        {"metadata_map": {"author": "by"}},
        {"adaptive": True, "scorer": "bm25"},
        {"cache": "memory"},
        {"top_n": 0},
        {"max_token": 100},
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_at_construction_with_the_cores_message(framework: Framework, wrong):
    with pytest.raises(CtxCompressError) as of_core:
        _ = CompressionConfig().with_options(**wrong).budget
    with pytest.raises(ValueError, match=re.escape(str(of_core.value))):
        framework.Component(**wrong)
    if "max_tokens" not in wrong:
        with pytest.raises(CtxCompressError, match=re.escape(str(of_core.value))):
            framework.Component().with_options(**wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"preset": "books"}, "preset is 'books'"),
        ({"trace_to": 3}, "trace_to"),
        ({"trace_to": ["folder"]}, "trace_to"),
        ({"feedback": "feedback.sqlite"}, "feedback is a str; give a FeedbackLog"),
        ({"must_keep": [3]}, "must_keep"),
    ],
)
def test_a_wrong_value_of_what_the_core_does_not_know_is_refused_too(framework: Framework, wrong, said):
    with pytest.raises(ValueError, match=said):
        framework.Component(**wrong)


def test_what_the_package_exports_is_what_is_tested_here(framework: Framework):
    made = {name for name in framework.makers() if "." not in name} - {"ScoredSearch"}
    assert made == {*framework.package.__all__} | {"CtxCompressMiddleware"} & made
    assert made <= {*dir(framework.package)} | {"CtxCompressMiddleware"}


def test_a_keyword_that_means_nothing_is_refused_by_its_name(framework: Framework):
    for make in framework.makers().values():
        make()
        with pytest.raises((TypeError, ValueError), match="bogus"):
            make(bogus=1)


@pytest.mark.parametrize("name", ["query_tool", "preview_tools", "builder_tools"])
def test_what_is_no_retriever_is_refused(framework: Framework, name):
    before = [framework.package.CtxContextBuilder()] if name == "builder_tools" else []
    with pytest.raises(TypeError, match=rf"(retriever|source) is a int; {framework.no_retriever}"):
        getattr(framework.package, name)(*before, 5)
    with pytest.raises(ValueError, match="tokens_per_search is -1; give a whole"):
        framework.package.builder_tools(framework.package.CtxContextBuilder(), tokens_per_search=-1)


# Copies and calls with options of their own


async def test_a_call_has_options_of_its_own(framework: Framework):
    component, given = framework.component(max_tokens=500, preset="docs"), framework.items(scores=(0.9, 0.8, 0.7))
    one = component.with_options(top_n=1, max_tokens=40)
    expected = framework.kept(given, max_tokens=40, preset="docs", top_n=1)
    assert framework.compress(one, given, QUERY) == await framework.acompress(one, given, QUERY) == expected
    assert len(framework.compress(component, given, QUERY)) == 3
    assert (component.top_n, component.min_score, one.min_score) == (None, 0.3, 0.3)
    with pytest.raises(ValueError, match="did you mean 'top_n'"):
        component.with_options(topn=1)


@pytest.mark.parametrize("encoding", ["o200k_base", len, count_words], ids=["tiktoken", "characters", "words"])
@pytest.mark.parametrize(
    "clone",
    [
        lambda given: pickle.loads(pickle.dumps(given)),
        copy.copy,
        copy.deepcopy,
        lambda given: given.model_copy(),
        lambda given: given.model_copy(deep=True),
    ],
    ids=["pickle", "copy", "deepcopy", "model_copy", "deep"],
)
def test_a_clone_has_the_same_options_and_compresses_equally(framework: Framework, clone, encoding):
    component = framework.Component(**{**GIVEN, "encoding": encoding})
    twin = clone(component)
    assert type(twin) is framework.Component
    assert twin.config == component.config
    assert framework.compress(twin, framework.items(), QUERY) == framework.compress(component, framework.items(), QUERY)


@pytest.mark.parametrize("preset", [None, "docs", "code", "web", "page"])
@pytest.mark.parametrize("given", [{}, {**GIVEN, "preset": None}, {"format": "preview", "telemetry": True}])
def test_options_go_through_json(framework: Framework, preset, given):
    component = framework.Component(**{**given, "preset": preset})
    written = framework.written(component)
    again = framework.read(written)
    assert (again.preset, again.config) == (preset, component.config)
    assert json.loads(written).get("telemetry", False) is given.get("telemetry", False)
    assert json.loads(written)["must_keep"] == (
        ["INV-7", "dates", {"regex": "(?i)a+b"}, {"passage": "a", "spans": [[0, 3]]}] if "must_keep" in given else []
    )


def test_a_function_is_written_by_its_name_and_not_read_back(framework: Framework):
    written = framework.written(framework.Component(must_keep=[len]))
    assert json.loads(written)["must_keep"] == [{"function": "len"}]
    with pytest.raises(ValueError, match=r'give {"text": ...}, {"regex": ...} or'):
        framework.read(written)


@pytest.mark.parametrize("kind", [*CACHES])
def test_a_cache_is_carried_changes_nothing_and_is_not_written_down(framework: Framework, kind, tmp_path):
    cache, items = CACHES[kind](tmp_path), framework.items()
    cached, plain = framework.component(max_tokens=60, cache=cache), framework.component(max_tokens=60)
    assert cached.config.cache is cached.with_options(top_n=2).cache is cached.cache is cache
    for clone in (cached, cached, pickle.loads(pickle.dumps(cached)) if kind != "qdrant" else cached):
        assert framework.compress(clone, items, QUERY) == framework.compress(plain, items, QUERY)
    again = framework.read(framework.written(cached))
    assert again.cache is None
    assert again.config == plain.config
    assert framework.read(framework.written(cached), cache=cache).cache is cache or framework.noun == "documents"


# `config=` and `preset=`


@pytest.fixture(params=FORMS)
def config(request, tmp_path):
    """The same options in three forms."""
    return config_as(request.param, tmp_path)


def test_a_component_starts_from_a_config(framework: Framework, config):
    component = framework.Component(config=config, max_tokens=77)
    assert isinstance(component.cache, Cache)
    assert component.config.with_options(cache=None) == CONFIG.with_options(cache=None, max_tokens=77)
    assert framework.Component(config=config).config.budget == 123
    assert framework.Component(config=config, tier="detailed").config.budget == 5_000
    assert framework.Component(config=config, adaptive=False, cache=None).cache is None
    assert pickle.loads(pickle.dumps(framework.Component(config=config))).config.budget == 123


def test_a_config_is_not_written_down_but_its_options_are(framework: Framework):
    written = framework.written(framework.Component(config=CONFIG))
    assert not {"config", "start"} & json.loads(written).keys()
    assert framework.read(written).config == CONFIG.with_options(cache=None)


def test_the_encoder_of_a_config_stays_unless_another_one_is_given(framework: Framework):
    one, other = Spelled(), Spelled()
    config = CompressionConfig(encoder=one)
    assert framework.Component(config=config).config.encoder is one
    assert framework.Component(config=config, encoder=other).config.encoder is other
    assert framework.Component(config=config, encoder=None).config.encoder is None
    assert framework.Component(config=config).model_copy().with_options(top_n=3).config.encoder is one


def look(query: str) -> str:
    """Look it up."""
    return " ".join(f"Line {n} says something about the timeout." for n in range(200))


MAKERS = ("compress_tool", "preview_tools", "query_tool", "CtxContextBuilder", "")


@pytest.mark.parametrize("name", MAKERS)
def test_both_a_preset_and_a_config_are_refused(framework: Framework, name):
    make = framework.makers()[name or framework.Component.__name__]
    with pytest.raises(ValueError, match="both preset='docs' and config are given; put the preset into it"):
        make(preset="docs", config=CONFIG)
    with pytest.raises(ValueError, match=r"nowhere\.toml cannot be read"):
        make(config="nowhere.toml")
    assert make(preset="page")
    assert make(config=CompressionConfig(format="compact"))


def test_the_tools_start_from_a_config(framework: Framework, config):
    package, found = framework.package, framework.finding(framework.item("The timeout is 30 seconds.", "a"))
    shorter = package.compress_tool(framework.tool(look), config=config, min_tokens=0)
    assert 0 < tokens(framework.call(shorter, query="timeout").text) <= 123
    assert "timeout" in framework.call(package.preview_tools(found, config=config)[0], query="timeout").text
    tool = package.query_tool(found, config=config)
    assert "30 seconds" in framework.call(tool, query="what is the timeout?").text
    assert framework.schema(tool)["parameters"]["properties"]["min_score"]["default"] is None
    assert framework.schema(package.query_tool(found, preset="docs")) == framework.schema(package.query_tool(found))
    assert framework.compressing(found, config=config)
    builder = package.CtxContextBuilder(config=config)
    assert builder.remaining == 123


def test_a_preset_is_in_effect_everywhere(framework: Framework):
    """The preset "docs" drops what scores below 0.3."""
    question, package = "what is the timeout?", framework.package
    texts = [f"The timeout of client {n} is {n} seconds." for n in range(3)]
    found = [framework.item(text, str(n), score=(0.9, 0.5, 0.1)[n]) for n, text in enumerate(texts)]
    base = framework.finding(*found)
    for preset, kept in (({"preset": "docs"}, 2), ({}, 3)):
        options = framework.scored(preset)
        assert len(framework.kept(found, question, **preset)) == kept
        assert len(framework.retrieve(framework.compressing(base, **preset), question)) == kept
        assert len(framework.builder_items(package.CtxContextBuilder(**options).add(found, question))) == kept
        search, _ = package.preview_tools(base, **options)
        assert len(framework.call(search, query=question).text.splitlines()) == kept
    tool = package.query_tool(base, **framework.scored({"preset": "docs"}))
    assert framework.call(tool, query=question).text.count("seconds") == 2
    assert package.compress_tool(framework.tool(look), preset="docs")
    assert framework.Component(preset="page", max_tokens=50).config.budget == 50


# What must be kept

FILLER = " ".join(f"Ship {n} came late." for n in range(100))


def with_account(framework: Framework) -> list[Any]:
    return [
        framework.item(f"The default timeout is 30 seconds. {FILLER}", "a", score=0.9),
        framework.item(f"{FILLER} The account is INV-77. {FILLER}", "b", score=0.1),
    ]


@pytest.mark.parametrize("options", [{}, {"min_score": 0.5}, {"top_n": 1}, {"max_chunks_per_doc": 1}])
def test_items_keep_what_must_be_kept_whatever_the_filters(framework: Framework, options):
    rules = [re.compile(r"INV-\d+"), {"passage": "a", "spans": [[35, 53]]}]
    kept = framework.kept(with_account(framework), "default timeout", max_tokens=40, must_keep=rules, **options)
    assert framework.ids(kept) == ["a", "b"]
    assert "Ship 0 came late." in framework.text(kept[0])
    assert "The account is INV-77." in framework.text(kept[1])


def test_tools_keep_it(framework: Framework):
    package, found = framework.package, framework.finding(*with_account(framework))

    def read(query: str) -> str:
        """Read a page."""
        return framework.text(with_account(framework)[1])

    rule: dict[str, Any] = {"must_keep": ["The account is INV-77."]}
    shorter = package.compress_tool(framework.tool(read), max_tokens=30, **rule)
    assert "The account is INV-77." in framework.call(shorter, query="default timeout").text
    answer = framework.call(package.query_tool(found, max_tokens=45, **rule), query="default timeout", show_stats=True)
    assert "The account is INV-77." in answer.text
    assert "Original results" not in answer.text  # there was no room for the statistics
    search, expand = package.preview_tools(found, max_tokens=90, **rule)
    assert "[b] (0.00) The account is INV-77." in framework.call(search, query="default timeout").text
    assert "The account is INV-77." in framework.call(expand, chunk_id="b", max_tokens=12).text
    assert "give at least" in framework.call(expand, chunk_id="b", max_tokens=3).text


def test_a_tools_result_without_it_is_no_reason_for_a_warning(framework: Framework, warned):
    package, found = framework.package, framework.finding(*with_account(framework))
    rule: dict[str, Any] = {"must_keep": ["OPS-4711"]}
    framework.call(package.compress_tool(framework.tool(look), max_tokens=30, **rule), query="which account?")
    framework.call(package.query_tool(found, **rule), query="which account?")
    assert not warned.messages
    framework.kept(with_account(framework), "which account?", max_tokens=40, **rule)
    assert "must_keep: nothing matches 'OPS-4711'; check" in warned.text
