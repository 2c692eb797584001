"""What is imported only when it is first used: names that a package exports, and what packages add to compression by an
entry point."""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ctxcompress.errors import CtxCompressError

__all__ = ["lazy_names", "plugin", "plugin_names", "plugins"]


@functools.cache
def _entry_points() -> Any:
    """Return all entry points. Reading them takes as long for one group as for all."""
    from importlib.metadata import entry_points  # takes time to import

    return entry_points()


@functools.cache
def plugins(group: str) -> Sequence[Any]:
    """Return what installed packages offer in a group of entry points, by name."""
    return [found.load() for found in sorted(_entry_points().select(group=group))]


@functools.cache
def plugin_names(group: str) -> Sequence[str]:
    """Return the names of what installed packages offer in a group of entry points."""
    return sorted(_entry_points().select(group=group).names)


@functools.cache
def plugin(group: str, name: str) -> Any:
    """Return what an installed package offers under this name in a group of entry points.

    Raises CtxCompressError if no installed package does.
    """
    for found in _entry_points().select(group=group, name=name):
        return found.load()
    raise CtxCompressError(f"no installed package has the entry point {name!r} of {group!r}; install ctxcompress again")


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that exports these names.

    modules: the module of each name. Type checkers need an import of the same names under `TYPE_CHECKING`.
    """

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules, *sys.modules[package].__all__})

    return find, names
