"""The options: the core's, checked when the compressor is made, and safe to copy and to send."""

import copy
import pickle
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import get_args, get_type_hints

import lc_tools
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import ConfigurableField
from langchain_core.vectorstores import InMemoryVectorStore
from lc_documents import QUERY, make_documents
from pydantic import ConfigDict, Field, ValidationError

import langchain_ctxcompress
from ctxcompress import CompressionConfig, Encoder
from ctxcompress.agents.left_out import MemoryStore as LeftInMemory
from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.config.options import OPTIONS
from langchain_ctxcompress import (
    CtxAnalysisTransformer,
    CtxCompressor,
    CtxCompressRetriever,
    CtxContextBuilder,
    CtxResearchRetriever,
    EmbeddingsEncoder,
    LLMSelector,
    builder_tools,
    cite,
    compress_tool,
    expand_tool,
    format_documents,
    latest_context,
    preview_tools,
    query_tool,
    record,
)
from langchain_ctxcompress.retriever import ScoredSearch

GIVEN = {
    "max_tokens": 60,
    "encoding": "cl100k_base",
    "separator": "\n---\n",
    "language": "en",
    "synonyms": {"timeout": ["deadline"]},
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
    "metadata_map": {"title": "source", "score": "score"},
}


def count_characters(text: str) -> int:
    return len(text)


def count_words(text: str) -> list[str]:
    return text.split()


def test_only_the_documented_names_are_exported():
    names = [
        "CtxAnalysisTransformer",
        "CtxCompressRetriever",
        "CtxCompressor",
        "CtxContextBuilder",
        "CtxResearchRetriever",
        "EmbeddingsEncoder",
        "LLMSelector",
        "builder_tools",
        "cite",
        "compress_tool",
        "expand_tool",
        "format_documents",
        "latest_context",
        "preview_tools",
        "prompt_tokens",
        "query_tool",
        "record",
    ]
    assert sorted(langchain_ctxcompress.__all__) == sorted([*names, "CtxCompressMiddleware"])


def test_options_are_exactly_the_cores_in_name_and_order():
    options = [option.name for option in fields(CompressionConfig)]
    assert list(CtxCompressor.model_fields) == [*options, "preset", "start", "model", "trace_to", "feedback"]


@pytest.mark.parametrize("option", fields(CompressionConfig), ids=lambda option: option.name)
def test_each_option_has_the_cores_default_and_type_and_a_description(option):
    default = option.default if option.default_factory is MISSING else option.default_factory()
    field = CtxCompressor.model_fields[option.name]
    assert field.get_default(call_default_factory=True) == default
    core, own = get_type_hints(CompressionConfig)[option.name], get_type_hints(CtxCompressor)[option.name]
    if option.name == "encoder":  # what compares, which the core exports no name for, is the object in it
        assert _alternatives(own) == {*map(str, (Embeddings, Encoder, object, type(None)))}
    elif option.name == "llm":  # BaseChatModel, which takes long to import, is an object for pydantic
        assert _alternatives(own) == {*map(str, (LLMSelector, object, type(None)))}
    elif option.name == "cache":  # of a class that the core's public face has no room for
        assert _alternatives(own) == {*map(str, (object, type(None)))}
    elif option.name == "telemetry":
        assert _alternatives(own) == {*map(str, (bool, object))}
    elif option.name == "must_keep":  # the core checks the items
        assert own == Sequence[object]
    else:
        assert _alternatives(own) == _alternatives(core)
    assert field.description


def _alternatives(hint: object) -> set[str]:
    """The members of a union, of a Literal inside it too, in any order."""
    inner = [part for part in get_args(hint) if str(part).startswith("typing.Literal")]
    return {str(part) for part in (*get_args(hint), *(name for part in inner for name in get_args(part)))} or {
        str(hint)
    }


def test_options_reach_the_core_as_they_were_given():
    assert CtxCompressor(**GIVEN).config == CompressionConfig(**GIVEN)
    assert CtxCompressor().config == CompressionConfig()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0; it must be at least 1"),
        ({"max_tokens": "100"}, "give a whole number of tokens"),
        ({"max_tokens": True}, "give a whole number of tokens"),
        ({"max_tokens": 10.0}, "give a whole number of tokens"),
        ({"tier": "short"}, "give one of key_facts, summary, detailed, complete"),
        ({"tier": "summary", "max_tokens": 10}, "give one of them"),
        ({"encoding": "gpt"}, "encoding is 'gpt'; give one of"),
        ({"encoding": 7}, "give a tiktoken encoding's name or a callable"),
        ({"separator": None}, "give a string"),
        ({"language": "english"}, "two-letter code"),
        ({"synonyms": {"a": "b"}}, "give a list of words"),
        ({"type_weights": {"code": -1}}, "finite number, at least 0"),
        ({"metadata_map": {"author": "by"}}, "it can name title"),
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_at_construction_with_the_cores_message(options, message):
    with pytest.raises(ValueError, match=message):
        CtxCompressor(**options)


