"""The option `encoder`: any of LlamaIndex's embedding models, asked for little, and awaited by async engines."""

import asyncio
import itertools
import json
import pickle
import re
import threading
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from li_embeddings import ANSWER, DIMENSIONS, PARAPHRASE, QUESTION, Meanings, bill_nodes, meaning, sentences
from li_nodes import four_nodes, is_subsequence, joined, scored, text_node, tokens
from llama_index.core import MockEmbedding, QueryBundle, SummaryIndex, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore
from llama_index.core.storage.kvstore import SimpleKVStore
from pydantic import ValidationError

from ctxcompress import CtxCompressError
from llamaindex_ctxcompress import CtxCompressPostprocessor, EmbeddingsEncoder


class Spelled:
    """An encoder of the core that is none of LlamaIndex's."""

    def encode_query(self, text: str) -> list[float]:
        return meaning(text)

    def encode_document(self, texts: list[str]) -> list[list[float]]:
        return [meaning(text) for text in texts]


class Comparing:
    """What a cross-encoder looks like to the core."""

    compares_all = False

    def compare(self, query: str, texts: list[str]) -> list[float]:
        return [-len(text) for text in texts]


def tight(encoder: object, max_tokens: int = 12, **options: Any) -> CtxCompressPostprocessor:
    return CtxCompressPostprocessor(
        max_tokens=max_tokens,
        encoder=encoder,
        **{"encoding": "cl100k_base", "metadata_mode": MetadataMode.NONE, **options},
    )


def kept_by(postprocessor: CtxCompressPostprocessor, query: str, nodes: list[NodeWithScore] | None = None) -> str:
    return joined(postprocessor.postprocess_nodes(nodes or bill_nodes(), query_str=query), MetadataMode.NONE)


async def akept_by(postprocessor: CtxCompressPostprocessor, query: str) -> str:
    return joined(await postprocessor.apostprocess_nodes(bill_nodes(), query_str=query), MetadataMode.NONE)


def with_image() -> list[NodeWithScore]:
    """A node that is passed on whole takes its share of the budget first."""
    return [*scored([ImageNode(text="A drawing of a clock.", image="aGVsbG8=")]), *bill_nodes()]


# What is kept


@pytest.mark.parametrize("encoder", [Meanings(), Spelled()], ids=["LlamaIndex", "core"])
async def test_a_paraphrase_finds_what_no_word_of_it_is_in(encoder):
    assert ANSWER in kept_by(tight(encoder), PARAPHRASE)
    assert ANSWER in await akept_by(tight(encoder), PARAPHRASE)
    assert ANSWER not in kept_by(tight(None), PARAPHRASE)


@pytest.mark.parametrize("nodes", [bill_nodes(), with_image()], ids=["texts", "image too"])
async def test_async_gives_what_sync_gives(nodes):
    encoders = (Meanings(), MockEmbedding(embed_dim=8), None)
    for encoder, budget, query in itertools.product(encoders, (1, 25, 60, 200), (QUESTION, PARAPHRASE)):
        postprocessor = tight(encoder, budget)
        expected = postprocessor.postprocess_nodes(nodes, query_str=query)
        assert await postprocessor.apostprocess_nodes(nodes, query_str=query) == expected


@given(
    vectors=st.one_of(
        st.integers(0, 99).map(lambda seed: lambda text: np.random.default_rng([seed, len(text)]).normal(size=7)),
        st.sampled_from([lambda text: [0.0] * 5, lambda text: [1.0] * 5]),
    ),
    budget=st.integers(1, 200),
    adaptive=st.booleans(),
    query=st.sampled_from([QUESTION, PARAPHRASE, "", "\ud800"]),
)
def test_whatever_is_embedded_the_budget_holds_and_every_text_is_verbatim(vectors, budget, adaptive, query):
    nodes = [*four_nodes(), *bill_nodes(), *scored([text_node(9, "a \ud800 b. " * 9)])]
    postprocessor = tight(Meanings(embed=vectors), budget, adaptive=adaptive, metadata_mode=MetadataMode.LLM)
    kept = postprocessor.postprocess_nodes(nodes, query_str=query)
    assert tokens(joined(kept)) <= budget
    for item in kept:
        original = nodes[item.metadata["ctxcompress"]["index"]].text
        assert is_subsequence(item.text.replace("[…]", ""), original)
    assert postprocessor.postprocess_nodes(nodes, query_str=query) == kept


