"""Byte stores of LangChain as the cache: they hold entries beside those of others, and change nothing but the time."""

import pickle
from pathlib import Path

import pytest
from langchain_classic.storage import LocalFileStore
from langchain_core.documents import Document
from langchain_core.stores import InMemoryByteStore

from ctxcompress.cache import Cache
from langchain_ctxcompress import CtxCompressor
from langchain_ctxcompress.byte_stores import ByteStoreMapping

QUERY = "what is the default timeout?"
DOCUMENTS = [Document(f"The default timeout of client {n} is 30 seconds. Logs are kept for a week. " * 5) for n in "ab"]


@pytest.fixture(params=[InMemoryByteStore, LocalFileStore])
def store(request, tmp_path: Path):
    return request.param() if request.param is InMemoryByteStore else LocalFileStore(tmp_path)


def test_a_byte_store_is_a_mapping_beside_what_others_keep_in_it(store):
    store.mset([("mine", b"0")])
    mapping = ByteStoreMapping(store)
    mapping["text:1"], mapping["text:2"] = b"1", b"2"
    assert dict(mapping) == {"text:1": b"1", "text:2": b"2"}
    assert len(mapping) == 2
    del mapping["text:1"]
    with pytest.raises(KeyError):
        mapping["text:1"]
    mapping.clear()
    assert list(store.yield_keys()) == ["mine"]


def test_another_process_finds_what_the_store_holds(store):
    expected = CtxCompressor(max_tokens=20).compress_documents(DOCUMENTS, QUERY)
    for hits in (0, 1):
        compressor = CtxCompressor(max_tokens=20, cache=store)
        assert compressor.compress_documents(DOCUMENTS, QUERY) == expected
        assert compressor.config.cache is compressor.cache
        assert compressor.cache.stats().hits == hits
        assert compressor.with_options(top_n=1).cache is compressor.cache
    for key in store.yield_keys():
        store.mset([(key, b"damaged")])
    again = CtxCompressor(max_tokens=20).with_options(cache=store)
    assert again.compress_documents(DOCUMENTS, QUERY) == expected
    assert again.cache.stats().hits == 0


def test_a_component_with_a_store_can_be_pickled_and_the_cache_has_options(tmp_path: Path):
    store = LocalFileStore(tmp_path)
    compressor = CtxCompressor(max_tokens=20, cache=Cache(ByteStoreMapping(store), ttl=3600))
    expected = compressor.compress_documents(DOCUMENTS, QUERY)
    clone = pickle.loads(pickle.dumps(compressor))
    assert clone.compress_documents(DOCUMENTS, QUERY) == expected
    assert (clone.cache.stats().hits, clone.cache.ttl) == (1, 3600)
