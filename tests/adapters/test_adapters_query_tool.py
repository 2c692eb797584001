"""The search tool of both adapters: what a retriever finds, compressed, and arguments within limits."""

import json
from copy import deepcopy

import pytest
from both_frameworks import QUERY, Framework, both, tokens
from meanings import QUESTION

from ctxcompress.agents.query_tool import QueryTool

pytestmark = both


def tool_of(framework: Framework, *items, **options):
    return framework.package.query_tool(framework.finding(*items), **framework.scored(options))


def found(framework: Framework, *scores: float):
    return framework.items(scores=scores)


def as_one_type(schema):
    """A property as the core writes it: pydantic says "or null" in another way."""
    first, *others = schema.get("anyOf", [schema])
    kind = [first["type"], *(other["type"] for other in others)] if others else first["type"]
    known = {**first, **schema, "type": kind}
    return {key: known[key] for key in known if key not in ("anyOf", "title") and known.get(key) is not None}


def test_a_language_model_sees_the_limits_and_defaults(framework: Framework):
    function = framework.schema(tool_of(framework))
    assert function["name"] == "query_documents_compressed"
    assert len(function["description"]) > 80
    seen = function["parameters"]["properties"]
    for name, wanted in QueryTool.of().parameters.schema["properties"].items():
        assert as_one_type(seen[name]) == {key: wanted[key] for key in wanted if wanted[key] is not None}
    assert function["parameters"]["required"] == ["query"]


def test_the_answer_says_where_its_parts_are_from_and_brings_their_items(framework: Framework):
    items = found(framework, 4.0, 3.0, 0.4)
    before = deepcopy(items)
    output = framework.call(tool_of(framework, *items), query=QUERY, show_stats=True)
    kept, stats = framework.beside(output)
    assert "docs/0.md § Client (1.00)" in output.text.splitlines()[0]
    assert "docs/1.md § Client (0.75)\n" in output.text
    assert "The default timeout is 30 seconds." in output.text
    assert framework.ids(kept) == ["doc-0", "doc-1"]
    assert [framework.score(item) for item in kept] == [4.0, 3.0]
    assert all(framework.text(item).strip() in output.text for item in kept)
    counts = ("found_count", "original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged")
    assert [stats[name] for name in counts] == [3, 3, 2, 2, 2, 0]
    assert 0 < stats["after_limit_tokens"] < stats["original_tokens"]
    assert "- Semantic skipped: no embeddings and no encoder" in output.text.splitlines()
    json.dumps(stats)
    assert items == before


def test_the_arguments_of_the_call_hold_and_options_are_their_defaults(framework: Framework):
    def counts(tool, *calls):
        return [len(framework.beside(framework.call(tool, query=QUERY, **given))[0]) for given in calls]

    items = found(framework, 1.0, 0.6, 0.2)
    assert counts(tool_of(framework, *items), {}, {"min_score": 0}, {"top_n": 1}) == [2, 3, 1]
    tool = tool_of(framework, *items, top_n=1, min_score=None)
    assert framework.schema(tool)["parameters"]["properties"]["top_n"]["default"] == 1
    assert counts(tool, {}, {"top_n": None}) == [1, 3]


@pytest.mark.parametrize("show_stats", [False, True])
@pytest.mark.parametrize("max_tokens", [10, 50, 150])
def test_the_answer_has_at_most_max_tokens(framework: Framework, max_tokens, show_stats):
    tool = tool_of(framework, *framework.items(), max_tokens=max_tokens)
    assert tokens(framework.call(tool, query=QUERY, show_stats=show_stats).text) <= max_tokens


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": QUERY, "top_n": 0}, "top_n is 0; give a whole number from 1 to 100"),
        ({"query": QUERY, "k": 2}, "there is no argument 'k'; the arguments are query"),
        ({}, "query is None; give a question or keywords, as a string"),
    ],
)
def test_wrong_arguments_are_an_error_that_the_model_can_read(framework: Framework, arguments, said):
    output = framework.told(tool_of(framework, *framework.items()), **arguments)
    assert output.is_error
    assert said in output.text


async def test_async_gives_the_same(framework: Framework):
    tool = tool_of(framework, *framework.pages(), encoder=framework.embeddings(), max_tokens=60)
    waited, at_once = await framework.acall(tool, query=QUESTION), framework.call(tool, query=QUESTION)
    assert waited.text == at_once.text
    assert framework.beside(waited)[0] == framework.beside(at_once)[0]