def test_adaptive_keeps_less():
    full, most, least = (
        tokens(kept_by(tight(None, 300, adaptive=adaptive), QUESTION)) for adaptive in (False, 1e-9, 0.5)
    )
    assert 0 < least < most <= full


def test_what_fits_stays_as_it_is_and_nothing_is_embedded():
    encoder = Meanings()
    assert kept_by(tight(encoder, 10_000), QUESTION) == joined(bill_nodes(), MetadataMode.NONE)
    assert encoder.asked == []


# What is asked of the embeddings


def test_one_question_and_a_fraction_of_the_texts_are_embedded_in_batches():
    encoder = Meanings()
    kept_by(tight(encoder), QUESTION)
    assert encoder.methods == ["query", "texts"]
    assert encoder.asked[0] == ("query", [QUESTION])
    assert len(encoder.asked) <= 4  # the question, titles, two rounds of sentences
    assert 1 < len(encoder.texts) <= 14  # of 40 sentences and 4 titles


def test_title_and_headings_stand_before_what_is_embedded():
    encoder = Meanings()
    kept_by(tight(encoder), QUESTION)
    assert all(text.startswith("Guide ") or text in QUESTION for text in encoder.texts)
    assert any("Guide 2" in text and "Notes" in text and text.endswith(ANSWER) for text in encoder.texts)


@pytest.mark.parametrize("query", [None, "", "  \n"])
def test_without_a_question_nothing_is_embedded(query):
    encoder = Meanings()
    assert tight(encoder).postprocess_nodes(bill_nodes(), None if query is None else QueryBundle(query))
    assert encoder.asked == []


