"""The options: those of the core, checked when they are set, and kept by everything that writes a component down."""

import dataclasses
import inspect
import json
import pickle
import re
import threading
from copy import deepcopy

import pytest
from li_nodes import QUERY, count_words, four_nodes
from llama_index.core import MockEmbedding, Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.tools import FunctionTool
from pydantic import ValidationError
from qdrant_client import QdrantClient

import llamaindex_ctxcompress
from ctxcompress import CompressionConfig, CtxCompressError
from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache, QdrantStore, SqliteStore
from llamaindex_ctxcompress import (
    ContextStore,
    CtxAnalysisTransformer,
    CtxCompressCodeActAgent,
    CtxCompressFunctionAgent,
    CtxCompressMemoryBlock,
    CtxCompressPostprocessor,
    CtxCompressReActAgent,
    CtxCompressRetriever,
    CtxContextBuilder,
    CtxResearchRetriever,
    EmbeddingsEncoder,
    LLMSelector,
    builder_tools,
    cite,
    compress_tool,
    expand_tool,
    format_nodes,
    preview_tools,
    query_tool,
    record,
)

OPTIONS = {
    "max_tokens": 123,
    "metadata_only": 0.5,
    "max_length": 3_000,
    "factual_length": 300,
    "tier": None,
    "encoding": "cl100k_base",
    "separator": "\n---\n",
    "format": "plain",  # see test_llamaindex_formats.py
    "language": "en",
    "synonyms": {"timeout": ("deadline", "limit")},
    "scorer": "evidence",
    "encoder": MockEmbedding(embed_dim=3),
    "llm": MockLLM(max_tokens=7),
    "order": "edges",
    "on_empty": "original",
    "min_score": 0.25,
    "score_kind": "distance",
    "ngram_threshold": 0.7,
    "similarity_threshold": 0.85,
    "max_chunks_per_doc": 3,
    "top_n": 7,
    "adaptive": 0.2,
    "type_weights": {"heading": 2.0},
    "metadata_map": {"title": "headline", "score": "score"},
    "telemetry": False,  # see test_llamaindex_telemetry.py
    "cache": None,  # see test_a_cache_is_carried_but_not_written_down
    "metadata_mode": MetadataMode.NONE,
    "context_window": 4_000,
    "must_keep": CompressionConfig(must_keep=["INV-7", "dates", re.compile("a+b")]).must_keep,
    "preset": None,
    "model": None,
    "trace_to": "traces",
}


def values(postprocessor: CtxCompressPostprocessor) -> dict[str, object]:
    return {name: comparable(getattr(postprocessor, name)) for name in OPTIONS}


def comparable(value: object) -> object:
    """Two models are never equal: each has a callback manager of its own."""
    return value.to_dict() if isinstance(value, BaseEmbedding | BaseLLM) else value


GIVEN = {name: comparable(value) for name, value in OPTIONS.items()}


def test_every_option_of_the_core_is_a_field_with_the_same_default():
    core = CompressionConfig()
    postprocessor = CtxCompressPostprocessor()
    for option in dataclasses.fields(CompressionConfig):
        assert option.name in CtxCompressPostprocessor.model_fields
        assert getattr(postprocessor, option.name) == getattr(core, option.name), option.name


def test_fields_and_keywords_are_the_same_with_the_same_defaults():
    keywords = inspect.signature(CtxCompressPostprocessor).parameters
    fields = CtxCompressPostprocessor.model_fields
    assert set(fields) == set(OPTIONS) | {"callback_manager", "start", "feedback"}
    assert set(keywords) == set(fields) - {"start"} | {"config"}  # which is read once, and never written down
    for name in OPTIONS:
        if fields[name].default_factory is None:
            assert keywords[name].default == fields[name].default, name
        assert keywords[name].annotation == fields[name].annotation, name
        assert fields[name].description


def test_it_is_a_node_postprocessor_under_its_own_name():
    assert issubclass(CtxCompressPostprocessor, BaseNodePostprocessor)
    assert CtxCompressPostprocessor.class_name() == "CtxCompressPostprocessor"


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 0},
        {"max_tokens": "ten"},
        {"max_tokens": True},
        {"tier": "tiny"},
        {"max_tokens": 10, "tier": "summary"},
        {"encoding": "gpt-17"},
        {"encoding": None},
        {"separator": None},
        {"language": "English"},
        {"synonyms": {"timeout": "deadline"}},
        {"metadata_map": {"colour": "c"}},
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_at_construction_with_the_message_of_the_core(wrong):
    with pytest.raises(CtxCompressError) as of_core:
        CompressionConfig(**wrong)
    with pytest.raises(ValidationError, match=re.escape(str(of_core.value))):
        CtxCompressPostprocessor(**wrong)


@pytest.mark.parametrize("mode", [MetadataMode.ALL, MetadataMode.EMBED, "everything", None])
def test_a_metadata_mode_that_no_language_model_reads_is_refused(mode):
    with pytest.raises(ValueError, match=r"metadata_mode is .*; give MetadataMode.LLM or MetadataMode.NONE"):
        CtxCompressPostprocessor(metadata_mode=mode)


