"""The option `encoder`: any of LangChain's embedding models, asked for little, and awaited where it can be."""

import asyncio
import copy
import itertools
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from lc_documents import QUERY, check_verbatim, make_documents, make_store, tokens_in_prompt
from lc_embeddings import ANSWER, DIMENSIONS, PARAPHRASE, QUESTION, Meanings, car_documents, meaning
from pydantic import Field, ValidationError

from ctxcompress import CompressionConfig, Compressor, CtxCompressError
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever, EmbeddingsEncoder
from langchain_ctxcompress.convert import passages_from_documents

FAKE = DeterministicFakeEmbedding(size=16)


class DocumentWithState(Document):
    """Shaped like the working state of LangChain's embedding filters, which langchain-community holds."""

    state: dict[str, Any] = Field(default_factory=dict)

    def to_document(self) -> Document:
        return Document(page_content=self.page_content, metadata=self.metadata)


class Broken(Meanings):
    """Gives something else for the texts, sync and async."""

    def __init__(self, documents):
        super().__init__()
        self._documents = documents

    def embed_documents(self, texts):
        return self._documents(super().embed_documents(texts))

    async def aembed_documents(self, texts):
        return self._documents(await super().aembed_documents(texts))


class Comparing:
    """What a cross-encoder looks like to the core."""

    compares_all = False

    def compare(self, query, texts):
        return [-len(text) for text in texts]


def tight(encoder: object, max_tokens: int = 12, **options: Any) -> CtxCompressor:
    return CtxCompressor(max_tokens=max_tokens, encoder=encoder, **options)


def texts_of(documents) -> list[str]:
    return [document.page_content for document in documents]


def answers(documents) -> bool:
    return any(ANSWER in text for text in texts_of(documents))


def sentences() -> list[Document]:
    """One sentence a document, so that the embedding of a document is that of a segment."""
    parts = [part for document in car_documents() for part in document.page_content.split(". ")]
    return [Document(page_content=part if part.endswith(".") else f"{part}.") for part in parts]


def with_embeddings(documents) -> list[DocumentWithState]:
    return [
        DocumentWithState(
            page_content=d.page_content, metadata=d.metadata, state={"embedded_doc": meaning(d.page_content)}
        )
        for d in documents
    ]


# What is kept


def test_a_paraphrase_finds_what_no_word_of_it_is_in():
    assert answers(tight(Meanings()).compress_documents(car_documents(), PARAPHRASE))
    assert not answers(tight(None).compress_documents(car_documents(), PARAPHRASE))


async def test_async_gives_what_sync_gives():
    for encoder, budget, query in itertools.product((Meanings(), FAKE), (12, 60, 200), (QUESTION, PARAPHRASE)):
        compressor = tight(encoder, budget)
        expected = compressor.compress_documents(car_documents(), query)
        assert await compressor.acompress_documents(car_documents(), query) == expected


@given(
    vectors=st.one_of(
        st.integers(0, 99).map(lambda seed: lambda text: np.random.default_rng([seed, len(text)]).normal(size=7)),
        st.sampled_from([lambda text: [0.0] * 5, lambda text: [1.0] * 5, lambda text: [1e300, -1e-300]]),
    ),
    budget=st.integers(1, 200),
    adaptive=st.booleans(),
    query=st.sampled_from([QUERY, QUESTION, PARAPHRASE, "", "\ud800"]),
)
def test_whatever_is_embedded_the_budget_holds_and_every_text_is_verbatim(vectors, budget, adaptive, query):
    given_documents = [*make_documents(), *car_documents(), Document(page_content="a \ud800 b. " * 9)]
    compressor = tight(Meanings(vectors), budget, adaptive=adaptive)
    kept = compressor.compress_documents(given_documents, query)
    assert tokens_in_prompt(kept) <= budget
    check_verbatim(given_documents, kept)
    assert compressor.compress_documents(given_documents, query) == kept


def test_adaptive_keeps_less_and_says_why():
    full, adaptive = (tight(None, 300, adaptive=least) for least in (False, 0.5))
    kept = adaptive.compress_documents(car_documents(), QUESTION)
    assert answers(kept)
    assert tokens_in_prompt(kept) < tokens_in_prompt(full.compress_documents(car_documents(), QUESTION))
    compression = Compressor(adaptive.config).compress(
        QUESTION, passages_from_documents(car_documents(), adaptive.config)
    )
    assert "unlikely" in {decision.reason for decision in compression.dropped}


def test_a_higher_probability_keeps_less():
    kept = [
        tokens_in_prompt(tight(None, 300, adaptive=least).compress_documents(car_documents(), QUESTION))
        for least in (1e-9, 0.5)
    ]
    assert kept[1] < kept[0]


