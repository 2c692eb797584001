"""Middleware for agents that compresses the results of tools before the model first reads them, and older messages."""

import asyncio
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

from ctxcompress.adapters.component_options import ConfigSource, Preset, check_flag, starting_config
from ctxcompress.agents.framework_models import with_window
from ctxcompress.agents.history import Generation, check_history
from ctxcompress.agents.keeper import EXPAND, Expander, check_room
from ctxcompress.agents.markers import Shorter
from ctxcompress.agents.output_compressor import SearchLimits, asked_query, named_query, on_thread, only_text
from langchain_ctxcompress.elision import AnyStore, ExpandableOutputs, Shelf
from langchain_ctxcompress.history import History
from langchain_ctxcompress.outputs import Outputs, areport, report
from langchain_ctxcompress.window import context_window, tokens_left

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
    """The state of an agent with its savings, and with what the model is shown of older messages. Keys are missing as
    long as nothing is compressed."""

    # With None: of `Savings` alone the graph would begin with an empty one.
    ctxcompress: NotRequired[Annotated[Savings | None, OmitFromInput, _sum]]
    ctxcompress_history: NotRequired[Annotated[Generation | None, OmitFromInput]]
    ctxcompress_tokens_left: NotRequired[Annotated[int | None, PrivateStateAttr]]
    """The tokens of the context window that the last call of the model left, where a budget is a share of them."""


class CtxCompressMiddleware(AgentMiddleware[CtxCompressState, Any]):
    """Middleware that keeps what answers the query of each tool result, in at most `max_tokens` tokens.

    Each result is compressed once, when it is new. Messages that the model has seen never change, so prompt caches stay
    valid. Only the content of the message changes: id, name, tool_call_id, status and artifact stay. `compress_tool`
    describes what is compressed, and how. Errors, commands, images, short results, and results of tools that return
    directly to the user stay as they are.

    The query is the argument of the call named query, q, question, search_query or input, if it reads as words;
    otherwise, as for a command or a statement of SQL, the last message of the user; otherwise the only text argument.

    List it first: middleware after it sees the tool's own message, and middleware before it sees the Command that
    writes the compressed message and the savings into the state.

    The agent's state sums the savings under "ctxcompress" (tool_results, original_tokens, compressed_tokens,
    tokens_saved), with a checkpointer over all turns of a thread. The key is missing as long as nothing is saved.
    Callbacks get a custom event "ctxcompress" for each result.

    With ``expandable=True`` a shortened result ends with a marker such as "[… 120 lines left out (41-160): expand
    ctx-3f2a91c4]", which counts in its budget. The whole result is kept, and the agent has the tool `expand` to read
    it: see `expand_tool`. Results are kept by thread, and by user if the configurable has a "user_id".

    With `history_tokens`, older messages are compressed, too, for the last message of the user. When the messages have
    more tokens, the model gets shorter ones in place of the older ones: verbatim parts of their texts, or nothing of a
    call with its results. System prompt, the user's last message and the last `keep_last` steps stay as they are. What
    the model gets of older messages then stays byte for byte the same until `history_tokens` are exceeded again, or the
    user writes something that is likely to need what was left out. The state's messages stay whole;
    "ctxcompress_history" has what was shortened and dropped. Callbacks get a custom event "ctxcompress_history". Only
    one of several in an agent may have `history_tokens`.
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
        search_limits: SearchLimits | None = None,
        expandable: bool | None = None,
        store: AnyStore | None = None,
        expand_tokens: int = 1_000,
        history_tokens: int | str | None = None,
        keep_last: int = 3,
        history_share: float = 0.5,
        name: str | None = None,
        preset: Preset | None = None,
        config: ConfigSource | None = None,
        **options: Any,
    ) -> None:
        """Make the middleware. Raises ValueError for a value that cannot work.

        max_tokens: 1,000 if neither this nor `tier` is given; "auto" fits it to the query; "25%" is a share of what
        the last request and its answer left of the model's context window, or `min_tokens` if that is more. The window
        is that of `context_window`, or of the profile of the request's model. min_tokens: shorter results stay as they
        are. tools: the tools, or their names, whose results are compressed; None means all but those in
        `exclude`. budgets: name of a tool -> its own `max_tokens`. complexity: the complexity of every query, which
        limits search results; None classifies each query. search_limits: other limits on lists of search results,
        `SearchLimits` of ctxcompress.apps.search; unless they say otherwise, they hold for all results. name: the
        name of the middleware, where an agent has several. preset, config: the options to start from; config is a
        CompressionConfig or the path of a TOML or JSON file. options: those of CtxCompressor other than `format`.

        expandable: whether results can be expanded; None means if a `store` is given. Where an agent has several of
        these middlewares, only one can add the tool: with ``expandable=False`` and a store, results are marked and kept
        without it. store: where whole results are kept: a MemoryStore, a DiskStore or a store of LangGraph. None means
        the store of the agent, or the memory of this process if it has none. expand_tokens: the most tokens that
        `expand` returns.

        history_tokens: the most tokens of the messages that the model gets, without the system prompt and the schemas
        of tools; None compresses no history. "25%" is a share of the context window.
        keep_last: the number of steps that stay as they are; a step is a message
        of the user, or an answer of the model with the results of its calls. history_share: how much of
        `history_tokens` is filled when older messages are compressed; the rest is for the steps after that.
        """
        super().__init__()
        check_history(history_tokens, keep_last, history_share)
        _check_kinds(expandable, name, budgets)
        self._name = name or type(self).__name__
        self._only = None if tools is None else _names("tools", tools)
        self._exclude = _names("exclude", exclude)
        start = starting_config(config, preset)
        options = with_window(options, context_window)
        given = options.get("context_window")
        self._window: int | None = start.context_window if given is None else given
        # Requests tell the window, if this does not.
        options["context_window"] = _ANY_WINDOW if self._window is None else self._window
        self._outputs = Outputs.of(
            min_tokens=min_tokens,
            complexity=complexity,
            search_limits=search_limits,
            max_tokens=max_tokens,
            config=start,
            **options,
        )
        expander = Expander.of(self._outputs.config, expand_tokens, "expand_tokens")
        self._budgets = {tool: self._outputs.with_budget(budget) for tool, budget in (budgets or {}).items()}
        self._shelf = Shelf.of(store) if expandable or store is not None else None
        self.tools = []
        if self._shelf is not None:
            for outputs in (self._outputs, *self._budgets.values()):
                if outputs.is_share:
                    check_room(min_tokens, "min_tokens")
                check_room(outputs.config.max_tokens)
            self._exclude |= {EXPAND}
            if expandable is not False:
                self.tools = [self._shelf.expand_tool(expander)]
        self._history = (
            None
            if history_tokens is None
            else History(
                self._outputs.config,
                history_tokens,
                keep_last=keep_last,
                history_share=history_share,
                window=self._window,
            )
        )

    @property
    @override
    def name(self) -> str:
        return self._name

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model, with shorter messages in place of the older ones. Where a budget is a share of the context
        window, note in the state what is left of it."""
        sent = [request]

        def send(shown: ModelRequest[Any]) -> ModelResponse[Any]:
            sent.append(shown)
            return handler(shown)

        response = self._history.call(request, send) if self._history else handler(request)
        return self._with_tokens_left(sent[-1], response)

    @override
    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do the same off the event loop."""
        sent = [request]

        async def send(shown: ModelRequest[Any]) -> ModelResponse[Any]:
            sent.append(shown)
            return await handler(shown)

        response = await (self._history.acall(request, send) if self._history else handler(request))
        return await on_thread(partial(self._with_tokens_left, sent[-1], response))

    def _with_tokens_left(
        self, request: ModelRequest[Any], response: ModelResponse[Any] | ExtendedModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        if not any(outputs.is_share for outputs in (self._outputs, *self._budgets.values())):
            return response
        update: Any = {}
        if isinstance(response, ExtendedModelResponse):  # with the state of the history
            update = response.command.update if response.command else {}
            response = response.model_response
        left = tokens_left(request, response.result, self._outputs.config.encoding, self._window)
        return ExtendedModelResponse(response, Command(update={**update, "ctxcompress_tokens_left": left}))

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
        report(request.tool_call["name"], shorter, _config(request))
        return _with_savings(shorter)

    @override
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Do the same off the event loop."""
        result = await handler(request)
        outputs = self._outputs_for(request, result, asyncio.get_running_loop())
        if outputs is None:
            return result
        shorter = await outputs.ashortened(result, _query(request))
        if shorter is None:
            return result
        await areport(request.tool_call["name"], shorter, _config(request))
        return _with_savings(shorter)

    def _outputs_for(
        self, request: ToolCallRequest, result: object, loop: asyncio.AbstractEventLoop | None = None
    ) -> Outputs | ExpandableOutputs | None:
        """Return the compressor for this result; None if the result stays as it is."""
        name = request.tool_call["name"]
        is_direct = request.tool is not None and request.tool.return_direct
        is_wanted = name not in self._exclude and (self._only is None or name in self._only)
        if not isinstance(result, ToolMessage) or is_direct or not is_wanted:
            return None
        outputs = self._budgets.get(name, self._outputs)
        if outputs.is_share:
            # 0 if the model was not called through this.
            left = request.state.get("ctxcompress_tokens_left") if isinstance(request.state, Mapping) else None
            outputs = outputs.in_window(left if isinstance(left, int) else 0)
        if self._shelf is None:
            return outputs
        store = request.runtime.store if request.runtime else None
        return self._shelf.expandable(outputs, _config(request), store, loop)


