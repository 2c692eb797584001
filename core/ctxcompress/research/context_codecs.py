"""What the research cache stores, contexts and the questions they belong to, and how that is written as bytes."""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENTRIES", "HELD", "ContextCodec", "Entry", "Held", "Vector"]

T = TypeVar("T")
Vector = NDArray[np.float32]

_UNKNOWN_SIZE = 20_000
"""Bytes that a context counts for which only memory can hold."""


class ContextCodec(Generic[T]):
    """Writes contexts as JSON and reads them back. It serves strings and what JSON has.

    A subclass for other contexts overrides `to_json` and `from_json`.
    """

    def to_json(self, context: T) -> object:
        """Return the context in types that JSON has. Raises TypeError or ValueError if that is not possible."""
        return context

    def from_json(self, data: Any) -> T:
        """Return the context that `to_json` made this of. Raises TypeError, ValueError or KeyError for other data."""
        found: T = data
        return found

    def encode(self, context: T) -> bytes | None:
        """Return the context as bytes; None if it cannot be written, or would be read back as something else."""
        try:
            written = self.to_json(context)
            data = json.dumps(written, allow_nan=False).encode()
            return data if json.loads(data) == written else None
        except (TypeError, ValueError, RecursionError):
            return None

    def decode(self, data: bytes) -> T:
        """Return the context that `encode` wrote. Raises ValueError if it did not write this."""
        try:
            return self.from_json(json.loads(data))
        except (TypeError, KeyError, RecursionError) as error:
            raise ValueError(str(error)) from error


class Entry(NamedTuple):
    """A question that was asked."""

    question: str
    at: float
    vector: Vector


class Held(NamedTuple):
    """A stored context: as bytes, or as an object that only memory can hold."""

    data: bytes | None
    value: Any


class _HeldCodec:
    def encode(self, held: Held, /) -> bytes | None:
        return held.data

    def decode(self, data: bytes, /) -> Held:
        return Held(data, None)

    def estimated_size(self, held: Held, /) -> int:
        return _UNKNOWN_SIZE if held.data is None else len(held.data)


class _EntriesCodec:
    def encode(self, entries: Sequence[Entry], /) -> bytes | None:
        return json.dumps(
            [(entry.question, entry.at, b64encode(entry.vector.tobytes()).decode()) for entry in entries]
        ).encode()

    def decode(self, data: bytes, /) -> Sequence[Entry]:
        try:
            return tuple(
                Entry(str(question), float(at), np.frombuffer(b64decode(vector), np.float32))
                for question, at, vector in json.loads(data)
            )
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from error

    def estimated_size(self, entries: Sequence[Entry], /) -> int:
        return sum(200 + 2 * len(entry.question) + entry.vector.nbytes for entry in entries)


HELD, ENTRIES = _HeldCodec(), _EntriesCodec()
