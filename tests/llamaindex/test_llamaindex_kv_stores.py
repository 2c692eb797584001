"""Key-value stores of LlamaIndex as the cache: they hold entries as JSON, and change nothing but the time."""

from pathlib import Path

import pytest
from li_nodes import QUERY, four_nodes
from llama_index.core.storage.kvstore import SimpleKVStore

from llamaindex_ctxcompress import CtxCompressPostprocessor
from llamaindex_ctxcompress.kv_stores import KVStoreMapping


def compressed(**options: object) -> list[str]:
    postprocessor = CtxCompressPostprocessor(max_tokens=60, **options)
    return [item.text for item in postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)]


def test_a_store_is_a_mapping_beside_what_others_keep_in_it() -> None:
    store = SimpleKVStore()
    store.put("mine", {"page": 1})
    mapping = KVStoreMapping(store)
    mapping["text:1"], mapping["text:2"] = b"\x00\xff", b"2"
    assert dict(mapping) == {"text:1": b"\x00\xff", "text:2": b"2"}
    assert len(mapping) == 2
    del mapping["text:1"]
    for refused in (mapping.__getitem__, mapping.__delitem__):
        with pytest.raises(KeyError):
            refused("text:1")
    mapping.clear()
    assert store.get_all() == {"mine": {"page": 1}}


def test_a_store_that_was_written_and_read_again_is_found(tmp_path: Path) -> None:
    store, expected = SimpleKVStore(), compressed()
    assert compressed(cache=store) == expected
    store.persist(str(tmp_path / "kv.json"))
    postprocessor = CtxCompressPostprocessor(
        max_tokens=60, cache=SimpleKVStore.from_persist_path(str(tmp_path / "kv.json"))
    )
    found = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert [item.text for item in found] == expected
    assert postprocessor.cache.stats().hits == 1
    assert postprocessor.config.cache is postprocessor.cache


@pytest.mark.parametrize("damage", [{}, {"data": "%"}, {"data": 7}, {"data": "YQ=="}], ids=str)
def test_a_damaged_entry_counts_as_missing(damage: dict[str, object]) -> None:
    store = SimpleKVStore()
    expected = compressed(cache=store)
    for key in store.get_all("ctxcompress"):
        store.put(key, damage, "ctxcompress")
    assert compressed(cache=store) == expected
