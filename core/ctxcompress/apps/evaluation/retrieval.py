"""Where passages come from: a retriever of LangChain or LlamaIndex, a folder, or texts, as a function of the query."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from ctxcompress.apps.evaluation.questions import Question
from ctxcompress.apps.index.chunks import analyse_file
from ctxcompress.apps.index.folder_index import FolderIndex
from ctxcompress.apps.index.ranking import Ranking
from ctxcompress.compressor import PassageInput
from ctxcompress.data.metadata import as_passages, passage_from_metadata
from ctxcompress.data.passages import Passage
from ctxcompress.errors import ConfigError, InputError

__all__ = [
    "CANDIDATES",
    "Retrieve",
    "from_folder",
    "from_langchain",
    "from_llamaindex",
    "from_texts",
    "passages_of",
]

Retrieve = Callable[[str], PassageInput]
"""Returns the passages of a query."""

CANDIDATES = 20
"""How many passages a search returns."""


def passages_of(question: Question, retrieve: Retrieve | None) -> tuple[Passage, ...]:
    """Return the passages of a question. Raises InputError if there is nothing that brings them."""
    if retrieve is not None and not callable(retrieve):
        kind = type(retrieve).__name__
        raise ConfigError(f"retrieve is a {kind}; give a function, such as from_langchain(...) or from_llamaindex(...)")
    if retrieve is not None:
        return as_passages(retrieve(question.query))
    if question.passages is None:
        raise InputError(f"the question {question.query!r} has no passages; give retrieve, or passages with each one")
    return tuple(question.passages)


def from_langchain(retriever: Any) -> Retrieve:
    """Return a function that asks a retriever of LangChain, with as many results as it gives.

    Raises ConfigError if it is no retriever.
    """
    invoke = getattr(retriever, "invoke", None)
    if not callable(invoke):
        raise ConfigError(
            f"{type(retriever).__name__} has no method invoke; give a retriever, such as store.as_retriever()"
        )

    def retrieve(query: str) -> Sequence[Passage]:
        found = enumerate(invoke(query))
        return [passage_from_metadata(doc.id or str(place), doc.page_content, doc.metadata) for place, doc in found]

    return retrieve


def from_llamaindex(source: Any, candidates: int = CANDIDATES) -> Retrieve:
    """Return a function that asks a retriever of LlamaIndex, or an index for so many candidates.

    Raises ConfigError if it is neither.
    """
    as_retriever = getattr(source, "as_retriever", None)
    retriever = as_retriever(similarity_top_k=candidates) if callable(as_retriever) else source
    ask = getattr(retriever, "retrieve", None)
    if not callable(ask):
        raise ConfigError(f"{type(source).__name__} is no retriever and no index of LlamaIndex; give one of them")

    def retrieve(query: str) -> Sequence[Passage]:
        return [
            passage_from_metadata(
                found.node.node_id,
                found.node.get_content(),
                {"doc_id": found.node.ref_doc_id or "", **found.node.metadata},
                score=found.score,
            )
            for found in ask(query)
        ]

    return retrieve


def from_folder(folder: str | PathLike[str], candidates: int = CANDIDATES) -> Retrieve:
    """Return a function that finds the best chunks of a folder's text files by BM25.

    Raises ConfigError if there is no such folder.
    """
    index = FolderIndex(folder)
    index.refresh()
    return lambda query: [hit.passage() for hit in index.search(query, candidates)]


def from_texts(texts: Mapping[str, str], candidates: int = CANDIDATES) -> Retrieve:
    """Return a function that finds the best chunks of texts by BM25. texts: id -> text."""
    vocabulary: dict[str, int] = {}
    ranking = Ranking.of([analyse_file(text, name, vocabulary) for name, text in texts.items()], vocabulary)
    return lambda query: [hit.passage() for hit in ranking.search(query, candidates).best]
