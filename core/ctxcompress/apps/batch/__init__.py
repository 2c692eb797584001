"""Compress many rows, each a query with its passages, in several processes: `compress_batch` and `acompress_batch`."""

from ctxcompress.apps.batch.compression import (
    BatchProgress,
    BatchResult,
    BatchRow,
    CompressionPool,
    acompress_batch,
    compress_batch,
)
from ctxcompress.apps.batch.processes import LOST, ProcessMap, Work

__all__ = [
    "LOST",
    "BatchProgress",
    "BatchResult",
    "BatchRow",
    "CompressionPool",
    "ProcessMap",
    "Work",
    "acompress_batch",
    "compress_batch",
]
