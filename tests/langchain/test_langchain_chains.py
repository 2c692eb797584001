"""Inside LangChain's own parts: retrievers, compressor pipelines, chains, vector stores."""

import copy
import pickle
import re

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_text_splitters import CharacterTextSplitter
from lc_documents import QUERY, check_verbatim, make_documents, make_store, tokens_in_prompt

from ctxcompress import compress
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

COMPRESSOR = CtxCompressor(max_tokens=60)


class ListRetriever(BaseRetriever):
    documents: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.documents


class Reverse(BaseDocumentTransformer):
    def transform_documents(self, documents, **kwargs):
        return list(reversed(documents))


def retrievers(base):
    return [
        CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR),
        ContextualCompressionRetriever(base_retriever=base, base_compressor=COMPRESSOR),
        {"documents": base, "query": RunnablePassthrough()} | COMPRESSOR.as_runnable(),
    ]


def bases():
    store = make_store(make_documents())
    return [
        store.as_retriever(search_kwargs={"k": 4}),
        ListRetriever(documents=make_documents()),
        RunnableLambda(lambda query: make_documents()),
    ]


@pytest.mark.parametrize("base", bases(), ids=lambda base: type(base).__name__)
async def test_every_way_of_wiring_gives_the_same_documents_sync_and_async(base):
    given = base.invoke(QUERY)
    expected = COMPRESSOR.compress_documents(given, QUERY)
    check_verbatim(given, expected)
    for retriever in retrievers(base):
        assert retriever.invoke(QUERY) == expected
        assert await retriever.ainvoke(QUERY) == expected


async def test_an_empty_retrieval_gives_no_documents():
    for retriever in retrievers(make_store([]).as_retriever()):
        assert retriever.invoke(QUERY) == []
        assert await retriever.ainvoke(QUERY) == []


async def test_batches_and_streams():
    retriever = CtxCompressRetriever(base_retriever=ListRetriever(documents=make_documents()), compressor=COMPRESSOR)
    expected = retriever.invoke(QUERY)
    assert retriever.batch([QUERY] * 8) == [expected] * 8
    assert await retriever.abatch([QUERY] * 8) == [expected] * 8
    given = {"documents": make_documents(), "query": QUERY}
    assert list(COMPRESSOR.as_runnable().stream(given)) == [expected]
    assert [chunk async for chunk in COMPRESSOR.as_runnable().astream(given)] == [expected]


def test_search_arguments_of_one_call_go_to_the_base_retriever():
    base = make_store(make_documents()).as_retriever(search_kwargs={"k": 5})
    retriever = CtxCompressRetriever(base_retriever=base, compressor=CtxCompressor(max_tokens=5_000))
    assert len(retriever.invoke(QUERY)) == 5
    assert len(retriever.invoke(QUERY, k=2)) == 2


def test_errors_of_the_base_retriever_are_raised_on():
    def fail(query: str) -> list[Document]:
        raise ConnectionError("the store is gone")

    retriever = CtxCompressRetriever(base_retriever=RunnableLambda(fail), compressor=COMPRESSOR)
    with pytest.raises(ConnectionError, match="gone"):
        retriever.invoke(QUERY)


def test_a_retriever_is_pickled_and_copied():
    retriever = CtxCompressRetriever(base_retriever=ListRetriever(documents=make_documents()), compressor=COMPRESSOR)
    for twin in (pickle.loads(pickle.dumps(retriever)), copy.deepcopy(retriever)):
        assert twin.invoke(QUERY) == retriever.invoke(QUERY)


async def test_in_a_compressor_pipeline_between_transformers():
    splitter = CharacterTextSplitter(separator="\n\n", chunk_size=80, chunk_overlap=0)
    pipeline = DocumentCompressorPipeline(transformers=[splitter, Reverse(), COMPRESSOR, Reverse()])
    collector = RunCollectorCallbackHandler()
    kept = pipeline.compress_documents(make_documents(), QUERY, callbacks=[collector])
    assert kept == await pipeline.acompress_documents(make_documents(), QUERY, callbacks=[collector])
    chunks = list(reversed(splitter.split_documents(make_documents())))
    assert list(reversed(kept)) == COMPRESSOR.compress_documents(chunks, QUERY)
    assert [run.name for run in collector.traced_runs] == ["CtxCompressor"] * 2


async def test_two_compressors_in_a_row():
    pipeline = DocumentCompressorPipeline(transformers=[CtxCompressor(max_tokens=120), COMPRESSOR])
    retriever = ContextualCompressionRetriever(
        base_retriever=ListRetriever(documents=make_documents()), base_compressor=pipeline
    )
    kept = retriever.invoke(QUERY)
    assert kept == await retriever.ainvoke(QUERY)
    assert 0 < tokens_in_prompt(kept) <= 60