class Finder(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return []


def look(query: str) -> str:
    return query


MAKERS = {
    "CtxAnalysisTransformer": lambda **given: CtxAnalysisTransformer(
        postprocessor=CtxCompressPostprocessor(cache=Cache()), **given
    ),
    "CtxCompressCodeActAgent": lambda **given: CtxCompressCodeActAgent(look, llm=MockLLM(), **given),
    "CtxCompressFunctionAgent": lambda **given: CtxCompressFunctionAgent(llm=MockLLM(), history_tokens=500, **given),
    "CtxCompressMemoryBlock": CtxCompressMemoryBlock,
    "CtxCompressPostprocessor": CtxCompressPostprocessor,
    "CtxCompressReActAgent": lambda **given: CtxCompressReActAgent(llm=MockLLM(), **given),
    "CtxCompressRetriever": lambda **given: CtxCompressRetriever(Finder(), **given),
    "CtxContextBuilder": CtxContextBuilder,
    "CtxContextSerializer": lambda **given: llamaindex_ctxcompress.CtxContextSerializer(
        Memory.from_defaults(), **given
    ),
    "builder_tools": lambda **given: builder_tools(CtxContextBuilder(), **given),
    "CtxResearchRetriever": lambda **given: CtxResearchRetriever(Finder(), ResearchCache(), **given),
    "EmbeddingsEncoder": lambda **given: EmbeddingsEncoder(MockEmbedding(embed_dim=3), **given),
    "LLMSelector": lambda **given: LLMSelector(MockLLM(), **given),
    "compress_tool": lambda **given: compress_tool(FunctionTool.from_defaults(look), **given),
    "ContextStore": ContextStore,
    "expand_tool": lambda **given: expand_tool(ContextStore(), **given),
    "preview_tools": lambda **given: preview_tools(Finder(), **given),
    "prompt_tokens": lambda **given: llamaindex_ctxcompress.prompt_tokens(**given),
    "query_tool": lambda **given: query_tool(Finder(), **given),
    "cite": lambda **given: cite("timeout", [], **given),
    "format_nodes": lambda **given: format_nodes([], **given),
    "record": lambda **given: record([], log=None, **given),
}


def test_these_are_all_that_the_package_exports():
    assert set(llamaindex_ctxcompress.__all__) == MAKERS.keys()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_keyword_that_means_nothing_is_refused_by_its_name(make):
    make()
    with pytest.raises((TypeError, ValueError), match="bogus"):
        make(bogus=1)


@pytest.mark.parametrize(
    "name", ["CtxCompressPostprocessor", "compress_tool", "expand_tool", "preview_tools", "query_tool"]
)
def test_the_closest_keyword_is_named(name):
    with pytest.raises(ValueError, match="there is no option 'max_token'; did you mean 'max_tokens'"):
        MAKERS[name](max_token=1)


def test_an_unknown_option_is_refused():
    with pytest.raises(ValidationError, match="max_token"):
        CtxCompressPostprocessor(max_token=10)


def test_an_option_that_is_assigned_later_counts_and_is_checked():
    postprocessor = CtxCompressPostprocessor(max_tokens=10_000)
    whole = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    postprocessor.max_tokens = 60
    fewer = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert sum(len(item.text) for item in fewer) < sum(len(item.text) for item in whole)
    postprocessor.max_tokens = 0
    with pytest.raises(CtxCompressError, match="max_tokens is 0"):
        postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)


def test_dictionaries_keep_every_option():
    written = CtxCompressPostprocessor(**OPTIONS).to_dict()
    assert written["class_name"] == "CtxCompressPostprocessor"
    assert values(CtxCompressPostprocessor.from_dict(written)) == GIVEN


def test_json_keeps_every_option():
    written = CtxCompressPostprocessor(**OPTIONS).to_json()
    assert json.loads(written)["max_tokens"] == 123
    assert values(CtxCompressPostprocessor.from_json(written)) == GIVEN


def test_the_defaults_survive_a_round_trip():
    plain = CtxCompressPostprocessor()
    for copy in (
        CtxCompressPostprocessor.from_json(plain.to_json()),
        pickle.loads(pickle.dumps(plain)),
        deepcopy(plain),
    ):
        assert values(copy) == values(plain)


def test_pickle_keeps_every_option():
    copy = pickle.loads(pickle.dumps(CtxCompressPostprocessor(**OPTIONS)))
    assert type(copy) is CtxCompressPostprocessor
    assert values(copy) == GIVEN


def test_a_dictionary_names_a_callable_and_reading_that_back_is_refused():
    written = CtxCompressPostprocessor(encoding=count_words).to_dict()
    assert written["encoding"] == "<callable count_words>"
    with pytest.raises(ValidationError, match=r"encoding is '<callable count_words>'; give .* a callable"):
        CtxCompressPostprocessor.from_dict(written)


