"""The filter of examples/ in real runs of the OpenAI Agents SDK. Only its model is scripted."""

import json
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    ToolOutputText,
    Usage,
    function_tool,
)
from agents.run import CallModelData, ModelInputData
from example_texts import ANSWER, LOG, MANUAL, QUERY
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from openai_agents_filter import CtxOutputFilter

from ctxcompress import Compressor

BUDGET = 100


class Scripted(Model):
    """A model that makes calls of tools in turn, and remembers what it read."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls, self.read = list(calls), list[list[Any]]()

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **options: Any) -> ModelResponse:
        self.read.append(deepcopy(input))
        step = len(self.read) - 1
        if step < len(self.calls):
            name, arguments = self.calls[step]
            call = ResponseFunctionToolCall(
                type="function_call", call_id=f"call-{len(input)}", name=name, arguments=json.dumps(arguments)
            )
            return ModelResponse([call], Usage(), response_id=None)
        said = ResponseOutputText(type="output_text", text="Done.", annotations=[])
        message = ResponseOutputMessage(type="message", id="m", role="assistant", status="completed", content=[said])
        return ModelResponse([message], Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def read_log(path: str) -> str:
    """Read the log of the build."""
    return LOG


@function_tool
def find(query: str) -> str:
    """Search the web."""
    pages = [("Client", MANUAL), ("Log", LOG.replace("\n", " ")), ("Harbour", MANUAL[60:])]
    return json.dumps([{"title": title, "url": f"https://{title}.org", "content": text} for title, text in pages])


@function_tool
def look() -> list[Any]:
    """Take a picture."""
    image = ToolOutputImage(image_url="data:image/png;base64,AAAA")
    return [ToolOutputText(text=MANUAL), image, ToolOutputText(text=LOG)]


async def run(model: Scripted, *, said: str = QUERY, **options: Any) -> Any:
    agent = Agent("builder", model=model, tools=[read_log, find, look])
    config = RunConfig(call_model_input_filter=CtxOutputFilter(max_tokens=BUDGET), tracing_disabled=True)
    return await Runner.run(agent, said, run_config=config, **options)


def outputs(items: list[Any]) -> list[Any]:
    return [item["output"] for item in items if item.get("type") == "function_call_output"]


async def test_the_model_reads_the_answer_within_the_budget_and_the_run_keeps_all() -> None:
    model, session = Scripted(("read_log", {"path": "build.log"})), SQLiteSession("one")
    result = await run(model, session=session)
    (read,) = outputs(model.read[-1])
    assert ANSWER in read
    assert set(read.splitlines()) < {*LOG.splitlines(), "[…]"}
    assert Compressor().count(read) <= BUDGET
    assert outputs(result.to_input_list()) == outputs(await session.get_items()) == [LOG]


async def test_what_the_model_has_read_stays_the_same_when_the_user_goes_on() -> None:
    session = SQLiteSession("two")
    first = Scripted(("read_log", {"path": "build.log"}), ("find", {"query": "the default timeout of the client"}))
    await run(first, session=session)
    later = Scripted(("read_log", {"path": "build.log"}))
    await run(later, said="When was module 301 compiled?", session=session)
    for model in (first, later):
        for before, after in zip(model.read, model.read[1:], strict=False):
            assert after[: len(before)] == before
    assert later.read[0][: len(first.read[-1])] == first.read[-1]
    assert ["module 301" in str(each) for each in outputs(later.read[-1])] == [False, False, True]


async def test_search_results_keep_their_shape_and_answer_their_own_query() -> None:
    model = Scripted(("find", {"query": "what is the default timeout?"}))
    await run(model)
    (read,) = outputs(model.read[-1])
    assert Compressor().count(read) <= BUDGET
    results = json.loads(read)
    assert results[0]["url"] == "https://Client.org"
    assert "timeout of the client is 30 seconds" in results[0]["content"]


async def test_texts_beside_an_image_share_one_budget_and_the_image_stays() -> None:
    model = Scripted(("look", {}))
    await run(model)
    (read,) = outputs(model.read[-1])
    assert [part for part in read if part["type"] == "input_image"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    ]
    texts = [part["text"] for part in read if part["type"] == "input_text"]
    assert any(ANSWER in text for text in texts)
    assert Compressor().count("\n\n".join(texts)) <= BUDGET


SHORT = "The build has 400 modules. The timeout is 30 seconds. Ships came in late."


async def filtered(items: list[Any], **options: Any) -> ModelInputData:
    data = CallModelData(ModelInputData(items, "Build."), Agent("builder"), None)
    return await CtxOutputFilter(max_tokens=BUDGET, **options)(data)


async def test_what_fits_is_the_same_object_and_nothing_given_is_changed() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    items: list[Any] = [
        {"role": "user", "content": [{"type": "input_text", "text": "When was module 301 compiled?"}]},
        {"role": "user", "content": [image]},
        {"type": "function_call", "call_id": "a", "name": "read_log", "arguments": "no JSON"},
        {"type": "function_call_output", "call_id": "a", "output": SHORT},
        {"type": "function_call_output", "call_id": "unknown", "output": LOG},
        {"type": "function_call_output", "call_id": "a", "output": [image]},
        {"type": "reasoning", "id": "r", "summary": []},
    ]
    before = deepcopy(items)
    found = await filtered(items, adaptive=True)
    assert items == before
    assert found.instructions == "Build."
    same = [one is other for one, other in zip(items, found.input, strict=True)]
    assert same == [True, True, True, True, False, True, True]
    assert "module 301" in str(found.input[4])


async def test_a_model_reads_that_nothing_answers() -> None:
    items: list[Any] = [{"type": "function_call_output", "call_id": "a", "output": MANUAL}]
    said = [{"role": "user", "content": "Who is the mayor of Lisbon?"}]
    found = await filtered([*said, *items], adaptive=0.9, on_empty="drop")
    assert outputs(found.input) == ["Nothing in this result answers the query."]


async def test_parts_of_which_nothing_is_kept_are_left_out() -> None:
    parts = [{"type": "input_text", "text": text} for text in LOG.splitlines()]
    items: list[Any] = [
        {"role": "user", "content": QUERY},
        {"type": "function_call_output", "call_id": "a", "output": parts},
    ]
    kept = outputs((await filtered(items)).input)[0]
    assert all(part in parts for part in kept)
    assert {"type": "input_text", "text": ANSWER} in kept


def test_a_wrong_option_is_refused_when_the_filter_is_made() -> None:
    with pytest.raises(ValueError, match="did you mean 'max_tokens'"):
        CtxOutputFilter(max_token=5)
