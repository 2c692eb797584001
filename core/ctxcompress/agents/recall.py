"""The answer of a chat memory to the current question: parts of earlier messages, each under who said it and when."""

from collections.abc import Sequence
from dataclasses import replace

from ctxcompress.agents.agent_messages import HANDLE_KEY, AgentMessage, passages_of
from ctxcompress.agents.markers import shorter_marker
from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression
from ctxcompress.errors import BudgetTooSmall, warn
from ctxcompress.render.headers import Guard
from ctxcompress.text.lines import INVISIBLE, one_line, shortened, spelled

__all__ = ["recall", "recalled_text"]

_LONGEST_NAME = 60
_TIMES = ("timestamp", "created_at", "sent_at", "datetime", "date", "time", "ts")
_SEPARATOR = "\n\n"
_guard = Guard(rf"\[[{INVISIBLE}]*+{spelled('message')}[\s{INVISIBLE}]*+\d")


async def recall(config: CompressionConfig, messages: Sequence[AgentMessage], query: str) -> Compression:
    """Return the parts of `messages` that best answer `query`, in their order, with headers within the budget.

    Runs on another thread, but an async encoder on this event loop.
    """
    passages = [
        replace(passage, id=f"{place + 1}:{message.speaker}")
        for place, message in enumerate(messages)
        for passage in passages_of(place, message)
        if passage.text.strip()
    ]
    config = config.with_options(mode="extract", format="plain", separator=_SEPARATOR)
    try:
        return await Compressor(config).acompress(query, passages, frame=_entry)
    except BudgetTooSmall as error:
        warn(f"must_keep does not hold for the memory: {error}")
        return await Compressor(config.with_options(must_keep=())).acompress(query, passages, frame=_entry)


def recalled_text(compression: Compression) -> str:
    """Return what `recall` kept, each part under a line such as "[message 3, user, 2026-05-01]".

    No text of a message can forge such a line: a look-alike gets a backslash.
    """
    return _SEPARATOR.join(_entry(part.original, part.text) for part in compression.passages)


def _entry(passage: Passage, text: str) -> str:
    number, _, speaker = passage.id.partition(":")
    time = next((str(passage.metadata[name]) for name in _TIMES if passage.metadata.get(name)), "")
    known = (f"message {number}", _name(speaker), _name(time))
    handle = passage.metadata.get(HANDLE_KEY)
    marker = f"\n{shorter_marker(str(handle))}" if handle else ""
    return f"[{', '.join(filter(None, known))}]\n{_guard(text)}{marker}"


def _name(name: str) -> str:
    return shortened(one_line(name).replace("]", ")"), _LONGEST_NAME)
