"""Plug-ins: what packages add to compression by an entry point."""

import functools
from collections.abc import Sequence
from typing import Any

from ctxcompress.errors import CtxCompressError

__all__ = ["plugin", "plugin_names", "plugins"]


@functools.cache
def plugins(group: str) -> Sequence[Any]:
    """Return what installed packages offer in a group of entry points, by name."""
    from importlib.metadata import entry_points  # takes time to import

    return [found.load() for found in sorted(entry_points(group=group))]


@functools.cache
def plugin_names(group: str) -> Sequence[str]:
    """Return the names of what installed packages offer in a group of entry points."""
    from importlib.metadata import entry_points  # takes time to import

    return sorted(entry_points(group=group).names)


@functools.cache
def plugin(group: str, name: str) -> Any:
    """Return what an installed package offers under this name in a group of entry points.

    Raises CtxCompressError if no installed package does.
    """
    from importlib.metadata import entry_points  # takes time to import, and few calls need a plug-in

    for found in entry_points(group=group, name=name):
        return found.load()
    raise CtxCompressError(f"no installed package has the entry point {name!r} of {group!r}; install ctxcompress again")
