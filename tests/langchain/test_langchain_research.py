"""The retriever that reuses the documents of earlier questions."""

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from lc_documents import make_documents
from research_questions import AGAIN, ASKED, OTHER

from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache, SqliteStore
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, CtxResearchRetriever

NOTE = {"question": ASKED, "similarity": 1.0}


class Counting(BaseRetriever):
    asked: list[str]
    found: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: object, k: int = 5) -> list[Document]:
        self.asked.append(query)
        return self.found[:k]


@pytest.fixture
def base():
    return Counting(asked=[], found=make_documents())


def research(base: BaseRetriever, **given) -> CtxResearchRetriever:
    return CtxResearchRetriever(base_retriever=base, research_cache=ResearchCache(**given))


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_question_in_other_words_gets_the_same_documents_with_a_note(base, is_stored, tmp_path):
    given = {"store": Cache(SqliteStore(tmp_path / "research.sqlite"))} if is_stored else {}
    retriever = research(base, **given)
    first, again = retriever.invoke(ASKED), retriever.invoke(AGAIN)
    assert first == make_documents()
    for document, fresh in zip(again, first, strict=True):
        assert document.metadata.pop("ctxcompress") == {"research": NOTE}
        assert document == fresh
    retriever.invoke(OTHER)
    assert base.asked == [ASKED, OTHER]


async def test_compressed_documents_keep_their_record(base):
    retriever = research(CtxCompressRetriever(base_retriever=base, compressor=CtxCompressor(max_tokens=60)))
    (first, *_), (again, *_) = await retriever.ainvoke(ASKED), await retriever.ainvoke(AGAIN)
    assert again.metadata["ctxcompress"] == first.metadata["ctxcompress"] | {"research": NOTE}
    assert base.asked == [ASKED]


def test_documents_are_not_shared(base):
    retriever = research(base)
    retriever.invoke(ASKED)[0].metadata["loc"]["lines"] = "changed"
    retriever.invoke(AGAIN)[0].metadata["loc"]["lines"] = "changed"
    for document in (retriever.invoke(AGAIN)[0], base.found[0]):
        assert document.metadata["loc"] == make_documents()[0].metadata["loc"]


def test_a_call_with_search_arguments_goes_past_the_cache(base):
    retriever = research(base)
    assert [len(retriever.invoke(ASKED)), len(retriever.invoke(ASKED, k=2))] == [5, 2]
    assert base.asked == [ASKED, ASKED]


def test_subclasses_stay_what_they_are():
    class Page(Document):
        number: int = 0

    retriever = research(Counting(asked=[], found=[Page("The timeout is 30 seconds.", number=7)]))
    retriever.invoke(ASKED)
    (again,) = retriever.invoke(AGAIN)
    assert isinstance(again, Page)
    assert again.number == 7