def test_what_fits_stays_as_it_is_and_nothing_is_embedded():
    encoder = Meanings()
    kept = tight(encoder, 10_000).compress_documents(car_documents(), QUESTION)
    assert texts_of(kept) == texts_of(car_documents())
    assert encoder.asked == []


# What is asked of the embeddings


def test_one_question_and_a_fraction_of_the_texts_are_embedded_in_batches():
    encoder = Meanings()
    tight(encoder).compress_documents(car_documents(), QUESTION)
    assert encoder.methods == ["embed_query", "embed_documents"]
    assert encoder.asked[0] == ("embed_query", [QUESTION])
    assert len(encoder.asked) <= 4  # the question, titles, two rounds of sentences
    assert 1 < len(encoder.texts) <= 14  # of 40 sentences and 4 titles


def test_title_and_headings_stand_before_what_is_embedded():
    encoder = Meanings()
    tight(encoder).compress_documents(car_documents(), QUESTION)
    assert all(text.startswith("Guide ") or text in QUESTION for text in encoder.texts)
    assert any("Guide 2" in text and "Notes" in text and text.endswith(ANSWER) for text in encoder.texts)


@pytest.mark.parametrize("query", [None, "", "  \n"], ids=repr)
def test_without_a_question_nothing_is_embedded(query):
    encoder = Meanings()
    assert tight(encoder).compress_documents(car_documents(), query)
    assert encoder.asked == []


def test_questions_and_texts_are_told_apart():
    class Asymmetric(Meanings):
        """Means the opposite for a question, so that the same method for both would find the worst."""

        def embed_query(self, text):
            return [-number for number in super().embed_query(text)]

        def embed_documents(self, texts):
            return [[-number for number in vector] for vector in super().embed_documents(texts)]

    assert answers(tight(Asymmetric()).compress_documents(car_documents(), PARAPHRASE))


async def test_async_awaits_the_embeddings_on_the_running_loop_and_sync_calls_no_async_method():
    places = []

    class Placed(Meanings):
        async def aembed_query(self, text):
            places.append((asyncio.get_running_loop(), threading.get_ident()))
            return await super().aembed_query(text)

        async def aembed_documents(self, texts):
            await asyncio.sleep(0)
            places.append((asyncio.get_running_loop(), threading.get_ident()))
            return await super().aembed_documents(texts)

    encoder = Placed()
    await tight(encoder).acompress_documents(car_documents(), QUESTION)
    assert encoder.methods == ["aembed_query", "aembed_documents"]
    assert set(places) == {(asyncio.get_running_loop(), threading.get_ident())}
    encoder.asked.clear()
    tight(encoder).compress_documents(car_documents(), QUESTION)
    assert encoder.methods == ["embed_query", "embed_documents"]


async def test_embeddings_that_only_know_async_or_only_sync_work():
    class OnlyAsync(Meanings):
        def embed_query(self, text):
            raise AssertionError("blocks the event loop")

        embed_documents = embed_query

    class OnlySync(Embeddings):
        def embed_query(self, text):
            return meaning(text)

        def embed_documents(self, texts):
            assert threading.current_thread() is not threading.main_thread()
            return [*map(meaning, texts)]

    expected = tight(Meanings()).compress_documents(car_documents(), QUESTION)
    for encoder in (OnlyAsync(), OnlySync()):
        assert await tight(encoder).acompress_documents(car_documents(), QUESTION) == expected


async def test_more_calls_at_once_than_there_are_threads_do_not_wait_for_each_other():
    class OnlySync(Embeddings):  # whose async methods are LangChain's: they take a thread of the same executor
        def embed_query(self, text):
            return meaning(text)

        def embed_documents(self, texts):
            return [*map(meaning, texts)]

    compressor = tight(OnlySync())
    calls = [compressor.acompress_documents(car_documents(), QUESTION) for _ in range(50)]
    async with asyncio.timeout(5):
        assert len(await asyncio.gather(*calls)) == 50


def test_lone_surrogates_reach_no_embeddings():
    encoder = Meanings(lambda text: [float(len(text.encode())), 1.0])
    given_documents = [
        Document(page_content="A car \ud800 costs. " * 9, metadata={"title": "\udfff"}),
        *car_documents(),
    ]
    assert tight(encoder).compress_documents(given_documents, f"{QUESTION} \ud800")
    assert tight(FAKE).compress_documents(given_documents, f"{QUESTION} \ud800")


# Embeddings that documents carry


def test_embeddings_that_filters_left_are_used_and_not_made_again():
    encoder = Meanings()
    kept = tight(encoder).compress_documents(with_embeddings(sentences()), PARAPHRASE)
    assert answers(kept)
    assert {type(document) for document in kept} == {Document}
    assert encoder.methods == ["embed_query"]
    assert texts_of(tight(Meanings()).compress_documents(sentences(), PARAPHRASE)) == texts_of(kept)


