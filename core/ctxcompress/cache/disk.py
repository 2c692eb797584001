"""A cache in a file, for many processes and for tomorrow."""

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path

from ctxcompress.cache.sqlite_file import SqliteFile
from ctxcompress.cache.stored import StoredCache
from ctxcompress.errors import ConfigError

__all__ = ["DiskCache"]

_WAIT = 10.0
"""Seconds that a new cache waits for other processes, which may be making the file."""


class DiskCache(StoredCache):
    """Remembers in an SQLite file, what was used last the longest. Threads and processes can share it, and one that is
    killed while it writes leaves a file that can be used.

    The entries have at most `max_bytes` bytes together; the file has some more. The file's folder must be on a disk of
    this machine, because SQLite's write-ahead log needs that. The entries contain no text of the passages but what
    was kept of them. The file is its owner's alone, and one that was open to others is closed to them. Checksums tell
    damage, not malice: whoever may write into the file may change what is kept.

    A damaged file is an empty cache: it is renamed, with ".damaged" at the end, and a new one begun. Raises ConfigError
    if the file is something else than such a cache, a symbolic link or another user's, or cannot be made. Afterwards, a
    file that cannot be used, or is locked for two seconds, is left alone for a while. The log has a warning.
    """

    def __init__(self, path: str | PathLike[str], *, max_bytes: int = 1_000_000_000) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise ConfigError(f"max_bytes is {max_bytes!r}; give a whole number of bytes, at least 1")
        self.path, self.max_bytes = Path(path).absolute(), max_bytes
        self._file = SqliteFile(self.path, max_bytes)
        super().__init__(f"the cache {self.path.name}", self._file)
        try:
            self._file.check(_WAIT)
        except (ConfigError, OSError) as error:
            raise ConfigError(
                f"{self.path} cannot be used as a cache ({error}); give the path of another file"
            ) from None

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        self._file.close()

    def __reduce__(self) -> tuple[Callable[[str], "DiskCache"], tuple[str]]:
        return partial(DiskCache, max_bytes=self.max_bytes), (str(self.path),)
