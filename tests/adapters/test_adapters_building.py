"""One context of several retrievals, in both adapters, and the tools that build it."""

import json
import re
from typing import Any

import pytest
from both_frameworks import Framework, both
from telemetry import Told

pytestmark = both
RULES = [f"Rule {n} says that port {8000 + n} is for tenant {n}. Nobody knows why it was chosen." for n in range(9)]
ANSWERS = [f"Rule {n} says that port {8000 + n} is for tenant {n}." for n in range(9)]


def rules(framework: Framework) -> list[Any]:
    place = {"source": "rules.md", "tags": ["x"]}
    return [framework.item(text, f"r{n}", metadata=place, score=n / 10) for n, text in enumerate(RULES)]


def builder_of(framework: Framework, max_tokens: int = 60, **options: Any) -> Any:
    return framework.package.CtxContextBuilder(max_tokens=max_tokens, **options)


def test_items_go_in_and_come_out(framework: Framework):
    builder, given = builder_of(framework), rules(framework)[:2]
    added = builder.add(given, query="which port is for tenant 1?", max_tokens=15)
    (kept,) = framework.builder_items(added)
    assert added.text == framework.text(kept) == ANSWERS[1]
    assert (framework.id(kept), framework.record(kept)["index"], framework.record(kept)["spans"]) == (
        "r1",
        1,
        [[0, 43]],
    )
    assert framework.texts(added.dropped) == [RULES[0], RULES[1][43:]]
    assert added.reasons == [framework.record(item)["reason"] for item in added.dropped] == ["budget", "budget"]
    assert framework.metadata(added.dropped[0])["tags"] == ["x"]
    assert added.remaining == builder.remaining == 60 - added.tokens
    again = builder.add(given, query="which port is for tenant 0?")
    assert framework.record(again.dropped[0])["reason"] == "duplicate"
    assert builder.render() == "\n\n".join(framework.texts(framework.builder_items(builder)))
    framework.metadata(given[0])["tags"].append("y")
    assert framework.metadata(framework.builder_items(builder)[1])["tags"] == ["x"]


async def test_the_async_twin_does_the_same(framework: Framework):
    one, other = builder_of(framework, 40), builder_of(framework, 40)
    for query in ("tenant 1", "tenant 5"):
        given = (rules(framework), query)
        assert one.add(*given, max_tokens=15) == await other.aadd(*given, max_tokens=15)


@pytest.mark.parametrize("resume", ["from_dict", "resumed"])
@pytest.mark.parametrize("format", ["plain", "compact"])
def test_saved_and_restored_it_goes_on_as_if_nothing_had_happened(framework: Framework, resume, format):
    one, other = builder_of(framework, format=format), builder_of(framework, format=format)
    for query in ("tenant 1", "tenant 5", "tenant 1"):
        data = json.loads(json.dumps(other.to_dict()))
        other = type(other).from_dict(data) if resume == "from_dict" else other.resumed(data)
        assert one.add(rules(framework), query, max_tokens=25) == other.add(rules(framework), query, max_tokens=25)
    assert one.render() == other.render()
    assert framework.builder_items(one) == framework.builder_items(other)
    assert one.to_dict() == other.to_dict()


def test_what_cannot_be_saved_must_be_given_again(framework: Framework):
    builder = builder_of(framework, encoding=str.split, cache=None)
    data = builder.to_dict()
    assert data["not_saved"] == ["encoding"]
    with pytest.raises(ValueError, match=r"give it again: from_dict\(data, encoding=\.\.\.\)"):
        type(builder).from_dict(data)
    assert type(builder).from_dict(data, encoding=str.split).remaining == 60


