"""Chat messages of LlamaIndex as the core reads them, and with other texts."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from ctxcompress.agents.agent_messages import AgentMessage, Role

__all__ = ["agent_messages", "identified", "with_results", "with_texts"]

_ROLES = {
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
}
_CALL_ID = "tool_call_id"


def agent_messages(messages: Sequence[ChatMessage]) -> list[AgentMessage]:
    """Return the messages as the core reads them. They have no ids: see `identified`."""
    blocks: Iterable[Any] = (block for message in messages for block in message.blocks)
    # Blocks of calls have no class in older versions of LlamaIndex.
    calls = {block.tool_call_id: block for block in blocks if getattr(block, _CALL_ID, None)}
    answered = _answered(messages)
    return [_agent_message(message, calls, answered.get(place, ())) for place, message in enumerate(messages)]


def identified(messages: Sequence[AgentMessage]) -> list[AgentMessage]:
    """Return the messages with ids: a digest of what each says, and which of those that say the same it is."""
    seen: Counter[str] = Counter()
    found = []
    for message in messages:
        said = json.dumps([message.role, *message.texts, message.rest, message.answers, message.media])
        digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        seen[digest] += 1
        found.append(replace(message, id=f"{digest}-{seen[digest]}"))
    return found


def with_results(messages: Sequence[AgentMessage], begin: int, makes_call: Callable[[str], bool]) -> list[AgentMessage]:
    """Return the messages with calls and results where an agent writes both as plain text.

    begin: from here on, each message after one of the model is a result. makes_call: tells by the text of a message of
    the model whether this holds before, too.
    """
    found = [*messages]
    caller: int | None = None
    for place, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            is_call = place >= begin or makes_call("".join(message.texts))
            caller = place if is_call else None
        elif caller is not None and not message.answers:
            call, call_id = found[caller], f"call-{messages[caller].id}"
            calls = [*dict.fromkeys([*call.calls, call_id])]
            found[caller] = replace(call, texts=(), rest="".join([call.rest, *call.texts]), calls=calls)
            found[place] = replace(message, role=Role.TOOL, answers=call_id)
    return found


def with_texts(message: ChatMessage, texts: Sequence[str]) -> ChatMessage:
    """Return a copy of the message with other texts. Blocks of which nothing is kept are left out."""
    left = iter(texts)
    blocks = [
        block.model_copy(update={"text": text}) if isinstance(block, TextBlock) and block.text else block
        for block in message.blocks
        if (text := next(left) if isinstance(block, TextBlock) and block.text else None) != ""
    ]
    return message.model_copy(update={"blocks": blocks})


def _answered(messages: Sequence[ChatMessage]) -> Mapping[int, Sequence[str]]:
    """Return the position of each message of a model -> the ids of the calls that the results right after it answer."""
    found: dict[int, list[str]] = {}
    caller = -1
    for place, message in enumerate(messages):
        if _ROLES.get(message.role) is not Role.TOOL:
            caller = place if _ROLES.get(message.role) is Role.ASSISTANT else -1
        elif caller >= 0 and message.additional_kwargs.get(_CALL_ID):
            found.setdefault(caller, []).append(message.additional_kwargs[_CALL_ID])
    return found


def _agent_message(message: ChatMessage, calls: Mapping[str, Any], answered: Sequence[str]) -> AgentMessage:
    kwargs = message.additional_kwargs
    call = calls.get(kwargs.get(_CALL_ID, ""))
    blocks: list[Any] = [block for block in message.blocks if not isinstance(block, TextBlock)]
    called = [block for block in blocks if hasattr(block, _CALL_ID)]
    written = kwargs.get("tool_calls") or ()
    role = _ROLES.get(message.role, Role.OTHER)
    given = call.tool_kwargs if call else None
    title = " ".join(map(str, given.values())) if isinstance(given, Mapping) else given
    return AgentMessage(
        role=role,
        texts=[block.text for block in message.blocks if isinstance(block, TextBlock) and block.text],
        # Providers write calls in blocks, or in a form of their own beside them.
        rest="".join([*(f"{block.tool_name}{block.tool_kwargs}" for block in called), *map(str, written)]),
        media=len(blocks) - len(called),
        calls=_made(called, written) or answered,
        answers=kwargs.get(_CALL_ID) if role is Role.TOOL else None,
        name=kwargs.get("name") or (call.tool_name if call else None),
        title=title,
        metadata=kwargs,
    )


def _made(blocks: Iterable[Any], written: Iterable[Any]) -> list[str]:
    """Return the ids of the calls that a message makes; none if its provider tells them in another way."""
    ids = [block.tool_call_id for block in blocks]
    ids = ids or [call.get("id") if isinstance(call, Mapping) else getattr(call, "id", None) for call in written]
    return [call_id for call_id in ids if call_id]
