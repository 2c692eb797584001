"""What can go wrong, as one small tree.

    CtxCompressError
    ├── ConfigError           an option has a value that cannot work (also a ValueError)
    ├── InputError            a passage is not something that can be compressed (also a TypeError)
    ├── TokenizerUnavailable  the declared tokenizer cannot be loaded (also a RuntimeError)
    └── MissingExtra          an optional dependency is not installed (also an ImportError)

Every message names the value, the limit and the remedy.
"""

__all__ = ["ConfigError", "CtxCompressError", "InputError", "MissingExtra", "TokenizerUnavailable"]


class CtxCompressError(Exception):
    """The root: catching it catches all that this library raises on purpose."""


class ConfigError(CtxCompressError, ValueError):
    """An option has a value that cannot work."""


class InputError(CtxCompressError, TypeError):
    """A passage or a query is not something that can be compressed."""


class TokenizerUnavailable(CtxCompressError, RuntimeError):  # noqa: N818 - the name says what is the matter
    """The declared tokenizer cannot be loaded, so the budget cannot be counted."""


class MissingExtra(CtxCompressError, ImportError):  # noqa: N818
    """An optional dependency is needed and not installed."""
