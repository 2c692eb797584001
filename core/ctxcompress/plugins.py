"""What is imported when it is first used: names that a package exports, and what packages add by entry points."""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ctxcompress.errors import CtxCompressError, MissingExtra
from ctxcompress.guarded import called, left_out

__all__ = ["lazy_names", "part_of", "plugin", "plugin_names", "plugins"]


@functools.cache
def _entry_points() -> Any:
    """Return all entry points. Reading them takes as long for one group as for all."""
    from importlib.metadata import entry_points  # takes time to import

    return entry_points()


def plugins(group: str) -> Mapping[str, Any]:
    """Return what installed packages offer in a group of entry points, sorted by its name as a part that may fail, such
    as "filter NAME". Parts that the current work goes on without are missing. Raises PluginError if one cannot be
    loaded."""
    parts = {part_of(group, name): name for name in plugin_names(group)}
    return {part: plugin(group, name) for part, name in parts.items() if part not in left_out()}


def part_of(group: str, name: str) -> str:
    """Return what something of a group of entry points is called where it fails: "filter NAME"."""
    return f"{group.rpartition('.')[2].removesuffix('s')} {name}"


@functools.cache
def plugin_names(group: str) -> Sequence[str]:
    """Return the names of what installed packages offer in a group of entry points."""
    return sorted(_entry_points().select(group=group).names)


@functools.cache
def plugin(group: str, name: str) -> Any:
    """Return what an installed package offers under this name in a group of entry points.

    Raises CtxCompressError if no installed package does, and PluginError if it cannot be loaded.
    """
    for found in _entry_points().select(group=group, name=name):
        return called(part_of(group, name), found.load)
    raise CtxCompressError(f"no installed package has the entry point {name!r} of {group!r}; install ctxcompress again")


def lazy_names(
    package: str, modules: Mapping[str, str], extras: Mapping[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that exports these names.

    modules: the module of each name. Type checkers need an import of the same names under `TYPE_CHECKING`. extras: the
    extra that brings a package of others, which `__getattr__` names where the package is missing.
    """

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        try:
            value = getattr(import_module(modules[name]), name)
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if not extras or missing not in extras:
                raise
            raise MissingExtra(f"{name} needs {missing}; run: pip install 'ctxcompress[{extras[missing]}]'") from error
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules, *sys.modules[package].__all__})

    return find, names
