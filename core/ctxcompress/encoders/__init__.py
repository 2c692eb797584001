"""Encoders for the option `encoder`: models that tell how close texts are in meaning.

Each class needs an extra. Creating an object without the extra raises MissingExtra.
"""

from functools import cache
from typing import TYPE_CHECKING

from ctxcompress.errors import ConfigError
from ctxcompress.lazy_names import lazy_names

if TYPE_CHECKING:
    from ctxcompress.encoders.sentence_transformers import CrossEncoder, SentenceEncoder
    from ctxcompress.encoders.static import StaticVectors

__all__ = ["CrossEncoder", "SentenceEncoder", "StaticVectors", "encoder_named"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CrossEncoder": "ctxcompress.encoders.sentence_transformers",
        "SentenceEncoder": "ctxcompress.encoders.sentence_transformers",
        "StaticVectors": "ctxcompress.encoders.static",
    },
)


@cache
def encoder_named(name: str) -> "StaticVectors":
    """Return the encoder that a configuration file or a command names: "static" is `StaticVectors()`.

    It is made once and shared. Raises ConfigError for another name, and MissingExtra without the extra `static`.
    """
    from ctxcompress.encoders.static import StaticVectors

    if name != "static":
        raise ConfigError(f"encoder is {name!r}; give 'static', or in code one of ctxcompress.encoders")
    return StaticVectors()
