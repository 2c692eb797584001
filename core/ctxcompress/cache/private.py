"""A file that its owner alone can read, from the moment that it is there."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from ctxcompress.cache.schema import companions
from ctxcompress.errors import ConfigError

__all__ = ["make_private"]

_OWNER = 0o700


def make_private(path: Path) -> None:
    """Makes an empty file where there is none, and takes from others what they may do with one that is there, and with
    what SQLite has beside it. What SQLite makes later has the permissions of the file.

    Raises ConfigError for a symbolic link, which could lead anywhere, for what is no file and for somebody else's, who
    could change what is kept. Raises OSError if there can be no file.
    """
    if not os.path.lexists(path):
        _make(path)
    for file in (path, *companions(path)):
        with suppress(FileNotFoundError):
            _close_to_others(file)


def _make(path: Path) -> None:
    # Under another name at first: closing a file ends the locks on it that SQLite has in other threads.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        _name(Path(name), path)
    finally:
        Path(name).unlink()


def _name(file: Path, path: Path) -> None:
    """Gives the file this name too, unless another process was faster."""
    with suppress(FileExistsError):
        try:
            path.hardlink_to(file)
        except FileExistsError:
            raise
        except OSError:  # there are disks on which a file has one name
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _close_to_others(file: Path) -> None:
    found = file.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(f"{file.name} is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{file.name} is no file")
    if os.name != "posix":
        return
    if found.st_uid != os.geteuid():
        raise ConfigError(f"{file.name} belongs to another user")
    allowed = stat.S_IMODE(found.st_mode)
    if allowed & ~_OWNER:
        file.chmod(allowed & _OWNER)
