"""The option `encoder` of both adapters: an embedding model of the framework, asked for little, and awaited."""

import asyncio
import copy
import itertools
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from both_frameworks import QUERY, Framework, both, check_verbatim, tokens
from hypothesis import given
from hypothesis import strategies as st
from meanings import ANSWER, PARAPHRASE, QUESTION, Comparing, Spelled, meaning, sentences

pytestmark = both


def tight(framework: Framework, encoder: object, max_tokens: int = 12, **options):
    return framework.component(max_tokens=max_tokens, encoder=encoder, **options)


def kept_by(framework: Framework, component, query: str | None, items=None) -> str:
    return framework.shown(framework.compress(component, items or framework.pages(), query))


def one_sentence_each(framework: Framework, embed=lambda _: None):
    """Items whose embedding is that of a segment."""
    return [framework.item(text, f"s-{n}", embedding=embed(text)) for n, text in enumerate(sentences())]


@pytest.mark.parametrize("kind", ["of the framework", "of the core"])
async def test_a_paraphrase_finds_what_no_word_of_it_is_in(framework: Framework, kind):
    encoder = framework.embeddings() if kind == "of the framework" else Spelled()
    assert ANSWER in kept_by(framework, tight(framework, encoder), PARAPHRASE)
    assert ANSWER in framework.shown(
        await framework.acompress(tight(framework, encoder), framework.pages(), PARAPHRASE)
    )
    assert ANSWER not in kept_by(framework, tight(framework, None), PARAPHRASE)


async def test_async_gives_what_sync_gives(framework: Framework):
    encoders = (framework.embeddings(), framework.small_embeddings())
    for encoder, budget, query in itertools.product(encoders, (12, 60, 200), (QUESTION, PARAPHRASE)):
        component, items = tight(framework, encoder, budget), framework.pages()
        assert await framework.acompress(component, items, query) == framework.compress(component, items, query)


@given(
    vectors=st.one_of(
        st.integers(0, 99).map(lambda seed: lambda text: np.random.default_rng([seed, len(text)]).normal(size=7)),
        st.sampled_from([lambda text: [0.0] * 5, lambda text: [1.0] * 5, lambda text: [1e300, -1e-300]]),
    ),
    budget=st.integers(1, 200),
    adaptive=st.booleans(),
    query=st.sampled_from([QUERY, QUESTION, PARAPHRASE, "", "\ud800"]),
)
def test_whatever_is_embedded_the_budget_holds_and_every_text_is_verbatim(
    framework: Framework, vectors, budget, adaptive, query
):
    items = [*framework.items(), *framework.pages(), framework.item("a \ud800 b. " * 9, "s")]
    component = tight(framework, framework.embeddings(vectors), budget, adaptive=adaptive)
    kept = framework.compress(component, items, query)
    assert tokens(framework.shown(kept)) <= budget
    check_verbatim(framework, items, kept)
    assert framework.compress(component, items, query) == kept


def test_what_fits_stays_as_it_is_and_nothing_is_embedded(framework: Framework):
    encoder = framework.embeddings()
    kept = kept_by(framework, tight(framework, encoder, 10_000), QUESTION)
    assert (kept, encoder.asked) == (framework.shown(framework.pages()), [])


def test_one_question_and_the_best_texts_are_embedded_with_their_headings(framework: Framework):
    encoder = framework.embeddings()
    kept_by(framework, tight(framework, encoder), QUESTION)
    assert encoder.methods == ["query", "texts"]
    assert encoder.asked[0] == ("query", [QUESTION])
    assert len(encoder.texts) == 40
    assert all(text.startswith("Guide ") for text in encoder.texts)
    assert any("Guide 2" in text and "Notes" in text and text.endswith(ANSWER) for text in encoder.texts)


def test_questions_and_texts_are_told_apart(framework: Framework):
    """The vectors of texts are turned around, and that of the question: one method for both would find the worst."""

    def turned(text: str) -> list[float]:
        return [-number for number in meaning(text)] if text == PARAPHRASE else meaning(text)

    encoder = framework.embeddings(turned, in_batches=lambda vectors: [[-n for n in vector] for vector in vectors])
    assert ANSWER in kept_by(framework, tight(framework, encoder), PARAPHRASE)


async def test_async_awaits_on_the_running_loop_and_sync_calls_no_async_method(framework: Framework):
    places = []

    def placed(text: str) -> list[float]:
        places.append((asyncio.get_running_loop(), threading.get_ident()))
        return meaning(text)

    encoder = framework.embeddings(placed)
    await framework.acompress(tight(framework, encoder), framework.pages(), QUESTION)
    assert encoder.methods == ["async query", "async texts"]
    assert {*places} == {(asyncio.get_running_loop(), threading.get_ident())}
    encoder = framework.embeddings()
    kept_by(framework, tight(framework, encoder), QUESTION)
    assert encoder.methods == ["query", "texts"]


async def test_more_calls_at_once_than_there_are_threads_do_not_wait_for_each_other(framework: Framework):
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    component = tight(framework, framework.small_embeddings())  # its async methods take a thread of the same executor
    async with asyncio.timeout(5):
        calls = [framework.acompress(component, framework.pages(), QUESTION) for _ in range(12)]
        assert len(await asyncio.gather(*calls)) == 12


async def test_embeddings_that_items_carry_are_used_and_not_made_again(framework: Framework):
    encoder, items = framework.embeddings(), one_sentence_each(framework, meaning)
    assert ANSWER in kept_by(framework, tight(framework, encoder), PARAPHRASE, items)
    assert ANSWER in framework.shown(await framework.acompress(tight(framework, encoder), items, PARAPHRASE))
    assert encoder.methods == ["query", "async query"]


