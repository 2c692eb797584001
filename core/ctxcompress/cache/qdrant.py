"""A cache in a collection of Qdrant."""

import importlib
import logging
from base64 import b64decode, b64encode
from typing import Any, TypeVar
from uuid import UUID, uuid5

from ctxcompress.cache.sealed import opened, sealed
from ctxcompress.entries import Form
from ctxcompress.errors import ConfigError, MissingExtra

__all__ = ["QdrantCache"]

_log = logging.getLogger("ctxcompress")

T = TypeVar("T")

_NAMES = UUID("2f4c1c0e-6c0b-5a55-9c53-5ad0e8a6c0de")
_PAYLOAD = "ctxcompress_cache"


class QdrantCache:
    """Remembers in the payload of points of a collection, which everyone who uses the server shares.

    client_or_url: a `QdrantClient`, or the address of a server. collection: its name; it is made, without vectors, if
    there is none. In a collection with vectors the entries are points without any, which no search by vector finds;
    all have the payload key "ctxcompress_cache", by which they can be told and deleted. Nothing is deleted here: how
    much there may be is the collection's business.

    Raises MissingExtra without the extra `qdrant`, ConfigError if the client or the name is none. Later, a server that
    does not answer, and an entry that is damaged, is nothing that is remembered, with a warning in the log.
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
        self._client = qdrant.QdrantClient(url=client_or_url) if isinstance(client_or_url, str) else client_or_url
        self._point = importlib.import_module("qdrant_client.models").PointStruct
        exceptions = importlib.import_module("qdrant_client.http.exceptions")
        # The local mode raises ValueError where a server would answer with an error.
        self._failures = (exceptions.ApiException, ValueError, OSError)
        self._is_there = False

    def get(self, key: str, form: Form[T], /) -> T | None:
        """The value under this key; None if there is none, or if it is damaged."""
        try:
            if not self._is_there:
                self._make()
            found = self._client.retrieve(self.collection, ids=[_id(key)], with_payload=[_PAYLOAD])
        except self._failures as error:
            _log.warning("the collection %s cannot be read (%s); going on without", self.collection, _shown(error))
            return None
        if not found:
            return None
        try:
            text = (found[0].payload or {}).get(_PAYLOAD)
            if not isinstance(text, str):
                raise ValueError("its payload is none of an entry")
            return form.decode(opened(key, b64decode(text, validate=True)))
        except ValueError as error:
            _log.warning("an entry of the collection %s is damaged (%s)", self.collection, error)
            return None

    def put(self, key: str, value: T, form: Form[T], /) -> None:
        """Writes the value into the collection."""
        data = form.encode(value)
        if data is None:
            return
        payload = {_PAYLOAD: b64encode(sealed(key, data)).decode("ascii")}
        try:
            if not self._is_there:
                self._make()
            self._client.upsert(self.collection, points=[self._point(id=_id(key), vector={}, payload=payload)])
        except self._failures as error:
            _log.warning("the collection %s cannot be written (%s); going on without", self.collection, _shown(error))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._given, self.collection)

    def _make(self) -> None:
        """The collection, if there is none; another process may make it at the same time."""
        if not self._client.collection_exists(self.collection):
            try:
                self._client.create_collection(self.collection, vectors_config={})
            except self._failures:
                if not self._client.collection_exists(self.collection):
                    raise
        self._is_there = True


def _again(client_or_url: Any, collection: str) -> QdrantCache:
    return QdrantCache(client_or_url, collection=collection)


def _id(key: str) -> str:
    return str(uuid5(_NAMES, key))


def _shown(error: Exception) -> str:
    """Not more than the kind of an error, which may quote addresses and keys."""
    return type(error).__name__


def _qdrant() -> Any:
    try:
        return importlib.import_module("qdrant_client")
    except ImportError as error:
        raise MissingExtra("QdrantCache needs qdrant-client; pip install 'ctxcompress[qdrant]'") from error
