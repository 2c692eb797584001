"""The context window of a language model, and how much of it a prompt takes."""

from collections.abc import Iterable, Iterator

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.tools import BaseTool, ToolMetadata

from ctxcompress.agents.prompt_size import Encoding, count_prompt

__all__ = ["context_window", "prompt_tokens"]


def context_window(model: object) -> int:
    """Return the most tokens that a language model reads: its context window without the room for its answer.

    Raises TypeError for anything but a language model of LlamaIndex, and what its metadata raises.
    """
    if not isinstance(model, BaseLLM):
        raise TypeError(f"model is a {type(model).__name__}; give an LLM of LlamaIndex, or context_window in tokens")
    metadata = model.metadata
    room = metadata.context_window - max(metadata.num_output, 0)
    return room if room > 0 else metadata.context_window


def prompt_tokens(
    messages: Iterable[ChatMessage | str] = (),
    *,
    system_prompt: str | None = None,
    tools: Iterable[BaseTool | ToolMetadata] = (),
    encoding: Encoding = "o200k_base",
) -> int:
    """Return about how many tokens of the context window a prompt takes, to be left out of `context_window`.

    The schemas of tools count as JSON; images and other media do not count.
    """
    prompt = [*([system_prompt] if system_prompt else []), *messages]
    texts = (text for message in prompt for text in _texts(message))
    return count_prompt(texts, (_schema(tool) for tool in tools), encoding)


def _texts(message: ChatMessage | str) -> Iterator[str]:
    if isinstance(message, str):
        yield message
        return
    yield "".join(block.text for block in message.blocks if isinstance(block, TextBlock))
    for call in message.additional_kwargs.get("tool_calls") or ():
        yield str(call)


def _schema(tool: BaseTool | ToolMetadata) -> object:
    metadata = tool.metadata if isinstance(tool, BaseTool) else tool
    return metadata.to_openai_tool(skip_length_check=True)