def test_questions_and_texts_are_told_apart():
    class Asymmetric(Meanings):
        """Means the opposite for a question, so that the same method for both would find the worst."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return [-number for number in super()._get_query_embedding(query)]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [[-number for number in vector] for vector in super()._get_text_embeddings(texts)]

    assert ANSWER in kept_by(tight(Asymmetric()), PARAPHRASE)


async def test_async_awaits_on_the_running_loop_and_sync_calls_no_async_method():
    places = []

    class Placed(Meanings):
        async def _aget_query_embedding(self, query: str) -> list[float]:
            places.append((asyncio.get_running_loop(), threading.get_ident()))
            return await super()._aget_query_embedding(query)

        async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            await asyncio.sleep(0)
            places.append((asyncio.get_running_loop(), threading.get_ident()))
            return await super()._aget_text_embeddings(texts)

    encoder = Placed()
    await akept_by(tight(encoder), QUESTION)
    assert encoder.methods == ["async query", "async texts"]
    assert set(places) == {(asyncio.get_running_loop(), threading.get_ident())}
    encoder.asked.clear()
    kept_by(tight(encoder), QUESTION)
    assert encoder.methods == ["query", "texts"]


async def test_beside_an_image_the_rest_of_the_budget_is_found_without_sync_calls():
    encoder = Meanings()
    await tight(encoder, 30).apostprocess_nodes(with_image(), query_str=QUESTION)
    assert set(encoder.methods) == {"async query", "async texts"}


def test_counting_an_image_embeds_nothing():
    encoder = Meanings()
    assert len(tight(encoder, 10_000).postprocess_nodes(with_image(), query_str=QUESTION)) == 5
    assert encoder.asked == []


async def test_more_calls_at_once_than_there_are_threads_do_not_wait_for_each_other():
    class OnThreads(Meanings):
        async def _aget_query_embedding(self, query: str) -> list[float]:
            return await asyncio.to_thread(self._get_query_embedding, query)

        async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return await asyncio.to_thread(self._get_text_embeddings, texts)

    postprocessor = tight(OnThreads())
    async with asyncio.timeout(5):
        kept = await asyncio.gather(*(akept_by(postprocessor, QUESTION) for _ in range(50)))
    assert len(kept) == 50


def test_lone_surrogates_reach_no_embeddings():
    encoder = Meanings(embed=lambda text: [float(len(text.encode())), 1.0])
    nodes = [*bill_nodes(), *scored([text_node(9, "A bill \ud800 is due. " * 9, metadata={"title": "\udfff"})])]
    assert kept_by(tight(encoder), f"{QUESTION} \ud800", nodes)
    assert encoder.methods == ["query", "texts"]


# Embeddings that are there already


def sentence_nodes(embed: Callable[[str], list[float] | None]) -> list[NodeWithScore]:
    """One sentence a node, so that the embedding of a node is that of a segment."""
    return scored(text_node(n, text, metadata={}, embedding=embed(text)) for n, text in enumerate(sentences()))


async def test_embeddings_that_nodes_carry_are_used_and_not_made_again():
    encoder = Meanings()
    assert ANSWER in kept_by(tight(encoder), PARAPHRASE, sentence_nodes(meaning))
    assert ANSWER in joined(await tight(encoder).apostprocess_nodes(sentence_nodes(meaning), query_str=PARAPHRASE))
    assert encoder.methods == ["query", "async query"]


@pytest.mark.parametrize(
    "embedding", [None, [1.0] * (DIMENSIONS + 1), [float("nan")] * DIMENSIONS], ids=["none", "longer", "nan"]
)
def test_an_embedding_that_cannot_be_compared_is_made_again(embedding):
    encoder = Meanings()
    assert ANSWER in kept_by(tight(encoder), PARAPHRASE, sentence_nodes(lambda text: embedding))
    assert len(encoder.texts) == 40


@pytest.mark.parametrize("dimensions", [8, DIMENSIONS])
def test_the_index_may_have_another_model_than_the_encoder(dimensions):
    """Retrieval leaves the question's vector in the query bundle; it means nothing to the encoder."""
    encoder = Meanings()
    nodes = [item.node for item in bill_nodes()]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=dimensions))
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[tight(encoder)], llm=MockLLM())
    assert ANSWER in str(engine.query(PARAPHRASE))
    assert encoder.asked[0] == ("query", [PARAPHRASE])


def test_with_a_cache_a_question_is_embedded_once_for_retrieval_and_compression():
    encoder = Meanings(embeddings_cache=SimpleKVStore())
    index = VectorStoreIndex([item.node for item in bill_nodes()], embed_model=encoder)
    encoder.asked.clear()
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[tight(encoder)], llm=MockLLM())
    assert ANSWER in str(engine.query(PARAPHRASE))
    assert [texts for method, texts in encoder.asked if method == "query"] == [[PARAPHRASE]]


async def test_engines_use_the_embeddings_sync_and_async():
    encoder = Meanings()
    index = SummaryIndex([item.node for item in bill_nodes()])
    engine = index.as_query_engine(node_postprocessors=[tight(encoder)], llm=MockLLM())
    assert ANSWER in str(engine.query(PARAPHRASE))
    assert encoder.methods == ["query", "texts"]
    encoder.asked.clear()
    assert ANSWER in str(await engine.aquery(PARAPHRASE))
    assert encoder.methods == ["async query", "async texts"]


# What goes wrong


