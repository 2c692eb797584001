"""Encoders for the option `encoder`: models that tell how close texts are in meaning.

Each class needs an extra. Creating an object without the extra raises MissingExtra.
"""

from functools import cache
from typing import TYPE_CHECKING

from ctxcompress.errors import ConfigError
from ctxcompress.plugins import lazy_names, plugin, plugin_names

if TYPE_CHECKING:
    from ctxcompress.encoders.encoder import Comparer, Encoder
    from ctxcompress.encoders.sentence_transformers import CrossEncoder, SentenceEncoder
    from ctxcompress.encoders.static import StaticVectors

__all__ = ["WORDS", "CrossEncoder", "SentenceEncoder", "StaticVectors", "encoder_named"]

WORDS = "words"
"""The name of the table of words."""

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CrossEncoder": "ctxcompress.encoders.sentence_transformers",
        "SentenceEncoder": "ctxcompress.encoders.sentence_transformers",
        "StaticVectors": "ctxcompress.encoders.static",
    },
)


@cache
def encoder_named(name: str) -> "Encoder | Comparer":
    """Return the encoder of a name: "words" is the word table of this package, "static" is `StaticVectors()`.

    A package adds a name by an entry point of the group "ctxcompress.encoders" that makes an encoder when it is called.
    Each is made once and shared. Raises ConfigError for another name, and MissingExtra if an extra is not installed.
    """
    names = plugin_names("ctxcompress.encoders")
    if name not in names:
        raise ConfigError(f"encoder is {name!r}; give {' or '.join(map(repr, names))}, or in code an object")
    made: Encoder | Comparer = plugin("ctxcompress.encoders", name)()
    return made
