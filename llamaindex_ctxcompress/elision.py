"""The tool `expand`, and where whole outputs are kept: in a store, or in the context of the workflow."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_bytes
from typing import Any, TypeVar
from uuid import uuid4

from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.workflow import Context

from ctxcompress.adapters.input_models import LeftOutInput
from ctxcompress.agents.keeper import EXPAND, EXPAND_LEFT_OUT, CannotExpand, Expander, Keeper
from ctxcompress.agents.left_out import MONTH, LeftOutStore, MemoryStore, as_bytes, check_bounds
from ctxcompress.agents.output_compressor import on_own_thread
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = [
    "ContextStore",
    "Keep",
    "Shelf",
    "context_of",
    "context_properties",
    "expand_tool",
    "own_arguments",
]

Keep = Callable[[str], str | None]
"""Keeps a text and returns its handle; None if it cannot be kept."""
Result = TypeVar("Result")

_TEXTS = "ctxcompress_left_out"
_CONVERSATION = "ctxcompress_conversation"
"""The keys in the state of a context."""
_WAIT = 30.0
"""Seconds to wait for the event loop, which may have ended."""
_CONTEXT = "ctxcompress_context"
"""The parameter by which agents pass the context to a tool that does not ask for it."""


@dataclass(frozen=True, slots=True)
class ContextStore:
    """Keeps texts in the context of the workflow that runs an agent, so that `Context.to_dict` has them, too.

    max_bytes: the most bytes of the texts of one context; the oldest are forgotten first. ttl: the seconds after which
    a text expires; None for never. clock: returns the time in seconds since 1970.

    Where there is no context, texts are kept in the memory of this process: for synchronous calls, for a context with a
    typed state, and for tools that are no FunctionTool. Raises ValueError for a wrong value.
    """

    max_bytes: int = 20_000_000
    ttl: float | None = MONTH
    clock: Callable[[], float] = time.time
    memory: MemoryStore = field(default_factory=MemoryStore, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_bounds(self.max_bytes, self.ttl)


def expand_tool(
    store: LeftOutStore | ContextStore, *, max_tokens: int = 1_000, name: str = EXPAND, **options: Any
) -> FunctionTool:
    """Return the tool `expand`, which gives back what was left out of an output.

    `expand(handle)` returns the whole output from its beginning, `expand(handle, lines="41-160")` these lines, and
    `expand(handle, question=...)` the parts that answer a question, each in at most `max_tokens` tokens. If that is not
    all, a marker says with which lines to go on. An unknown handle gives a message that names the handles of the
    conversation.

    store: the store that `compress_tool` was given. options: those of CtxCompressPostprocessor other than `format`,
    `metadata_mode` and `trace_to`; they hold for questions.

    Raises TypeError if `store` is no store, and ValueError for an unknown option or a wrong value.
    """
    config = CtxCompressPostprocessor.config_of(dict(format="plain", **options))
    calls = _Expand(Shelf.of(store), Expander.of(config, max_tokens))
    return FunctionTool.from_defaults(
        fn=calls.expand,
        async_fn=calls.aexpand,
        name=name,
        description=EXPAND_LEFT_OUT,
        fn_schema=LeftOutInput,
        partial_params={"ctx": None},  # where no agent gives one
    )


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """Where outputs are kept: a store, and the conversation to which they belong."""

    given: LeftOutStore | ContextStore
    keeper: Keeper
    conversation: str = ""

    @classmethod
    def of(cls, store: LeftOutStore | ContextStore) -> "Shelf":
        """Return the shelf of a store. Raises TypeError if it is none."""
        memory = store.memory if isinstance(store, ContextStore) else store
        if not isinstance(memory, LeftOutStore):
            raise TypeError(f"store is a {type(store).__name__}; give a ContextStore, a MemoryStore or a DiskStore")
        return cls(store, Keeper(memory, token_bytes(32)))

    async def in_context(self, context: Context | None) -> "Shelf":
        """Return the shelf of one conversation, for calls from other threads while this event loop runs."""
        if context is None or not hasattr(await context.store.get_state(), "__setitem__"):
            return self
        async with context.store.edit_state() as state:
            conversation = state.get(_CONVERSATION) or uuid4().hex
            state[_CONVERSATION] = conversation
        if not isinstance(self.given, ContextStore):
            return replace(self, conversation=conversation)
        store = _InContext(self.given, context, asyncio.get_running_loop())
        return replace(self, keeper=replace(self.keeper, store=store), conversation=conversation)

    def keep(self, text: str) -> str | None:
        """Keep a text and return its handle; None if it cannot be kept."""
        return self.keeper.keep(self.conversation, text)

    def expand(self, expander: Expander, handle: object, lines: object, question: object) -> str:
        """Return the answer of the tool. A model may give numbers: nobody has checked its arguments."""
        name, asked, wanted = (None if given is None else str(given) for given in (handle, lines, question))
        try:
            return expander.expand(self.keeper.store, [self.conversation, ""], name or "", asked, wanted)
        except CannotExpand as error:
            return str(error)


@dataclass(frozen=True, slots=True, eq=False)
class _Expand:
    """The calls of the tool."""

    shelf: Shelf
    expander: Expander

    def expand(  # only the event loop can read a context
        self,
        ctx: Context,  # noqa: ARG002
        handle: str,
        lines: str | None = None,
        question: str | None = None,
    ) -> str:
        return self.shelf.expand(self.expander, handle, lines, question)

    async def aexpand(self, ctx: Context, handle: str, lines: str | None = None, question: str | None = None) -> str:
        shelf = await self.shelf.in_context(ctx)
        return await on_own_thread(partial(shelf.expand, self.expander, handle, lines, question))


@dataclass(frozen=True, slots=True, eq=False)
class _InContext:
    """The texts in the state of one context: handle -> (time, text). Methods are called from other threads."""

    limits: ContextStore
    context: Context
    loop: asyncio.AbstractEventLoop

    def put(self, conversation: str, handle: str, text: str, /) -> bool:
        if not conversation:
            return self.limits.memory.put(conversation, handle, text)
        return self._await(self._put(handle, text))

    def get(self, conversation: str, handle: str, /) -> str | None:
        if not conversation:
            return self.limits.memory.get(conversation, handle)
        found = self._await(self._texts()).get(handle)
        return None if found is None else found[1]

    def handles(self, conversation: str, /) -> list[str]:
        return list(self._await(self._texts()))[::-1] if conversation else self.limits.memory.handles(conversation)

    def forget(self, conversation: str, handle: str | None = None, /) -> None:
        if not conversation:
            self.limits.memory.forget(conversation, handle)
        else:
            self._await(self._forget(handle))

    async def _put(self, handle: str, text: str) -> bool:
        async with self.context.store.edit_state() as state:
            kept = self._current(state.get(_TEXTS) or {})
            kept.pop(handle, None)
            kept[handle] = [self.limits.clock(), text]
            total = sum(len(as_bytes(text)) for _, text in kept.values())
            while total > self.limits.max_bytes:
                _, dropped = kept.pop(next(iter(kept)))
                total -= len(as_bytes(dropped))
            state[_TEXTS] = kept
        return handle in kept

    async def _forget(self, handle: str | None) -> None:
        async with self.context.store.edit_state() as state:
            kept = self._current(state.get(_TEXTS) or {})
            state[_TEXTS] = {} if handle is None else {name: text for name, text in kept.items() if name != handle}

    async def _texts(self) -> dict[str, Any]:
        return self._current(await self.context.store.get(_TEXTS, default={}))

    def _current(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return the texts that have not expired, the oldest first."""
        if self.limits.ttl is None:
            return dict(kept)
        oldest = self.limits.clock() - self.limits.ttl
        return {handle: entry for handle, entry in kept.items() if entry[0] > oldest}

    def _await(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(_WAIT)


def context_properties() -> dict[str, property]:
    """Return the properties of a FunctionTool that make agents pass their context, whatever the function asks for."""

    def name(self: FunctionTool) -> str:
        return vars(self).get("ctx_param_name") or _CONTEXT

    return {"requires_context": property(lambda _: True), "ctx_param_name": property(name)}


def context_of(tool: BaseTool, arguments: Mapping[str, Any]) -> Context | None:
    """Return the context that an agent has passed to the copy of `tool`."""
    name = getattr(tool, "ctx_param_name", None) or _CONTEXT
    context = arguments.get(name)
    return context if isinstance(context, Context) else None


def own_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without the context that a tool does not ask for."""
    return {name: value for name, value in arguments.items() if name != _CONTEXT}
