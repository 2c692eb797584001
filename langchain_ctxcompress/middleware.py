"""Middleware for agents: what tools return is made shorter before the model reads it for the first time."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Annotated, Any, Literal, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import OmitFromInput
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import Command
from typing_extensions import TypedDict, override

from ctxcompress.tools.output_compressor import named_query, only_text
from langchain_ctxcompress.outputs import Outputs, Shortened, areport, report

__all__ = ["CtxCompressMiddleware", "CtxCompressState", "Savings"]


class Savings(TypedDict):
    """What was saved in a thread so far."""

    tool_results: int
    """Results that were shortened."""
    original_tokens: int
    compressed_tokens: int
    tokens_saved: int


def _sum(one: Savings | None, other: Savings) -> Savings:
    """Calls of one step report at the same time, in any order."""
    if not one:
        return other
    return Savings(
        tool_results=one["tool_results"] + other["tool_results"],
        original_tokens=one["original_tokens"] + other["original_tokens"],
        compressed_tokens=one["compressed_tokens"] + other["compressed_tokens"],
        tokens_saved=one["tokens_saved"] + other["tokens_saved"],
    )


class CtxCompressState(AgentState[Any]):
    """The state of an agent, with what was saved; without the key as long as nothing was."""

    # Not of `Savings` alone: the graph would begin with an empty one.
    ctxcompress: NotRequired[Annotated[Savings | None, OmitFromInput, _sum]]


class CtxCompressMiddleware(AgentMiddleware[CtxCompressState, Any]):
    """Keeps of what an agent's tools return what answers the question, in at most `max_tokens` tokens a result.

    Each result is shortened once, when it is new: the messages that the model has seen never change, so that prompt
    caches stay valid. The message differs in its content alone: id, name, tool_call_id, status and artifact stay. What
    is shortened, and how, is as `compress_tool` says; errors, commands, images, short results, and results of tools
    that return directly to the user are left alone.

    The query is the argument of the call named query, q, question, search_query or input; else the last message of the
    user; else the only argument that is a text.

    List it first: what is listed after it sees the tool's own message, and what is listed before it sees the Command
    that writes the shortened one and the savings into the state.

    What was saved is summed up in the agent's state under "ctxcompress" (tool_results, original_tokens,
    compressed_tokens, tokens_saved), with a checkpointer over all turns of a thread; the key is not there as long as
    nothing was. Each result is reported to callbacks by a custom event "ctxcompress".
    """

    state_schema = CtxCompressState

    def __init__(
        self,
        *,
        max_tokens: int | Literal["auto"] | None = None,
        min_tokens: int = 200,
        tools: Collection[BaseTool | str] | None = None,
        exclude: Collection[BaseTool | str] = (),
        budgets: Mapping[str, int] | None = None,
        complexity: str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        """max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query. min_tokens: what has less
        stays as it is. tools: the tools, or their names, whose results are shortened; None for all but those in
        `exclude`. budgets: name of a tool -> its own `max_tokens`. complexity: of questions, which limits search
        results; None tells it from each. name: of the middleware, where an agent has several. options: those of
        CtxCompressor other than `mode` and `format`.

        Raises ValueError on a value that cannot work.
        """
        super().__init__()
        self.tools = []
        self._name = name or type(self).__name__
        self._only = None if tools is None else _names("tools", tools)
        self._exclude = _names("exclude", exclude)
        self._outputs = Outputs.of(min_tokens=min_tokens, complexity=complexity, max_tokens=max_tokens, **options)
        self._budgets = {tool: self._outputs.with_budget(budget) for tool, budget in (budgets or {}).items()}

    @property
    @override
    def name(self) -> str:
        return self._name

    @override
    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """What the tool returns, shortened."""
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
        """The same, off the event loop."""
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
        """What shortens this result; None if it is to be left alone."""
        name = request.tool_call["name"]
        is_direct = request.tool is not None and request.tool.return_direct
        is_wanted = name not in self._exclude and (self._only is None or name in self._only)
        if not isinstance(result, ToolMessage) or is_direct or not is_wanted:
            return None
        return self._budgets.get(name, self._outputs)


def _with_savings(shorter: Shortened) -> Command[Any]:
    """The message, and what that saved: a command is how a tool call writes into the state."""
    savings = Savings(
        tool_results=1,
        original_tokens=shorter.original_tokens,
        compressed_tokens=shorter.compressed_tokens,
        tokens_saved=shorter.original_tokens - shorter.compressed_tokens,
    )
    return Command(update={"messages": [shorter.content], "ctxcompress": savings})


def _config(request: ToolCallRequest) -> RunnableConfig | None:
    """Of the run; there is none where a request was made by hand."""
    return request.runtime.config if request.runtime else None


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