@pytest.mark.parametrize(
    "wrong",
    [
        lambda vectors: vectors[1:],
        lambda vectors: [*vectors, vectors[0]],
        lambda vectors: [vector[1:] for vector in vectors],
        lambda vectors: [vectors[0][1:], *vectors[1:]],
        lambda vectors: [[float("nan")] * DIMENSIONS] * len(vectors),
    ],
    ids=["fewer", "more", "shorter", "ragged", "nan"],
)
async def test_something_else_than_a_vector_for_each_text_is_an_error_of_this_library(
    wrong,
):
    class Broken(Meanings):
        def _get_text_embeddings(self, texts: list[str]) -> Any:
            return wrong(super()._get_text_embeddings(texts))

        async def _aget_text_embeddings(self, texts: list[str]) -> Any:
            return wrong(await super()._aget_text_embeddings(texts))

    with pytest.raises(CtxCompressError, match="the encoder gave") as refused:
        kept_by(tight(Broken()), QUESTION)
    assert isinstance(refused.value, ValueError)
    with pytest.raises(CtxCompressError, match="the encoder gave"):
        await akept_by(tight(Broken()), QUESTION)


async def test_what_the_embeddings_raise_is_raised_on():
    def refuse(text: str) -> list[float]:
        raise ConnectionError("no quota")

    with pytest.raises(ConnectionError, match="no quota"):
        kept_by(tight(Meanings(embed=refuse)), QUESTION)
    with pytest.raises(ConnectionError, match="no quota"):
        await akept_by(tight(Meanings(embed=refuse)), QUESTION)


@pytest.mark.parametrize("wrong", ["local:BAAI/bge-small-en", 7, object(), MockEmbedding, meaning])
def test_what_is_no_encoder_is_refused_with_what_is_one(wrong):
    shown = repr(wrong) if isinstance(wrong, str | int | type) else f"an object of type {type(wrong).__qualname__}"
    expected = f"encoder is {shown}; give one of ctxcompress.encoders, such as "
    with pytest.raises(ValueError, match=re.escape(expected)):
        CtxCompressPostprocessor(encoder=wrong)
    postprocessor = CtxCompressPostprocessor()
    postprocessor.encoder = wrong
    with pytest.raises(ValueError, match=re.escape(expected)):
        postprocessor.postprocess_nodes(bill_nodes(), query_str=QUESTION)


@pytest.mark.parametrize(
    "wrong",
    [
        {"encoder": Meanings(), "scorer": "bm25"},
        {"adaptive": True, "scorer": "bm25"},
        {"adaptive": "yes"},
        {"adaptive": 1},
    ],
    ids=["encoder and bm25", "adaptive and bm25", "adaptive", "one"],
)
def test_the_core_says_what_else_is_wrong(wrong):
    with pytest.raises(ValidationError, match=r"; give|; it needs"):
        CtxCompressPostprocessor(**wrong)


# The field, and what writes it down


@pytest.mark.parametrize(
    "encoder", [Meanings(), MockEmbedding(embed_dim=3), Spelled(), Comparing()], ids=lambda e: type(e).__name__
)
def test_the_field_is_what_was_given(encoder):
    postprocessor = CtxCompressPostprocessor(encoder=encoder)
    assert postprocessor.encoder is encoder
    assert postprocessor.model_copy().encoder is encoder
    postprocessor.encoder = None
    assert postprocessor.encoder is None


def test_an_encoder_that_is_assigned_later_counts():
    postprocessor = tight(None)
    postprocessor.encoder = Meanings()
    assert ANSWER in kept_by(postprocessor, PARAPHRASE)


class Spelling:
    """A comparer beside an embedding model."""

    compares_all = True

    def __init__(self) -> None:
        self.texts: list[str] = []

    def compare(self, query: str, texts: list[str]) -> list[int]:
        self.texts += texts
        return [len(set(query) & set(text)) for text in texts]


