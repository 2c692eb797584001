"""A folder of texts that can be searched: chunks, BM25 in memory, read again where files change."""

from ctxcompress.index.chunks import Chunk
from ctxcompress.index.folder_index import FolderIndex, Hit

__all__ = ["Chunk", "FolderIndex", "Hit"]