def test_an_unknown_option_is_refused_at_construction():
    with pytest.raises(ValidationError, match=r"'max_token'; did you mean 'max_tokens'"):
        CtxCompressor(max_token=100)


MAKERS = {
    "CtxAnalysisTransformer": lambda **given: CtxAnalysisTransformer(CtxCompressor(cache=Cache()), **given),
    "CtxCompressor": CtxCompressor,
    "CtxCompressRetriever": lambda **given: CtxCompressRetriever(
        base_retriever=store().as_retriever(), compressor=CtxCompressor(), **given
    ),
    "CtxCompressRetriever.from_vectorstore": lambda **given: CtxCompressRetriever.from_vectorstore(
        store(), score_kind="similarity", **given
    ),
    "ScoredSearch": lambda **given: ScoredSearch(store=store(), score_kind="similarity", **given),
    "CtxResearchRetriever": lambda **given: CtxResearchRetriever(
        base_retriever=store().as_retriever(), research_cache=ResearchCache(), **given
    ),
    "CtxCompressMiddleware": langchain_ctxcompress.CtxCompressMiddleware,
    "CtxContextBuilder": CtxContextBuilder,
    "builder_tools": lambda **given: builder_tools(CtxContextBuilder(), **given),
    "latest_context": lambda **given: latest_context({}, {}, **given),
    "EmbeddingsEncoder": lambda **given: EmbeddingsEncoder(DeterministicFakeEmbedding(size=8), **given),
    "LLMSelector": lambda **given: LLMSelector(FakeListChatModel(responses=["1"]), **given),
    "compress_tool": lambda **given: compress_tool(lc_tools.fetch_page, **given),
    "expand_tool": lambda **given: expand_tool(LeftInMemory(), **given),
    "preview_tools": lambda **given: preview_tools(store().as_retriever(), **given),
    "prompt_tokens": lambda **given: langchain_ctxcompress.prompt_tokens(**given),
    "query_tool": lambda **given: query_tool(store().as_retriever(), **given),
    "cite": lambda **given: cite("timeout", [], **given),
    "format_documents": lambda **given: format_documents([], **given),
    "record": lambda **given: record([], log=None, **given),
}


def store() -> InMemoryVectorStore:
    return InMemoryVectorStore(DeterministicFakeEmbedding(size=8))


def test_these_are_all_that_the_package_exports():
    assert {*langchain_ctxcompress.__all__, "CtxCompressMiddleware"} <= MAKERS.keys()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_keyword_that_means_nothing_is_refused_by_its_name(make):
    make()
    with pytest.raises((TypeError, ValueError), match="bogus"):
        make(bogus=1)


@pytest.mark.parametrize(
    ("name", "wrong", "meant"),
    [
        ("CtxCompressRetriever", "decompos", "decompose"),
        ("CtxCompressRetriever", "meta_data", "metadata"),
        ("ScoredSearch", "search_args", "search_kwargs"),
        ("CtxCompressRetriever.from_vectorstore", "min_scores", "min_score"),
        ("CtxCompressMiddleware", "max_token", "max_tokens"),
        ("compress_tool", "max_token", "max_tokens"),
        ("expand_tool", "max_token", "max_tokens"),
        ("preview_tools", "max_token", "max_tokens"),
        ("query_tool", "max_token", "max_tokens"),
    ],
)
def test_the_closest_keyword_is_named(name, wrong, meant):
    with pytest.raises(ValueError, match=rf"there is no (option|argument) '{wrong}'.*; did you mean '{meant}'"):
        MAKERS[name](**{wrong: 1})


def test_what_langchain_gives_to_every_retriever_is_known():
    base = {"name": "mine", "tags": ["a"], "metadata": {"b": 1}}
    assert MAKERS["CtxCompressRetriever"](**base).tags == ["a"]
    assert MAKERS["ScoredSearch"](**base).metadata == {"b": 1}


