"""The retriever that reuses the nodes of earlier questions."""

import pytest
from li_nodes import four_nodes
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from research_questions import AGAIN, ASKED, OTHER

from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache, SqliteStore
from llamaindex_ctxcompress import CtxResearchRetriever


class Counting(BaseRetriever):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        return four_nodes()


@pytest.fixture
def base():
    return Counting()


@pytest.mark.parametrize("is_stored", [False, True])
async def test_a_question_in_other_words_gets_the_same_nodes_with_a_note(base, is_stored, tmp_path):
    given = {"store": Cache(SqliteStore(tmp_path / "research.sqlite"))} if is_stored else {}
    retriever = CtxResearchRetriever(base, ResearchCache(**given))
    first, again = await retriever.aretrieve(ASKED), await retriever.aretrieve(AGAIN)
    assert [item.to_dict() for item in first] == [item.to_dict() for item in four_nodes()]
    for item, fresh in zip(again, first, strict=True):
        assert item.node.metadata["ctxcompress"] == {"research": {"question": ASKED, "similarity": 1.0}}
        assert (item.score, item.node.node_id, type(item.node)) == (fresh.score, fresh.node.node_id, type(fresh.node))
        for mode in (MetadataMode.LLM, MetadataMode.EMBED, MetadataMode.NONE):
            assert item.get_content(mode) == fresh.get_content(mode)
    retriever.retrieve(OTHER)
    assert base.asked == [ASKED, OTHER]


def test_nodes_are_not_shared(base):
    retriever = CtxResearchRetriever(base, ResearchCache())
    for question in (ASKED, AGAIN):
        retriever.retrieve(question)[0].node.metadata["nested"]["tags"].append("c")
    assert retriever.retrieve(AGAIN)[0].node.metadata["nested"] == four_nodes()[0].node.metadata["nested"]


async def test_a_query_with_an_embedding_of_its_own_goes_past_the_cache(base):
    retriever = CtxResearchRetriever(base, ResearchCache())
    retriever.retrieve(ASKED)
    retriever.retrieve(QueryBundle(ASKED, embedding=[1.0]))
    await retriever.aretrieve(QueryBundle(ASKED, embedding=[1.0]))
    assert base.asked == [ASKED, ASKED, ASKED]
