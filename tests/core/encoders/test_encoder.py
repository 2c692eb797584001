"""Which objects the option `encoder` takes, by their methods alone, and how they are called, sync and async."""

import asyncio
import threading

import numpy as np
import pytest

import ctxcompress
from ctxcompress import CompressionConfig, Compressor
from ctxcompress.encoders.encoder import AsyncEncoder, Comparer, Encoder
from ctxcompress.errors import ConfigError

PASSAGES = [
    " ".join(
        f"The {name} of page {page} is {page}{n} metres long." for n, name in enumerate(("bridge", "road", "wall"))
    )
    for page in range(12)
]
QUERY = "how long is the wall of page 7?"


class Vectors:
    """The shortest thing that is an encoder, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def encode_query(self, text):
        self.asked.append(("query", text))
        return self.vector(text)

    def encode_document(self, texts):
        self.asked.append(("documents", list(texts)))
        return np.array([self.vector(text) for text in texts])

    @staticmethod
    def vector(text):
        return np.array([text.count("7"), text.count("wall"), 1.0])


class AsyncVectors(Vectors):
    """Knows where it was awaited; its sync methods are not to be used on an event loop."""

    async def aencode_query(self, text):
        await asyncio.sleep(0)
        self.asked.append(("async query", threading.get_ident()))
        return self.vector(text)

    async def aencode_document(self, texts):
        self.asked.append(("async documents", threading.get_ident()))
        return np.array([self.vector(text) for text in texts])


class Lengths:
    """The shortest thing that compares."""

    compares_all = True

    def compare(self, query, texts):
        return [len(text) for text in texts]


def compressor(encoder, **options):
    return Compressor(CompressionConfig(encoder=encoder, max_tokens=10, encoding=str.split, **options))


def test_encoder_is_a_public_name_and_protocols_tell_them_apart():
    assert ctxcompress.Encoder is Encoder
    assert isinstance(Vectors(), Encoder)
    assert not isinstance(Vectors(), AsyncEncoder | Comparer)
    assert isinstance(AsyncVectors(), AsyncEncoder)
    assert isinstance(Lengths(), Comparer)
    assert not isinstance(Lengths(), Encoder)


@pytest.mark.parametrize("wrong", [3, object(), len, {"encode_query": 1}])
def test_anything_else_is_refused_with_what_is_one(wrong):
    with pytest.raises(
        ConfigError, match=r"encoder is .*; give \"words\", one of ctxcompress.encoders, .*encode_query"
    ) as e:
        CompressionConfig(encoder=wrong)
    assert (repr(wrong) if isinstance(wrong, int) else type(wrong).__qualname__) in str(e.value)


class WithLengths(Vectors):
    """With a comparer beside it."""

    def __init__(self, word_vectors=None):
        super().__init__()
        self.word_vectors = word_vectors


@pytest.mark.parametrize(
    "wrong", ["glove", Lengths, {"a": 1}, Vectors(), type("Costly", (Lengths,), {"compares_all": False})()]
)
def test_what_stands_beside_an_encoder_must_compare_all_texts(wrong):
    with pytest.raises(ConfigError, match=r"encoder's word_vectors is .*; give StaticVectors"):
        CompressionConfig(encoder=WithLengths(wrong))


async def test_awaited_on_the_loop_by_acompress_and_called_by_compress():
    encoder = AsyncVectors()
    awaited = await compressor(encoder).acompress(QUERY, PASSAGES)
    assert {method for method, _ in encoder.asked} == {"async query", "async documents"}
    assert {thread for _, thread in encoder.asked} == {threading.get_ident()}
    encoder.asked.clear()
    assert compressor(encoder).compress(QUERY, PASSAGES) == awaited
    assert {method for method, _ in encoder.asked} == {"query", "documents"}
    assert encoder.asked[0] == ("query", QUERY)


@pytest.mark.parametrize("encoder", [Vectors(), Lengths(), None], ids=lambda e: type(e).__name__)
async def test_acompress_does_the_same_without_an_async_encoder(encoder):
    assert await compressor(encoder).acompress(QUERY, PASSAGES) == compressor(encoder).compress(QUERY, PASSAGES)
