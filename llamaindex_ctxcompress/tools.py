"""Two tools for agents: one shows what a search finds in a line each, the other one opens a line."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from threading import Lock
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import FunctionTool

from ctxcompress import Compression, Compressor, KeptPassage, Passage
from llamaindex_ctxcompress.convert import compressed_node, is_text_only, passage_from_node, passed_through
from llamaindex_ctxcompress.embeddings import config_of

__all__ = ["Previews", "preview_tools"]

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
    chunk_id: str = Field(description="The id of a result, as search_previews shows it in square brackets.")
    max_tokens: int | None = Field(
        default=None, ge=1, description="The most tokens to return, such as 300. Leave it out for the full text."
    )


class Previews(BaseModel):
    """What `search_previews` gives as `raw_output`."""

    text: str
    """The lines, which is all that the language model reads."""
    nodes: list[NodeWithScore]
    """The nodes of the lines: copies that hold the sentence, as CtxCompressPostprocessor makes them."""

    def __str__(self) -> str:
        return self.text


def preview_tools(
    retriever: BaseRetriever,
    *,
    max_tokens: int | None = None,
    remembered: int = 1_000,
    preset: Literal["docs", "code", "web", "page"] | None = None,
    **options: Any,
) -> tuple[FunctionTool, FunctionTool]:
    """The tools `search_previews` and `expand_chunk`, so that an agent sees much and reads only what it needs.

    `search_previews(query)` returns one line a result, `[id] title › headings: best sentence`, in at most `max_tokens`
    tokens (1,000 if neither this nor `tier` is given), the most relevant ones if not all fit. Its raw output is a
    `Previews`, which has copies of the nodes of these lines. Nodes are never changed.
    `expand_chunk(chunk_id, max_tokens=None)` returns the full text, or what of it answers the query of the last search
    that found it best. An id that is not known gives a message that says what to do.

    The id is the node's: the same in every search. Two different texts never have one id; where two nodes have, or
    where it does not go into a line, it is a short hash of the text and where it comes from. The pair remembers the
    last `remembered` nodes that were found, or all of the last search if these are more; the least recently found go
    first.

    options: those of CtxCompressPostprocessor other than `mode` and `metadata_mode`, such as `min_score`, `top_n`.

    Raises ValueError for a wrong value or an unknown option. The tools raise ValueError for a
    `max_tokens` below 1, which agents hand on to the model, and what the retriever, or an encoder, raises.
    """
    if not isinstance(remembered, int) or remembered < 1:
        raise ValueError(f"remembered is {remembered!r}; give a whole number of nodes, at least 1")
    config = config_of(dict(mode="preview", max_tokens=max_tokens, **options), preset)
    pair = _Pair(retriever, Compressor(config), _Memory(remembered))
    search = FunctionTool.from_defaults(
        fn=pair.search, async_fn=pair.asearch, name="search_previews", description=_SEARCH, fn_schema=_SearchInput
    )
    expand = FunctionTool.from_defaults(
        fn=pair.expand, async_fn=pair.aexpand, name="expand_chunk", description=_EXPAND, fn_schema=_ExpandInput
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

    def recall(self, id: str) -> _Found | None:
        with self._lock:
            return self._found.get(id) or self._found.get(id.strip("[] \n"))

    def unknown(self, id: str) -> str:
        """What to tell an agent that asks for something that is not here."""
        with self._lock:
            known = list(self._found)
        close = get_close_matches(id, known)
        hint = f"Did you mean {' or '.join(close)}? " if close else ""
        return (
            f"There is no result with the id {id[:100]!r}. {hint}Give an id as search_previews shows it, or search "
            "again: results of long ago are forgotten."
        )

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

    retriever: BaseRetriever
    compressor: Compressor
    memory: _Memory

    def search(self, query: str) -> Previews:
        found = self._found(query, self.retriever.retrieve(query))
        return _shown(found, self.compressor.compress(query, [passage for _, passage in found]))

    async def asearch(self, query: str) -> Previews:
        nodes = await self.retriever.aretrieve(query)
        found = await asyncio.to_thread(self._found, query, nodes)
        compression = await self.compressor.acompress(query, [passage for _, passage in found])
        return await asyncio.to_thread(_shown, found, compression)

    def expand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        # The tool does not check what a model gives: an id of digits may come as a number.
        found = self.memory.recall(str(chunk_id))
        if found is None or max_tokens is None:
            return found.passage.text if found else self.memory.unknown(str(chunk_id))
        passages = [found.passage]
        compression = self.compressor.compress(
            found.query, passages, max_tokens=max_tokens, mode="extract", min_score=None
        )
        return compression.text or _TOO_SHORT

    async def aexpand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        found = self.memory.recall(str(chunk_id))
        if found is None or max_tokens is None:
            return found.passage.text if found else self.memory.unknown(str(chunk_id))
        passages = [found.passage]
        compression = await self.compressor.acompress(
            found.query, passages, max_tokens=max_tokens, mode="extract", min_score=None
        )
        return compression.text or _TOO_SHORT

    def _found(self, query: str, nodes: Sequence[NodeWithScore]) -> list[tuple[NodeWithScore, Passage]]:
        """Each node with its passage under the id that it is remembered with; the same one twice is one."""
        config = self.compressor.config
        passages = [passage_from_node(item, config.metadata_map, config.score_key) for item in nodes]
        found: dict[str, tuple[NodeWithScore, Passage]] = {}
        for item, passage in zip(nodes, self.memory.remember(query, passages), strict=True):
            found.setdefault(passage.id, (item, passage))
        return list(found.values())


def _shown(found: Sequence[tuple[NodeWithScore, Passage]], compression: Compression) -> Previews:
    nodes = [_copied(found[kept.index][0], kept) for kept in compression.passages]
    return Previews(text=compression.text or _NOTHING, nodes=nodes)


def _copied(item: NodeWithScore, kept: KeptPassage) -> NodeWithScore:
    if is_text_only(item.node):
        return compressed_node(item, kept, kept.index, kept.stands_for)
    return passed_through(item)


def _names(passage: Passage) -> Iterator[str]:
    """Its own id, where a line can show it as it is; then hashes, the last of which no other text has."""
    if passage.id == " ".join(passage.id.split()) and 0 < len(passage.id) <= _LONGEST and "]" not in passage.id:
        yield passage.id
    digest = sha256(f"{passage.doc_id}\n{passage.file_path}\n{passage.text}".encode(errors="surrogatepass")).hexdigest()
    yield from (digest[:8], digest)
