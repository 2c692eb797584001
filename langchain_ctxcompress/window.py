"""The context window of a chat model, and how much of it a prompt takes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ctxcompress.agents.framework_models import Encoding, count_prompt

if TYPE_CHECKING:
    from langchain.agents.middleware import ModelRequest

__all__ = ["context_window", "prompt_tokens", "tokens_left"]


def context_window(model: object) -> int | None:
    """Return the most tokens that a chat model reads, which its profile tells; None if it does not.

    Raises TypeError for anything but a chat model.
    """
    if not isinstance(model, BaseChatModel):
        raise TypeError(
            f"model is a {type(model).__name__}; give a chat model of LangChain, or context_window in tokens"
        )
    return (model.profile or {}).get("max_input_tokens")


def prompt_tokens(
    messages: Iterable[BaseMessage | str] = (),
    *,
    system_prompt: SystemMessage | str | None = None,
    tools: Iterable[BaseTool | Callable[..., Any] | Mapping[str, Any]] = (),
    encoding: Encoding = "o200k_base",
) -> int:
    """Return about how many tokens of the context window a prompt takes, to be left out of `context_window`.

    The arguments of tool calls and the schemas of tools count as JSON; images and other media do not count.
    """
    prompt = [*([system_prompt] if system_prompt else []), *messages]
    texts = (text for message in prompt for text in _texts(message))
    return count_prompt(texts, (_schema(tool) for tool in tools), encoding)


def tokens_left(
    request: "ModelRequest[Any]", answer: Iterable[BaseMessage], encoding: Encoding, window: int | None
) -> int:
    """Return the tokens of the context window that a request to a model and its answer leave, 0 if there are none.

    window: the context window, None for the one that the profile of the model tells. Raises ValueError if it does not.
    """
    window = context_window(request.model) if window is None else window
    if window is None:
        raise ValueError(
            "max_tokens is a share of the context window, but the profile of the model "
            f"({type(request.model).__name__}) has no max_input_tokens; give context_window in tokens, or a number of "
            "tokens as max_tokens"
        )
    messages = (*request.messages, *answer)
    taken = prompt_tokens(messages, system_prompt=request.system_message, tools=request.tools, encoding=encoding)
    return max(window - taken, 0)


def _texts(message: BaseMessage | str) -> Iterator[str]:
    if isinstance(message, str):
        yield message
        return
    yield str(message.text)
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            yield json.dumps({"name": call["name"], "args": call["args"]}, ensure_ascii=False, default=str)


def _schema(tool: Any) -> object:
    """Return what a model is told of a tool. A tool that the provider runs itself is given as its own schema."""
    is_known = not isinstance(tool, Mapping) or "function" in tool or {"name", "title"} & tool.keys()
    return convert_to_openai_tool(tool) if is_known else tool
