"""The search index of a folder, which checks at each search whether files have changed."""

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock

from ctxcompress.apps.index.chunks import EMPTY_ANALYSIS, Analysis, Chunk, analyse_file
from ctxcompress.apps.index.folder import MOST_BYTES, MOST_FILES, Folder, Listing, Stamp, Unreadable, decoded, kinds_of
from ctxcompress.apps.index.ranking import Found, Hit, Ranking

__all__ = ["FolderIndex"]

_SETTLED = 2_000_000_000
"""Nanoseconds after a change in which another change may not alter the stamp, because file system clocks are coarse."""

_log = logging.getLogger("ctxcompress.apps.index")


@dataclass(frozen=True, slots=True)
class _File:
    stamp: Stamp
    settled: bool
    """True if any later change will alter the stamp."""
    digest: bytes
    analysis: Analysis


class FolderIndex:
    """An in-memory BM25 index of the text files of a folder. Threads can share it.

    Every search sees the current files: it checks their times and sizes, and reads changed files again. Links are not
    followed, and nothing outside the folder is read (see `Folder`). Files over 5 MB and files that are not UTF-8 are
    skipped, each with a line in the log. Files that cannot be read or are deleted are treated as absent.
    """

    __slots__ = ("_files", "_folder", "_language", "_lock", "_ranking", "_vocabulary", "_warnings")

    def __init__(self, folder: str | os.PathLike[str], *, language: str | None = None) -> None:
        """Check that the folder exists, without reading any file.

        language: ISO 639-1 code of all files; None detects it for each file.

        Raises ConfigError if there is no such folder.
        """
        self._folder, self._language, self._lock = Folder(folder), language, Lock()
        self._files: Mapping[str, _File] = {}
        self._warnings: frozenset[str] = frozenset()
        """What the log said of the folder last, so that it says it once."""
        self._vocabulary: dict[str, int] = {}
        self._ranking = Ranking.of([], {})

    def refresh(self) -> int:
        """Read the changed files, and return the number of chunks."""
        return len(self._fresh().chunks)

    @property
    def size(self) -> tuple[int, int]:
        """The number of files and of chunks, as the last search found them."""
        return len(self._files), len(self._ranking.chunks)

    def search(self, query: str, most: int = 50) -> list[Hit]:
        """Return the chunks that have words of the query, the best first. Equal scores keep the order of the folder."""
        return list(self.find(query, most).best)

    def find(self, query: str, most: int = 50) -> Found:
        """Do the same, and tell how many chunks there are in all that have words of the query."""
        return self._fresh().search(query, most)

    def chunk(self, id: str) -> Chunk | None:
        """Return the chunk with this id in the current files, or None."""
        return self._fresh().by_id.get(id)

    def chunks_ending(self, end: str) -> list[Chunk]:
        """Return the chunks whose ids end with `end`."""
        return [chunk for chunk in self._fresh().chunks if chunk.id.endswith(end)]

    def chunks_of_file(self, path: str) -> list[Chunk]:
        """Return the chunks of the file with this path within the folder, in order."""
        self._fresh()
        known = self._files.get(path)
        return list(known.analysis.chunks) if known else []

    def _fresh(self) -> Ranking:
        # A search that starts while files are read waits for the new ranking.
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
                _log.info("%d files, %d chunks", len(files), len(self._ranking.chunks))
            self._log_listing(listing)  # also if no file is found, which says why
            return self._ranking

    def _known(self, path: str, stamp: Stamp) -> _File:
        """Return the analysis of a file, which is read only if it may have changed."""
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
                _log.warning("%s is skipped: %s", path, getattr(error, "strerror", None) or error)
            return _File(stamp, settled, b"", EMPTY_ANALYSIS)
        return _File(stamp, settled, digest, analyse_file(text, path, self._vocabulary, self._language))

    def _log_listing(self, listing: Listing) -> None:
        """Warn of what is not read, once."""
        warnings = [f"{path!r} is skipped: {reason}" for path, reason in listing.unread.items()]
        if listing.others:
            warnings.append(f"files that are no text are skipped: {kinds_of(listing.others)}")
        if not listing.is_all:
            warnings.append(
                f"only the first {len(listing.stamps)} files are indexed (at most {MOST_FILES}, and "
                f"{MOST_BYTES // 1_000_000} MB of them); serve a smaller folder"
            )
        if not (listing.stamps or warnings):
            warnings.append("the folder has no text file")
        for warning in warnings:
            if warning not in self._warnings:
                _log.warning("%s", warning)
        self._warnings = frozenset(warnings)
