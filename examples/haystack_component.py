"""A component for Haystack 2 and later that keeps what answers the query of retrieved documents, under one budget.

    pipeline.add_component("compressor", CtxDocumentCompressor(max_tokens=1000))
    pipeline.connect("retriever.documents", "compressor.documents")
    pipeline.connect("compressor.documents", "prompt_builder.documents")
    pipeline.run({"retriever": {"query": query}, "compressor": {"query": query}})

A pipeline that was written down is read with `Pipeline.loads(text, allowed_modules=["haystack_component"])`: Haystack
imports no other packages than its own unless it is told to.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from ctxcompress import Compression, CompressionConfig, Compressor, KeptPassage, Passage, passage_from_metadata

__all__ = ["CtxDocumentCompressor"]


@component
class CtxDocumentCompressor:
    """A document compressor. The kept texts, joined by `separator`, have at most `max_tokens` tokens.

    It returns new documents in the order of the input, each with verbatim parts of its text. Id, score and metadata
    stay, and the metadata have one more key, "ctxcompress", which says where the text comes from:

        {"spans": [[start, end], ...], "tokens": int, "relevance": float, "index": int}

    `spans` are character offsets into the given document, `tokens` count the kept text, `relevance` compares within one
    call, and `index` is the position among the given documents. An embedding is left out where the text has changed.
    Documents without text, such as images, come last, as they are.
    """

    def __init__(self, max_tokens: int | str = 1_000, **options: Any) -> None:
        """Make the component. Raises ConfigError, a ValueError, for a value that cannot work.

        options: those of `ctxcompress.CompressionConfig`. A pipeline can be written down if they are strings, numbers,
        and lists and dictionaries of these.
        """
        self.options = {"max_tokens": max_tokens, **options}
        self._compressor = Compressor(CompressionConfig().with_options(**self.options))

    def to_dict(self) -> dict[str, Any]:
        """Return the component as data."""
        return default_to_dict(self, **self.options)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "CtxDocumentCompressor":
        """Return the component that `to_dict` wrote."""
        made: CtxDocumentCompressor = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """Return the documents that answer `query`, with the parts of their texts that do."""
        return _compressed(documents, self._compressor.compress(query, _passages(documents)))

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """Do the same on another thread, so that the event loop is not blocked."""
        return _compressed(documents, await self._compressor.acompress(query, _passages(documents)))


def _passages(documents: Sequence[Document]) -> list[Passage]:
    texts = (document for document in documents if document.content)
    return [passage_from_metadata(each.id, each.content or "", each.meta, score=each.score) for each in texts]


def _compressed(documents: Sequence[Document], compression: Compression) -> dict[str, list[Document]]:
    places = [place for place, document in enumerate(documents) if document.content]
    kept = [_shorter(documents[places[part.index]], part, places[part.index]) for part in compression.passages]
    others = [replace(document, meta=deepcopy(document.meta)) for document in documents if not document.content]
    return {"documents": [*kept, *others]}


def _shorter(document: Document, kept: KeptPassage, index: int) -> Document:
    """Return a copy of the document with the kept text, and with a record of where it comes from."""
    record = {
        "spans": [list(span) for span in kept.spans],
        "tokens": kept.tokens,
        "relevance": kept.relevance,
        "index": index,
    }
    changes: dict[str, Any] = {} if kept.untouched else {"embedding": None, "sparse_embedding": None}
    return replace(document, content=kept.text, meta={**deepcopy(document.meta), "ctxcompress": record}, **changes)
