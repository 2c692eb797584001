"""LangChain's byte stores as stores for a cache."""

from collections.abc import Iterator, MutableMapping

from langchain_core.stores import ByteStore

__all__ = ["ByteStoreMapping"]

_PREFIX = "ctxcompress/"
"""Before all keys, so that others can use the same store."""


class ByteStoreMapping(MutableMapping[str, bytes]):
    """A byte store as a mapping: `Cache(ByteStoreMapping(RedisStore(...)), ttl=3600)`."""

    def __init__(self, store: ByteStore) -> None:
        self._store = store

    def __getitem__(self, key: str) -> bytes:
        [value] = self._store.mget([_stored(key)])
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: bytes) -> None:
        self._store.mset([(_stored(key), value)])

    def __delitem__(self, key: str) -> None:
        self._store.mdelete([_stored(key)])

    def __iter__(self) -> Iterator[str]:
        for key in self._store.yield_keys(prefix=_PREFIX):
            yield key.removeprefix(_PREFIX).replace("/", ":")

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _stored(key: str) -> str:
    """Return a key that stores of files accept."""
    return _PREFIX + key.replace(":", "/")
