"""Encoders for the option `encoder`: models that tell how close texts are in meaning.

Each class needs an extra. Creating an object without the extra raises MissingExtra.
"""

from functools import cache

from ctxcompress.encoders.sentence_transformers import CrossEncoder, SentenceEncoder
from ctxcompress.encoders.static import StaticVectors
from ctxcompress.errors import ConfigError

__all__ = ["CrossEncoder", "SentenceEncoder", "StaticVectors", "encoder_named"]


@cache
def encoder_named(name: str) -> StaticVectors:
    """Return the encoder that a configuration file or a command names: "static" is `StaticVectors()`.

    It is made once and shared. Raises ConfigError for another name, and MissingExtra without the extra `static`.
    """
    if name != "static":
        raise ConfigError(f"encoder is {name!r}; give 'static', or in code one of ctxcompress.encoders")
    return StaticVectors()
