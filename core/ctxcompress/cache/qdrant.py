"""A cache in a Qdrant collection."""

import importlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import Any, TypeVar
from uuid import UUID, uuid5

from ctxcompress.cache.stored import StoredCache
from ctxcompress.errors import ConfigError, MissingExtra

__all__ = ["BoundedThreads", "QdrantCache"]

T = TypeVar("T")

_POINT_IDS = UUID("2f4c1c0e-6c0b-5a55-9c53-5ad0e8a6c0de")
"""The UUID namespace of the points' ids."""
_PAYLOAD_KEY = "ctxcompress_cache"
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

    All entries have the payload key "ctxcompress_cache", by which they can be found and deleted. The cache itself never
    deletes an entry and has no size limit.

    Raises MissingExtra without the extra `qdrant`, ConfigError if the client or the name is invalid. All requests of a
    compression together wait at most two seconds for the server. If it fails or takes longer, it is not used for half a
    minute, then longer each time, with one warning in the log. A damaged entry counts as missing.
    """

    def __init__(self, client_or_url: Any, *, collection: str) -> None:
        qdrant = _qdrant()
        if not isinstance(collection, str) or not collection:
            raise ConfigError(f"collection is {collection!r}; give the name of a collection")
        if not isinstance(client_or_url, str | qdrant.QdrantClient):
            kind = type(client_or_url).__name__
            raise ConfigError(f"client_or_url is an object of type {kind}; give a QdrantClient or the URL of a server")
        self.collection = collection
        self._given = client_or_url
        is_url = isinstance(client_or_url, str)
        client = qdrant.QdrantClient(url=client_or_url, timeout=_TIMEOUT) if is_url else client_or_url
        super().__init__(f"the collection {collection}", _Collection(client, collection))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._given, self.collection)


class _Collection:
    """A store in a collection."""

    __slots__ = ("_client", "_exists", "_failures", "_name", "_point", "_threads")

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._point = importlib.import_module("qdrant_client.models").PointStruct
        self._failures: tuple[type[Exception], ...] = (*_failures(), *_UNEXPECTED)
        self._exists = False
        # Threads, because the timeouts of clients hold for each packet only. Local mode never waits, and works only on
        # the thread that made it.
        self._threads = BoundedThreads() if _is_remote(client) else None

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """Raises OSError."""
        return self._call(partial(self._retrieve, _id(key)), seconds)

    def write(self, key: str, data: bytes, seconds: float, /) -> None:
        """Raises OSError."""
        payload = {_PAYLOAD_KEY: b64encode(data).decode("ascii")}
        point = self._point(id=_id(key), vector={}, payload=payload)
        self._call(partial(self._client.upsert, self._name, points=[point]), seconds)

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
        self._exists = True


def _restore(client_or_url: Any, collection: str) -> QdrantCache:
    return QdrantCache(client_or_url, collection=collection)


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
