"""The history of an agent: LangChain's messages as the core reads them, and the messages that the model gets."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.types import Command
from typing_extensions import TypedDict

from ctxcompress import CompressionConfig
from ctxcompress.agents.agent_messages import AgentMessage, Role
from ctxcompress.agents.history import Generation, HistoryCompressor
from ctxcompress.agents.output_compressor import on_thread
from langchain_ctxcompress.outputs import is_traced
from langchain_ctxcompress.window import context_window

__all__ = ["HISTORY_EVENT", "History", "HistorySavings", "agent_messages"]

HISTORY_EVENT = "ctxcompress_history"
"""The name of the custom event that callbacks get when older messages have been compressed."""
HISTORY_KEY = "ctxcompress_history"
"""The key of the agent's state that has the generation."""
_MEDIA = frozenset(("image", "image_url", "audio", "input_audio", "video", "file", "media", "document"))
_TITLE_VALUES = (str, int, float)


class HistorySavings(TypedDict):
    """A compression of older messages, as callbacks get it."""

    generation: int
    messages_shortened: int
    messages_dropped: int
    original_tokens: int
    compressed_tokens: int
    tokens_saved: int


class History:
    """Compresses the older messages that a model gets. The messages of the state stay whole."""

    def __init__(
        self,
        config: CompressionConfig,
        history_tokens: int | str,
        *,
        keep_last: int,
        history_share: float,
        window: int | None = None,
    ) -> None:
        """Raises ConfigError, a ValueError: see `HistoryCompressor`.

        window: the context window, None for the one that the profile of a request's model tells.
        """
        self._window = window
        self._compressor = HistoryCompressor(config, history_tokens, keep_last=keep_last, history_share=history_share)

    def call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model with the older messages compressed. A new generation is written into the state."""
        last = _last_generation(request)
        shown, generation = self._compressed(request, last)
        new = None if generation is last else generation
        if new and _is_next(new, last) and is_traced(None):
            dispatch_custom_event(HISTORY_EVENT, _savings(new))
        response = handler(shown)
        return _with_generation(response, new) if new else response

    async def acall(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Do the same off the event loop."""
        last = _last_generation(request)
        shown, generation = await on_thread(partial(self._compressed, request, last))
        new = None if generation is last else generation
        if new and _is_next(new, last) and is_traced(None):
            await adispatch_custom_event(HISTORY_EVENT, _savings(new))
        response = await handler(shown)
        return _with_generation(response, new) if new else response

    def _compressed(
        self, request: ModelRequest[Any], last: Generation | None
    ) -> tuple[ModelRequest[Any], Generation | None]:
        """Return the request with what to show of the messages, and the generation by which they are shown: `last` or a
        new one. Where all are shown whole it is the request itself: other middleware may add to its messages."""
        messages = request.messages
        read = agent_messages(messages)
        window = self._window
        if window is None and self._compressor.is_share:
            window = context_window(request.model)
        generation = self._compressor.next_generation(read, last, window)
        shown = self._compressor.shown(read, generation)
        if all(shown.get(place) is message for place, message in enumerate(read)):
            return request, generation
        return request.override(
            messages=[
                messages[place] if message is read[place] else _with_texts(messages[place], message.texts)
                for place, message in shown.items()
            ]
        ), generation


def _last_generation(request: ModelRequest[Any]) -> Generation | None:
    state: Mapping[str, Any] = request.state
    return state.get(HISTORY_KEY)


def _is_next(new: Generation, last: Generation | None) -> bool:
    """Return whether other messages are shown. Otherwise the generation was only found to be right for a new goal."""
    return last is None or new["number"] != last["number"]


def _with_generation(response: ModelResponse[Any], generation: Generation) -> ExtendedModelResponse[Any]:
    return ExtendedModelResponse(response, Command(update={HISTORY_KEY: generation}))


def _savings(generation: Generation) -> HistorySavings:
    return HistorySavings(
        generation=generation["number"],
        messages_shortened=len(generation["shortened"]),
        messages_dropped=len(generation["dropped"]),
        original_tokens=generation["original_tokens"],
        compressed_tokens=generation["compressed_tokens"],
        tokens_saved=generation["original_tokens"] - generation["compressed_tokens"],
    )


def agent_messages(messages: Sequence[AnyMessage]) -> list[AgentMessage]:
    """Return the messages as the core reads them."""
    titles = {
        call["id"]: " ".join(str(value) for value in call["args"].values() if isinstance(value, _TITLE_VALUES))
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    return [_agent_message(message, titles) for message in messages]


def _agent_message(message: AnyMessage, titles: Mapping[str | None, str]) -> AgentMessage:
    blocks = [message.content] if isinstance(message.content, str) else message.content
    others = [block for block in blocks if _text(block) is None]
    rest = [block for block in others if isinstance(block, dict) and block.get("type") not in _MEDIA]
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    # Of a list, the blocks have the calls already.
    written: list[Any] = rest if rest else [{"name": call["name"], "args": call["args"]} for call in calls]
    answers = message.tool_call_id if isinstance(message, ToolMessage) else None
    return AgentMessage(
        role=_role(message),
        texts=[text for block in blocks if (text := _text(block)) is not None],
        id=message.id,
        rest="".join(json.dumps(each, ensure_ascii=False, default=str) for each in written),
        media=len(others) - len(rest),
        calls=[call["id"] for call in calls if call["id"] is not None],
        answers=answers,
        title=titles.get(answers),
    )


def _role(message: AnyMessage) -> Role:
    if isinstance(message, HumanMessage):
        return Role.USER
    if isinstance(message, AIMessage):
        return Role.ASSISTANT
    return Role.TOOL if isinstance(message, ToolMessage) else Role.OTHER


def _text(block: str | dict[Any, Any]) -> str | None:
    text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _with_texts(message: AnyMessage, texts: Sequence[str]) -> AnyMessage:
    """Return a copy of the message with other texts. Blocks of which nothing is kept are left out."""
    if isinstance(message.content, str):
        return message.model_copy(update={"content": texts[0]})
    left = iter(texts)
    content: list[Any] = []
    for block in message.content:
        if _text(block) is None:
            content.append(block)
        elif text := next(left):
            content.append(text if isinstance(block, str) else {**block, "text": text})
    return message.model_copy(update={"content": content})
