"""Classes for the option `cache`. What was found out about passages, and what was kept of them, is found once."""

from ctxcompress.cache.disk import DiskCache
from ctxcompress.cache.layered import LayeredCache
from ctxcompress.cache.memory import MemoryCache
from ctxcompress.cache.qdrant import QdrantCache
from ctxcompress.entries import Cache

__all__ = ["Cache", "DiskCache", "LayeredCache", "MemoryCache", "QdrantCache"]