def test_json_and_schema_can_be_written_with_a_callable():
    postprocessor = CtxCompressPostprocessor(encoding=Settings.tokenizer)
    assert json.loads(postprocessor.to_json())["encoding"] == "<callable partial>"
    assert CtxCompressPostprocessor.model_json_schema()["properties"]["encoding"]["type"] == "string"


def test_a_callable_can_be_given_again_when_reading_back():
    written = CtxCompressPostprocessor(max_tokens=7, encoding=count_words).to_json()
    copy = CtxCompressPostprocessor.from_json(written, encoding=count_words)
    assert copy.encoding is count_words
    assert copy.max_tokens == 7


def test_pickle_keeps_a_callable_that_can_be_pickled():
    assert pickle.loads(pickle.dumps(CtxCompressPostprocessor(encoding=count_words))).encoding is count_words


def test_pickle_refuses_a_callable_that_it_would_lose():
    postprocessor = CtxCompressPostprocessor(encoding=lambda text: len(text))
    with pytest.raises(pickle.PicklingError, match=r"encoding is .*lambda.*; give an encoding's name"):
        pickle.dumps(postprocessor)
    assert postprocessor.encoding("four") == 4


def test_pickle_leaves_a_callback_manager_that_cannot_be_pickled_where_it_is():
    handler = LlamaDebugHandler()
    handler.lock = threading.Lock()
    manager = CallbackManager([handler])
    postprocessor = CtxCompressPostprocessor(max_tokens=5, callback_manager=manager)
    assert pickle.loads(pickle.dumps(postprocessor)).max_tokens == 5
    assert postprocessor.callback_manager is manager


def test_engines_can_assign_their_callback_manager():
    postprocessor, manager = CtxCompressPostprocessor(), CallbackManager([])
    postprocessor.callback_manager = manager
    assert postprocessor.callback_manager is manager
    assert "callback_manager" not in postprocessor.to_dict()
    assert CtxCompressPostprocessor(callback_manager=manager).callback_manager is manager


def test_only_the_documented_names_are_exported():
    import llamaindex_ctxcompress

    assert llamaindex_ctxcompress.__all__ == [
        "ContextStore",
        "CtxAnalysisTransformer",
        "CtxCompressCodeActAgent",
        "CtxCompressFunctionAgent",
        "CtxCompressMemoryBlock",
        "CtxCompressPostprocessor",
        "CtxCompressReActAgent",
        "CtxCompressRetriever",
        "CtxContextBuilder",
        "CtxContextSerializer",
        "CtxResearchRetriever",
        "EmbeddingsEncoder",
        "LLMSelector",
        "builder_tools",
        "cite",
        "compress_tool",
        "expand_tool",
        "format_nodes",
        "preview_tools",
        "prompt_tokens",
        "query_tool",
        "record",
    ]


@pytest.mark.parametrize("kind", ["memory", "disk", "qdrant"])
def test_a_cache_is_carried_but_not_written_down(kind, tmp_path):
    plain = CtxCompressPostprocessor(max_tokens=60)
    cache = {
        "memory": Cache,
        "disk": lambda: Cache(SqliteStore(tmp_path / "c")),
        "qdrant": lambda: Cache(QdrantStore(QdrantClient(":memory:"), collection="c")),
    }[kind]()
    cached = CtxCompressPostprocessor(max_tokens=60, cache=cache)
    assert cached.with_options(top_n=2).cache is cache
    expected = plain.postprocess_nodes(four_nodes(), query_str=QUERY)
    copies = (cached, cached, pickle.loads(pickle.dumps(cached)), CtxCompressPostprocessor.from_dict(cached.to_dict()))
    for copy in copies:
        kept = copy.postprocess_nodes(four_nodes(), query_str=QUERY)
        assert [item.text for item in kept] == [item.text for item in expected]
    assert cached.to_dict()["cache"] is None
    assert CtxCompressPostprocessor.from_dict(cached.to_dict(), cache=cache).cache is cache
    assert cached.cache is cache


def test_what_is_no_cache_is_refused():
    with pytest.raises(ValidationError, match=r"cache is 'memory'; give one of ctxcompress.cache"):
        CtxCompressPostprocessor(cache="memory")


async def test_a_call_has_options_of_its_own():
    postprocessor = CtxCompressPostprocessor(max_tokens=500)
    one = postprocessor.with_options(top_n=1)
    expected = CtxCompressPostprocessor(max_tokens=500, top_n=1).postprocess_nodes(four_nodes(), query_str=QUERY)
    assert one.postprocess_nodes(four_nodes(), query_str=QUERY) == expected
    assert await one.apostprocess_nodes(four_nodes(), query_str=QUERY) == expected
    assert len(postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)) > 1 == len(expected)
    assert postprocessor.top_n is None
    with pytest.raises(ValueError, match="did you mean 'top_n'"):
        postprocessor.with_options(topn=1)
