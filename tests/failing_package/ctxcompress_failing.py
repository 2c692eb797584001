"""A package that adds a filter, a format of texts and a renderer, all of which raise errors."""

from typing import Any

from ctxcompress.reduce.stages import Filter
from ctxcompress.segment.formats import Format


def _refuse(*_: object) -> Any:
    raise LookupError("key sk-123")


class _Renderer:
    separator, opening, closing = "\n", "", ""
    entry = _refuse


def RENDERER(*_: object) -> Any:  # noqa: N802 - the name that entry points have
    return _Renderer()


FILTER = Filter("broken", _refuse)
FORMAT = Format("broken", _refuse)
