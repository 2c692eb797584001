"""A tool whose results come back shorter, and that is else the same tool."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.tools import BaseTool

from ctxcompress.tools.output_compressor import class_with, named_query, only_text
from langchain_ctxcompress.outputs import Outputs, Shortened, areport, report

__all__ = ["compress_tool"]


def compress_tool(
    tool: BaseTool,
    *,
    query_argument: str | None = None,
    max_tokens: int | Literal["auto"] | None = None,
    min_tokens: int = 200,
    complexity: str | None = None,
    **options: Any,
) -> BaseTool:
    """A copy of `tool` that keeps of each result what answers the query of the call, in at most `max_tokens` tokens.

    To a model, an agent and a trace it is the same tool: class, name, description, argument schema, injected arguments,
    response format, error handling, tags, metadata, callbacks and the asynchronous way are those of `tool`, and a call
    is one run, whose output is the shorter result. The artifact is untouched, and `tool` itself not changed.

    Search results (see `ctxcompress.compress_search_results`) come back in their shape: those that fit as they are,
    else as many as fit, each within the limits of the query's complexity; one alone, such as a page, has the budget to
    itself. Text comes back as text, content blocks as blocks, a list of documents as documents. What has less than
    `min_tokens` tokens stays as it is, and so do errors, commands, images, and JSON that is no search result by its
    keys, which could not be cut and stay JSON.

    query_argument: the argument that says what is looked for. Without it, it is the one called query, q, question,
    search_query or input, or the only one that is a text; where there is none, what comes first is kept.
    max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query. complexity: of the query, which
    limits search results; None tells it from the query. options: those of CtxCompressor other than `mode` and `format`.

    Callbacks are told of what was saved by a custom event "ctxcompress" with the name of the tool, original_tokens,
    compressed_tokens and tokens_saved.

    Raises TypeError if `tool` is no tool of LangChain and ValueError on a value that cannot work. Calls raise what the
    tool raises, and RuntimeError if `encoding` names a vocabulary that can neither be found nor fetched.
    """
    if not isinstance(tool, BaseTool):
        raise TypeError(f"tool is a {type(tool).__name__}; give a BaseTool, such as a function with @tool")
    arguments = _arguments(tool)
    if query_argument is not None and query_argument not in arguments:
        raise ValueError(
            f"query_argument is {query_argument!r}; the arguments of {tool.name} are {', '.join(arguments) or 'none'}"
        )
    outputs = Outputs.of(min_tokens=min_tokens, complexity=complexity, max_tokens=max_tokens, **options)
    return _twin(tool, _Calls(outputs, arguments, query_argument))


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """The calls of a tool, and what becomes of their results."""

    outputs: Outputs
    arguments: tuple[str, ...]
    """The names of those that a model gives."""
    query_argument: str | None

    def run(self, tool: BaseTool, *args: Any, **kwargs: Any) -> Any:
        result = tool._run(*args, **kwargs)
        shorter = self.outputs.shortened(_content(tool, result), self._query(args, kwargs))
        if shorter is None:
            return result
        report(shorter.savings(tool.name))
        return _with_content(tool, result, shorter)

    async def arun(self, tool: BaseTool, *args: Any, **kwargs: Any) -> Any:
        result = await tool._arun(*args, **kwargs)
        query = self._query(args, kwargs)
        shorter = await self.outputs.ashortened(_content(tool, result), query)
        if shorter is None:
            return result
        await areport(shorter.savings(tool.name))
        return _with_content(tool, result, shorter)

    def _query(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        given = {name: kwargs[name] for name in self.arguments if name in kwargs}
        given.update(zip(self.arguments, args, strict=False))  # a tool of one argument gets it without its name
        if self.query_argument is not None:
            return named_query(given, [self.query_argument])
        return named_query(given) or only_text(given.values())


def _twin(tool: BaseTool, calls: _Calls) -> BaseTool:
    """A copy of the tool, of a class of its own that differs from the tool's in what is run.

    LangChain reads signatures and annotations of these methods, to know what to hand to them: they are kept.
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
    if kind._arun is not BaseTool._arun:  # else LangChain runs the other one on a thread
        methods["_arun"] = arun
    twin = tool.model_copy()
    object.__setattr__(twin, "__class__", class_with(kind, methods))
    return twin


def _itself(twin: BaseTool, kind: type[BaseTool]) -> BaseTool:
    """The same tool as its own class has it, with the very same attributes: its methods may call each other, and what
    one of them returns must not be shortened twice."""
    tool = kind.__new__(kind)
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(tool, name, getattr(twin, name))
    return tool


def _has_artifact(tool: BaseTool, result: object) -> bool:
    return tool.response_format == "content_and_artifact" and isinstance(result, tuple) and len(result) == 2


def _content(tool: BaseTool, result: Any) -> Any:
    return result[0] if _has_artifact(tool, result) else result


def _with_content(tool: BaseTool, result: Any, shorter: Shortened) -> Any:
    return (shorter.content, result[1]) if _has_artifact(tool, result) else shorter.content


def _arguments(tool: BaseTool) -> tuple[str, ...]:
    schema = tool.args_schema
    return tuple(schema.get("properties", ())) if isinstance(schema, dict) else tuple(tool.args)
