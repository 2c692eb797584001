"""What the retrievers of both frameworks have in common that reuse the contexts of earlier questions."""

from collections.abc import Mapping
from typing import Any

from ctxcompress.data.metadata import RECORD_KEY
from ctxcompress.research import ContextCodec, Research, ResearchCache

__all__ = ["RECORD_KEY", "ContextCodec", "Research", "ResearchCache", "with_provenance"]


def with_provenance(metadata: Mapping[str, object], research: Research[Any]) -> dict[str, object]:
    """Return metadata whose record says under "research" which earlier question the context is from.

    Metadata of a context that was searched for now is returned as it is.
    """
    if research.earlier is None:
        return dict(metadata)
    record = metadata.get(RECORD_KEY)
    found = {"question": research.earlier, "similarity": research.similarity, "age": research.age}
    return {**metadata, RECORD_KEY: {**(record if isinstance(record, Mapping) else {}), "research": found}}
