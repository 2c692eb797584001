"""A history processor for pydantic-ai that keeps what answers the question of long results of tools.

    agent = Agent(model, tools=tools, capabilities=[ProcessHistory(shorter_results(max_tokens=1000))])

It reads the messages before each request, also those of earlier runs that `message_history` brings. pydantic-ai keeps
what a processor returns, so `result.all_messages()` has the shorter results too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    TextContent,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from ctxcompress import CompressionConfig
from ctxcompress.agents.output_compressor import (
    OutputCompressor,
    asked_query,
    named_query,
    only_text,
    shown_to_model,
)

__all__ = ["shorter_results"]


def shorter_results(
    max_tokens: int | str = 1_000, **options: Any
) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """Return a processor after which each result of a tool has at most `max_tokens` tokens.

    Results that fit stay as they are, and so do errors, images and files. The query is the argument of the call named
    query, q, question, search_query or input, if it reads as words; otherwise the last prompt of the user before it;
    otherwise the only text argument. What the model reads of a result thus never changes, so prompt caches stay valid.
    Messages are never changed: there are new ones in place of those with a long result.

    options: those of `ctxcompress.CompressionConfig`. Raises ConfigError, a ValueError, for a value that cannot work.
    """
    config = CompressionConfig().with_options(max_tokens=max_tokens, **options)
    outputs = OutputCompressor(config, min_tokens=0)
    return lambda messages: list(_shown(messages, outputs))


def _shown(messages: Sequence[ModelMessage], outputs: OutputCompressor) -> Iterator[ModelMessage]:
    calls: dict[str, dict[str, Any]] = {}
    question: str | None = None
    for message in messages:
        if not isinstance(message, ModelRequest):
            calls |= {
                part.tool_call_id: part.args_as_dict() for part in message.parts if isinstance(part, ToolCallPart)
            }
            yield message
            continue
        parts: list[ModelRequestPart] = []
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                question = _text(part.content) or question
            elif isinstance(part, ToolReturnPart) and _is_plain(part):
                given = calls.get(part.tool_call_id, {})
                query = asked_query(given) or question or named_query(given) or only_text(given.values())
                part = replace(part, content=_shorter(part.content, query, outputs.for_query(query)))
            parts.append(part)
        yield message if parts == message.parts else replace(message, parts=parts)


def _is_plain(part: ToolReturnPart) -> bool:
    """Return whether a part is a result that no kind of tools has a form for."""
    return part.outcome == "success" and part.tool_kind is None


def _text(content: str | Sequence[UserContent]) -> str:
    if isinstance(content, str):
        return content.strip()
    texts = (each.content if isinstance(each, TextContent) else each for each in content)
    return "\n".join(each for each in texts if isinstance(each, str)).strip()


def _shorter(content: Any, query: str | None, outputs: OutputCompressor) -> Any:
    """Return a result within the budget; what is neither text nor JSON stays as it is."""
    if outputs.count(shown_to_model(content)) <= outputs.config.budget:
        return content
    if isinstance(content, str):
        return outputs.compress([content], query).text or outputs.said_nothing()
    data = outputs.data(content, query)
    return data.content if data else content
