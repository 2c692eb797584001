"""The history processor of examples/ in real runs of pydantic-ai, with its own models for tests."""

import json
from copy import deepcopy
from datetime import date
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")

from example_texts import ANSWER, LOG, MANUAL, QUERY
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai_history import shorter_results

from ctxcompress import Compressor

BUDGET = 100


def read_log(path: str) -> str:
    """Read the log of the build."""
    return LOG


def find(query: str) -> list[dict[str, str]]:
    """Search the web."""
    pages = [("Client", MANUAL), ("Log", LOG.replace("\n", " ")), ("Harbour", MANUAL[60:])]
    return [{"title": title, "url": f"https://{title}.org", "content": text} for title, text in pages]


def modules() -> dict[str, Any]:
    """List the modules."""
    return {"modules": [{"number": number, "state": "failed" if number == 237 else "ok"} for number in range(400)]}


class Scripted:
    """A model that makes calls of tools in turn, and remembers what it read."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls, self.read = list(calls), list[list[ModelMessage]]()

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.read.append(deepcopy(messages))
        step = len(self.read) - 1
        if step < len(self.calls):
            name, arguments = self.calls[step]
            return ModelResponse([ToolCallPart(name, arguments, tool_call_id=f"call-{len(messages)}")])
        return ModelResponse([TextPart("Done.")])

    def run(self, said: str = QUERY, history: list[ModelMessage] | None = None) -> Any:
        agent = agent_of(FunctionModel(self))
        return agent.run_sync(said, message_history=history)


def agent_of(model: Any) -> Agent:
    return Agent(
        model, tools=[read_log, find, modules], capabilities=[ProcessHistory(shorter_results(max_tokens=BUDGET))]
    )


def returns(messages: list[ModelMessage]) -> list[Any]:
    parts = (part for message in messages for part in message.parts)
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


def test_the_model_reads_the_answer_within_the_budget() -> None:
    model = Scripted(("read_log", {"path": "build.log"}))
    (kept,) = returns(model.run().all_messages())
    (read,) = returns(model.read[-1])
    assert read == kept
    assert ANSWER in read
    assert set(read.splitlines()) < {*LOG.splitlines(), "[…]"}
    assert Compressor().count(read) <= BUDGET


def test_every_tool_that_the_test_model_calls_returns_less() -> None:
    result = agent_of(TestModel()).run_sync(QUERY)
    read = returns(result.all_messages())
    assert len(read) == 3
    assert all(Compressor().count(each if isinstance(each, str) else json.dumps(each)) <= BUDGET for each in read)


def test_what_the_model_has_read_stays_the_same_when_the_user_goes_on() -> None:
    first = Scripted(("read_log", {"path": "build.log"}), ("find", {"query": "the default timeout of the client"}))
    history = first.run().all_messages()
    later = Scripted(("read_log", {"path": "build.log"}))
    later.run("When was module 301 compiled?", history)
    for model in (first, later):
        for before, after in zip(model.read, model.read[1:], strict=False):
            assert returns(after)[: len(returns(before))] == returns(before)
    assert returns(later.read[0]) == returns(first.read[-1])
    assert ["module 301" in str(each) for each in returns(later.read[-1])] == [False, False, True]


def test_search_results_and_data_keep_their_shape() -> None:
    model = Scripted(("find", {"query": "what is the default timeout?"}), ("modules", {}))
    model.run("Which module failed?")
    results, data = returns(model.read[-1])
    assert results[0]["url"] == "https://Client.org"
    assert "timeout of the client is 30 seconds" in results[0]["content"]
    assert {"number": 237, "state": "failed"} in data["modules"]


def test_errors_files_and_what_fits_stay_and_nothing_given_is_changed() -> None:
    image = BinaryContent(b"a", media_type="image/png")
    parts = [
        ToolReturnPart("read_log", LOG, tool_call_id="a", outcome="failed"),
        ToolReturnPart("look", [LOG, image], tool_call_id="b"),
        ToolReturnPart("read_log", "It has 400 modules. Ships came in late. Done.", tool_call_id="c"),
        ToolReturnPart("find", LOG, tool_call_id="d", tool_kind="mine"),
        ToolReturnPart("days", [date(2026, 1, day) for day in range(1, 31)], tool_call_id="e"),
    ]
    prompt = ModelRequest([UserPromptPart(["When was module 301 compiled?", image])])
    long = ModelRequest([ToolReturnPart("read_log", LOG, tool_call_id="unknown", metadata={"kept": 1})])
    messages: list[ModelMessage] = [prompt, ModelRequest(parts), long]
    before = deepcopy(long)
    found = shorter_results(max_tokens=BUDGET, adaptive=0.5)(messages)
    assert found[0] is prompt
    assert found[1] is messages[1]
    assert long == before
    (part,) = found[2].parts
    assert isinstance(part, ToolReturnPart)
    assert "module 301" in part.content
    assert (part.tool_call_id, part.metadata) == ("unknown", {"kept": 1})


def test_a_model_reads_that_nothing_answers() -> None:
    said = UserPromptPart("Who is the mayor of Lisbon?")
    messages: list[ModelMessage] = [ModelRequest([said, ToolReturnPart("read", MANUAL, tool_call_id="a")])]
    found = shorter_results(max_tokens=BUDGET, adaptive=0.9, on_empty="drop")(messages)
    assert returns(found) == ["Nothing in this result answers the query."]


def test_a_wrong_option_is_refused_when_the_processor_is_made() -> None:
    with pytest.raises(ValueError, match="did you mean 'max_tokens'"):
        shorter_results(max_token=5)
