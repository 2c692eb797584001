"""Numbers and vectors of encoders: the texts that they can take, and checks of what they return."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctxcompress.errors import ConfigError

__all__ = ["Floats", "as_numbers", "checked_numbers", "unit", "without_surrogates"]

Floats = NDArray[np.float64]


def without_surrogates(texts: Sequence[str]) -> list[str]:
    """Return the texts without lone surrogates, which tokenizers reject."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def as_numbers(values: object) -> Floats | None:
    """Return the values as an array, or None if they are not numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # torch raises the last for tensors with a gradient
        return None


def checked_numbers(values: ArrayLike, of: str, dimensions: int) -> Floats:
    """Return the result of an encoder as an array of finite numbers.

    of: what the encoder was asked about, for the message. dimensions: the number of dimensions that it must have.

    Raises ConfigError if the result is anything else.
    """
    array = as_numbers(values)
    if array is None:
        raise ConfigError(f"the encoder gave a {type(values).__name__} for {of}; give an array of numbers")
    if array.ndim != dimensions:
        raise ConfigError(f"the encoder gave an array of shape {array.shape} for {of}; give {dimensions} dimensions")
    if not np.isfinite(array).all():
        raise ConfigError(f"the encoder gave NaN or infinity for {of}; give finite numbers")
    return array


def unit(vectors: Floats) -> Floats:
    """Return the vectors scaled to length 1. Zero vectors stay zero."""
    # Scaled by the largest value first, so that no square overflows.
    scaled = vectors / np.maximum(np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0), 1e-300)
    result: Floats = scaled / np.maximum(np.linalg.norm(scaled, axis=-1, keepdims=True), 1e-12)
    return result