async def test_they_are_used_by_async_too():
    encoder = Meanings()
    assert answers(await tight(encoder).acompress_documents(with_embeddings(sentences()), PARAPHRASE))
    assert encoder.methods == ["aembed_query"]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda numbers: np.array(numbers, np.float32)])
def test_an_embedding_is_any_series_of_numbers(kind):
    document = DocumentWithState(page_content="A text.", state={"embedded_doc": kind([1, 0.5, -2.0])})
    [passage] = passages_from_documents([document], CompressionConfig())
    document.state.clear()
    assert list(passage.embedding) == [1, 0.5, -2.0]


@pytest.mark.parametrize(
    "state",
    [{}, {"vector": [0.5]}]
    + [{"embedded_doc": wrong} for wrong in (None, [], 0.5, "0.5", ["0.5"], [[0.5]], np.zeros((2, 2)), [0.5, None])],
    ids=str,
)
def test_a_state_without_an_embedding_is_no_embedding(state):
    [passage] = passages_from_documents([DocumentWithState(page_content="A text.", state=state)], CompressionConfig())
    assert passage.embedding is None
    class_with_another_state = type("Other", (Document,), {"__annotations__": {"state": Any}, "state": "new"})
    [passage] = passages_from_documents([class_with_another_state(page_content="A text.")], CompressionConfig())
    assert passage.embedding is None


@pytest.mark.parametrize("embedding", [[1.0] * (DIMENSIONS + 1), [float("nan")] * DIMENSIONS], ids=["longer", "nan"])
def test_an_embedding_that_cannot_be_compared_is_made_again(embedding):
    encoder = Meanings()
    documents = [DocumentWithState(page_content=d.page_content, state={"embedded_doc": embedding}) for d in sentences()]
    assert answers(tight(encoder).compress_documents(documents, PARAPHRASE))
    assert len(encoder.texts) == len(documents)


# What goes wrong


@pytest.mark.parametrize(
    "documents",
    [
        lambda vectors: vectors[1:],
        lambda vectors: [*vectors, vectors[0]],
        lambda vectors: [vector[1:] for vector in vectors],
        lambda vectors: [vectors[0][1:], *vectors[1:]],
        lambda vectors: vectors[0],
        lambda vectors: [],
        lambda vectors: None,
        lambda vectors: [["a"] * DIMENSIONS] * len(vectors),
        lambda vectors: [[float("nan")] * DIMENSIONS] * len(vectors),
        lambda vectors: [[float("inf")] * DIMENSIONS, *vectors[1:]],
    ],
    ids=["fewer", "more", "shorter", "ragged", "flat", "none", "None", "strings", "nan", "inf"],
)
async def test_something_else_than_a_vector_for_each_text_is_an_error_of_this_library(documents):
    compressor = tight(Broken(documents))
    with pytest.raises(CtxCompressError, match="the encoder gave") as refused:
        compressor.compress_documents(car_documents(), QUESTION)
    assert isinstance(refused.value, ValueError)
    with pytest.raises(CtxCompressError, match="the encoder gave"):
        await compressor.acompress_documents(car_documents(), QUESTION)


async def test_what_the_embeddings_raise_is_raised_on_and_ends_the_run_in_the_trace():
    class RefusedError(Exception):
        pass

    def refuse(vectors):
        raise RefusedError("no quota")

    compressor, collector = tight(Broken(refuse)), RunCollectorCallbackHandler()
    with pytest.raises(RefusedError, match="no quota"):
        compressor.compress_documents(car_documents(), QUESTION, callbacks=[collector])
    with pytest.raises(RefusedError, match="no quota"):
        await compressor.acompress_documents(car_documents(), QUESTION, callbacks=[collector])
    assert ["no quota" in run.error for run in collector.traced_runs] == [True, True]


@pytest.mark.parametrize("wrong", ["all-MiniLM-L6-v2", 7, object(), {"size": 16}, DeterministicFakeEmbedding, meaning])
def test_what_is_no_encoder_is_refused_with_what_is_one(wrong):
    with pytest.raises(
        ValidationError, match=r"encoder is .*; give one of .* an embedding model of its framework"
    ) as e:
        CtxCompressor(encoder=wrong)
    assert (repr(wrong) if isinstance(wrong, str | int | type) else type(wrong).__name__) in str(e.value)
    assert "SentenceEncoder(" in str(e.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": FAKE, "scorer": "bm25"}, "encoder is given with scorer='bm25'"),
        ({"adaptive": True, "scorer": "bm25"}, "adaptive=True is given with scorer='bm25'"),
        ({"adaptive": "yes"}, "adaptive is 'yes'; give True, False or a number"),
        ({"adaptive": 0}, "adaptive is 0; give True, False or a number above 0 and below 1"),
        ({"adaptive": 1.0}, "adaptive is 1.0; give True, False or a number above 0"),
        ({"adaptive": "0.5"}, "adaptive is '0.5'; give True, False or a number"),
    ],
    ids=str,
)
def test_the_core_says_what_else_is_wrong(options, message):
    with pytest.raises(ValidationError, match=message):
        CtxCompressor(**options)


