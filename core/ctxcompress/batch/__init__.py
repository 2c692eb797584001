"""Compress many rows, each a query with its passages, in several processes: `compress_batch` and `acompress_batch`."""

from ctxcompress.batch.compression import BatchProgress, BatchResult, BatchRow, acompress_batch, compress_batch
from ctxcompress.batch.processes import ProcessMap, Work

__all__ = [
    "BatchProgress",
    "BatchResult",
    "BatchRow",
    "ProcessMap",
    "Work",
    "acompress_batch",
    "compress_batch",
]
