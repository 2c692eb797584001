"""What encoders give: checked, and brought to one length."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctxcompress.errors import ConfigError

__all__ = ["as_numbers", "checked_numbers", "unit", "without_surrogates"]

Floats = NDArray[np.float64]


def without_surrogates(texts: Sequence[str]) -> list[str]:
    """The texts without lone surrogates, which tokenizers refuse."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def as_numbers(values: object) -> Floats | None:
    """The values as an array, or None if they are no numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last is torch's, of what has a gradient
        return None


def checked_numbers(values: ArrayLike, of: str, dimensions: int) -> Floats:
    """What an encoder gave `of` something; raises ConfigError if that is not finite numbers in so many dimensions."""
    array = as_numbers(values)
    if array is None:
        raise ConfigError(f"the encoder gave a {type(values).__name__} for {of}; give an array of numbers")
    if array.ndim != dimensions:
        raise ConfigError(f"the encoder gave an array of shape {array.shape} for {of}; give {dimensions} dimensions")
    if not np.isfinite(array).all():
        raise ConfigError(f"the encoder gave numbers for {of} that are not all finite numbers; give no NaN or infinity")
    return array


def unit(vectors: Floats) -> Floats:
    """Of length 1; a vector of zeros stays. Scaled first, so that no square is too large."""
    scaled = vectors / np.maximum(np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0), 1e-300)
    result: Floats = scaled / np.maximum(np.linalg.norm(scaled, axis=-1, keepdims=True), 1e-12)
    return result
