"""A cache in a Qdrant collection."""

import importlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from time import time
from typing import Any, TypeVar
from uuid import UUID, uuid5

from ctxcompress.cache.protocol import Documents, checked_ttl, whole_number
from ctxcompress.cache.stored import StoredCache
from ctxcompress.errors import ConfigError, MissingExtra

__all__ = ["BoundedThreads", "QdrantCache"]

T = TypeVar("T")

_POINT_IDS = UUID("2f4c1c0e-6c0b-5a55-9c53-5ad0e8a6c0de")
"""The UUID namespace of the points' ids."""
_PAYLOAD_KEY = "ctxcompress_cache"
_TIME_KEY, _DOCUMENTS_KEY, _BYTES_KEY = (f"{_PAYLOAD_KEY}_{name}" for name in ("time", "documents", "bytes"))
"""The payload keys of when a point was written (in seconds since 1970), of its documents, and of its size."""
_SPARE, _MOST_SPARE = 0.05, 500
"""Share of the most entries that may be written before the collection is counted again, and deleted when it is full;
and the most of them."""
_PAGE = 5_000
"""Points whose sizes are read at once."""
_TIMEOUT = 2
"""Seconds after which an abandoned request ends."""
_MOST_LATE = 8
_UNEXPECTED = (AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What clients raise besides their own exceptions: if a server sends an unexpected answer, and in local mode instead of
a server's error."""


class QdrantCache(StoredCache):
    """A cache in a Qdrant collection, which all users of the server share.

    client_or_url: a `QdrantClient`, or the URL of a server.
    collection: the name of the collection. If it does not exist, it is created without vectors. In a collection with
    vectors the entries are points without a vector, which no vector search finds.

    Every entry has the payload keys "ctxcompress_cache" and "ctxcompress_cache_time" (in seconds since 1970), by which
    the entries can be found. The collection holds about `max_entries` of them: once there are more, the oldest are
    deleted. An entry older than `ttl` seconds counts as missing, and is deleted in time. Points without these keys are
    left alone. clock: tells the seconds since 1970.

    Raises MissingExtra without the extra `qdrant`, ConfigError if an argument is invalid. All requests of a
    compression together wait at most two seconds for the server. If it fails or takes longer, it is not used for half a
    minute, then longer each time, with one warning in the log. A damaged entry counts as missing.
    """

    def __init__(
        self,
        client_or_url: Any,
        *,
        collection: str,
        max_entries: int = 100_000,
        ttl: float | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        qdrant = _qdrant()
        if not isinstance(collection, str) or not collection:
            raise ConfigError(f"collection is {collection!r}; give the name of a collection")
        if not isinstance(client_or_url, str | qdrant.QdrantClient):
            kind = type(client_or_url).__name__
            raise ConfigError(f"client_or_url is an object of type {kind}; give a QdrantClient or the URL of a server")
        self.collection, self.max_entries = collection, whole_number("max_entries", max_entries, "entries")
        self._given = client_or_url
        is_url = isinstance(client_or_url, str)
        client = qdrant.QdrantClient(url=client_or_url, timeout=_TIMEOUT) if is_url else client_or_url
        store = _Collection(client, collection, max_entries, checked_ttl(ttl), clock)
        super().__init__(f"the collection {collection}", store, ttl=ttl, clock=clock)

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(
            QdrantCache, collection=self.collection, max_entries=self.max_entries, ttl=self.ttl, clock=self._clock
        )
        return made, (self._given,)


class _Collection:
    """A store of about `most` entries in a collection."""

    __slots__ = (
        "_client",
        "_clock",
        "_exists",
        "_failures",
        "_models",
        "_most",
        "_name",
        "_spare",
        "_threads",
        "_ttl",
        "_unchecked",
    )

    def __init__(self, client: Any, name: str, most: int, ttl: float | None, clock: Callable[[], float]) -> None:
        self._client, self._name, self._most, self._ttl, self._clock = client, name, most, ttl, clock
        self._models = importlib.import_module("qdrant_client.models")
        self._failures: tuple[type[Exception], ...] = (*_failures(), *_UNEXPECTED)
        self._exists = False
        self._spare = max(min(int(_SPARE * most), _MOST_SPARE), 1)
        self._unchecked = self._spare
        """Entries written since the collection was counted. The first write counts it."""
        # Threads, because the timeouts of clients hold for each packet only. Local mode never waits, and works only on
        # the thread that made it.
        self._threads = BoundedThreads() if _is_remote(client) else None

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """Raises OSError."""
        return self._call(partial(self._retrieve, _id(key)), seconds)

    def write(self, key: str, data: bytes, documents: Documents, seconds: float, /) -> None:
        """Raises OSError."""
        payload = {
            _PAYLOAD_KEY: b64encode(data).decode("ascii"),
            _TIME_KEY: self._clock(),
            _DOCUMENTS_KEY: sorted(documents),
            _BYTES_KEY: len(data),
        }
        point = self._models.PointStruct(id=_id(key), vector={}, payload=payload)
        self._call(partial(self._upsert, point), seconds)

    def forget(self, document: int, seconds: float, /) -> int:
        """Raises OSError."""
        match = self._models.MatchValue(value=document)
        return self._call(partial(self._delete, self._where(_DOCUMENTS_KEY, match=match)), seconds)

    def clear(self, seconds: float, /) -> None:
        """Raises OSError."""
        self._call(partial(self._delete, self._ours()), seconds)

    def contents(self, seconds: float, /) -> tuple[int, int]:
        """Raises OSError."""
        return self._call(self._sizes, seconds)

    def _upsert(self, point: Any) -> None:
        self._client.upsert(self._name, points=[point])
        self._unchecked += 1  # of several threads one may be missed: the limit is a rough one
        if self._unchecked >= self._spare:
            self._unchecked = 0
            self._make_room()

    def _make_room(self) -> None:
        """Delete what is too old, and the oldest entries if there are too many."""
        if self._ttl is not None:
            self._delete(self._where(_TIME_KEY, range=self._models.Range(lt=self._clock() - self._ttl)))
        excess = self._count(self._ours()) - self._most
        if excess > 0:
            oldest = self._models.OrderBy(key=_TIME_KEY, direction=self._models.Direction.ASC)
            points, _ = self._client.scroll(
                self._name, scroll_filter=self._ours(), limit=excess, order_by=oldest, with_payload=False
            )
            self._client.delete(self._name, self._models.PointIdsList(points=[point.id for point in points]))

    def _delete(self, which: Any) -> int:
        """Delete the entries that a filter finds, and return their number."""
        count = self._count(which)
        if count:
            self._client.delete(self._name, self._models.FilterSelector(filter=which))
        return count

    def _count(self, which: Any) -> int:
        count: int = self._client.count(self._name, count_filter=which, exact=True).count
        return count

    def _sizes(self) -> tuple[int, int]:
        entries, size, offset = 0, 0, None
        while True:
            points, offset = self._client.scroll(
                self._name, scroll_filter=self._ours(), limit=_PAGE, offset=offset, with_payload=[_BYTES_KEY]
            )
            entries += len(points)
            size += sum(int((point.payload or {}).get(_BYTES_KEY, 0)) for point in points)
            if offset is None:
                return entries, size

    def _ours(self) -> Any:
        """Return a filter for the entries of caches: other points have no time of this kind."""
        return self._where(_TIME_KEY, range=self._models.Range(gte=0))

    def _where(self, key: str, **condition: Any) -> Any:
        return self._models.Filter(must=[self._models.FieldCondition(key=key, **condition)])

    def _call(self, request: Callable[[], T], seconds: float) -> T:
        work = partial(self._send, request)
        return self._threads.run(work, seconds) if self._threads else work()

    def _send(self, request: Callable[[], T]) -> T:
        try:
            if not self._exists:
                self._create()
            return request()
        except self._failures as error:
            self._exists = False
            # Only the type: the message may quote addresses and keys.
            raise OSError(type(error).__name__) from error

    def _retrieve(self, id: str) -> bytes | None:
        """Return an entry's bytes, or no bytes if its payload is damaged."""
        found = self._client.retrieve(self._name, ids=[id], with_payload=[_PAYLOAD_KEY])
        if not found:
            return None
        text = (found[0].payload or {}).get(_PAYLOAD_KEY)
        try:
            return b64decode(text, validate=True) if isinstance(text, str) else b""
        except ValueError:
            return b""

    def _create(self) -> None:
        """Create the collection if it does not exist. Another process may do so at the same time."""
        if not self._client.collection_exists(self._name):
            try:
                self._client.create_collection(self._name, vectors_config={})
            except self._failures:
                if not self._client.collection_exists(self._name):
                    raise
        if self._threads is not None:  # local mode has no indexes and needs none
            kinds = self._models.PayloadSchemaType
            self._client.create_payload_index(self._name, _TIME_KEY, kinds.FLOAT)
            self._client.create_payload_index(self._name, _DOCUMENTS_KEY, kinds.INTEGER)
        self._exists = True


def _id(key: str) -> str:
    return str(uuid5(_POINT_IDS, key))


def _is_remote(client: Any) -> bool:
    try:
        return client.http is not None
    except NotImplementedError:
        return False


def _failures() -> Iterator[type[Exception]]:
    """Yield the clients' own exceptions."""
    yield importlib.import_module("qdrant_client.http.exceptions").ApiException
    yield importlib.import_module("grpc").RpcError
    with suppress(ImportError):  # older versions have none
        yield importlib.import_module("qdrant_client.common.client_exceptions").QdrantException


def _qdrant() -> Any:
    try:
        return importlib.import_module("qdrant_client")
    except ImportError as error:
        raise MissingExtra("QdrantCache needs qdrant-client; run: pip install 'ctxcompress[qdrant]'") from error


class BoundedThreads:
    """Runs work on daemon threads with a time limit. Late work goes on in the background; while too much of it does,
    no new work is started."""

    __slots__ = ("_late", "_lock")

    def __init__(self) -> None:
        self._late: list[Future[Any]] = []
        self._lock = Lock()

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return what `work` returns, or raise what it raises. Raises TimeoutError if it does neither in time."""
        with self._lock:
            self._late = [future for future in self._late if not future.done()]
            if len(self._late) >= _MOST_LATE:
                raise TimeoutError("earlier requests are still running")
        future: Future[T] = Future()
        Thread(target=_settle, args=(future, work), name="ctxcompress-cache", daemon=True).start()
        try:
            return future.result(seconds)
        except TimeoutError:
            if future.done():
                raise
            with self._lock:
                self._late.append(future)
            raise TimeoutError("it does not answer") from None


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
        future.set_exception(error)
    else:
        future.set_result(result)