def test_a_saved_context_has_its_rules_and_needs_no_telemetry(framework: Framework):
    rule = [re.compile(r"INV-\d+"), "ids"]
    builder = builder_of(framework, must_keep=rule, telemetry=Told().telemetry)
    ships = " ".join(f"Ship {n} came late." for n in range(50))
    builder.add([framework.item(f"{ships} The account is INV-77.", "a")], "ship", max_tokens=30)
    saved = builder.to_dict()
    assert saved["options"]["must_keep"] == [{"regex": r"INV-\d+"}, "ids"]
    restored = type(builder).from_dict(saved)
    assert restored.render() == builder.render()
    assert "INV-78" in restored.add([framework.item(f"{ships} The other is INV-78.", "b")], "ship").text


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: None,
        lambda data: {**data, "type": "other"},
        lambda data: {**data, "items": []},
        lambda data: {**data, "items": None},
        lambda data: {**data, "context": {**data["context"], "text": ""}},
    ],
)
def test_damaged_data_is_refused(framework: Framework, damage):
    builder = builder_of(framework)
    builder.add(rules(framework)[:1])
    with pytest.raises(TypeError):
        type(builder).from_dict(damage(builder.to_dict()))


@pytest.mark.parametrize("options", [{"max_tokens": 0}, {"format": "preview"}, {"format": "xml"}, {"top": 3}])
def test_wrong_options_are_refused(framework: Framework, options):
    with pytest.raises(ValueError, match=r"max_tokens|format|top"):
        builder_of(framework, **options)


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_tools_add_to_the_builder_and_tell_what_is_in(framework: Framework, is_async):
    builder, tools = builder_of(framework), framework.package.builder_tools
    search, status = tools(builder, framework.finding(*rules(framework)))
    assert framework.call(status).text == "The context is empty: 0 of 60 tokens; 60 are left."
    assert (await framework.ask(search, is_async=is_async, query="tenant 4")).text == ANSWERS[4]
    assert framework.ids(framework.builder_items(builder)) == ["r4"]
    assert framework.call(status).text == (
        "The context has 1 passage of 1 source: 15 of 60 tokens; 45 are left.\n- rules.md: 1 passage"
    )
    assert [framework.name_of(tool) for tool in tools(builder)] == ["context_status"]


def test_the_search_says_why_nothing_is_new(framework: Framework):
    builder, tools = builder_of(framework, 40), framework.package.builder_tools
    found = framework.retriever(lambda query: rules(framework)[:1] if "rule" in query else [])
    search, _ = tools(builder, found)
    assert framework.call(search, query="x").text == "Nothing was found. Search again with other words."
    builder.add(rules(framework)[:1])
    assert framework.call(search, query="rule").text == "Nothing new: the context has what was found already."
    builder.add([framework.item("Another text that fills the rest of all the room there is.")])
    full = framework.call(tools(builder, framework.finding(*rules(framework)))[0], query="tenant 7").text
    assert full == f"Nothing was added: {builder.remaining} of 40 tokens are left, too few for what was found."


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_full_context_tells_the_model_what_has_no_room(framework: Framework, is_async):
    found = {"a": "The default timeout is 30 seconds.", "b": " ".join(f"TICKET-{n}" for n in range(100, 160))}
    base = framework.retriever(lambda query: [framework.item(found[query], query)])
    search, _ = framework.package.builder_tools(builder_of(framework, must_keep=["ids"]), base)
    assert (await framework.ask(search, is_async=is_async, query="a")).text == found["a"]
    told = (await framework.ask(search, is_async=is_async, query="b")).text
    assert told.startswith("Nothing was added: ")
    assert "must be kept" in told


async def test_in_the_state_of_an_agent_the_context_goes_on_after_a_restart(framework: Framework):
    builder, found = builder_of(framework, 70), framework.finding(*rules(framework))
    conversation = framework.conversation(context_key="context")

    async def answers(*tenants: int) -> list[str]:
        tools = framework.package.builder_tools(builder, found, state_key="context")
        calls = [("search_and_add", {"query": f"tenant {n}"}) for n in tenants]
        return (await framework.play(conversation, [calls, [("context_status", {})]], tools)).answers

    *first, _ = await answers(1, 2)
    *second, status = await answers(3, 1)
    assert builder.render() == ""
    context = type(builder).from_dict(await framework.state_of(conversation, "context"))
    assert sorted(context.render().split("\n\n")) == sorted([*first, *second])
    assert len({*first, *second}) == 4
    assert "4 passages" in status
    assert context.remaining >= 0
