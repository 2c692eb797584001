"""A filter for the OpenAI Agents SDK that keeps what answers the question of long outputs of tools.

    config = RunConfig(call_model_input_filter=CtxOutputFilter(max_tokens=1000))
    result = await Runner.run(agent, "Why did the build fail?", run_config=config)

It stands where `ToolOutputTrimmer` of the SDK would, which keeps the first characters of older outputs. Sessions and
the result of the run keep the whole outputs: only the model reads shorter ones.
"""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from agents.run import CallModelData, ModelInputData

from ctxcompress import CompressionConfig
from ctxcompress.agents.output_compressor import OutputCompressor, asked_query, named_query, on_thread, only_text

__all__ = ["CtxOutputFilter"]

_REMEMBERED = 256


class CtxOutputFilter:
    """A `call_model_input_filter` after which each output of a tool has at most `max_tokens` tokens.

    Outputs that fit stay as they are, and so do images and files. The query is the argument of the call named query, q,
    question, search_query or input, if it reads as words; otherwise the last message of the user before it; otherwise
    the only text argument. What the model reads of an output thus never changes, so prompt caches stay valid.
    """

    def __init__(self, max_tokens: int | str = 1_000, **options: Any) -> None:
        """Make the filter. options: those of `ctxcompress.CompressionConfig`. Raises ConfigError, a ValueError."""
        config = CompressionConfig().with_options(max_tokens=max_tokens, **options)
        self._outputs = OutputCompressor(config, min_tokens=0)
        # Before each call of the model the filter sees all outputs again.
        self._remembered = lru_cache(_REMEMBERED)(self._shorter)

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input of the model with shorter outputs, which are made off the event loop."""
        items = await on_thread(lambda: list(self._shown(data.model_data.input)))
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    def _shown(self, items: Sequence[Any]) -> Iterator[Any]:
        """Yield the items with other outputs. An item that stays as it is, is the same object: the SDK tracks them."""
        calls: dict[str, dict[str, Any]] = {}
        question: str | None = None
        for item in items:
            match item:
                case {"role": "user", "content": content}:
                    question = "\n".join(_texts(content)).strip() or question
                case {"type": "function_call", "call_id": call, "arguments": arguments}:
                    calls[call] = _read(arguments)
                case {"type": "function_call_output", "call_id": call, "output": output}:
                    given, texts = calls.get(call, {}), _texts(output)
                    query = asked_query(given) or question or named_query(given) or only_text(given.values())
                    shorter = self._remembered(texts, query)
                    if shorter != texts:
                        yield {**item, "output": _with_texts(output, shorter)}
                        continue
            yield item

    def _shorter(self, texts: tuple[str, ...], query: str | None) -> tuple[str, ...]:
        """Return the texts of an output within one budget, "" for a text of which nothing is kept."""
        outputs = self._outputs.for_query(query)
        if sum(map(outputs.count, texts)) <= outputs.config.budget:
            return texts
        result = outputs.compress(texts, query)
        kept = {part.index: part.text for part in result.passages} or {0: outputs.said_nothing()}
        return tuple(kept.get(place, "") for place in range(len(texts)))


def _read(arguments: str) -> dict[str, Any]:
    """Return the arguments of a call, none if the model wrote no JSON object."""
    try:
        found = json.loads(arguments)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _texts(content: str | list[Any]) -> tuple[str, ...]:
    """Return the texts of a message or of an output."""
    return (content,) if isinstance(content, str) else tuple(part["text"] for part in content if _is_text(part))


def _is_text(part: Any) -> bool:
    return bool(part.get("type") == "input_text")


def _with_texts(output: str | list[Any], texts: Sequence[str]) -> str | list[Any]:
    """Return an output with other texts. Parts of which nothing is kept are left out."""
    if isinstance(output, str):
        return texts[0]
    left = iter(texts)
    parts = [{**part, "text": next(left)} if _is_text(part) else part for part in output]
    return [part for part in parts if not _is_text(part) or part["text"]]
