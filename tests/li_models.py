"""Models of LlamaIndex that answer by a script, for agents."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from long_runs import handles
from pydantic import PrivateAttr

Call = tuple[str, dict[str, Any]]
"""The name of a tool, and what it is called with. "?" stands for the last handle that the model was shown."""


class ScriptedModel(FunctionCallingLLM, MockLLM):
    """Gives the answers of a script, and remembers its prompts. An answer is a text, the calls of tools, or both."""

    window: int = 10_000
    script: Sequence[str | tuple[str, Sequence[Call]]] = ()
    _prompts: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, **given: Any) -> None:
        super().__init__()  # which takes no other fields than its own
        for name, value in given.items():
            setattr(self, name, value)

    @property
    def prompts(self) -> list[list[ChatMessage]]:
        """The messages that it got, answer by answer."""
        return self._prompts

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, context_window=self.window, num_output=0)

    def answer(self, number: int) -> ChatResponse:
        """Return an answer. Its `raw` are the calls."""
        answer = self.script[number]
        text, calls = (answer, ()) if isinstance(answer, str) else answer
        raw = {"number": number, "calls": [*calls]} if calls else None
        return ChatResponse(message=ChatMessage(role="assistant", content=text), raw=raw, delta=text)

    def _answered(self, messages: Any) -> ChatResponse:
        self._prompts.append([message.model_copy(deep=True) for message in messages])
        return self.answer(len(self._prompts) - 1)

    async def achat(self, messages: Any, **_: Any) -> ChatResponse:
        return self._answered(messages)

    async def astream_chat(self, messages: Any, **_: Any) -> Any:
        async def parts() -> Any:
            yield self._answered(messages)

        return parts()

    def _prepare_chat_with_tools(self, tools: Any, chat_history: Any = None, **_: Any) -> dict[str, Any]:
        return {"messages": chat_history}

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        raw: Any = response.raw or {"calls": ()}
        known = [handle for message in self._prompts[-1] for handle in handles(message.content or "")]
        return [
            ToolSelection(
                tool_id=f"call-{raw['number']}-{place}",
                tool_name=name,
                tool_kwargs={key: known[-1] if value == "?" else value for key, value in given.items()},
            )
            for place, (name, given) in enumerate(raw["calls"])
        ]


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    """Return the text of each message."""
    return [message.content or "" for message in messages]
