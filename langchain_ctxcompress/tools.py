"""Two tools for agents: one shows what a search finds in a line each, the other one opens a line."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from threading import Lock
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import compressed_document, passages_from_documents

__all__ = ["preview_tools"]

# What follows is read by a language model.
_SEARCH = (
    "Search the documents. Returns one line for each result: its id in square brackets, the title and headings it "
    "stands under, and its one sentence that fits the query best. A line is only a preview: read the promising "
    "results with expand_chunk before you answer from them."
)
_EXPAND = (
    "Read a result of search_previews: its full text or, with max_tokens, only what of it answers the query that it "
    "was found with best."
)
_NOTHING = "No results to show. Search again with other words."
_TOO_SHORT = "Nothing of it fits into so few tokens. Give more, or leave max_tokens out for the full text."


_LONGEST = 100
"""Characters of an id that is shown as it is: it counts in the budget."""


class _SearchInput(BaseModel):
    query: str = Field(description="What to look for: a question or keywords.")


class _ExpandInput(BaseModel):
    # Models write an id of digits as a number.
    model_config = ConfigDict(coerce_numbers_to_str=True)

    chunk_id: str = Field(description="The id of a result, as search_previews shows it in square brackets.")
    max_tokens: int | None = Field(
        default=None, ge=1, description="The most tokens to return, such as 300. Leave it out for the full text."
    )


def preview_tools(
    retriever: RetrieverLike, *, max_tokens: int | None = None, remembered: int = 1_000, **options: Any
) -> tuple[BaseTool, BaseTool]:
    """The tools `search_previews` and `expand_chunk`, so that an agent sees much and reads only what it needs.

    `search_previews(query)` returns one line a result, `[id] title › headings: best sentence`, in at most `max_tokens`
    tokens (1,000 if neither this nor `tier` is given), the most relevant ones if not all fit. Its artifact is the
    documents of these lines: copies that hold the sentence, as CtxCompressor makes them, under the ids of the lines.
    `expand_chunk(chunk_id, max_tokens=None)` returns the full text, or what of it answers the query of the last search
    that found it best. An id that is not known gives a message with status "error".

    The id is the document's own if it has one that goes into a line, else a short hash of its text and where it comes
    from: the same in every search. Two different texts never have one id. The pair remembers the last `remembered`
    documents that were found, or all of the last search if these are more; the least recently found go first.

    retriever: or any runnable from a query to a list of documents; its run is a child of the tool's.
    options: those of CtxCompressor other than `mode`, such as `min_score`, `top_n`, `order`, `preset`.

    Raises ValueError for a wrong value. The tools raise on what the retriever, or an encoder, raises.
    """
    if not isinstance(remembered, int) or remembered < 1:
        raise ValueError(f"remembered is {remembered!r}; give a whole number of documents, at least 1")
    compressor = Compressor(CtxCompressor(max_tokens=max_tokens, mode="preview", **options).config)
    pair = _Pair(retriever, compressor, _Memory(remembered))
    search = StructuredTool(
        name="search_previews",
        description=_SEARCH,
        args_schema=_SearchInput,
        func=pair.search,
        coroutine=pair.asearch,
        response_format="content_and_artifact",
    )
    expand = StructuredTool(
        name="expand_chunk",
        description=_EXPAND,
        args_schema=_ExpandInput,
        func=pair.expand,
        coroutine=pair.aexpand,
        handle_tool_error=True,
    )
    return search, expand


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage, under the id that it is shown with, and the query that found it last."""

    query: str
    passage: Passage


class _Memory:
    """What was found, by id. Threads can share it."""

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, Lock()
        self._found: OrderedDict[str, _Found] = OrderedDict()

    def remember(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        """The passages under ids that no other text has."""
        with self._lock:
            named = [self._named(query, passage) for passage in passages]
            while len(self._found) > max(self._size, len({passage.id for passage in named})):
                self._found.popitem(last=False)
        return named

    def recall(self, id: str) -> _Found:
        """Raises ToolException, for the agent to read, if there is none."""
        with self._lock:
            found = self._found.get(id) or self._found.get(id.strip("[] \n"))
            known = list(self._found)
        if found is None:
            close = get_close_matches(id, known)
            hint = f"Did you mean {' or '.join(close)}? " if close else ""
            raise ToolException(
                f"There is no result with the id {id[:100]!r}. {hint}Give an id as search_previews shows it, or search "
                "again: results of long ago are forgotten."
            )
        return found

    def _named(self, query: str, passage: Passage) -> Passage:
        named = replace(passage, id=next(name for name in _names(passage) if self._is_free(name, passage.text)))
        self._found[named.id] = _Found(query, named)
        self._found.move_to_end(named.id)
        return named

    def _is_free(self, id: str, text: str) -> bool:
        return id not in self._found or self._found[id].passage.text == text


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """What the two tools do."""

    retriever: RetrieverLike
    compressor: Compressor
    memory: _Memory

    def search(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = self.retriever.invoke(query, {"callbacks": callbacks})
        found = self._found(query, documents)
        compression = self.compressor.compress(query, [passage for _, passage in found])
        return _shown(found, compression, self.compressor.config)

    async def asearch(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = await self.retriever.ainvoke(query, {"callbacks": callbacks})
        # Documents with large metadata take their time to be read and copied.
        found = await run_in_executor(None, self._found, query, documents)
        compression = await self.compressor.acompress(query, [passage for _, passage in found])
        return await run_in_executor(None, _shown, found, compression, self.compressor.config)

    def expand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        found = self.memory.recall(chunk_id)
        if max_tokens is None:
            return found.passage.text
        passages = [found.passage]
        return _read(
            self.compressor.compress(found.query, passages, max_tokens=max_tokens, mode="extract", min_score=None)
        )

    async def aexpand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        found = self.memory.recall(chunk_id)
        if max_tokens is None:
            return found.passage.text
        passages = [found.passage]
        return _read(
            await self.compressor.acompress(
                found.query, passages, max_tokens=max_tokens, mode="extract", min_score=None
            )
        )

    def _found(self, query: str, documents: Sequence[Document]) -> list[tuple[Document, Passage]]:
        """Each document with its passage under the id that it is remembered with; the same one twice is one."""
        config = self.compressor.config
        passages = passages_from_documents(documents, config)
        own = [replace(passage, id=document.id or "") for document, passage in zip(documents, passages, strict=True)]
        found: dict[str, tuple[Document, Passage]] = {}
        for document, passage in zip(documents, self.memory.remember(query, own), strict=True):
            found.setdefault(passage.id, (document, passage))
        return list(found.values())


def _shown(
    found: Sequence[tuple[Document, Passage]], compression: Compression, config: CompressionConfig
) -> tuple[str, list[Document]]:
    copies = [compressed_document(found[kept.index][0], kept, config) for kept in compression.passages]
    for copy, kept in zip(copies, compression.passages, strict=True):
        copy.id = kept.id
    return compression.text or _NOTHING, copies


def _read(compression: Compression) -> str:
    if not compression.text:
        raise ToolException(_TOO_SHORT)
    return compression.text


def _names(passage: Passage) -> Iterator[str]:
    """Its own id, where a line can show it as it is; then hashes, the last of which no other text has."""
    if passage.id == " ".join(passage.id.split()) and 0 < len(passage.id) <= _LONGEST and "]" not in passage.id:
        yield passage.id
    digest = sha256(f"{passage.doc_id}\n{passage.file_path}\n{passage.text}".encode(errors="surrogatepass")).hexdigest()
    yield from (digest[:8], digest)
