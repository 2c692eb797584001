"""Caches for the option `cache`: the analysis of passages and earlier results are stored and reused."""

from ctxcompress.cache.disk import DiskCache
from ctxcompress.cache.memory import LayeredCache, MemoryCache
from ctxcompress.cache.protocol import Cache, CacheStats
from ctxcompress.cache.qdrant import QdrantCache

__all__ = ["Cache", "CacheStats", "DiskCache", "LayeredCache", "MemoryCache", "QdrantCache"]
