"""The index of a folder: it knows what is in the files, and looks at each search whether they are still the same."""

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from typing import NamedTuple

from ctxcompress.index.chunks import NOTHING, Analysis, Chunk, analysed
from ctxcompress.index.folder import MOST_BYTES, MOST_FILES, Folder, Listing, Stamp, Unreadable, decoded
from ctxcompress.index.ranking import Ranking

__all__ = ["FolderIndex", "Hit"]

_SETTLED = 2_000_000_000
"""Nanoseconds after a change during which another one may leave the same stamp, as clocks of file systems go."""

_log = logging.getLogger("ctxcompress.index")


class Hit(NamedTuple):
    """A chunk that was found."""

    chunk: Chunk
    score: float
    """From 0 to 1, the best of the search."""


@dataclass(frozen=True, slots=True)
class _File:
    stamp: Stamp
    settled: bool
    """Whether a change would change the stamp."""
    digest: bytes
    analysis: Analysis


class FolderIndex:
    """Searches the text, Markdown and code files of a folder by BM25, in memory. Threads can share it.

    Every search sees the files as they are: their times and sizes are looked at, and what has changed is read again.
    No link is followed, and nothing outside the folder is read: see `Folder`. Files of over 5 MB, and what is not
    UTF-8, are left out, each with a line in the log. What cannot be read, or vanishes, is not there, which is no error.
    """

    __slots__ = ("_files", "_folder", "_language", "_lock", "_ranking", "_vocabulary")

    def __init__(self, folder: str | os.PathLike[str], *, language: str | None = None) -> None:
        """Reads nothing yet. language: ISO 639-1 code of all files; None tells it file by file.

        Raises ConfigError if there is no such folder.
        """
        self._folder, self._language, self._lock = Folder(folder), language, Lock()
        self._files: Mapping[str, _File] = {}
        self._vocabulary: dict[str, int] = {}
        self._ranking = Ranking.of([], {})

    def refresh(self) -> int:
        """Reads what has changed; how many chunks there are now."""
        return len(self._fresh().chunks)

    def search(self, query: str, most: int = 50) -> list[Hit]:
        """The chunks that have words of the query, the best ones first; equally good ones as they are in the folder."""
        return [Hit(chunk, score) for chunk, score in self._fresh().search(query, most)]

    def chunk(self, id: str) -> Chunk | None:
        """The chunk with this id, as its file is now; None if there is none."""
        return self._fresh().by_id.get(id)

    def chunks_ending(self, end: str) -> list[Chunk]:
        """The chunks whose ids end so."""
        return [chunk for chunk in self._fresh().chunks if chunk.id.endswith(end)]

    def chunks_of_file(self, path: str) -> list[Chunk]:
        """The chunks of the file with this path within the folder, in order."""
        self._fresh()
        known = self._files.get(path)
        return list(known.analysis.chunks) if known else []

    def _fresh(self) -> Ranking:
        # Whoever comes while files are read waits for what they say now.
        with self._lock:
            listing = self._folder.files()
            files = {path: self._known(path, stamp) for path, stamp in listing.stamps.items()}
            changed = len(files) != len(self._files) or any(
                (old := self._files.get(path)) is None or file.analysis is not old.analysis
                for path, file in files.items()
            )
            self._files = files
            if changed:
                self._ranking = Ranking.of([file.analysis for file in files.values()], self._vocabulary)
                self._tell(listing)
            return self._ranking

    def _known(self, path: str, stamp: Stamp) -> _File:
        """What a file says; it is read only where it may have changed."""
        old = self._files.get(path)
        if old is not None and old.stamp == stamp and old.settled:
            return old
        settled = max(stamp.modified, stamp.touched) + _SETTLED < time.time_ns()
        try:
            content = self._folder.read(path)
            digest = sha256(content).digest()
            if old is not None and old.digest == digest:
                return replace(old, stamp=stamp, settled=settled)
            text = decoded(content)
        except (OSError, Unreadable) as error:
            if old is None or old.stamp != stamp:
                _log.warning("%s is left out: %s", path, getattr(error, "strerror", None) or error)
            return _File(stamp, settled, b"", NOTHING)
        return _File(stamp, settled, digest, analysed(text, path, self._vocabulary, self._language))

    def _tell(self, listing: Listing) -> None:
        _log.info("%d files, %d chunks", len(listing.stamps), len(self._ranking.chunks))
        for path, reason in listing.unread.items():
            _log.warning("%r is left out: %s", path, reason)
        if not listing.is_all:
            _log.warning(
                "only the first %d files are indexed (at most %d, and %d MB of them); serve a smaller folder",
                len(listing.stamps),
                MOST_FILES,
                MOST_BYTES // 1_000_000,
            )
