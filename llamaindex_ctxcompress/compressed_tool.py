"""A copy of a tool that returns shorter outputs and is the same tool in every other way."""

import copy
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.tools import BaseTool, ToolOutput

from ctxcompress.tools.output_compressor import (
    QUERY_NAMES,
    OutputCompressor,
    check_limits,
    class_with,
    has_records,
    named_query,
    on_thread,
    only_text,
)
from llamaindex_ctxcompress.compression import compress_nodes
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["compress_tool"]

Tool = TypeVar("Tool", bound=BaseTool)

_QUERY_NAMES = (*QUERY_NAMES, "query_str")
_METHODS = ("__call__", "call")
_TRIES = 3
"""How often search results are compressed again until they fit as Python writes them."""


def compress_tool(
    tool: Tool,
    *,
    query_argument: str | None = None,
    max_tokens: int | str | None = None,
    min_tokens: int = 200,
    complexity: str | None = None,
    **options: Any,
) -> Tool:
    """Return a copy of `tool` whose outputs keep what answers the query of the call, in at most `max_tokens` tokens.

    To an agent it is the same tool: class, metadata, context parameter, `call` and `acall`. Of a `ToolOutput` only the
    text blocks change; raw_input, raw_output and outputs with `is_error` stay as they are. `tool` itself does not
    change.

    Search results (see `ctxcompress.compress_search_results`), given as JSON text or as objects that LlamaIndex writes
    with `str()`, keep their shape. Results that fit stay as they are; otherwise as many as fit are kept, each within
    the limits of the query's complexity. A single result, such as a page, has the budget to itself. Nodes are
    compressed as passages and written as the tool of a retriever writes them. Other text is compressed as text. Of
    other JSON, lists and mappings whole values are kept, so that what is kept can be parsed. Outputs of fewer than
    `min_tokens` tokens stay as they are, and so do lists and mappings that hold other objects.

    query_argument: the argument that holds the query. Without it, it is the one called query, q, question,
    search_query, input or query_str, or the only text argument; without any of these, the beginning is kept.
    max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query; "25%" is a share of what
    `reserved_tokens` leave of the context window of `model`. complexity: the complexity of every query, which limits
    search results; None classifies each query. options: those of CtxCompressPostprocessor
    other than `mode`, `format`, `metadata_mode` and `trace_to`.

    Raises TypeError if `tool` is not a tool of LlamaIndex, and ValueError for an unknown option or a wrong value. Calls
    raise what the tool raises, and RuntimeError if `encoding` names a vocabulary that can neither be found nor fetched.
    """
    if not isinstance(tool, BaseTool):
        raise TypeError(
            f"tool is a {type(tool).__name__}; give a BaseTool, such as FunctionTool.from_defaults(function)"
        )
    check_limits(min_tokens, complexity)
    config = CtxCompressPostprocessor.config_of(dict(mode="extract", format="plain", max_tokens=max_tokens, **options))
    names = _QUERY_NAMES if query_argument is None else (query_argument,)
    return _twin(tool, _Outputs(config, min_tokens, complexity), names)


