"""Classes for the option `encoder`. Each needs an extra, which is asked for when one is made."""

from ctxcompress.encoders.sentence_transformers import CrossEncoder, SentenceEncoder
from ctxcompress.encoders.static import StaticVectors

__all__ = ["CrossEncoder", "SentenceEncoder", "StaticVectors"]
