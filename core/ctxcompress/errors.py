"""The errors that this library raises.

    CtxCompressError
    ├── ConfigError           an option has an invalid value (also a ValueError)
    ├── InputError            a passage or a query cannot be compressed (also a TypeError)
    ├── BudgetTooSmall        the budget cannot hold what must be kept (also a ValueError)
    ├── PatternTimeout        a regular expression of `must_keep` takes too long (also a TimeoutError)
    ├── PluginError           what was plugged in, such as an encoder, failed (also a RuntimeError)
    │   └── TokenizerUnavailable  the declared tokenizer cannot be loaded
    └── MissingExtra          an optional dependency is not installed (also an ImportError)

Every message names the value, the limit and the remedy. What goes wrong without an error is a CtxCompressWarning, which
Python shows once for each line that calls.
"""

import sys
import warnings

__all__ = [
    "BudgetTooSmall",
    "ConfigError",
    "CtxCompressError",
    "CtxCompressWarning",
    "InputError",
    "MissingExtra",
    "PatternTimeout",
    "PluginError",
    "TokenizerUnavailable",
    "warn",
]

_PASSED_OVER = frozenset(
    "contextlib ctxcompress langchain_ctxcompress llamaindex_ctxcompress langchain_core langchain_classic llama_index "
    "llama_index_instrumentation wrapt".split()
)
"""The packages between a user's line and a warning."""


class CtxCompressError(Exception):
    """The base class of all errors that this library raises on purpose."""


class ConfigError(CtxCompressError, ValueError):
    """An option has an invalid value."""


class InputError(CtxCompressError, TypeError):
    """A passage or a query cannot be compressed."""


class BudgetTooSmall(CtxCompressError, ValueError):  # noqa: N818 - the name says what is wrong
    """The budget cannot hold what `must_keep` names."""

    def __init__(self, message: str, tokens: int | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens
        """The tokens that it takes at least, if they are known."""


class PatternTimeout(CtxCompressError, TimeoutError):  # noqa: N818
    """A regular expression of `must_keep` takes too long."""


class PluginError(CtxCompressError, RuntimeError):
    """What was plugged in, such as an encoder, failed. What it raised is the `__cause__`."""

    def __init__(
        self, message: str, part: str = "encoding", reason: str = "it cannot be loaded", *, is_late: bool = False
    ) -> None:
        super().__init__(message)
        self.part = part
        """What failed: "encoder", "encoding", or what a package adds, such as "filter NAME"."""
        self.reason = reason
        """How it failed, without what it said: that may quote keys or texts."""
        self.is_late = is_late
        """Whether it had not answered when the time of the option `timeout` was over."""


class TokenizerUnavailable(PluginError):  # noqa: N818
    """The declared tokenizer cannot be loaded, so tokens cannot be counted."""


class MissingExtra(CtxCompressError, ImportError):  # noqa: N818
    """An optional dependency is needed but not installed."""


class CtxCompressWarning(UserWarning):
    """A result that may not be what was meant, such as an empty one."""


def warn(message: str) -> None:
    """Warn at the line that called this library, or a framework that did. Equal messages are shown there once."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in _PASSED_OVER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, CtxCompressWarning, stacklevel=level)