@dataclass(frozen=True, slots=True)
class _Outputs(OutputCompressor):
    """A compressor for what LlamaIndex's tools return."""

    def shortened(self, output: ToolOutput, query: str | None) -> ToolOutput:
        """Return the output with less text; the very same output if it stays as it is."""
        if not isinstance(output, ToolOutput) or output.is_error:
            return output
        texts = [block.text for block in output.blocks if isinstance(block, TextBlock)]
        if self.count("\n".join(texts)) < self.min_tokens:
            return output
        kept = self.for_query(query)._kept(texts, output.raw_output, query)
        if kept is None or self.count("\n".join(kept)) >= self.count("\n".join(texts)):
            return output
        return output.model_copy(update={"blocks": _with_texts(output.blocks, kept)})

    def _kept(self, texts: Sequence[str], raw: object, query: str | None) -> Sequence[str] | None:
        """Return a replacement for each text, "" for a dropped one; None if the output stays as it is."""
        if len(texts) == 1:
            return self._of_one(texts[0], raw, query)
        return self._passages(texts, query, "\n")

    def _of_one(self, text: str, raw: object, query: str | None) -> Sequence[str] | None:
        if _are_nodes(raw):
            shown = [node.get_content(MetadataMode.LLM) for node in raw]
            if text in ("".join(f"{part}\n\n" for part in shown), str(raw)):
                return [self._of_nodes(raw, query)]
        is_written = not isinstance(raw, str) and str(raw) == text
        found = self._search(raw if is_written else text, query)
        if found is not None:
            return [found]
        if is_written and isinstance(raw, list | tuple | Mapping) and not has_records(text):
            return None
        return [self.compress([text], query).text]

    def _of_nodes(self, nodes: Sequence[NodeWithScore], query: str | None) -> str:
        kept, _ = compress_nodes(self.config.with_options(separator="\n\n"), query, nodes, MetadataMode.LLM)
        return "\n\n".join(node.get_content(MetadataMode.LLM) for node in kept)

    def _passages(self, texts: Sequence[str], query: str | None, separator: str) -> list[str]:
        result = self.compress(texts, query, separator=separator)
        kept = {part.index: part.text for part in result.passages}
        return [kept.get(place, "") for place in range(len(texts))]

    def _search(self, results: object, query: str | None) -> str | None:
        """Return search results as LlamaIndex writes them; None for other content.

        The core counts them as JSON, which is shorter, so they may have to be compressed again.
        """
        budget = self.config.budget
        for _ in range(_TRIES):
            found = self.search_results(results, query, budget)
            if found is None:
                return None
            if self.count(str(results)) <= self.config.budget:
                return str(results)
            text = str(found.results)
            if (tokens := self.count(text)) <= self.config.budget:
                break
            budget = max(1, budget * self.config.budget // tokens)
        return text


def _twin(tool: Tool, outputs: _Outputs, names: Collection[str]) -> Tool:
    """Return a copy of the tool, of a subclass that compresses what the tool's methods return."""
    kind = type(tool)

    def method(name: str) -> Callable[..., ToolOutput]:
        @functools.wraps(getattr(kind, name))
        def call(self: BaseTool, *args: Any, **kwargs: Any) -> ToolOutput:
            output: ToolOutput = getattr(_itself(self, kind), name)(*args, **kwargs)
            return outputs.shortened(output, _query(args, kwargs, names))

        return call

    @functools.wraps(getattr(kind, "acall", kind.__call__))
    async def acall(self: BaseTool, *args: Any, **kwargs: Any) -> ToolOutput:
        output: ToolOutput = await _itself(self, kind).acall(*args, **kwargs)  # type: ignore[attr-defined]
        return await on_thread(functools.partial(outputs.shortened, output, _query(args, kwargs, names)))

    def reduce(self: BaseTool) -> tuple[Any, ...]:
        return _twin, (_itself(self, kind), outputs, names)

    methods: dict[str, Any] = {name: method(name) for name in _METHODS if hasattr(kind, name)}
    methods["__reduce__"] = reduce
    if hasattr(kind, "acall"):
        methods["acall"] = acall
    twin = copy.copy(tool)
    twin.__class__ = class_with(kind, methods)
    return twin


def _itself(twin: BaseTool, kind: type[Tool]) -> Tool:
    """Return the tool as its own class has it, with the same attributes.

    The tool's methods may call each other, and the output of one must not be compressed twice.
    """
    tool = kind.__new__(kind)
    object.__setattr__(tool, "__dict__", vars(twin))
    return tool


def _query(args: Sequence[object], kwargs: Mapping[str, object], names: Collection[str]) -> str | None:
    return named_query(kwargs, names) or only_text((*args, *kwargs.values()))


def _are_nodes(raw: object) -> TypeGuard[list[NodeWithScore]]:
    return isinstance(raw, list) and bool(raw) and all(isinstance(item, NodeWithScore) for item in raw)


def _with_texts(blocks: Sequence[Any], texts: Sequence[str]) -> list[Any]:
    """Return the blocks with these texts in the text blocks, without text blocks that are empty now."""
    left = iter(texts)
    changed = [
        block.model_copy(update={"text": next(left)}) if isinstance(block, TextBlock) else block for block in blocks
    ]
    return [block for block in changed if not isinstance(block, TextBlock) or block.text]