def test_the_same_meaning_is_told_by_the_embeddings_of_the_items_or_by_a_model(framework: Framework):
    texts = ("the colour of the logo is blue", "bring a coat and a map", "blue is what the logo is in")
    carried = ([1.0, 0.0], [0.0, 1.0], [1.0, 0.01])
    plain = [framework.item(text, str(n), score=1 - n / 10) for n, text in enumerate(texts)]
    assert len(framework.kept(plain, similarity_threshold=0.95)) == 3  # neither embeddings nor a model
    same = framework.embeddings(lambda text: [1.0, 1.0])
    assert len(framework.kept(plain, similarity_threshold=0.95, encoder=same)) == 1
    items = [framework.item(text, str(n), score=1 - n / 10, embedding=carried[n]) for n, text in enumerate(texts)]
    kept = framework.kept(items, similarity_threshold=0.95)
    assert framework.ids(kept) == ["0", "1"]
    assert framework.record(kept[0])["stands_for"] == [2]


@pytest.mark.parametrize("wrong", ["all-MiniLM-L6-v2", 7, object(), Spelled, meaning, {"size": 16}])
def test_what_is_no_encoder_is_refused_with_what_is_one(framework: Framework, wrong):
    with pytest.raises(ValueError, match=r"encoder is .*give ") as refused:
        framework.Component(encoder=wrong)
    shown = repr(wrong) if isinstance(wrong, str | int | type) else type(wrong).__name__
    assert shown in str(refused.value) or isinstance(wrong, dict)


def test_an_encoder_and_words_alone_are_refused_together(framework: Framework):
    with pytest.raises(ValueError, match="encoder is given with scorer='bm25'"):
        framework.Component(encoder=framework.embeddings(), scorer="bm25")
    with pytest.raises(ValueError, match="the encoder's word_vectors is 'glove'; give StaticVectors"):
        framework.Component(encoder=framework.package.EmbeddingsEncoder(framework.embeddings(), word_vectors="glove"))


def test_the_field_is_what_was_given_and_the_core_gets_an_encoder(framework: Framework):
    Encoder = framework.package.EmbeddingsEncoder  # noqa: N806
    model, other = framework.embeddings(), framework.small_embeddings()
    assert Encoder(model) == Encoder(model) != Encoder(other)
    for encoder in (model, other, Spelled(), Comparing(), Encoder(other)):
        component = framework.Component(encoder=encoder)
        assert component.encoder is component.model_copy().encoder is component.with_options(top_n=1).encoder is encoder
        assert component.config.encoder == (Encoder(encoder) if encoder in (model, other) else encoder)
        assert component.with_options(encoder=None).encoder is None
    assert framework.Component().with_options(encoder=model).encoder is model
    first, second = framework.embeddings(), framework.embeddings()
    kept_by(framework, tight(framework, first).model_copy(update={"encoder": second}), QUESTION)
    assert (first.asked, second.methods) == ([], ["query", "texts"])


async def test_word_vectors_beside_embeddings_compare_all_texts_sync_and_async(framework: Framework):
    beside, model = Comparing(compares_all=True), framework.embeddings()
    component = tight(framework, framework.package.EmbeddingsEncoder(model, word_vectors=beside))
    kept = kept_by(framework, component, QUESTION)
    compared = len(beside.texts)
    assert compared > len(model.texts) > 0
    assert framework.shown(await framework.acompress(component, framework.pages(), QUESTION)) == kept != ""
    assert len(beside.texts) == 2 * compared


@pytest.mark.parametrize("clone", [lambda given: pickle.loads(pickle.dumps(given)), copy.deepcopy])
def test_a_clone_has_the_same_model(framework: Framework, clone):
    component = tight(framework, framework.small_embeddings(), 60, adaptive=0.2)
    twin = clone(component)
    assert type(twin.encoder) is type(component.encoder)
    assert twin.adaptive == 0.2
    assert kept_by(framework, twin, QUESTION) == kept_by(framework, component, QUESTION)


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_retriever_and_the_tools_use_the_embeddings(framework: Framework, is_async):
    encoder, found = framework.embeddings(), framework.finding(*framework.pages())
    options = {"encoder": encoder, "max_tokens": 60}
    kept = await framework.found(framework.compressing(found, **options), PARAPHRASE, is_async=is_async)
    assert ANSWER in framework.shown(kept)
    search, expand = framework.package.preview_tools(found, **options)
    for tool in (framework.package.query_tool(found, **options), search):
        assert ANSWER in (await framework.ask(tool, is_async=is_async, query=PARAPHRASE)).text
    assert ANSWER in (await framework.ask(expand, is_async=is_async, chunk_id="page-2", max_tokens=25)).text
    assert {*encoder.methods} == ({"async query", "async texts"} if is_async else {"query", "texts"})


def test_no_message_has_the_api_key_of_an_embedding_model_in_it(framework: Framework):
    model = framework.embeddings()
    object.__setattr__(model, "__dict__", {**vars(model), "api_key": "sk-secret"})
    for wrong in ({"max_tokens": 0}, {"scorer": "bm25"}, {"max_token": 1}, {"top_n": "many"}, {"preset": "books"}):
        with pytest.raises(ValueError, match=re.compile(r".+", re.DOTALL)) as refused:
            framework.Component(encoder=model, **wrong)
        assert "sk-secret" not in str(refused.value)
