"""With real weights: what means the same is found, and little is encoded."""

import asyncio

import numpy as np
import pytest
from semantic_texts import PAGE, PARAPHRASES, QUESTION, SENTENCES

from ctxcompress import CompressionConfig, Compressor, Encoder
from ctxcompress.encoders import CrossEncoder, SentenceEncoder
from ctxcompress.encoders.encoder import Comparer, knowledge


class Counting:
    """Counts what an encoder is asked."""

    def __init__(self, encoder):
        self.encoder = encoder
        self.texts = []

    def encode_query(self, text):
        return self.encoder.encode_query(text)

    def encode_document(self, texts):
        self.texts += texts
        return self.encoder.encode_document(texts)


def compressed(encoder, query, max_tokens=16, **options):
    config = CompressionConfig(encoder=encoder, max_tokens=max_tokens, encoding=str.split, language="en", **options)
    return Compressor(config).compress(query, [PAGE])


@pytest.fixture(params=["SentenceEncoder", "SentenceEncoder of a folder", "SentenceTransformer"])
def encoder(request, model, folder):
    """The ways in which a user can give the model."""
    if request.param == "SentenceTransformer":
        return model
    return SentenceEncoder(model if request.param == "SentenceEncoder" else str(folder))


@pytest.mark.parametrize("query", PARAPHRASES)
def test_a_paraphrase_finds_its_sentence(encoder, query):
    result = compressed(encoder, query)
    assert PARAPHRASES[query] in result.text
    assert len(result.text.split()) <= 16
    assert PARAPHRASES[query] not in compressed(None, query).text


def test_the_forty_best_sentences_are_encoded(model):
    counting = Counting(model)
    result = compressed(counting, QUESTION)
    assert len(counting.texts) == 40
    assert all(text.endswith(tuple(SENTENCES)) for text in counting.texts)
    assert "ferry" in result.text


def test_a_sentence_transformer_is_an_encoder_as_it_is(model):
    assert isinstance(model, Encoder)
    assert not isinstance(model, Comparer)


def test_vectors_have_the_models_shape_and_do_not_depend_on_the_batch(model):
    one, two = SentenceEncoder(model, batch_size=1), SentenceEncoder(model, batch_size=64)
    assert one.encode_query(QUESTION).shape == (384,)
    texts = [*SENTENCES[:3], "", " ", "字" * 300]
    assert one.encode_document(texts).shape == (len(texts), 384)
    np.testing.assert_allclose(one.encode_document(texts), two.encode_document(texts), atol=1e-5)


@pytest.mark.parametrize("query", ["", None, "\ud800", "?", "ferry \udfff"], ids=repr)
def test_odd_questions_are_answered_within_the_budget(model, query):
    assert 0 < len(compressed(SentenceEncoder(model), query).text.split()) <= 16


def test_adaptive_keeps_less(model):
    some = compressed(model, QUESTION, 200, adaptive=0.5)
    assert SENTENCES[10] in some.text
    assert some.tokens < compressed(model, QUESTION, 200).tokens


async def test_threads_and_tasks_share_one_model(model):
    compressor = Compressor(CompressionConfig(encoder=model, max_tokens=16, encoding=str.split))
    queries = [*PARAPHRASES, QUESTION] * 3
    together = await asyncio.gather(*(compressor.acompress(query, [PAGE]) for query in queries))
    assert together == [compressor.compress(query, [PAGE]) for query in queries]


def test_asking_for_the_language_leaves_the_tokenizer_to_other_threads(model):
    tokenizer = model.tokenizer
    tokenizer(["a", "a b c"], padding=True, truncation=True, max_length=8)
    backend = tokenizer.backend_tokenizer
    before = backend.padding, backend.truncation
    assert None not in before
    assert knowledge(model, [[*QUESTION.split(), "Fährverbindung"]]) > 0.5
    assert (backend.padding, backend.truncation) == before


def test_a_cross_encoder_compares_the_forty_best(cross_model):
    class Counting(CrossEncoder):
        texts: list[str] = []  # noqa: RUF012

        def compare(self, query, texts, /):
            self.texts.extend(texts)
            return super().compare(query, texts)

    result = compressed(Counting(cross_model), QUESTION)
    assert 0 < len(result.text.split()) <= 16
    assert len(Counting.texts) == 40
