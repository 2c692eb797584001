"""Caches for the option `cache`: the analysis of passages and earlier results are stored and reused."""

from typing import TYPE_CHECKING

from ctxcompress.cache.cache import Cache, CacheStats
from ctxcompress.plugins import lazy_names

if TYPE_CHECKING:
    from ctxcompress.cache.qdrant_store import QdrantStore
    from ctxcompress.cache.sqlite_store import SqliteStore

__all__ = ["Cache", "CacheStats", "QdrantStore", "SqliteStore"]

__getattr__, __dir__ = lazy_names(
    __name__, {"QdrantStore": "ctxcompress.cache.qdrant_store", "SqliteStore": "ctxcompress.cache.sqlite_store"}
)
