"""What the server's tools do: search the folder, and read one chunk of it. Nothing of the protocol is in here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from ctxcompress.compressor import Compressor
from ctxcompress.data.passages import Passage
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.index import Chunk, FolderIndex, Hit
from ctxcompress.tools.query_tool import DESCRIPTION, NAME, OUTPUT_SCHEMA, QueryTool

__all__ = ["DocumentTools", "ToolResult", "ToolSpec"]

_FEWEST, _TIMES, _MOST = 50, 4, 100
"""Chunks that are looked at, how many for each that is asked for, as some are duplicates, and where all are."""
_SUGGESTIONS = 5

# What follows is read by a language model.
_EXPAND = (
    "Read one chunk that query_documents_compressed has found, in full; or with max_tokens what comes first in it, and "
    "with a query what of it answers that."
)
_EXPAND_INPUT: Mapping[str, object] = MappingProxyType(
    {
        "type": "object",
        "properties": {
            "chunk_id": {
                "type": "string",
                "description": "As it stands in the line above a result, such as docs/auth.md#L10-L42.",
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
                "description": "What to look for in it, where max_tokens leaves no room for all.",
            },
        },
        "required": ["chunk_id"],
        "additionalProperties": False,
    }
)
_CHUNK = ("chunk_id", "file_path", "header_path", "content")
_EXPAND_OUTPUT: Mapping[str, object] = MappingProxyType(
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in _CHUNK},
        "required": list(_CHUNK),
        "additionalProperties": False,
    }
)


class ToolResult(NamedTuple):
    """The result of a call."""

    text: str
    structured: dict[str, object]


class ToolSpec(NamedTuple):
    """A tool as the server lists it. `call` raises ConfigError or InputError, for the model to read."""

    name: str
    description: str
    input_schema: Mapping[str, object]
    output_schema: Mapping[str, object]
    call: Callable[[Mapping[str, Any]], ToolResult]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTools:
    """The tools over one index. Threads can share them."""

    index: FolderIndex
    tool: QueryTool

    def specs(self) -> tuple[ToolSpec, ToolSpec]:
        return (
            ToolSpec(NAME, DESCRIPTION, self.tool.parameters.schema, OUTPUT_SCHEMA, self.query),
            ToolSpec("expand_chunk", _EXPAND, _EXPAND_INPUT, _EXPAND_OUTPUT, self.expand),
        )

    def query(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Answer a call with what the chunks say that have words of the query, compressed."""
        asked = self.tool.parameters.read(arguments)
        top_n = asked.options["top_n"]
        most = max(_FEWEST, _TIMES * top_n) if asked.filters and top_n else _MOST
        found = self.tool.answer(asked, [_passage(hit) for hit in self.index.search(asked.query, most)])
        structured = found.structured()
        results = [{**result, "file_path": result["doc_id"]} for result in found.results]
        return ToolResult(found.text, {**structured, "results": results})

    def expand(self, arguments: Mapping[str, Any]) -> ToolResult:
        """One chunk: never more of it than the server's budget."""
        name, max_tokens, query = _expand_arguments(arguments)
        chunk = self.index.chunk(name) or self._shown(name.strip("[] \n"))
        if chunk is None:
            raise InputError(self._unknown(name))
        budget = self.tool.config.budget
        most = min(max_tokens or budget, budget)
        text = Compressor(self.tool.config).expand(query, Passage(chunk.id, chunk.text, file_path=chunk.path), most)
        if not text:
            raise ConfigError(f"max_tokens is {most}, and nothing of {name!r} fits; give more")
        told = (chunk.id, chunk.path, " > ".join(chunk.header_path), text)
        return ToolResult(text, dict(zip(_CHUNK, told, strict=True)))

    def _shown(self, name: str) -> Chunk | None:
        """The chunk whose id a line shows so: a long one without its beginning."""
        same = self.index.chunks_ending(name[1:]) if name.startswith("…") else []
        return same[0] if len(same) == 1 else self.index.chunk(name)

    def _unknown(self, name: str) -> str:
        # Looked up among the chunks, never on the disk: an id cannot lead anywhere else.
        same = self.index.chunks_of_file(name.strip("[] \n").partition("#")[0])
        hint = f"Of this file there are {', '.join(other.id for other in same[:_SUGGESTIONS])}. " if same else ""
        return (
            f"there is no chunk {name[:200]!r}. {hint}Give an id as query_documents_compressed shows it, or search "
            "again: the file may have changed"
        )


def _passage(hit: Hit) -> Passage:
    """The line above a result shows the id for the path: it begins with the path, and can be expanded."""
    chunk: Chunk = hit.chunk
    return Passage(
        chunk.id, chunk.text, score=hit.score, doc_id=chunk.path, file_path=chunk.id, header_path=chunk.header_path
    )


def _expand_arguments(given: Mapping[str, Any]) -> tuple[str, int | None, str]:
    known = ("chunk_id", "max_tokens", "query")
    for argument in given:
        if argument not in known:
            raise ConfigError(f"there is no argument {argument[:100]!r}; the arguments are {', '.join(known)}")
    name, max_tokens, query = (given.get(argument) for argument in known)
    if not isinstance(name, str) or not name:
        raise ConfigError(f"chunk_id is {str(name)[:100]!r}; give an id as query_documents_compressed shows it")
    if isinstance(max_tokens, float) and max_tokens.is_integer():
        max_tokens = int(max_tokens)  # JSON writes 5 as 5.0, too
    is_number = isinstance(max_tokens, int) and not isinstance(max_tokens, bool) and max_tokens >= 1
    if max_tokens is not None and not is_number:
        raise ConfigError(f"max_tokens is {str(max_tokens)[:100]!r}; give a whole number, at least 1, or leave it out")
    if query is not None and not isinstance(query, str):
        raise ConfigError(f"query is {str(query)[:100]!r}; give a string, or leave it out")
    return name, max_tokens, query or ""
