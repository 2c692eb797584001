"""Classes for the option `cache`. What was found out about passages, and what was kept of them, is found once."""

from ctxcompress.cache.disk import DiskCache
from ctxcompress.cache.memory import LayeredCache, MemoryCache
from ctxcompress.cache.protocol import Cache
from ctxcompress.cache.qdrant import QdrantCache

__all__ = ["Cache", "DiskCache", "LayeredCache", "MemoryCache", "QdrantCache"]
