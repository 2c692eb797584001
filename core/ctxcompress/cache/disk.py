"""A cache in a SQLite file, which processes share and which outlives them."""

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from time import time

from ctxcompress.cache.protocol import checked_ttl, whole_number
from ctxcompress.cache.sqlite_file import SqliteFile
from ctxcompress.cache.stored import StoredCache
from ctxcompress.errors import ConfigError

__all__ = ["DiskCache"]

_OPENING_SECONDS = 10.0
"""How long a new cache waits for other processes that may be creating the file."""


class DiskCache(StoredCache):
    """A cache in a SQLite file that forgets the least recently used entries first. Threads and processes can share it,
    and the file stays usable if a process is killed while it writes.

    The entries take at most `max_bytes`; the file is slightly larger. It must be on a local disk, because SQLite's
    write-ahead log requires that. Entries contain no text of passages except what was kept. Only the owner can read
    the file, and other users' access to an existing file is revoked. What is deleted is overwritten with zeros.
    Checksums detect damage, but not manipulation: whoever can write to the file can change what is kept.

    An entry older than `ttl` seconds counts as missing, and is deleted in time. clock: tells the seconds since 1970.

    A damaged file is renamed to end in ".damaged", and an empty one takes its place. Raises ConfigError if the file
    cannot be created, is not such a cache, is a symbolic link or belongs to another user. Later, a file that fails or
    is locked for two seconds is not used for a while, with a warning in the log.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        max_bytes: int = 1_000_000_000,
        ttl: float | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self.path, self.max_bytes = Path(path).absolute(), whole_number("max_bytes", max_bytes, "bytes")
        self._file = SqliteFile(self.path, max_bytes, ttl=checked_ttl(ttl), clock=clock)
        super().__init__(f"the cache {self.path.name}", self._file, ttl=ttl, clock=clock)
        try:
            self._file.check(_OPENING_SECONDS)
        except (ConfigError, OSError) as error:
            raise ConfigError(
                f"{self.path} cannot be used as a cache ({error}); give the path of another file"
            ) from None

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        self._file.close()

    def __reduce__(self) -> tuple[Callable[[str], "DiskCache"], tuple[str]]:
        make = partial(DiskCache, max_bytes=self.max_bytes, ttl=self.ttl, clock=self._clock)
        return make, (str(self.path),)
