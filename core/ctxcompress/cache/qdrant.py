"""A cache in a collection of Qdrant."""

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

__all__ = ["Aside", "QdrantCache"]

T = TypeVar("T")

_MOST = 8


class Aside:
    """Does work on threads of its own, which end with the process at the latest. Those that are late go on alone; where
    there are too many of them, nothing more is begun."""

    __slots__ = ("_late", "_lock")

    def __init__(self) -> None:
        self._late: list[Future[Any]] = []
        self._lock = Lock()

    def do(self, work: Callable[[], T], seconds: float) -> T:
        """What the work returns or raises. Raises TimeoutError if it does neither in time."""
        with self._lock:
            self._late = [future for future in self._late if not future.done()]
            if len(self._late) >= _MOST:
                raise TimeoutError("earlier requests have not ended")
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
        found = work()
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        future.set_exception(error)
    else:
        future.set_result(found)


_NAMES = UUID("2f4c1c0e-6c0b-5a55-9c53-5ad0e8a6c0de")
_PAYLOAD = "ctxcompress_cache"
_SECONDS = 2
"""After which a connection that was given up ends."""
_MISUNDERSTOOD = (AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What clients raise beside their own exceptions, of a server that answers something else than they expect, and in the
local mode where a server would answer with an error."""


class QdrantCache(StoredCache):
    """Remembers in the payload of points of a collection, which everyone who uses the server shares.

    client_or_url: a `QdrantClient`, or the address of a server. collection: its name; it is made, without vectors, if
    there is none. In a collection with vectors the entries are points without any, which no search by vector finds;
    all have the payload key "ctxcompress_cache", by which they can be told and deleted. Nothing is deleted here: how
    much there may be is the collection's business.

    Raises MissingExtra without the extra `qdrant`, ConfigError if the client or the name is none. Later, a compression
    waits two seconds for the server at most, with all that it asks. A server that fails, or takes as long as that, is
    left alone for half a minute, then longer each time, with one warning in the log. A damaged entry is not there.
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
        client = qdrant.QdrantClient(url=client_or_url, timeout=_SECONDS) if is_url else client_or_url
        super().__init__(f"the collection {collection}", _Collection(client, collection))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._given, self.collection)


class _Collection:
    """Bytes under keys in a collection."""

    __slots__ = ("_aside", "_client", "_failures", "_is_there", "_name", "_point")

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._point = importlib.import_module("qdrant_client.models").PointStruct
        self._failures: tuple[type[Exception], ...] = (*_failures(), *_MISUNDERSTOOD)
        self._is_there = False
        # The timeouts of clients are of each packet. The local mode is used where it was made, and waits for nobody.
        self._aside = Aside() if _is_remote(client) else None

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """Raises OSError."""
        return self._asked(partial(self._retrieved, _id(key)), seconds)

    def write(self, key: str, data: bytes, seconds: float, /) -> None:
        """Raises OSError."""
        payload = {_PAYLOAD: b64encode(data).decode("ascii")}
        point = self._point(id=_id(key), vector={}, payload=payload)
        self._asked(partial(self._client.upsert, self._name, points=[point]), seconds)

    def _asked(self, question: Callable[[], T], seconds: float) -> T:
        work = partial(self._answer, question)
        return self._aside.do(work, seconds) if self._aside else work()

    def _answer(self, question: Callable[[], T]) -> T:
        try:
            if not self._is_there:
                self._make()
            return question()
        except self._failures as error:
            self._is_there = False
            # Not more than the kind of an error, which may quote addresses and keys.
            raise OSError(type(error).__name__) from error

    def _retrieved(self, id: str) -> bytes | None:
        """What is no entry at all is one that is damaged."""
        found = self._client.retrieve(self._name, ids=[id], with_payload=[_PAYLOAD])
        if not found:
            return None
        text = (found[0].payload or {}).get(_PAYLOAD)
        try:
            return b64decode(text, validate=True) if isinstance(text, str) else b""
        except ValueError:
            return b""

    def _make(self) -> None:
        """The collection, if there is none; another process may make it at the same time."""
        if not self._client.collection_exists(self._name):
            try:
                self._client.create_collection(self._name, vectors_config={})
            except self._failures:
                if not self._client.collection_exists(self._name):
                    raise
        self._is_there = True


def _again(client_or_url: Any, collection: str) -> QdrantCache:
    return QdrantCache(client_or_url, collection=collection)


def _id(key: str) -> str:
    return str(uuid5(_NAMES, key))


def _is_remote(client: Any) -> bool:
    try:
        return client.http is not None
    except NotImplementedError:
        return False


def _failures() -> Iterator[type[Exception]]:
    """Clients' own exceptions."""
    yield importlib.import_module("qdrant_client.http.exceptions").ApiException
    yield importlib.import_module("grpc").RpcError
    with suppress(ImportError):  # of newer versions
        yield importlib.import_module("qdrant_client.common.client_exceptions").QdrantException


def _qdrant() -> Any:
    try:
        return importlib.import_module("qdrant_client")
    except ImportError as error:
        raise MissingExtra("QdrantCache needs qdrant-client; pip install 'ctxcompress[qdrant]'") from error
