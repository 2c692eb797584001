"""The definitions that segments of source code belong to. Nothing here depends on a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import NodeKind, Segment
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["CLASSES", "FUNCTIONS", "Definitions"]

FUNCTIONS = frozenset((NodeKind.FUNCTION, NodeKind.METHOD))
CLASSES = frozenset((NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_DOC = NodeKind.DOC
_PARTS = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definition around each segment: its name and its kind."""

    paths: Sequence[tuple[str, ...]]
    """The names of all definitions around each segment, innermost last."""
    names: Sequence[str]
    """The innermost name; "" for none."""
    described: Sequence[str]
    """The innermost name, with the parameter that the segment describes or the constants that it defines, if any."""
    parts: Mapping[str, tuple[str, ...]]
    """Each of these but "" -> its parts in lower case, such as get, HTTP and status of getHTTPStatus."""
    rows: Sequence[NDArray[np.bool_]]
    """Whether each segment is a function or an entry of its docstring, a class, a comment that documents, has a private
    or a special name, is in no definition, or in one that is in no other."""

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> "Definitions":
        paths = [segment.heading for segment in segments]
        names = [path[-1] if path else "" for path in paths]
        units = [segment.unit for segment in segments]
        entries = [part[6] is _DOC and part[7] != "" for part in segments]
        described = [f"{name} {part[7]}".strip() for name, part in zip(names, segments, strict=True)]
        distinct = dict.fromkeys(filter(None, described))
        return cls(
            paths,
            names,
            described,
            {name: tuple(part.lower() for part in _PARTS.findall(name)) for name in distinct},
            [
                np.array([unit in FUNCTIONS or entry for unit, entry in zip(units, entries, strict=True)]),
                np.array([unit in CLASSES for unit in units]),
                np.array([unit is _DOC for unit in units]),
                np.array([name[:1] == "_" != name[1:2] for name in names]),
                np.array([name[:2] == "__" for name in names]),
                np.array([not path for path in paths]),
                np.array([len(path) == 1 for path in paths]),
            ],
        )
