"""A copy of a tool that returns shorter results and is the same tool in every other way."""

import asyncio
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import ensure_config
from langchain_core.tools import BaseTool

from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.agents.keeper import check_room
from ctxcompress.agents.markers import Shorter
from ctxcompress.agents.output_compressor import SearchLimits, class_with, named_query, only_text
from langchain_ctxcompress.elision import AnyStore, ExpandableOutputs, Shelf
from langchain_ctxcompress.outputs import Outputs, areport, report

__all__ = ["compress_tool"]


def compress_tool(
    tool: BaseTool,
    *,
    query_argument: str | None = None,
    max_tokens: int | str | None = None,
    min_tokens: int = 200,
    complexity: str | None = None,
    store: AnyStore | None = None,
    search_limits: SearchLimits | None = None,
    preset: Preset | None = None,
    config: ConfigSource | None = None,
    **options: Any,
) -> BaseTool:
    """Return a copy of `tool` whose results keep what answers the query of the call, in at most `max_tokens` tokens.

    To a model, an agent and a trace it is the same tool: class, name, description, argument schema, injected arguments,
    response format, error handling, tags, metadata, callbacks and asynchronous calls are those of `tool`. A call is one
    run, whose output is the shorter result. The artifact is untouched, and `tool` itself does not change.

    Search results (see `ctxcompress.compress_search_results`) keep their shape. Results that fit stay as they are;
    otherwise as many as fit are kept, each within the limits of the query's complexity. A single result, such as a
    page, has the budget to itself. Text stays text, content blocks stay blocks, and a list of documents stays a list of
    documents. Of other JSON, lists and mappings whole values are kept, so that what is kept can be
    parsed. Results of fewer than `min_tokens` tokens stay as they are, and so do errors, commands and images.

    query_argument: the argument that holds the query. Without it, it is the one called query, q, question, search_query
    or input, or the only text argument; without any of these, the beginning of the result is kept.
    max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query; "25%" is a share of the
    context window of `model`. complexity: the complexity of every query, which limits search results; None classifies
    each query. search_limits: other limits on lists of search results, `SearchLimits` of ctxcompress.apps.search;
    unless they say otherwise, they hold for all results. store: where whole results are kept, so that an agent with
    `expand_tool(store)` can read what was left out. A shortened result then ends with a marker that has its handle; it
    becomes text, or has one block more if it is content blocks. preset, config: the options to start from; config is a
    CompressionConfig or the path of a TOML or JSON file. options: those of CtxCompressor other than `format`.

    Callbacks get a custom event "ctxcompress" with the name of the tool, original_tokens, compressed_tokens and
    tokens_saved.

    Raises TypeError if `tool` is not a tool of LangChain, and ValueError for a value that cannot work. Calls raise what
    the tool raises, and RuntimeError if `encoding` names a vocabulary that can neither be found nor fetched.
    """
    if not isinstance(tool, BaseTool):
        raise TypeError(f"tool is a {type(tool).__name__}; give a BaseTool, such as a function with @tool")
    schema = tool.args_schema
    arguments = tuple(schema.get("properties", ()) if isinstance(schema, dict) else tool.args)
    if query_argument is not None and query_argument not in arguments:
        raise ValueError(
            f"query_argument is {query_argument!r}; the arguments of {tool.name} are {', '.join(arguments) or 'none'}"
        )
    outputs = Outputs.of(
        min_tokens=min_tokens,
        complexity=complexity,
        search_limits=search_limits,
        max_tokens=max_tokens,
        preset=preset,
        config=config,
        **options,
    )
    shelf = None if store is None else Shelf.of(store)
    if shelf is not None:
        check_room(outputs.config.max_tokens)
    return _twin(tool, _Calls(outputs, arguments, query_argument, shelf))


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """The calls of a tool, whose results are compressed."""

    outputs: Outputs
    arguments: tuple[str, ...]
    """The names of the arguments that a model gives."""
    query_argument: str | None
    shelf: Shelf | None = None

    def run(self, tool: BaseTool, *args: Any, **kwargs: Any) -> Any:
        result = tool._run(*args, **kwargs)
        shorter = self._outputs(None).shortened(_content(tool, result), self._query(args, kwargs))
        if shorter is None:
            return result
        report(tool.name, shorter)
        return _with_content(tool, result, shorter)

    async def arun(self, tool: BaseTool, *args: Any, **kwargs: Any) -> Any:
        result = await tool._arun(*args, **kwargs)
        query = self._query(args, kwargs)
        shorter = await self._outputs(asyncio.get_running_loop()).ashortened(_content(tool, result), query)
        if shorter is None:
            return result
        await areport(tool.name, shorter)
        return _with_content(tool, result, shorter)

    def _outputs(self, loop: asyncio.AbstractEventLoop | None) -> Outputs | ExpandableOutputs:
        if self.shelf is None:
            return self.outputs
        return self.shelf.expandable(self.outputs, ensure_config(), None, loop)

    def _query(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        given = {name: kwargs[name] for name in self.arguments if name in kwargs}
        given.update(zip(self.arguments, args, strict=False))  # a tool with one argument gets it by position
        if self.query_argument is not None:
            return named_query(given, [self.query_argument])
        return named_query(given) or only_text(given.values())


def _twin(tool: BaseTool, calls: _Calls) -> BaseTool:
    """Return a copy of the tool, of a subclass that compresses what the tool's methods return.

    The methods keep their signatures and annotations, because LangChain reads which arguments to pass from them.
    """
    kind = type(tool)

    @functools.wraps(kind._run)
    def run(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        return calls.run(_itself(self, kind), *args, **kwargs)

    @functools.wraps(kind._arun)
    async def arun(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        return await calls.arun(_itself(self, kind), *args, **kwargs)

    def reduce(self: BaseTool) -> tuple[Any, ...]:
        return _twin, (_itself(self, kind), calls)

    methods: dict[str, Any] = {"_run": run, "__reduce__": reduce}
    if kind._arun is not BaseTool._arun:  # otherwise LangChain runs the other method on a thread
        methods["_arun"] = arun
    twin = tool.model_copy()
    object.__setattr__(twin, "__class__", class_with(kind, methods))
    return twin


def _itself(twin: BaseTool, kind: type[BaseTool]) -> BaseTool:
    """Return the tool as its own class has it, with the same attributes.

    The tool's methods may call each other, and the result of one must not be compressed twice.
    """
    tool = kind.__new__(kind)
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(tool, name, getattr(twin, name))
    return tool


def _has_artifact(tool: BaseTool, result: object) -> bool:
    return tool.response_format == "content_and_artifact" and isinstance(result, tuple) and len(result) == 2


def _content(tool: BaseTool, result: Any) -> Any:
    return result[0] if _has_artifact(tool, result) else result


def _with_content(tool: BaseTool, result: Any, shorter: Shorter) -> Any:
    return (shorter.content, result[1]) if _has_artifact(tool, result) else shorter.content