async def test_word_vectors_beside_an_embedding_model_compare_all_texts_sync_and_async():
    beside = Spelling()
    postprocessor = tight(EmbeddingsEncoder(Meanings(), word_vectors=beside))
    kept = kept_by(postprocessor, QUESTION)
    assert kept
    compared = len(beside.texts)
    assert compared > 0
    assert await akept_by(postprocessor, QUESTION) == kept
    assert len(beside.texts) == 2 * compared


def test_one_model_makes_equal_encoders():
    model = MockEmbedding(embed_dim=3)
    assert EmbeddingsEncoder(model) == EmbeddingsEncoder(model)
    assert EmbeddingsEncoder(model) != EmbeddingsEncoder(MockEmbedding(embed_dim=4))


def test_what_compares_works_as_it_is():
    kept = kept_by(tight(Comparing(), 40), PARAPHRASE)
    assert kept
    assert kept != kept_by(tight(None, 40), PARAPHRASE)


@pytest.mark.parametrize(
    "again",
    [
        lambda given: CtxCompressPostprocessor.from_dict(given.to_dict()),
        lambda given: CtxCompressPostprocessor.from_json(given.to_json()),
        lambda given: pickle.loads(pickle.dumps(given)),
        deepcopy,
    ],
    ids=["dictionary", "json", "pickle", "deepcopy"],
)
def test_a_model_that_llamaindex_knows_by_name_is_kept(
    again,
):
    copy = again(tight(MockEmbedding(embed_dim=7), adaptive=0.2))
    assert type(copy.encoder) is MockEmbedding
    assert copy.encoder.embed_dim == 7
    assert copy.adaptive == 0.2


def test_another_model_is_written_and_reading_it_back_is_refused_without_saying_its_secrets():
    class Hosted(Meanings):
        api_key: str = "sk-secret"

        @classmethod
        def class_name(cls) -> str:
            return "HostedEmbedding"

    written = tight(Hosted()).to_json()
    assert json.loads(written)["encoder"]["class_name"] == "HostedEmbedding"
    with pytest.raises(
        ValueError, match=r"a 'HostedEmbedding', which .*; give .* from_dict\(data, encoder="
    ) as refused:
        CtxCompressPostprocessor.from_json(written)
    assert "sk-secret" not in str(refused.value)
    with pytest.raises(ValueError, match="a None, which"):
        CtxCompressPostprocessor(encoder={"embed_dim": 3})


def test_another_encoder_is_named_only_and_reading_that_back_is_refused():
    written = tight(Spelled()).to_dict()
    assert written["encoder"] == "<encoder Spelled>"
    assert json.loads(tight(Spelled()).to_json())["encoder"] == "<encoder Spelled>"
    with pytest.raises(ValueError, match="encoder is '<encoder Spelled>'; give one of"):
        CtxCompressPostprocessor.from_dict(written)


@pytest.mark.parametrize("encoder", [Meanings(), Spelled()], ids=["LlamaIndex", "core"])
def test_it_can_be_given_again_when_reading_back(encoder):
    copy = CtxCompressPostprocessor.from_json(tight(encoder, 17).to_json(), encoder=encoder)
    assert copy.encoder is encoder
    assert copy.max_tokens == 17


def test_no_encoder_is_none_when_written_and_read_back():
    written = tight(None).to_dict()
    assert written["encoder"] is None
    assert CtxCompressPostprocessor.from_dict(written).encoder is None


def test_the_schema_can_be_written():
    assert CtxCompressPostprocessor.model_json_schema()["properties"]["encoder"]["description"]


def test_pickle_keeps_an_encoder_that_can_be_pickled_and_refuses_one_that_it_would_lose():
    assert isinstance(pickle.loads(pickle.dumps(tight(Spelled()))).encoder, Spelled)
    locked = Spelled()
    locked.lock = threading.Lock()
    postprocessor = tight(locked)
    with pytest.raises(pickle.PicklingError, match=r"encoder is .*Spelled.*, which cannot be pickled; give"):
        pickle.dumps(postprocessor)
    assert postprocessor.encoder is locked
