"""What can remember, and what that needs to know of what it remembers. The classes that do it are in `cache`."""

from typing import Protocol, TypeVar, runtime_checkable

__all__ = ["Cache", "Form"]

T = TypeVar("T")


class Form(Protocol[T]):
    """How values of one kind are written down."""

    def encode(self, value: T, /) -> bytes | None:
        """The value as bytes; None for one that is worth remembering only as long as the process lives."""

    def decode(self, data: bytes, /) -> T:
        """The value that `encode` wrote. Raises ValueError, and nothing else, if it did not write this."""

    def weigh(self, value: T, /) -> int:
        """About how many bytes of memory the value takes."""


@runtime_checkable
class Cache(Protocol):
    """Remembers values by keys that say all that they depend on. It may forget any of them at any time.

    Neither method raises: what cannot be read is not there, and what cannot be written is not remembered. Threads
    share caches. What `get` returns is shared, too, so that nobody changes it.
    """

    def get(self, key: str, form: Form[T], /) -> T | None:
        """The value that was put under this key; None if there is none."""

    def put(self, key: str, value: T, form: Form[T], /) -> None:
        """Remembers the value."""
