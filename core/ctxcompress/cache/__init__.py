"""Caches for the option `cache`: the analysis of passages and earlier results are stored and reused."""

from typing import TYPE_CHECKING

from ctxcompress.cache.protocol import Cache, CacheStats
from ctxcompress.lazy_names import lazy_names

if TYPE_CHECKING:
    from ctxcompress.cache.disk import DiskCache
    from ctxcompress.cache.memory import LayeredCache, MemoryCache
    from ctxcompress.cache.qdrant import QdrantCache

__all__ = ["Cache", "CacheStats", "DiskCache", "LayeredCache", "MemoryCache", "QdrantCache"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DiskCache": "ctxcompress.cache.disk",
        "LayeredCache": "ctxcompress.cache.memory",
        "MemoryCache": "ctxcompress.cache.memory",
        "QdrantCache": "ctxcompress.cache.qdrant",
    },
)
