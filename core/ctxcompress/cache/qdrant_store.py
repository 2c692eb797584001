"""A store for caches in a Qdrant collection, which all users of the server share."""

import importlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from time import time
from typing import Any
from uuid import UUID, uuid5

from ctxcompress.cache.cache import whole_number
from ctxcompress.errors import ConfigError, MissingExtra

__all__ = ["QdrantStore"]

_POINT_IDS = UUID("2f4c1c0e-6c0b-5a55-9c53-5ad0e8a6c0de")
"""The UUID namespace of the points' ids."""
_DATA, _TIME, _KEY = "ctxcompress_cache", "ctxcompress_cache_time", "ctxcompress_cache_key"
"""The payload keys of an entry's bytes, of when it was written (in seconds since 1970), and of its key."""
_SPARE, _MOST_SPARE = 0.05, 500
"""The share of the entries that may be written before they are counted again, and the most of them."""
_TIMEOUT = 2
"""Seconds after which a request that nobody waits for any more ends."""


class QdrantStore(MutableMapping[str, bytes]):
    """Bytes in the payloads of points in a Qdrant collection.

    client_or_url: a `QdrantClient`, or the URL of a server. collection: its name; if there is none, it is created
    without vectors. In one with vectors the entries are points without a vector, which no vector search finds. Points
    without the payload key "ctxcompress_cache_time" are left alone. Once there are more than about `max_entries`
    entries, the oldest are deleted.

    Raises MissingExtra without the extra `qdrant`, ConfigError for a wrong argument; later, what the client raises.
    """

    def __init__(self, client_or_url: Any, *, collection: str, max_entries: int = 100_000) -> None:
        try:
            qdrant = importlib.import_module("qdrant_client")
            models = importlib.import_module("qdrant_client.models")
        except ImportError as error:
            raise MissingExtra("QdrantStore needs qdrant-client; run: pip install 'ctxcompress[qdrant]'") from error
        if not isinstance(collection, str) or not collection:
            raise ConfigError(f"collection is {collection!r}; give the name of a collection")
        if not isinstance(client_or_url, str | qdrant.QdrantClient):
            kind = type(client_or_url).__name__
            raise ConfigError(f"client_or_url is an object of type {kind}; give a QdrantClient or the URL of a server")
        self.collection, self.max_entries = collection, whole_number("max_entries", max_entries, "entries")
        self._given, self._models, self._exists = client_or_url, models, False
        self._client: Any = client_or_url
        if isinstance(client_or_url, str):
            self._client = qdrant.QdrantClient(url=client_or_url, timeout=_TIMEOUT)
        self.never_hangs = _is_local(self._client)  # it may work only on the thread that made it
        has_time = models.FieldCondition(key=_TIME, range=models.Range(gte=0))
        self._ours = models.Filter(must=[has_time])
        self._unchecked = self._spare = max(min(int(_SPARE * max_entries), _MOST_SPARE), 1)
        """Entries written since they were counted. The first write counts them."""

    def __getitem__(self, key: str) -> bytes:
        found = self._ready().retrieve(self.collection, ids=[_id(key)], with_payload=[_DATA])
        if not found:
            raise KeyError(key)
        try:
            return b64decode(str((found[0].payload or {}).get(_DATA)), validate=True)
        except ValueError:  # it is damaged
            return b""

    def __setitem__(self, key: str, value: bytes) -> None:
        payload = {_DATA: b64encode(value).decode("ascii"), _TIME: time(), _KEY: key}
        point = self._models.PointStruct(id=_id(key), vector={}, payload=payload)
        self._ready().upsert(self.collection, points=[point])
        self._unchecked += 1  # of several threads one may be missed: the limit is a rough one
        if self._unchecked >= self._spare:
            self._unchecked = 0
            if oldest := self._oldest(len(self) - self.max_entries):
                self._delete(self._models.PointIdsList(points=[point.id for point in oldest]))

    def __delitem__(self, key: str) -> None:
        self[key]
        self._delete(self._models.PointIdsList(points=[_id(key)]))

    def __iter__(self) -> Iterator[str]:
        return (point.payload[_KEY] for point in self._oldest(len(self)))

    def __len__(self) -> int:
        return int(self._ready().count(self.collection, count_filter=self._ours, exact=True).count)

    def clear(self) -> None:
        """Delete all entries."""
        self._delete(self._models.FilterSelector(filter=self._ours))

    def _delete(self, which: Any) -> None:
        self._ready().delete(self.collection, which)

    def _oldest(self, count: int) -> list[Any]:
        """Return the points of the oldest entries."""
        order = self._models.OrderBy(key=_TIME, direction=self._models.Direction.ASC)
        return [] if count < 1 else self._ready().scroll(self.collection, self._ours, count, order)[0]

    def _ready(self) -> Any:
        """Return the client. Create the collection if it does not exist."""
        if not self._exists:
            if not self._client.collection_exists(self.collection):
                self._client.create_collection(self.collection, vectors_config={})
            if not self.never_hangs:  # local mode has no indexes and needs none
                self._client.create_payload_index(self.collection, _TIME, self._models.PayloadSchemaType.FLOAT)
            self._exists = True
        return self._client

    def __reduce__(self) -> tuple[Callable[[Any], "QdrantStore"], tuple[Any]]:
        return partial(QdrantStore, collection=self.collection, max_entries=self.max_entries), (self._given,)


def _id(key: str) -> str:
    return str(uuid5(_POINT_IDS, key))


def _is_local(client: Any) -> bool:
    try:
        return client.http is None
    except NotImplementedError:
        return True