def join(documents: list[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


async def test_a_chain_puts_no_more_than_the_budget_into_the_prompt():
    base = make_store(make_documents(12)).as_retriever(search_kwargs={"k": 12})
    retriever = CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR)
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    model = FakeListChatModel(responses=["30 seconds"])
    start = {"context": retriever | join, "question": RunnablePassthrough()} | prompt
    message = start.invoke(QUERY).messages[0].content
    context = message.removesuffix(f"\n\nQuestion: {QUERY}")
    assert context == join(retriever.invoke(QUERY))
    assert 0 < tokens_in_prompt([Document(page_content=context)]) <= 60
    assert await (start | model | StrOutputParser()).ainvoke(QUERY) == "30 seconds"


def test_the_runnable_says_what_it_takes():
    schema = COMPRESSOR.as_runnable().get_input_jsonschema()
    assert set(schema["$defs"]["DocumentsAndQuery"]["required"]) == {"documents", "query"}


def test_the_runnable_is_pickled():
    runnable = pickle.loads(pickle.dumps(COMPRESSOR.as_runnable()))
    given = {"documents": make_documents(), "query": QUERY}
    assert runnable.invoke(given) == COMPRESSOR.compress_documents(make_documents(), QUERY)


def test_a_chain_can_ask_whether_the_documents_answer_at_all() -> None:
    documents = [Document("The default timeout of the pool is 30 seconds.", metadata={"source": "pool.md"})]
    compressor = CtxCompressor(max_tokens=100)
    asked, other = "what is the default timeout of the pool?", "who won the bicycle race in Ghent?"
    assert compressor.confidence(documents, asked) == compress(asked, [documents[0].page_content]).confidence > 0.6
    assert compressor.confidence(documents, other) < 0.1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a question", 'is str; give {"documents": [...], "query": "..."}'),
        ({"documents": [], "question": "a"}, "is ['documents', 'question']; give"),
    ],
)
def test_an_input_that_the_step_cannot_read_says_what_to_give(given, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        CtxCompressor(max_tokens=5).as_runnable().invoke(given)


def test_a_document_in_place_of_a_list_is_refused():
    with pytest.raises(TypeError, match="documents is a Document; give a list"):
        CtxCompressor(max_tokens=5).compress_documents(Document("x"), "q")


# Options of a single call


async def test_a_call_has_options_of_its_own():
    documents = make_documents()
    expected = CtxCompressor(max_tokens=60, top_n=1).compress_documents(documents, QUERY)
    assert expected != COMPRESSOR.compress_documents(documents, QUERY)
    given = {"documents": documents, "query": QUERY, "top_n": 1}
    assert COMPRESSOR.compress_documents(documents, QUERY, top_n=1) == expected
    assert await COMPRESSOR.acompress_documents(documents, QUERY, top_n=1) == expected
    assert COMPRESSOR.as_runnable().invoke(given) == expected
    assert await COMPRESSOR.as_runnable().ainvoke(given) == expected
    assert COMPRESSOR.as_runnable().batch([given, given]) == [expected, expected]
    assert COMPRESSOR.compress_documents(documents, QUERY) != expected


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"topn": 1}, "there is no option 'topn'; did you mean 'top_n'?"),
        ({"top_n": 0}, "top_n is 0; give a whole number, at least 1"),
        ({"extra": 1}, "there is no option 'extra'"),
        ({"callbacks": []}, "the input of this step is"),
        ({"query": None}, "query is a NoneType; give a string"),
        ({"query": ["q"]}, "query is a list; give a string"),
    ],
)
async def test_what_the_runnable_does_not_know_is_refused(more, message):
    given = {"documents": make_documents(), "query": QUERY, **more}
    with pytest.raises((TypeError, ValueError), match=message):
        COMPRESSOR.as_runnable().invoke(given)
    with pytest.raises((TypeError, ValueError), match=message):
        await COMPRESSOR.as_runnable().ainvoke(given)


def test_the_compressor_is_a_field_that_a_call_can_configure():
    base = ListRetriever(documents=make_documents())
    retriever = CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR)
    retriever = retriever.configurable_fields(compressor=ConfigurableField(id="compressor"))
    expected = COMPRESSOR.compress_documents(make_documents(), QUERY, top_n=1)
    one = COMPRESSOR.with_options(top_n=1)
    assert retriever.invoke(QUERY, config={"configurable": {"compressor": one}}) == expected
    assert retriever.invoke(QUERY, config={"configurable": {"compressor": {"max_tokens": 60, "top_n": 1}}}) == expected
    assert retriever.with_config(configurable={"compressor": one}).invoke(QUERY) == expected
    assert retriever.invoke(QUERY) == COMPRESSOR.compress_documents(make_documents(), QUERY)
    with pytest.raises(ValueError, match="did you mean 'top_n'"):
        retriever.invoke(QUERY, config={"configurable": {"compressor": {"topn": 1}}})
