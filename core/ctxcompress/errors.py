"""The errors that this library raises.

    CtxCompressError
    ├── ConfigError           an option has an invalid value (also a ValueError)
    ├── InputError            a passage or a query cannot be compressed (also a TypeError)
    ├── TokenizerUnavailable  the declared tokenizer cannot be loaded (also a RuntimeError)
    ├── CacheUnavailable      a cache could not be cleared or made to forget (also an OSError)
    └── MissingExtra          an optional dependency is not installed (also an ImportError)

Every message names the value, the limit and the remedy.
"""

__all__ = ["CacheUnavailable", "ConfigError", "CtxCompressError", "InputError", "MissingExtra", "TokenizerUnavailable"]


class CtxCompressError(Exception):
    """The base class of all errors that this library raises on purpose."""


class ConfigError(CtxCompressError, ValueError):
    """An option has an invalid value."""


class InputError(CtxCompressError, TypeError):
    """A passage or a query cannot be compressed."""


class TokenizerUnavailable(CtxCompressError, RuntimeError):  # noqa: N818 - the name says what is wrong
    """The declared tokenizer cannot be loaded, so tokens cannot be counted."""


class CacheUnavailable(CtxCompressError, OSError):  # noqa: N818
    """A cache could not be cleared, counted, or made to forget. Compressions never raise this."""


class MissingExtra(CtxCompressError, ImportError):  # noqa: N818
    """An optional dependency is needed but not installed."""
