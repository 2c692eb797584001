"""LlamaIndex's key-value stores as stores for a cache."""

from base64 import b64decode, b64encode
from collections.abc import Iterator, MutableMapping

from llama_index.core.storage.kvstore.types import BaseKVStore

__all__ = ["KVStoreMapping"]

_COLLECTION = "ctxcompress"
_DATA = "data"


class KVStoreMapping(MutableMapping[str, bytes]):
    """A collection of a key-value store as a mapping: `Cache(KVStoreMapping(RedisKVStore(...)), ttl=3600)`."""

    def __init__(self, store: BaseKVStore) -> None:
        self._store = store

    def __getitem__(self, key: str) -> bytes:
        found = self._store.get(key, _COLLECTION)
        if found is None:
            raise KeyError(key)
        try:
            return b64decode(str(found.get(_DATA)), validate=True)
        except ValueError:  # it is damaged
            return b""

    def __setitem__(self, key: str, value: bytes) -> None:
        self._store.put(key, {_DATA: b64encode(value).decode("ascii")}, _COLLECTION)

    def __delitem__(self, key: str) -> None:
        if not self._store.delete(key, _COLLECTION):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.get_all(_COLLECTION))

    def __len__(self) -> int:
        return len(self._store.get_all(_COLLECTION))