def test_a_subclass_may_have_fields_of_its_own_and_an_alias():
    class Mine(CtxCompressRetriever):
        model_config = ConfigDict(populate_by_name=True)
        region: str = Field(default="eu", alias="where")

    given = {"base_retriever": store().as_retriever(), "compressor": CtxCompressor()}
    assert Mine(**given, where="us").region == Mine(**given, region="us").region == "us"
    with pytest.raises(ValidationError, match="'regoin' of Mine; did you mean 'region'"):
        Mine(**given, regoin="us")


def test_a_retriever_can_be_configured_in_a_chain():
    retriever = MAKERS["CtxCompressRetriever"]().configurable_fields(decompose=ConfigurableField(id="decompose"))
    assert retriever.invoke("open?", {"configurable": {"decompose": True}}) == []


def test_options_cannot_be_set_afterwards():
    compressor = CtxCompressor(max_tokens=100)
    with pytest.raises(ValidationError, match="frozen"):
        compressor.max_tokens = 5


def test_changing_the_given_mapping_afterwards_changes_nothing():
    synonyms = {"timeout": ["deadline"]}
    compressor = CtxCompressor(synonyms=synonyms)
    synonyms["timeout"].append("limit")
    synonyms["retry"] = []
    assert compressor.config.synonyms == {"timeout": ("deadline",)}


@pytest.mark.parametrize(
    "encoding", ["o200k_base", count_characters, count_words], ids=["tiktoken", "characters", "words"]
)
@pytest.mark.parametrize(
    "clone",
    [
        lambda compressor: pickle.loads(pickle.dumps(compressor)),
        copy.copy,
        copy.deepcopy,
        lambda compressor: compressor.model_copy(deep=True),
        lambda compressor: CtxCompressor(**compressor.model_dump()),
    ],
    ids=["pickle", "copy", "deepcopy", "model_copy", "dump"],
)
def test_a_clone_is_equal_and_compresses_equally(clone, encoding):
    compressor = CtxCompressor(**{**GIVEN, "encoding": encoding})
    twin = clone(compressor)
    assert twin == compressor
    documents = make_documents()
    assert twin.compress_documents(documents, QUERY) == compressor.compress_documents(documents, QUERY)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "docs", "top_n": 3},
        {"max_tokens": "25%", "context_window": 2_000},
        {"synonyms": {"fee": ["charge"]}, "must_keep": ["Oslo"], "type_weights": {"code": 2}},
    ],
)
def test_a_new_component_has_the_options_that_its_fields_give(options):
    compressor = CtxCompressor(**options)
    fields = {name: getattr(compressor, name) for name in OPTIONS}
    assert compressor.config == CtxCompressor.config_of(fields)
    assert compressor.config is compressor.config


def test_options_go_through_json():
    compressor = CtxCompressor(**GIVEN)
    assert CtxCompressor.model_validate_json(compressor.model_dump_json()).config == compressor.config


def test_a_copy_with_another_budget_compresses_to_that_budget():
    wide = CtxCompressor(max_tokens=10_000, encoding=count_characters)
    narrow = wide.model_copy(update={"max_tokens": 300})
    kept = narrow.compress_documents(make_documents(), QUERY)
    assert len("\n\n".join(document.page_content for document in kept)) <= 300
    assert len(wide.compress_documents(make_documents(), QUERY)) == len(make_documents())


def test_the_retriever_refuses_unknown_arguments_of_the_wrong_kind():
    with pytest.raises(ValidationError, match="compressor"):
        CtxCompressRetriever(base_retriever=CtxCompressor().as_runnable(), compressor="summary")
    with pytest.raises(ValidationError, match="base_retriever"):
        CtxCompressRetriever(base_retriever="store", compressor=CtxCompressor())


@pytest.mark.parametrize(
    "make", [lambda _: Cache(), lambda folder: Cache(SqliteStore(folder / "c"))], ids=["memory", "disk"]
)
def test_a_cache_is_carried_and_changes_nothing(make, tmp_path):
    plain = CtxCompressor(max_tokens=60)
    cached = CtxCompressor(max_tokens=60, cache=make(tmp_path))
    assert cached.config.cache is cached.cache
    assert cached.with_options(top_n=2).cache is cached.cache
    documents = make_documents()
    for clone in (cached, cached, cached.model_copy(), copy.deepcopy(cached), pickle.loads(pickle.dumps(cached))):
        assert clone.compress_documents(documents, QUERY) == plain.compress_documents(documents, QUERY)
    assert "cache" not in cached.model_dump()
    assert CtxCompressor.model_validate_json(cached.model_dump_json()) == plain


def test_what_is_no_cache_is_refused():
    with pytest.raises(ValidationError, match=r"cache is 'memory'; give one of ctxcompress.cache"):
        CtxCompressor(cache="memory")
