"""Named sets of options: where to start for a kind of retrieval."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ctxcompress.data.passages import Kind

__all__ = ["PRESETS", "QATBE_TYPE_WEIGHTS", "Preset"]

Preset = Literal["docs", "code", "web", "page", "docs_published", "code_published", "web_published", "page_published"]

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

_DOCS: Mapping[str, object] = {"min_score": 0.3, "ngram_threshold": 0.7, "similarity_threshold": 0.85}
_CODE: Mapping[str, object] = {"metadata_only": True}
_WEB: Mapping[str, object] = {"min_score": 0.3, "on_empty": "original"}
_PAGE: Mapping[str, object] = {"tier": "summary", "technical_synonyms": True}

PRESETS: Mapping[Preset, Mapping[str, object]] = MappingProxyType(
    {
        # A documentation index: a long tail of weak hits, templates, duplicates.
        "docs": MappingProxyType(_DOCS),
        # Chunks of source files, where what looks alike differs in what matters.
        "code": MappingProxyType(_CODE),
        # The answer of a search service: all results rather than none.
        "web": MappingProxyType(_WEB),
        # One long page, and a question that may use other words than it.
        "page": MappingProxyType(_PAGE),
        # The same as they were published, with limits that cut by position: docs/reduction.md has what they cost.
        "docs_published": MappingProxyType({**_DOCS, "max_chunks_per_doc": 2, "factual_length": 200}),
        "code_published": MappingProxyType({**_CODE, "max_length": 2_000}),
        "web_published": MappingProxyType({**_WEB, "top_n": 5}),
        "page_published": MappingProxyType({**_PAGE, "scorer": "bm25", "type_weights": QATBE_TYPE_WEIGHTS}),
    }
)
"""Name of a preset -> the options that differ from the defaults. In those without "published" the budget decides what
is dropped: none of them has a limit that drops evidence while there is room."""
