"""`config=` and `preset=`, which everything takes that has options."""

import json
from typing import Any

import lc_tools
import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from lc_documents import make_documents, make_store
from option_sources import CONFIG, FORMS, config_as
from search_shapes import KUBERNETES

from ctxcompress import CompressionConfig
from ctxcompress.cache import Cache
from langchain_ctxcompress import (
    CtxCompressMiddleware,
    CtxCompressor,
    CtxCompressRetriever,
    CtxContextBuilder,
    builder_tools,
    compress_tool,
    preview_tools,
    query_tool,
)

BASE = RunnableLambda(lambda query: make_documents())


@pytest.fixture(params=FORMS)
def config(request, tmp_path):
    """The same options in three forms."""
    return config_as(request.param, tmp_path)


def test_a_compressor_starts_from_a_config(config):
    compressor = CtxCompressor(config=config, max_tokens=77)
    assert isinstance(compressor.cache, Cache)
    assert compressor.config.with_options(cache=None) == CONFIG.with_options(cache=None, max_tokens=77)
    assert CtxCompressor(config=config).config.budget == 123
    assert CtxCompressor(config=config, tier="detailed").config.budget == 5_000
    assert CtxCompressor(config=config, adaptive=False, cache=None).cache is None


def test_the_encoder_of_a_config_stays_unless_another_one_is_given():
    class Model:
        def encode_query(self, text):
            return [1.0]

        def encode_document(self, texts):
            return [[1.0] for _ in texts]

    one, other = Model(), Model()
    config = CompressionConfig(encoder=one)
    assert CtxCompressor(config=config).config.encoder is one
    assert CtxCompressor(config=config, encoder=other).config.encoder is other
    assert CtxCompressor(config=config, encoder=None).config.encoder is None
    assert CtxCompressor(config=config).model_copy().with_options(top_n=3).config.encoder is one


def test_a_retriever_starts_from_a_config_or_a_preset(config):
    assert CtxCompressRetriever(base_retriever=BASE, config=config).compressor.config.budget == 123
    assert CtxCompressRetriever(base_retriever=BASE, preset="docs").compressor.min_score == 0.3
    store = make_store(make_documents())
    scored = CtxCompressRetriever.from_vectorstore(store, score_kind="similarity", config=config)
    assert scored.compressor.config.budget == 123
    assert CtxCompressRetriever(base_retriever=BASE).compressor == CtxCompressor()
    with pytest.raises(ValueError, match="both compressor and preset or config are given; give them to CtxCompressor"):
        CtxCompressRetriever(base_retriever=BASE, compressor=CtxCompressor(), preset="docs")


def test_a_retriever_takes_the_options_of_its_compressor():
    retriever = CtxCompressRetriever(base_retriever=BASE, max_tokens=20, must_keep=["INV-7"], k=3)
    assert retriever.compressor == CtxCompressor(max_tokens=20, must_keep=["INV-7"])
    assert CtxCompressRetriever(base_retriever=BASE, preset="docs", top_n=3).compressor.config.top_n == 3
    for options, said in (
        ({"max_tokens": 0}, "max_tokens is 0; it must be at least 1"),
        ({"max_token": 20}, "there is no argument 'max_token' of CtxCompressRetriever; did you mean 'max_tokens'?"),
        ({"max_tokens": 20, "compressor": CtxCompressor()}, "both compressor and max_tokens are given; give them to"),
    ):
        with pytest.raises(ValueError, match=said.replace("?", r"\?")):
            CtxCompressRetriever(base_retriever=BASE, **options)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: query_tool(5), "retriever is a int; give a retriever, or any runnable"),
        (lambda: preview_tools(5), "retriever is a int; give a retriever, or any runnable"),
        (lambda: builder_tools(CtxContextBuilder(100), 5), "retriever is a int; give a retriever"),
        (lambda: builder_tools(CtxContextBuilder(100), tokens_per_search=-1), "tokens_per_search is -1; give a whole"),
    ],
)
def test_a_wrong_argument_is_refused_at_once(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_the_tools_start_from_a_config(config):
    message = compress_tool(lc_tools.fetch_page, config=config, min_tokens=0)
    assert 0 < lc_tools.tokens(message.invoke({"url": KUBERNETES})) <= 123
    _, expand = preview_tools(BASE, config=config)
    assert expand.name == "expand_chunk"
    tool = query_tool(BASE, config=config)
    assert tool.args["min_score"]["default"] is None
    assert query_tool(BASE, preset="docs").args == query_tool(BASE).args
    assert query_tool(BASE, config=config, min_score=0.2).args["min_score"]["default"] == 0.2
    assert CtxCompressMiddleware(config=config)._outputs.config.budget == 123
    assert CtxCompressMiddleware(config=config, max_tokens=50)._outputs.config.budget == 50


MAKERS = {
    "compressor": CtxCompressor,
    "retriever": lambda **options: CtxCompressRetriever(base_retriever=BASE, **options),
    "compress_tool": lambda **options: compress_tool(lc_tools.echo, **options),
    "preview_tools": lambda **options: preview_tools(BASE, **options),
    "query_tool": lambda **options: query_tool(BASE, **options),
    "middleware": CtxCompressMiddleware,
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
    found = [
        Document(f"The timeout of client {n} is {n} seconds.", id=str(n), metadata={"score": score})
        for n, score in enumerate((0.9, 0.5, 0.1))
    ]
    base = RunnableLambda(lambda query: found)
    given: dict[str, Any] = {"preset": "docs", "metadata_map": {"score": "score"}}
    plain: dict[str, Any] = {"metadata_map": {"score": "score"}}
    for options, kept in ((given, 2), (plain, 3)):
        assert len(CtxCompressor(**options).compress_documents(found, question)) == kept
        assert len(CtxCompressRetriever(base_retriever=base, **options).invoke(question)) == kept
        assert len(CtxContextBuilder(**options).add(found, question).documents) == kept
        assert len(preview_tools(base, **options)[0].invoke({"query": question}).splitlines()) == kept
    assert query_tool(base, **given).invoke({"query": question}).count("seconds") == 2
    assert CtxCompressMiddleware(preset="docs")
    assert compress_tool(lc_tools.fetch_page, preset="docs")


def test_a_config_is_not_written_down_but_its_options_are():
    compressor = CtxCompressor(config=CONFIG)
    written = json.loads(compressor.model_dump_json(exclude={"encoder"}))
    assert "config" not in written
    assert "start" not in written
    assert CtxCompressor(**written).config == CONFIG.with_options(cache=None)


def test_a_config_that_is_switched_off_lets_documents_pass(tmp_path):
    path = tmp_path / "off.toml"
    path.write_text("[search]\nmin_confidence = 0.9\n[compression]\nenabled = false")
    documents = [Document("One. Two. Three.", metadata={"score": n / 10}) for n in range(10)]
    kept = CtxCompressor(config=path, metadata_map={"score": "score"}).compress_documents(documents, "two?")
    assert [document.page_content for document in kept] == ["One. Two. Three."] * 10