# The field


@pytest.mark.parametrize(
    "encoder", [FAKE, Meanings(), Comparing(), EmbeddingsEncoder(FAKE)], ids=lambda e: type(e).__name__
)
def test_the_field_is_what_was_given_and_the_core_gets_an_encoder(encoder):
    compressor = CtxCompressor(encoder=encoder)
    assert compressor.encoder is encoder
    assert compressor.config.encoder == (EmbeddingsEncoder(encoder) if isinstance(encoder, Embeddings) else encoder)
    assert compressor.config == compressor.config
    with pytest.raises(ValidationError, match="frozen"):
        compressor.encoder = None


class Spelling:
    """A comparer beside an embedding model."""

    compares_all = True

    def __init__(self):
        self.texts = []

    def compare(self, query, texts):
        self.texts += texts
        return [len(set(query) & set(text)) for text in texts]


async def test_word_vectors_beside_embeddings_compare_all_texts_sync_and_async():
    beside, embeddings = Spelling(), Meanings()
    compressor = tight(EmbeddingsEncoder(embeddings, word_vectors=beside))
    documents = car_documents()
    kept = compressor.compress_documents(documents, QUESTION)
    assert answers(kept)
    compared = len(beside.texts)
    assert compared > len(embeddings.texts) > 0
    assert await compressor.acompress_documents(documents, QUESTION) == kept
    assert len(beside.texts) == 2 * compared


def test_what_cannot_stand_beside_embeddings_is_refused():
    with pytest.raises(ValidationError, match="the encoder's word_vectors is 'glove'; give StaticVectors"):
        CtxCompressor(encoder=EmbeddingsEncoder(FAKE, word_vectors="glove"))


def test_what_compares_works_as_it_is():
    kept = tight(Comparing(), 40).compress_documents(car_documents(), PARAPHRASE)
    assert kept
    assert kept != tight(None, 40).compress_documents(car_documents(), PARAPHRASE)


@pytest.mark.parametrize(
    "clone",
    [
        lambda compressor: pickle.loads(pickle.dumps(compressor)),
        copy.copy,
        copy.deepcopy,
        lambda compressor: compressor.model_copy(),
        lambda compressor: compressor.model_copy(deep=True),
        lambda compressor: CtxCompressor(**{name: getattr(compressor, name) for name in CtxCompressor.model_fields}),
    ],
    ids=["pickle", "copy", "deepcopy", "model_copy", "deep model_copy", "again"],
)
def test_a_clone_is_equal_and_compresses_equally(clone):
    compressor = tight(FAKE, 60, adaptive=0.2)
    twin = clone(compressor)
    assert twin == compressor
    assert twin.config == compressor.config
    assert twin.compress_documents(car_documents(), QUESTION) == compressor.compress_documents(
        car_documents(), QUESTION
    )
    assert twin != tight(Meanings(), 60, adaptive=0.2)


def test_a_copy_with_other_embeddings_uses_those():
    first, second = Meanings(), Meanings()
    tight(first).model_copy(update={"encoder": second}).compress_documents(car_documents(), QUESTION)
    assert (first.asked, second.methods) == ([], ["embed_query", "embed_documents"])


def test_an_encoder_does_not_go_through_a_dictionary_unnoticed():
    with pytest.raises(ValidationError, match=r"encoder is an object of type dict; give one of"):
        CtxCompressor(**tight(FAKE).model_dump())


# Inside LangChain


async def test_every_way_of_wiring_uses_the_embeddings():
    encoder = Meanings()
    compressor = tight(encoder)
    base = make_store(car_documents()).as_retriever(search_kwargs={"k": 4})
    retriever = CtxCompressRetriever(base_retriever=base, compressor=compressor)
    chain = compressor.as_runnable()
    pipeline = DocumentCompressorPipeline(transformers=[compressor])
    assert answers(retriever.invoke(PARAPHRASE))
    assert answers(chain.invoke({"documents": car_documents(), "query": PARAPHRASE}))
    assert answers(pipeline.compress_documents(car_documents(), PARAPHRASE))
    assert encoder.methods == ["embed_query", "embed_documents"] * 3
    encoder.asked.clear()
    assert answers(await retriever.ainvoke(PARAPHRASE))
    assert answers(await chain.ainvoke({"documents": car_documents(), "query": PARAPHRASE}))
    assert answers(await pipeline.acompress_documents(car_documents(), PARAPHRASE))
    assert encoder.methods == ["aembed_query", "aembed_documents"] * 3
