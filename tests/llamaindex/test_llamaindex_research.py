"""The retriever that reuses the nodes of earlier questions."""

import pytest
from li_nodes import TEXTS, four_nodes
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from research_questions import AGAIN, ASKED, OTHER, Clock, research_cache

from ctxcompress.cache import DiskCache
from llamaindex_ctxcompress import CtxCompressPostprocessor, CtxResearchRetriever


class Counting(BaseRetriever):
    """A retriever that counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        return four_nodes()


@pytest.fixture
def base():
    return Counting()


def research(base: BaseRetriever, *postprocessors: CtxCompressPostprocessor, **given) -> CtxResearchRetriever:
    cache = research_cache(**given)
    return CtxResearchRetriever(base, cache, node_postprocessors=postprocessors)


def test_a_question_in_other_words_gets_the_same_nodes_with_a_note(base):
    clock = Clock()
    retriever = research(base, clock=clock)
    first = retriever.retrieve(ASKED)
    clock.now += 60
    again = retriever.retrieve(AGAIN)
    assert [item.to_dict() for item in first] == [item.to_dict() for item in four_nodes()]
    for item, fresh in zip(again, first, strict=True):
        note = item.node.metadata["ctxcompress"]["research"]
        assert (note["question"], note["age"]) == (ASKED, 60.0)
        assert (item.score, item.node.node_id) == (fresh.score, fresh.node.node_id)
        assert item.node.relationships == fresh.node.relationships
        for mode in (MetadataMode.LLM, MetadataMode.EMBED, MetadataMode.NONE):
            assert item.get_content(mode) == fresh.get_content(mode)
    retriever.retrieve(OTHER)
    assert base.asked == [ASKED, OTHER]


async def test_it_can_be_awaited(base):
    retriever = research(base)
    await retriever.aretrieve(ASKED)
    (again, *_) = await retriever.aretrieve(AGAIN)
    assert again.node.metadata["ctxcompress"]["research"]["question"] == ASKED
    assert base.asked == [ASKED]


def test_compressed_nodes_are_reused_in_an_engine(base):
    retriever = research(base, CtxCompressPostprocessor(max_tokens=120))
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    first, again = engine.query(ASKED), engine.query(AGAIN)
    assert str(first) == str(again).replace(AGAIN, ASKED)
    assert [item.text for item in first.source_nodes] == [item.text for item in again.source_nodes]
    assert sum(len(item.text) for item in again.source_nodes) < sum(map(len, TEXTS))
    assert again.source_nodes[0].node.metadata["ctxcompress"]["spans"]
    assert base.asked == [ASKED]


async def test_postprocessors_are_awaited(base):
    retriever = research(base, CtxCompressPostprocessor(max_tokens=120))
    first = await retriever.aretrieve(ASKED)
    assert [item.text for item in await retriever.aretrieve(AGAIN)] == [item.text for item in first]


def test_nodes_are_not_shared(base):
    retriever = research(base)
    retriever.retrieve(ASKED)[0].node.metadata["nested"]["tags"].append("c")
    retriever.retrieve(AGAIN)[0].node.metadata["nested"]["tags"].append("c")
    assert retriever.retrieve(AGAIN)[0].node.metadata["nested"] == four_nodes()[0].node.metadata["nested"]


def test_a_file_outlives_the_process(base, tmp_path):
    first = research(base, store=DiskCache(tmp_path / "research.sqlite")).retrieve(ASKED)
    again = research(base, store=DiskCache(tmp_path / "research.sqlite")).retrieve(AGAIN)
    assert [item.get_content(MetadataMode.LLM) for item in again] == [
        item.get_content(MetadataMode.LLM) for item in first
    ]
    assert [type(item.node) for item in again] == [type(item.node) for item in first]
    assert base.asked == [ASKED]


def test_a_query_with_an_embedding_of_its_own_goes_past_the_cache(base):
    retriever = research(base)
    retriever.retrieve(ASKED)
    retriever.retrieve(QueryBundle(ASKED, embedding=[1.0]))
    assert base.asked == [ASKED, ASKED]
