"""A searchable index of a folder: splits files into chunks, ranks them by BM25 in memory, reads changed files again."""

from ctxcompress.apps.index.chunks import Chunk
from ctxcompress.apps.index.folder_index import FolderIndex
from ctxcompress.apps.index.ranking import Hit

__all__ = ["Chunk", "FolderIndex", "Hit"]
