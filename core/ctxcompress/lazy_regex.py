"""Regular expressions of modules, which are compiled when they are first used: compiling all of them takes longer than
the rest of `import ctxcompress`, and most calls use few."""

import re
from typing import Any, AnyStr, cast

__all__ = ["lazy_regex"]


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what behaves as `re.compile(pattern, flags)`, and compiles the pattern when an attribute is first read."""
    return cast("re.Pattern[AnyStr]", _LazyRegex(pattern, flags))


class _LazyRegex:
    """Has the public attributes of a compiled pattern from the first time on that one of them is read.

    They are attributes of the object then, so `__getattr__` is not called again.
    """

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self._pattern, self._flags)
        self.__dict__.update({each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("_")})
        return getattr(compiled, name)
