"""Named sets of options: where to start for a kind of retrieval."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ctxcompress.passages import Kind

__all__ = ["PRESETS", "QATBE_TYPE_WEIGHTS", "Preset"]

Preset = Literal["docs", "code", "web", "page"]

QATBE_TYPE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        Kind.CODE: 1.5,
        Kind.TABLE: 1.4,
        Kind.HEADING: 1.3,
        Kind.LIST_ITEM: 1.1,
        Kind.PARAGRAPH: 1.0,
        Kind.QUOTE: 0.9,
        Kind.METADATA: 0.5,
    }
)
"""The published weights of QATBE. Not the default: on pages that mix prose and code they cost evidence."""

PRESETS: Mapping[Preset, Mapping[str, object]] = MappingProxyType(
    {
        # A documentation index: a long tail of weak hits, templates and copies, one document with many hits.
        "docs": MappingProxyType(
            {
                "min_score": 0.3,
                "max_chunks_per_doc": 2,
                "ngram_threshold": 0.7,
                "similarity_threshold": 0.85,
                "factual_length": 200,
            }
        ),
        # Chunks of source files, where what looks alike differs in what matters.
        "code": MappingProxyType(
            {
                "ngram_threshold": None,
                "similarity_threshold": None,
                "max_chunks_per_doc": 0,
                "max_length": 2_000,
                "metadata_only": True,
            }
        ),
        # The answer of a search service: few results, and all of them rather than none.
        "web": MappingProxyType({"min_score": 0.3, "top_n": 5, "on_empty": "original"}),
        # One long page, as QATBE was published for it.
        "page": MappingProxyType(
            {"scorer": "bm25", "technical_synonyms": True, "type_weights": QATBE_TYPE_WEIGHTS, "tier": "summary"}
        ),
    }
)
"""Name of a preset -> the options that differ from the defaults."""
