"""The server's tools, independent of the protocol: searching the folder and reading one chunk of it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ctxcompress.agents.arguments import object_schema
from ctxcompress.agents.query_tool import DESCRIPTION, NAME, OUTPUT_SCHEMA, QueryTool
from ctxcompress.apps.index import Chunk, FolderIndex
from ctxcompress.compressor import Compressor
from ctxcompress.data.passages import Passage
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError

__all__ = ["DocumentTools", "ToolResult", "ToolSpec"]

_HITS, _HITS_PER_RESULT = 20, 4
"""Chunks to retrieve, and for each of `top_n` results: some are duplicates. More change little."""
_SUGGESTIONS = 5
"""Chunk ids that an error message names."""

# A language model reads the following descriptions.
_EXPAND = (
    "Read a chunk that query_documents_compressed has found, in full. With max_tokens, read only its beginning; with "
    "max_tokens and query, the parts that answer the query. If not all of it fits, the last line says so: "
    "[… 120 tokens left out]."
)
_EXPAND_INPUT: Mapping[str, object] = MappingProxyType(
    {
        "chunk_id": {
            "type": "string",
            "description": "The id in the line above a result, such as docs/auth.md#L10-L42.",
        },
        "max_tokens": {
            "type": ["integer", "null"],
            "minimum": 1,
            "default": None,
            "description": "The most tokens to return, such as 300.",
        },
        "query": {
            "type": ["string", "null"],
            "default": None,
            "description": "What to look for in the chunk if max_tokens leaves no room for all of it.",
        },
    }
)
_CHUNK_FIELDS = ("chunk_id", "file_path", "header_path", "content")
_LEFT_OUT = "tokens_left_out"


class ToolResult(NamedTuple):
    """The result of a call, as text for the model and as structured data."""

    text: str
    structured: dict[str, object]


class ToolSpec(NamedTuple):
    """A tool as the server lists it. `call` raises ConfigError or InputError, whose messages the model reads."""

    name: str
    description: str
    input_schema: Mapping[str, object]
    output_schema: Mapping[str, object]
    call: Callable[[Mapping[str, Any]], ToolResult]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTools:
    """The tools for one index. Threads can share them."""

    index: FolderIndex
    tool: QueryTool

    def specs(self) -> tuple[ToolSpec, ToolSpec]:
        expand_input = object_schema(_EXPAND_INPUT, ("chunk_id",))
        texts: dict[str, object] = {name: {"type": "string"} for name in _CHUNK_FIELDS}
        fields = {**texts, _LEFT_OUT: {"type": "integer", "minimum": 0}}
        expand_output = object_schema(fields, tuple(fields))
        return (
            ToolSpec(NAME, DESCRIPTION, self.tool.parameters.schema, OUTPUT_SCHEMA, self.query),
            ToolSpec("expand_chunk", _EXPAND, expand_input, expand_output, self.expand),
        )

    def query(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Search the chunks for the words of the query, and return the compressed results."""
        asked = self.tool.parameters.read(arguments)
        top_n = asked.options["top_n"]
        hits = max(_HITS, _HITS_PER_RESULT * top_n) if asked.filters and top_n else _HITS
        best, total = self.index.find(asked.query, hits)
        # The id of a chunk takes the place of the path in the line above the result, so that it can be expanded.
        passages = [replace(hit.passage(), file_path=hit.chunk.id) for hit in best]
        found = self.tool.answer(asked, passages, total=total)
        structured = found.structured()
        results = [{**result, "file_path": result["doc_id"]} for result in found.results]
        return ToolResult(found.text, {**structured, "results": results})

    def expand(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return one chunk, or as much of it as fits into `max_tokens` and the server's budget."""
        name, max_tokens, query = _expand_arguments(arguments)
        shown = name.strip("[] \n")
        chunk = self.index.chunk(name) or self.index.chunk(shown)
        if chunk is None and shown.startswith("…"):  # results show a long id with an ellipsis for its beginning
            same = self.index.chunks_ending(shown[1:])
            chunk = same[0] if len(same) == 1 else None
        if chunk is None:
            raise InputError(self._unknown_chunk(name))
        budget = self.tool.config.budget
        limit = min(max_tokens or budget, budget)
        content, left_out, text = self._read(chunk, query, limit)
        if not content:
            raise ConfigError(f"max_tokens is {limit}, and nothing of {name!r} fits; give more")
        values = (chunk.id, chunk.path, " > ".join(chunk.header_path), content)
        return ToolResult(text, {**dict(zip(_CHUNK_FIELDS, values, strict=True)), _LEFT_OUT: left_out})

    def _read(self, chunk: Chunk, query: str, limit: int) -> tuple[str, int, str]:
        """Return as much of a chunk as fits, the tokens left out, and the text with a line that says so if it fits."""
        compressor = Compressor(self.tool.config.for_expansion(limit))
        passage, whole = Passage(chunk.id, chunk.whole, file_path=chunk.path), compressor.count(chunk.whole)
        if whole <= limit:
            return chunk.whole, 0, chunk.whole

        def attempt(room: int) -> tuple[str, int, str]:
            content = compressor.compress(query, [passage], max_tokens=room).text
            left_out = whole - compressor.count(content)
            return content, left_out, content + _line(left_out)

        room = limit - compressor.count(_line(whole))
        if room >= limit / 2:
            with suppress(BudgetTooSmall):  # what must be kept comes before the line
                shown = attempt(room)
                if shown[0] and compressor.count(shown[2]) <= limit:
                    return shown
        content, left_out, _ = attempt(limit)
        return content, left_out, content

    def _unknown_chunk(self, name: str) -> str:
        # Only among the chunks, never on disk, so that an id cannot lead to other files.
        same = self.index.chunks_of_file(name.strip("[] \n").partition("#")[0])
        hint = f"This file has {', '.join(other.id for other in same[:_SUGGESTIONS])}. " if same else ""
        return (
            f"there is no chunk {name[:200]!r}. {hint}Give an id as query_documents_compressed shows it, or search "
            "again: the file may have changed"
        )


def _line(left_out: int) -> str:
    return f"\n[… {left_out:,} tokens left out]"


def _expand_arguments(given: Mapping[str, Any]) -> tuple[str, int | None, str]:
    for argument in given:
        if argument not in _EXPAND_INPUT:
            raise ConfigError(f"there is no argument {argument[:100]!r}; the arguments are {', '.join(_EXPAND_INPUT)}")
    name, max_tokens, query = (given.get(argument) for argument in _EXPAND_INPUT)
    if not isinstance(name, str) or not name:
        raise ConfigError(f"chunk_id is {str(name)[:100]!r}; give an id as query_documents_compressed shows it")
    if isinstance(max_tokens, float) and max_tokens.is_integer():
        max_tokens = int(max_tokens)  # JSON may write 5 as 5.0
    is_number = isinstance(max_tokens, int) and not isinstance(max_tokens, bool) and max_tokens >= 1
    if max_tokens is not None and not is_number:
        raise ConfigError(f"max_tokens is {str(max_tokens)[:100]!r}; give a whole number, at least 1, or omit it")
    if query is not None and not isinstance(query, str):
        raise ConfigError(f"query is {str(query)[:100]!r}; give a string, or omit it")
    return name, max_tokens, query or ""
