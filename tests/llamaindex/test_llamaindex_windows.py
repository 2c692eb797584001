"""Sentences that are retrieved, and the windows around them that take their place: before compression, not after it."""

import re
from pathlib import Path
from typing import Any

import llama_index.core
import pytest
from li_nodes import tokens
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import BaseQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from llamaindex_ctxcompress import CtxCompressPostprocessor

QUERY = "What is the default timeout of the pool?"
BUDGET = 150
WARNING = "list that before CtxCompressPostprocessor"
NLTK_DATA = Path(llama_index.core.__file__).parent / "_static" / "nltk_cache"


@pytest.fixture(autouse=True)
def nltk_data(monkeypatch):
    """The sentence splitter reads the files that come with LlamaIndex; its older versions would download them."""
    monkeypatch.setenv("NLTK_DATA", str(NLTK_DATA))


def document() -> Document:
    sentences = [f"The harbour of town {n} was built long ago and has a lighthouse with {n} steps." for n in range(60)]
    return Document(text=" ".join([*sentences, "The default timeout of the pool is 30 seconds.", *sentences]))


def sentences() -> list[NodeWithScore]:
    parser = SentenceWindowNodeParser.from_defaults(window_size=3)
    return [NodeWithScore(node=node, score=0.5) for node in parser.get_nodes_from_documents([document()])][50:70]


def windows(key: str = "window") -> MetadataReplacementPostProcessor:
    return MetadataReplacementPostProcessor(target_metadata_key=key)


def compressor(**options: Any) -> CtxCompressPostprocessor:
    return CtxCompressPostprocessor(max_tokens=BUDGET, encoding="cl100k_base", **options)


def engine(*postprocessors: BaseNodePostprocessor) -> BaseQueryEngine:
    parser = SentenceWindowNodeParser.from_defaults(window_size=3)
    index = VectorStoreIndex.from_documents(
        [document()], transformations=[parser], embed_model=MockEmbedding(embed_dim=8)
    )
    return index.as_query_engine(llm=MockLLM(), similarity_top_k=20, node_postprocessors=list(postprocessors))


def read(found: list[NodeWithScore]) -> int:
    """The tokens that a language model reads."""
    return tokens("\n\n".join(item.node.get_content(MetadataMode.LLM) for item in found))


def said(warned) -> int:
    return sum(WARNING in message for message in warned.messages)


def test_windows_first_are_compressed_into_the_budget(warned):
    response = engine(windows(), compressor()).query(QUERY)
    assert 0 < read(response.source_nodes) <= BUDGET
    assert not said(warned)


def test_windows_afterwards_are_over_the_budget_and_the_warning_names_the_remedy(
    warned,
):
    response = engine(compressor(), windows()).query(QUERY)
    assert read(response.source_nodes) > BUDGET
    assert said(warned) == 1
    assert re.search(r"nodes have under metadata\['window'\] a longer text", warned.text)


async def test_the_same_where_it_is_awaited(warned):
    await engine(compressor(), windows()).aquery(QUERY)
    assert said(warned) == 1


def test_windows_that_are_compressed_again_are_no_news(warned):
    once = compressor().postprocess_nodes(windows().postprocess_nodes(sentences()), query_str=QUERY)
    assert any(len(item.node.metadata["window"]) > len(item.text) for item in once)
    compressor().postprocess_nodes(once, query_str=QUERY)
    assert not said(warned)


@pytest.mark.parametrize(
    "window", ["The pool.", "the pool", "Another text that is longer than it.", 7, None, ["The pool."]]
)
def test_other_metadata_of_that_name_are_no_matter(warned, window):
    node = TextNode(text="The pool.", metadata={"window": window}, excluded_llm_metadata_keys=["window"])
    compressor().postprocess_nodes([NodeWithScore(node=node)], query_str=QUERY)
    assert not said(warned)
