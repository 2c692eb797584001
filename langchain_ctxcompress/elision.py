"""Shortened results that an agent can expand, and the tool `expand`."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import is_
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, Union

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES

from ctxcompress.adapters.input_models import LeftOutInput
from ctxcompress.agents.keeper import EXPAND, EXPAND_LEFT_OUT, CannotExpand, Expander, Keeper, with_marker
from ctxcompress.agents.left_out import LeftOutStore, MemoryStore
from ctxcompress.agents.markers import Shorter, guarded
from ctxcompress.agents.output_compressor import on_own_thread, shown_to_model
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.graph_store import GraphStore
from langchain_ctxcompress.outputs import Outputs

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

__all__ = ["AnyStore", "ExpandableOutputs", "Shelf", "expand_tool"]

AnyStore = Union[LeftOutStore, "BaseStore"]
"""A store of this package or of LangGraph."""

Loop = asyncio.AbstractEventLoop


def expand_tool(store: AnyStore, *, max_tokens: int = 1_000, name: str = EXPAND, **options: Any) -> BaseTool:
    """Return the tool `expand`, which gives back what was left out of a result.

    `expand(handle)` returns the whole result from its beginning, `expand(handle, lines="41-160")` these lines, and
    `expand(handle, question=...)` the parts that answer a question, each in at most `max_tokens` tokens. If that is not
    all, a marker says with which lines to go on. An unknown handle gives a message with status "error" that names the
    handles of the conversation.

    store: the store that `compress_tool` or the middleware was given. options: those of CtxCompressor other than
    `format`; they hold for questions.

    Raises TypeError if `store` is no store, and ValueError for a wrong value.
    """
    config = CtxCompressor(format="plain", **options).config
    return Shelf.of(store).expand_tool(Expander.of(config, max_tokens), name)


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """Where results are kept: in the store that was given; else in the store of the agent's run; else in memory."""

    given: LeftOutStore | None
    spare: MemoryStore = field(default_factory=MemoryStore)
    secret: bytes = field(default_factory=partial(token_bytes, 32), repr=False)

    @classmethod
    def of(cls, store: AnyStore | None) -> "Shelf":
        """Return the shelf of a store of either kind. Raises TypeError if it is neither."""
        if store is None or isinstance(store, LeftOutStore):
            return cls(store)
        if all(hasattr(store, method) for method in ("put", "get", "search", "delete", "aput")):
            return cls(GraphStore(store))
        raise TypeError(f"store is a {type(store).__name__}; give a MemoryStore, a DiskStore or a store of LangGraph")

    def expandable(
        self, outputs: Outputs, config: RunnableConfig | None, run_store: "BaseStore | None", loop: Loop | None
    ) -> "ExpandableOutputs":
        """Return the compressor for one call. loop: the event loop that runs, if the call is asynchronous."""
        return ExpandableOutputs(outputs, Keeper(self._store(run_store, loop), self.secret), _conversation(config))

    def expand_tool(self, expander: Expander, name: str = EXPAND) -> BaseTool:
        """Return the tool that finds what this shelf keeps."""
        calls = _Expand(self, expander)
        return StructuredTool(
            name=name,
            description=EXPAND_LEFT_OUT,
            args_schema=LeftOutInput,
            func=calls.expand,
            coroutine=calls.aexpand,
            handle_tool_error=True,
        )

    def store(self, loop: Loop | None) -> LeftOutStore:
        """Return the store for a call of a tool, which may run in an agent."""
        return self._store(_store_of_run() if self.given is None else None, loop)

    def _store(self, run_store: "BaseStore | None", loop: Loop | None) -> LeftOutStore:
        store = self.given
        if store is None:
            store = self.spare if run_store is None else GraphStore(run_store)
        return store.on_loop(loop) if isinstance(store, GraphStore) else store


