"""Which vectors are close to one that leads: exactly, without multiplying all coordinates of every two of them.

A cosine is at most what a few coordinates give and the product of the lengths of what is left of both vectors, by
Cauchy and Schwarz. Where no few coordinates hold most of the lengths, or where those that do are taken, a third of them
tells far vectors from close ones. What may be close by them is multiplied in full, so that none is missed.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Joins", "go_through"]

_ROUNDING = 1e-6
_FEW = 8_192
"""Vectors for which it takes longer to look for such coordinates than to multiply."""
_SAMPLE = 1_024
_SHARES = (1 / 4, 3 / 8, 1 / 2)
"""Of the coordinates, that may be enough."""
_WASTE = 2e-5
"""Of all pairs, how many may look close in these coordinates without being it."""
_ROWS = 512
_CELLS = 2**24
"""Products that are held at a time, at most for so many rows."""
_AT_ONCE = 32

Floats = NDArray[np.float64]
Short = NDArray[np.float32]
Joins = Callable[[int, Iterator[int]], bool]
"""Of the place of a vector, and those of the leaders that it is close to in their order: whether it joins one."""


def go_through(vectors: Floats, threshold: float, joins: Joins) -> None:
    """Goes through vectors in their order: one that has at least this cosine with some that lead is asked whether it
    joins one of them. All that do not join lead themselves.

    vectors: of length 1, or of length 0, which are close to none.
    """
    leading = _Leading(_shortened(vectors, threshold), threshold)
    for start in range(0, len(vectors), leading.rows):
        close, places, leads = leading.beside(start)
        first = len(places) - len(close)
        for row in np.flatnonzero(close.any(axis=1)).tolist():
            others = places[np.flatnonzero(close[row] & leads)]
            leads[first + row] = not joins(start + row, _exactly(vectors, start + row, others, threshold))
        leading.keep(leads)


class _Leading:
    """The vectors that lead so far, one after the other in memory, and where they stand among all."""

    __slots__ = ("_at_least", "_close", "_count", "_places", "_products", "_short", "_vectors", "rows")

    def __init__(self, short: Short, threshold: float) -> None:
        self.rows = max(1, min(_ROWS, len(short), _CELLS // max(len(short), 1)))
        """Of a block, which is compared at a time."""
        rounding = (short.shape[1] + 2) * np.finfo(np.float32).eps  # the most that a sum of products can be wrong by
        self._at_least = np.float32(threshold - _ROUNDING - rounding)
        self._short, self._vectors = short, np.empty_like(short)
        self._places, self._count = np.empty(len(short), dtype=np.intp), 0
        # New ones for each block would take longer than multiplying.
        self._products = np.empty((self.rows, len(short)), dtype=np.float32)
        self._close = np.empty((self.rows, len(short)), dtype=bool)

    def beside(self, start: int) -> tuple[NDArray[np.bool_], NDArray[np.intp], NDArray[np.bool_]]:
        """(of each vector of the block that starts there, which leaders and which before it in the block may be close;
        the places of these; whether they lead, which is for the caller to say of the block)."""
        block = self._short[start : start + self.rows]
        stop = self._count + len(block)
        self._vectors[self._count : stop], self._places[self._count : stop] = block, range(start, start + len(block))
        products, close = self._products[: len(block), :stop], self._close[: len(block), :stop]
        np.matmul(block, self._vectors[:stop].T, out=products)
        np.greater_equal(products, self._at_least, out=close)
        close[:, self._count :] &= np.tri(len(block), k=-1, dtype=bool)
        return close, self._places[:stop], np.ones(stop, dtype=bool)

    def keep(self, leads: NDArray[np.bool_]) -> None:
        """Those of the block that lead."""
        new = np.flatnonzero(leads[self._count :]) + self._count
        stop = self._count + len(new)
        self._vectors[self._count : stop], self._places[self._count : stop] = self._vectors[new], self._places[new]
        self._count = stop


def _exactly(vectors: Floats, place: int, others: NDArray[np.intp], threshold: float) -> Iterator[int]:
    """Those of the others that are that close."""
    for start in range(0, len(others), _AT_ONCE):
        some = others[start : start + _AT_ONCE]
        yield from some[vectors[some] @ vectors[place] >= threshold - _ROUNDING].tolist()


def _shortened(vectors: Floats, threshold: float) -> Short:
    """Vectors of fewer coordinates whose products are at least those of the vectors; these, where fewer do not do."""
    if len(vectors) < _FEW:
        return vectors.astype(np.float32)
    sample = vectors[:: len(vectors) // _SAMPLE]
    far = sample @ sample.T < threshold
    largest = np.argsort(-(sample**2).sum(axis=0), kind="stable")
    for share in _SHARES:
        axes = largest[: int(share * len(largest))]
        short = _with_rest(sample, axes)
        if np.count_nonzero(far & (short @ short.T >= threshold)) <= _WASTE * far.size:
            return _with_rest(vectors, axes)
    return vectors.astype(np.float32)


def _with_rest(vectors: Floats, axes: NDArray[np.intp]) -> Short:
    """The coordinates of these axes, and the length of what is left."""
    along = vectors[:, axes]
    rest = np.maximum((vectors**2).sum(axis=1) - (along**2).sum(axis=1), 0.0)
    return np.column_stack((along, np.sqrt(rest))).astype(np.float32)
