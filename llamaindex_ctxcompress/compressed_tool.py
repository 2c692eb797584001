"""A copy of a tool that returns shorter outputs and is the same tool in every other way."""

import copy
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, TypeVar

from llama_index.core.base.llms.types import TextBlock
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.tools import BaseTool, FunctionTool, ToolOutput

from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.agents.keeper import check_room, with_marker
from ctxcompress.agents.left_out import LeftOutStore
from ctxcompress.agents.markers import LeftOut, Shorter, guarded
from ctxcompress.agents.output_compressor import (
    QUERY_NAMES,
    OutputCompressor,
    SearchLimits,
    check_limits,
    class_with,
    has_records,
    named_query,
    on_own_thread,
    on_thread,
    only_text,
)
from llamaindex_ctxcompress.compression import compress_nodes
from llamaindex_ctxcompress.elision import ContextStore, Keep, Shelf, context_of, context_properties, own_arguments
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
    store: LeftOutStore | ContextStore | None = None,
    search_limits: SearchLimits | None = None,
    preset: Preset | None = None,
    config: ConfigSource | None = None,
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
    max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query; "25%" is a share of the
    context window of `model`. complexity: the complexity of every query, which limits
    search results; None classifies each query. search_limits: other limits on lists of search results, `SearchLimits`
    of ctxcompress.apps.search; unless they say otherwise, they hold for all results. store: where whole outputs
    are kept, so that an agent with `expand_tool(store)` can read what was left out. A shortened output then ends with a
    marker such as "[… 120 lines left out (41-160): expand ctx-3f2a91c4]", which counts in its budget, and agents pass
    their context to the tool if it is a FunctionTool. preset, config: the options to start from; config is a
    CompressionConfig or the path of a TOML or JSON file. options: those of CtxCompressPostprocessor other than
    `format`, `metadata_mode` and `trace_to`.

    Raises TypeError if `tool` is not a tool of LlamaIndex, and ValueError for an unknown option or a wrong value. Calls
    raise what the tool raises, and RuntimeError if `encoding` names a vocabulary that can neither be found nor fetched.
    """
    if not isinstance(tool, BaseTool):
        raise TypeError(
            f"tool is a {type(tool).__name__}; give a BaseTool, such as FunctionTool.from_defaults(function)"
        )
    arguments = tool.metadata.get_parameters_dict().get("properties", {})
    if query_argument is not None and query_argument not in arguments:
        raise ValueError(
            f"query_argument is {query_argument!r}; the arguments of {tool.metadata.name} are "
            f"{', '.join(arguments) or 'none'}"
        )
    check_limits(min_tokens, complexity, search_limits)
    given = dict(format="plain", max_tokens=max_tokens, preset=preset, config=config, **options)
    names = _QUERY_NAMES if query_argument is None else (query_argument,)
    outputs = _Outputs(CtxCompressPostprocessor.config_of(given), min_tokens, complexity, search_limits)
    if store is not None:
        check_room(outputs.config.max_tokens)
    return _twin(tool, outputs, names, None if store is None else Shelf.of(store))


@dataclass(frozen=True, slots=True)
class _Outputs(OutputCompressor):
    """A compressor for what LlamaIndex's tools return."""

    def shortened(self, output: ToolOutput, query: str | None, keep: Keep | None = None) -> ToolOutput:
        """Return the output with less text; the very same output if it stays as it is.

        keep: keeps the whole text and returns its handle, so that the output can end with a marker.
        """
        if not isinstance(output, ToolOutput) or output.is_error:
            return output
        texts = [block.text for block in output.blocks if isinstance(block, TextBlock)]
        outputs = self.for_query(query)
        if keep is None:
            cut = outputs._cut(texts, output.raw_output, query)
            return output if cut is None else _with_texts(output, cut)
        cut = outputs.with_rules_that_fit(lambda outputs: outputs._marked(texts, output.raw_output, query, keep))
        if cut is None and (safe := [*map(guarded, texts)]) != texts:
            cut = Shorter(safe)
        return output if cut is None else _with_texts(output, cut)

    def _marked(self, texts: Sequence[str], raw: object, query: str | None, keep: Keep) -> Shorter | None:
        """Return the texts with less text and a marker; None if they stay as they are."""
        return with_marker(
            lambda budget: replace(self, config=self.config.with_options(max_tokens=budget))._cut(texts, raw, query),
            lambda: keep("\n".join(texts)),
            self._with_marker,
            self.config.budget,
            self.count,
        )

    def _with_marker(self, cut: Shorter, handle: str) -> Shorter:
        """Return the same with a marker: the last line of a single text, else a text of its own."""
        texts, marker = [*map(guarded, cut.content)], cut.marker(handle)
        texts = [f"{texts[0]}\n{marker}"] if len(texts) == 1 else [*texts, marker]
        return replace(cut, content=texts, compressed_tokens=self.count("\n".join(texts)))

    def _cut(self, texts: Sequence[str], raw: object, query: str | None) -> Shorter | None:
        """Return the texts with less text; None if they stay as they are."""
        tokens = self.count("\n".join(texts))
        if tokens < self.min_tokens:
            return None
        cut = self._of_one(texts[0], raw, query) if len(texts) == 1 else self._passages(texts, query, "\n")
        if cut is None or (kept := self.count("\n".join(cut.content))) >= tokens:
            return None
        return replace(cut, original_tokens=tokens, compressed_tokens=kept)

    def _of_one(self, text: str, raw: object, query: str | None) -> Shorter | None:
        if _are_nodes(raw):
            shown = [node.get_content(MetadataMode.LLM) for node in raw]
            if text in ("".join(f"{part}\n\n" for part in shown), str(raw)):
                config = self.config.with_options(separator="\n\n")
                nodes, _ = compress_nodes(config, query, raw, MetadataMode.LLM)
                texts = [node.get_content(MetadataMode.LLM) for node in nodes]
                return Shorter(["\n\n".join(texts) or self.said_nothing()])
        is_written = not isinstance(raw, str) and str(raw) == text
        found = self._search(raw if is_written else text, query)
        if found is not None:
            return found
        if is_written and isinstance(raw, list | tuple | Mapping) and not has_records(text):
            return None
        result = self.compress([text], query)
        kept = result.text
        if not kept and is_written and isinstance(raw, list | tuple | Mapping):
            kept = str(self.emptied(raw))
        return Shorter(
            [kept or self.emptied_text(text) or self.said_nothing()], left_out=LeftOut.of_compression(result)
        )

    def _passages(self, texts: Sequence[str], query: str | None, separator: str) -> Shorter:
        result = self.compress(texts, query, separator=separator)
        kept = {part.index: part.text for part in result.passages} or {0: self.said_nothing()}
        return Shorter([kept.get(place, "") for place in range(len(texts))])

    def _search(self, results: object, query: str | None) -> Shorter | None:
        """Return search results as LlamaIndex writes them; None for other content.

        The core counts them as JSON, which is shorter, so they may have to be compressed again.
        """
        budget, cut = self.config.budget, None
        for _ in range(_TRIES):
            found = self.search_results(results, query, budget, shown=str)
            if found is None:
                return None
            whole = self.count(str(results))
            text = str(found.results)
            tokens, dropped = self.count(text), found.original_count - found.compressed_count
            cut = Shorter([text], left_out=LeftOut(dropped, "result", tokens=whole - tokens))
            if tokens <= self.config.budget:
                break
            budget = max(1, budget * self.config.budget // tokens)
        return cut


def _twin(tool: Tool, outputs: _Outputs, names: Collection[str], shelf: Shelf | None = None) -> Tool:
    """Return a copy of the tool, of a subclass that compresses what the tool's methods return.

    shelf: where whole outputs are kept. Agents then pass the context to the copy, as to tools that ask for it.
    """
    kind = type(tool)

    def method(name: str) -> Callable[..., ToolOutput]:
        @functools.wraps(getattr(kind, name))
        def call(self: BaseTool, *args: Any, **kwargs: Any) -> ToolOutput:
            inner = _itself(self, kind)
            given = own_arguments(kwargs)
            output: ToolOutput = getattr(inner, name)(*args, **given)
            keep = None if shelf is None else shelf.keep
            return outputs.shortened(output, _query(args, given, names), keep)

        return call

    @functools.wraps(getattr(kind, "acall", kind.__call__))
    async def acall(self: BaseTool, *args: Any, **kwargs: Any) -> ToolOutput:
        inner = _itself(self, kind)
        given = own_arguments(kwargs)
        output: ToolOutput = await inner.acall(*args, **given)  # type: ignore[attr-defined]
        query = _query(args, given, names)
        if shelf is None:
            return await on_thread(functools.partial(outputs.shortened, output, query))
        keep = (await shelf.in_context(context_of(inner, kwargs))).keep
        return await on_own_thread(functools.partial(outputs.shortened, output, query, keep))

    def reduce(self: BaseTool) -> tuple[Any, ...]:
        return _twin, (_itself(self, kind), outputs, names, shelf)

    methods: dict[str, Any] = {name: method(name) for name in _METHODS if hasattr(kind, name)}
    methods["__reduce__"] = reduce
    if hasattr(kind, "acall"):
        methods["acall"] = acall
    if shelf is not None and isinstance(tool, FunctionTool):
        methods.update(context_properties())
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


def _with_texts(output: ToolOutput, cut: Shorter) -> ToolOutput:
    """Return the output with these texts in its text blocks, without text blocks that are empty now."""
    left = iter(cut.content)
    changed = [
        block.model_copy(update={"text": next(left)}) if isinstance(block, TextBlock) else block
        for block in output.blocks
    ]
    blocks = [block for block in changed if not isinstance(block, TextBlock) or block.text]
    return output.model_copy(update={"blocks": [*blocks, *(TextBlock(text=text) for text in left)]})