def _with_savings(shorter: Shorter) -> Command[Any]:
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


def _query(request: ToolCallRequest) -> str | None:
    arguments = request.tool_call["args"]
    asked = asked_query(arguments) or _last_question(request.state)
    return asked or named_query(arguments) or only_text(arguments.values())


def _last_question(state: Any) -> str | None:
    messages = state.get("messages", ()) if isinstance(state, Mapping) else ()
    asked = (message for message in reversed(messages) if isinstance(message, HumanMessage))
    return next((text for message in asked if (text := str(message.text)).strip()), None)


def _check_kinds(expandable: object, name: object, budgets: object) -> None:
    """Raise ValueError for arguments of another kind."""
    if expandable is not None:
        check_flag("expandable", expandable)
    if name is not None and not isinstance(name, str):
        raise ValueError(f"name is {name!r}; give a string, or None for the name of the class")
    if budgets is not None and not isinstance(budgets, Mapping):
        raise ValueError(f"budgets is {budgets!r}; give a mapping from the name of a tool to its max_tokens")


def _names(option: str, tools: Collection[BaseTool | str]) -> frozenset[str]:
    is_list = isinstance(tools, Collection) and not isinstance(tools, str)
    if not is_list or not all(isinstance(tool, BaseTool | str) for tool in tools):
        raise ValueError(f"{option} is {tools!r}; give a list of tools or of their names")
    return frozenset(tool if isinstance(tool, str) else tool.name for tool in tools)
