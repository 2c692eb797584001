"""`config=` and `preset=`, which everything takes that has options."""

import pickle
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from option_sources import CONFIG, FORMS, config_as

from ctxcompress import CompressionConfig
from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache
from llamaindex_ctxcompress import (
    CtxCompressPostprocessor,
    CtxCompressRetriever,
    CtxContextBuilder,
    CtxResearchRetriever,
    builder_tools,
    compress_tool,
    preview_tools,
    query_tool,
)


def scored(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]


class Finder(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return scored("The timeout is 30 seconds.", "The logo is blue.")


def long_page(query: str) -> str:
    """Read a page."""
    return " ".join(f"Line {n} says something about the timeout." for n in range(200))


TOOL = FunctionTool.from_defaults(long_page)


@pytest.fixture(params=FORMS)
def config(request, tmp_path):
    """The same options in three forms."""
    return config_as(request.param, tmp_path)


def test_a_postprocessor_starts_from_a_config(config):
    postprocessor = CtxCompressPostprocessor(config=config, max_tokens=77)
    assert isinstance(postprocessor.cache, Cache)
    assert postprocessor.config.with_options(cache=None) == CONFIG.with_options(cache=None, max_tokens=77)
    assert CtxCompressPostprocessor(config=config).config.budget == 123
    assert CtxCompressPostprocessor(config=config, tier="detailed").config.budget == 5_000
    assert CtxCompressPostprocessor(config=config, adaptive=False, cache=None).cache is None
    postprocessor.max_tokens = 55  # an option that is assigned counts
    assert postprocessor.config.budget == 55


def test_a_config_is_not_written_down_but_its_options_are():
    postprocessor = CtxCompressPostprocessor(config=CONFIG)
    written = postprocessor.to_dict()
    assert not {"config", "start"} & set(written)
    assert CtxCompressPostprocessor.from_dict(written).config == CONFIG.with_options(cache=None)
    assert pickle.loads(pickle.dumps(postprocessor)).config.budget == 123


def test_a_retriever_takes_the_options_of_its_postprocessor():
    retriever = CtxCompressRetriever(Finder(), max_tokens=20, must_keep=["INV-7"])
    assert retriever.postprocessor.config == CtxCompressPostprocessor(max_tokens=20, must_keep=["INV-7"]).config
    with pytest.raises(ValueError, match="max_tokens is 0; it must be at least 1"):
        CtxCompressRetriever(Finder(), max_tokens=0)
    with pytest.raises(ValueError, match="max_tokens is given beside a postprocessor"):
        CtxCompressRetriever(Finder(), max_tokens=20, postprocessor=CtxCompressPostprocessor())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CtxCompressRetriever(5), "retriever is a int; give a BaseRetriever"),
        (lambda: CtxCompressRetriever(Finder(), postprocessor=5), "postprocessor is a int; give a Ctx"),
        (lambda: CtxCompressRetriever(Finder(), llm=5, decompose=False), "llm is a int; give an LLM"),
        (lambda: CtxCompressRetriever(Finder(), decompose="yes"), "decompose is 'yes'; give True or False"),
        (lambda: query_tool(5), "source is a int; give a BaseRetriever or a BaseQueryEngine"),
        (lambda: preview_tools(5), "retriever is a int; give a BaseRetriever"),
        (lambda: builder_tools(CtxContextBuilder(100), 5), "retriever is a int; give a BaseRetriever"),
        (lambda: builder_tools(CtxContextBuilder(100), tokens_per_search=-1), "tokens_per_search is -1; give a whole"),
        (lambda: CtxResearchRetriever(5, ResearchCache()), "retriever is a int; give a BaseRetriever"),
        (lambda: CtxResearchRetriever(Finder(), 5), "research_cache is a int; give a ResearchCache"),
        (
            lambda: compress_tool(TOOL, query_argument="q"),
            "query_argument is 'q'; the arguments of long_page are query",
        ),
    ],
)
def test_a_wrong_argument_is_refused_at_once(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_the_tools_start_from_a_config(config):
    output = compress_tool(TOOL, config=config, min_tokens=0).call(query="timeout")
    assert 0 < len(output.content) < len(long_page("")) / 4
    assert "timeout" in preview_tools(Finder(), config=config)[0].call(query="timeout").content
    found = query_tool(Finder(), config=config).call(query="what is the timeout?")
    assert "30 seconds" in found.content
    schema = query_tool(Finder(), config=config).metadata.get_parameters_dict()["properties"]
    assert schema["min_score"]["default"] is None
    started = query_tool(Finder(), preset="docs").metadata.get_parameters_dict()
    assert started == query_tool(Finder()).metadata.get_parameters_dict()


MAKERS = {
    "postprocessor": CtxCompressPostprocessor,
    "compress_tool": lambda **options: compress_tool(TOOL, **options),
    "preview_tools": lambda **options: preview_tools(Finder(), **options),
    "query_tool": lambda **options: query_tool(Finder(), **options),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_both_a_preset_and_a_config_are_refused(make: Any):
    with pytest.raises(ValueError, match="both preset='docs' and config are given; put the preset into it"):
        make(preset="docs", config=CONFIG)
    with pytest.raises(ValueError, match=r"nowhere\.toml cannot be read"):
        make(config="nowhere.toml")
    assert make(preset="page")
    assert make(config=CompressionConfig(format="compact"))


def test_a_preset_is_in_effect_everywhere():
    """The preset "docs" drops what scores below 0.3."""
    question = "what is the timeout?"
    found = scored(*(f"The timeout of client {n} is {n} seconds." for n in range(3)))
    for node, score in zip(found, (0.9, 0.5, 0.1), strict=True):
        node.score = score

    class Base(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return found

    for options, kept in (({"preset": "docs"}, 2), ({}, 3)):
        assert len(CtxCompressPostprocessor(**options).postprocess_nodes(found, query_str=question)) == kept
        assert len(CtxCompressRetriever(Base(), **options).retrieve(question)) == kept
        assert len(CtxContextBuilder(**options).add(found, question).nodes) == kept
        assert len(preview_tools(Base(), **options)[0].call(query=question).content.splitlines()) == kept
    assert query_tool(Base(), preset="docs").call(query=question).content.count("seconds") == 2
    assert compress_tool(TOOL, preset="docs")


def test_a_config_that_is_switched_off_lets_nodes_pass(tmp_path):
    path = tmp_path / "off.toml"
    path.write_text("[search]\nmin_confidence = 0.9\n[compression]\nenabled = false")
    nodes = scored("One. Two. Three.", "Four. Five. Six.")
    kept = CtxCompressPostprocessor(config=path).postprocess_nodes(nodes, query_str="two?")
    assert [node.text for node in kept] == ["One. Two. Three.", "Four. Five. Six."]
