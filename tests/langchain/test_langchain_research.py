"""The retriever that reuses the documents of earlier questions."""

import json

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from lc_documents import make_documents
from pydantic import ValidationError
from research_questions import AGAIN, ASKED, OTHER, Clock, research_cache

from ctxcompress.cache import DiskCache
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, CtxResearchRetriever


class Counting(BaseRetriever):
    """A retriever that counts what it is asked."""

    asked: list[str]
    found: list[Document] | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: object, k: int = 5) -> list[Document]:
        self.asked.append(query)
        return make_documents(k) if self.found is None else self.found


@pytest.fixture
def base():
    return Counting(asked=[])


def research(base: BaseRetriever, **given) -> CtxResearchRetriever:
    cache = research_cache(**given)
    return CtxResearchRetriever(base_retriever=base, research_cache=cache)


def test_a_question_in_other_words_gets_the_same_documents_with_a_note(base):
    clock = Clock()
    retriever = research(base, clock=clock)
    first = retriever.invoke(ASKED)
    clock.now += 60
    again = retriever.invoke(AGAIN)
    assert first == make_documents()
    assert [document.page_content for document in again] == [document.page_content for document in first]
    for document, fresh in zip(again, first, strict=True):
        note = document.metadata.pop("ctxcompress")["research"]
        assert (note["question"], note["age"]) == (ASKED, 60.0)
        assert 0.85 <= note["similarity"] < 1
        assert document == fresh
        json.dumps(note)
    assert base.asked == [ASKED]
    retriever.invoke(OTHER)
    assert base.asked == [ASKED, OTHER]


async def test_it_can_be_awaited(base):
    retriever = research(base)
    await retriever.ainvoke(ASKED)
    again = await retriever.ainvoke(AGAIN)
    assert again[0].metadata["ctxcompress"]["research"]["question"] == ASKED
    assert retriever.invoke(AGAIN) == again
    assert base.asked == [ASKED]


def test_compressed_documents_keep_their_record(base):
    compressing = CtxCompressRetriever(base_retriever=base, compressor=CtxCompressor(max_tokens=60))
    retriever = research(compressing)
    (first, *_), (again, *_) = retriever.invoke(ASKED), retriever.invoke(AGAIN)
    assert again.metadata["ctxcompress"]["spans"] == first.metadata["ctxcompress"]["spans"]
    assert again.metadata["ctxcompress"]["research"]["question"] == ASKED
    assert "research" not in first.metadata["ctxcompress"]


def test_documents_are_not_shared(base):
    retriever = research(base)
    retriever.invoke(ASKED)[0].metadata["loc"]["lines"] = "changed"
    retriever.invoke(AGAIN)[0].metadata["loc"]["lines"] = "changed"
    assert retriever.invoke(AGAIN)[0].metadata["loc"] == make_documents()[0].metadata["loc"]


def test_search_arguments_and_empty_results_go_past_the_cache(base):
    retriever = research(base)
    retriever.invoke(ASKED)
    assert len(retriever.invoke(ASKED, k=2)) == 2
    assert len(retriever.invoke(ASKED)) == 5
    assert base.asked == [ASKED, ASKED]
    nothing = Counting(asked=[], found=[])
    empty = research(nothing)
    assert empty.invoke(ASKED) == empty.invoke(ASKED) == []
    assert nothing.asked == [ASKED, ASKED]


def test_a_file_outlives_the_process(base, tmp_path):
    first = research(base, store=DiskCache(tmp_path / "research.sqlite")).invoke(ASKED)
    again = research(base, store=DiskCache(tmp_path / "research.sqlite")).invoke(AGAIN)
    for document in again:
        del document.metadata["ctxcompress"]
    assert again == first
    assert base.asked == [ASKED]


def test_subclasses_stay_what_they_are(base):
    class Page(Document):
        number: int = 0

    retriever = research(Counting(asked=[], found=[Page("The timeout is 30 seconds.", number=7)]))
    retriever.invoke(ASKED)
    (again,) = retriever.invoke(AGAIN)
    assert isinstance(again, Page)
    assert again.number == 7


def test_an_unknown_argument_is_refused(base):
    with pytest.raises(ValidationError, match="cache"):
        CtxResearchRetriever(base_retriever=base, cache=research_cache())
