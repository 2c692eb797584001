"""Middleware for agents that compresses the results of tools before the model first reads them."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import Command
from typing_extensions import TypedDict, override

from ctxcompress.tools.output_compressor import named_query, on_thread, only_text
from langchain_ctxcompress.outputs import Outputs, Shortened, areport, report
from langchain_ctxcompress.window import tokens_left, with_window

__all__ = ["CtxCompressMiddleware", "CtxCompressState", "Savings"]

_ANY_WINDOW = 1_000_000


class Savings(TypedDict):
    """The savings of a thread so far."""

    tool_results: int
    """The number of compressed results."""
    original_tokens: int
    compressed_tokens: int
    tokens_saved: int


def _sum(one: Savings | None, other: Savings) -> Savings:
    """Add the savings of calls, which may report at the same time and in any order."""
    if not one:
        return other
    return Savings(
        tool_results=one["tool_results"] + other["tool_results"],
        original_tokens=one["original_tokens"] + other["original_tokens"],
        compressed_tokens=one["compressed_tokens"] + other["compressed_tokens"],
        tokens_saved=one["tokens_saved"] + other["tokens_saved"],
    )


class CtxCompressState(AgentState[Any]):
    """The state of an agent with its savings. The key is missing as long as there are none."""

    # With None: of `Savings` alone the graph would begin with an empty one.
    ctxcompress: NotRequired[Annotated[Savings | None, OmitFromInput, _sum]]
    ctxcompress_tokens_left: NotRequired[Annotated[int | None, PrivateStateAttr]]
    """The tokens of the context window that the last call of the model left, where a budget is a share of them."""


class CtxCompressMiddleware(AgentMiddleware[CtxCompressState, Any]):
    """Middleware that keeps what answers the query of each tool result, in at most `max_tokens` tokens.

    Each result is compressed once, when it is new. Messages that the model has seen never change, so prompt caches stay
    valid. Only the content of the message changes: id, name, tool_call_id, status and artifact stay. `compress_tool`
    describes what is compressed, and how. Errors, commands, images, short results, and results of tools that return
    directly to the user stay as they are.

    The query is the argument of the call named query, q, question, search_query or input; otherwise the last message of
    the user; otherwise the only text argument.

    List it first: middleware after it sees the tool's own message, and middleware before it sees the Command that
    writes the compressed message and the savings into the state.

    The agent's state sums the savings under "ctxcompress" (tool_results, original_tokens, compressed_tokens,
    tokens_saved), with a checkpointer over all turns of a thread. The key is missing as long as nothing is saved.
    Callbacks get a custom event "ctxcompress" for each result.
    """

    state_schema = CtxCompressState

    def __init__(
        self,
        *,
        max_tokens: int | str | None = None,
        min_tokens: int = 200,
        tools: Collection[BaseTool | str] | None = None,
        exclude: Collection[BaseTool | str] = (),
        budgets: Mapping[str, int | str] | None = None,
        complexity: str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        """Make the middleware. Raises ValueError for a value that cannot work.

        max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query; "25%" is a share of what
        the last request and its answer left of the model's context window, or `min_tokens` if that is more. The window
        is that of `context_window`, or of the profile of the request's model. min_tokens: shorter results stay as they
        are. tools: the tools, or their names, whose results are compressed; None means all but those in
        `exclude`. budgets: name of a tool -> its own `max_tokens`. complexity: the complexity of every query, which
        limits search results; None classifies each query. name: the name of the middleware, where an agent has several.
        options: those of CtxCompressor other than `mode` and `format`.
        """
        super().__init__()
        self.tools = []
        self._name = name or type(self).__name__
        self._only = None if tools is None else _names("tools", tools)
        self._exclude = _names("exclude", exclude)
        options = with_window(options)
        self._window: int | None = options.pop("context_window", None)
        # Requests tell the window, if this does not.
        options["context_window"] = self._window or _ANY_WINDOW
        self._outputs = Outputs.of(min_tokens=min_tokens, complexity=complexity, max_tokens=max_tokens, **options)
        self._budgets = {tool: self._outputs.with_budget(budget) for tool, budget in (budgets or {}).items()}

    @property
    @override
    def name(self) -> str:
        return self._name

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model. Where a budget is a share of the context window, note in the state what is left of it."""
        return self._with_tokens_left(request, handler(request))

    @override
    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do the same."""
        response = await handler(request)
        return await on_thread(partial(self._with_tokens_left, request, response))

    def _with_tokens_left(
        self, request: ModelRequest[Any], response: ModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        if not any(outputs.is_share for outputs in (self._outputs, *self._budgets.values())):
            return response
        left = tokens_left(request, response.result, self._outputs.config.encoding, self._window)
        return ExtendedModelResponse(response, Command(update={"ctxcompress_tokens_left": left}))

    @override
    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Return the compressed result of the tool."""
        result = handler(request)
        outputs = self._outputs_for(request, result)
        shorter = None if outputs is None else outputs.shortened(result, _query(request))
        if shorter is None:
            return result
        report(shorter.savings(request.tool_call["name"]), _config(request))
        return _with_savings(shorter)

    @override
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Do the same off the event loop."""
        result = await handler(request)
        outputs = self._outputs_for(request, result)
        if outputs is None:
            return result
        shorter = await outputs.ashortened(result, _query(request))
        if shorter is None:
            return result
        await areport(shorter.savings(request.tool_call["name"]), _config(request))
        return _with_savings(shorter)

    def _outputs_for(self, request: ToolCallRequest, result: object) -> Outputs | None:
        """Return the compressor for this result; None if the result stays as it is."""
        name = request.tool_call["name"]
        is_direct = request.tool is not None and request.tool.return_direct
        is_wanted = name not in self._exclude and (self._only is None or name in self._only)
        if not isinstance(result, ToolMessage) or is_direct or not is_wanted:
            return None
        outputs = self._budgets.get(name, self._outputs)
        return outputs.in_window(_tokens_left(request.state)) if outputs.is_share else outputs


def _with_savings(shorter: Shortened) -> Command[Any]:
    """Return a command with the message and its savings: a tool call writes into the state with a command."""
    savings = Savings(
        tool_results=1,
        original_tokens=shorter.original_tokens,
        compressed_tokens=shorter.compressed_tokens,
        tokens_saved=shorter.original_tokens - shorter.compressed_tokens,
    )
    return Command(update={"messages": [shorter.content], "ctxcompress": savings})


def _config(request: ToolCallRequest) -> RunnableConfig | None:
    """Return the config of the run; None for a request that was made by hand."""
    return request.runtime.config if request.runtime else None


def _tokens_left(state: Any) -> int:
    """Return what the last call of the model left of its context window, 0 if it was not called through this."""
    left = state.get("ctxcompress_tokens_left") if isinstance(state, Mapping) else None
    return left if isinstance(left, int) else 0


def _query(request: ToolCallRequest) -> str | None:
    arguments = request.tool_call["args"]
    return named_query(arguments) or _last_question(request.state) or only_text(arguments.values())


def _last_question(state: Any) -> str | None:
    messages = state.get("messages", ()) if isinstance(state, Mapping) else ()
    asked = (message for message in reversed(messages) if isinstance(message, HumanMessage))
    return next((text for message in asked if (text := str(message.text)).strip()), None)


def _names(option: str, tools: Collection[BaseTool | str]) -> frozenset[str]:
    if isinstance(tools, str):
        raise ValueError(f"{option} is {tools!r}; give a list of tools or of their names")
    return frozenset(tool if isinstance(tool, str) else tool.name for tool in tools)
