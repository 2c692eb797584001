"""The formats by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ctxcompress.render.compact import Compact
from ctxcompress.render.entry import Renderer
from ctxcompress.render.json import Json
from ctxcompress.render.plain import Plain
from ctxcompress.render.verbose import Verbose
from ctxcompress.render.xml import Xml
from ctxcompress.types import Format

__all__ = ["renderer"]

Make = Callable[[str, str, Callable[[str], int]], Renderer]
"""(the separator of the options, the question, what counts tokens) -> a format."""

_FORMATS: Mapping[Format, Make] = MappingProxyType(
    {
        "plain": lambda separator, _, __: Plain(separator),
        "compact": lambda _, __, ___: Compact(),
        "verbose": lambda _, __, ___: Verbose(),
        "json": lambda _, query, count: Json(query, count),
        "xml": lambda _, __, ___: Xml(),
    }
)


def renderer(format: Format, separator: str, query: str, count: Callable[[str], int]) -> Renderer:
    """The format of this name. separator: what stands between two texts in "plain"; the others have their own."""
    return _FORMATS[format](separator, query, count)
