"""From a text to typed segments with exact offsets."""

from ctxcompress.segment.segments import segment

__all__ = ["segment"]