@dataclass(frozen=True, slots=True, eq=False)
class ExpandableOutputs:
    """A compressor for the results of one conversation that keeps whole texts and ends each result with a marker."""

    outputs: Outputs
    keeper: Keeper
    conversation: str

    def shortened(self, content: Any, query: str | None) -> Shorter | None:
        """Return the replacement of a tool's result with its marker; None if it stays as it is.

        Blocks get a block with the marker. Anything else becomes text, with the marker as its last line. A result in
        which something looks like a handle is replaced in any case.
        """
        found = self.outputs.for_query(query).with_rules_that_fit(lambda outputs: self._fitted(outputs, content, query))
        if found is not None or (safe := _guarded(content)) is content:
            return found
        tokens = self.outputs.count(_text_of(safe))
        return Shorter(safe, tokens, tokens)

    async def ashortened(self, content: Any, query: str | None) -> Shorter | None:
        """Do the same off the event loop."""
        return await on_own_thread(partial(self.shortened, content, query))

    def _fitted(self, outputs: Outputs, content: Any, query: str | None) -> Shorter | None:
        def mark(found: Shorter, handle: str) -> Shorter:
            marked = _with_marker(_guarded(found.content), found.marker(handle))
            return replace(found, content=marked, compressed_tokens=outputs.count(_text_of(marked)))

        return with_marker(
            lambda budget: outputs.with_budget(budget).shortened(content, query),
            lambda: self.keeper.keep(self.conversation, _text_of(content)),
            mark,
            outputs.config.budget,
            outputs.count,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Expand:
    """The calls of the tool."""

    shelf: Shelf
    expander: Expander

    def expand(self, handle: str, config: RunnableConfig, lines: str | None = None, question: str | None = None) -> str:
        return self._expanded(self.shelf.store(None), config, handle, lines, question)

    async def aexpand(
        self, handle: str, config: RunnableConfig, lines: str | None = None, question: str | None = None
    ) -> str:
        store = self.shelf.store(asyncio.get_running_loop())
        return await on_own_thread(partial(self._expanded, store, config, handle, lines, question))

    def _expanded(
        self, store: LeftOutStore, config: RunnableConfig, handle: str, lines: str | None, question: str | None
    ) -> str:
        try:
            return self.expander.expand(store, [_conversation(config)], handle, lines, question)
        except CannotExpand as error:
            raise ToolException(str(error)) from error


def _conversation(config: RunnableConfig | None) -> str:
    """Return the key of the user and the thread of a run; "" if it has no thread."""
    given = (config or {}).get("configurable", {})
    if given.get("thread_id") is None:
        return ""
    user = given.get("user_id") or given.get("langgraph_auth_user_id")
    return json.dumps([None if user is None else str(user), str(given["thread_id"])])


def _guarded(content: Any) -> Any:
    """Return a tool's result with a backslash in what looks like a handle; the very same if nothing does.

    Lists and mappings that are not content blocks become text if something does. Errors stay as they are.
    """
    if isinstance(content, ToolMessage):
        inner = content.content if content.status == "error" else _guarded(content.content)
        return content if inner is content.content else content.model_copy(update={"content": inner})
    if isinstance(content, str):
        return guarded(content)
    if _are_blocks(content):
        blocks = [_guarded_block(block) for block in content]
        return content if all(map(is_, blocks, content)) else blocks
    if isinstance(content, list | tuple | Mapping) and (shown := guarded(text := shown_to_model(content))) != text:
        return shown
    return content


def _guarded_block(block: Any) -> Any:
    text = block if isinstance(block, str) else block.get("text")
    if not isinstance(text, str) or (shown := guarded(text)) == text:
        return block
    return shown if isinstance(block, str) else {**block, "text": shown}


def _are_blocks(content: object) -> bool:
    return isinstance(content, list) and all(
        isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") in TOOL_MESSAGE_BLOCK_TYPES)
        for block in content
    )


def _with_marker(content: Any, marker: str) -> Any:
    if isinstance(content, ToolMessage):
        return content.model_copy(update={"content": _with_marker(content.content, marker)})
    if isinstance(content, str):
        return f"{content}\n{marker}"
    if _are_blocks(content):
        is_text = all(isinstance(block, str) for block in content)
        return [*content, marker if is_text else {"type": "text", "text": marker}]
    return f"{shown_to_model(content)}\n{marker}"


def _text_of(content: Any) -> str:
    """Return the text of a result as the model reads it."""
    if isinstance(content, ToolMessage):
        return _text_of(content.content)
    if _are_blocks(content):
        texts = (block if isinstance(block, str) else block.get("text") for block in content)
        return "\n\n".join(text for text in texts if isinstance(text, str))
    return shown_to_model(content)


def _store_of_run() -> "BaseStore | None":
    """Return the store of the agent that runs; None outside of an agent."""
    try:
        from langgraph.config import get_store

        return get_store()
    except (ModuleNotFoundError, RuntimeError, KeyError):
        return None
