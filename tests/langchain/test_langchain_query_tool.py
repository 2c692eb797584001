"""The search tool for agents: what a retriever finds, compressed, and arguments within limits."""

from copy import deepcopy

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.utils.function_calling import convert_to_openai_tool
from lc_documents import QUERY, make_documents, record_of, reference_encoding
from lc_embeddings import QUESTION, Meanings, car_documents

from ctxcompress.agents.query_tool import QueryTool
from langchain_ctxcompress import query_tool
from langchain_ctxcompress.convert import scored_document


def finding(*documents: Document) -> RunnableLambda:
    """A retriever that finds these documents, whatever it is asked for."""
    return RunnableLambda(lambda query: list(documents), name="finder")


def call(tool: BaseTool, **arguments: object) -> ToolMessage:
    """As an agent calls a tool."""
    return tool.invoke({"type": "tool_call", "id": "call-1", "name": tool.name, "args": arguments})


async def acall(tool: BaseTool, **arguments: object) -> ToolMessage:
    return await tool.ainvoke({"type": "tool_call", "id": "call-1", "name": tool.name, "args": arguments})


def scored(*scores: float, kind: str = "similarity") -> list[Document]:
    documents = make_documents(len(scores))
    return [scored_document(document, score, kind) for document, score in zip(documents, scores, strict=True)]


def as_one_type(schema: dict[str, object]) -> dict[str, object]:
    """A property as the core writes it: pydantic says "or null" in another way."""
    first, *others = schema.get("anyOf", [schema])
    kind = [first["type"], *(other["type"] for other in others)] if others else first["type"]
    known = {**first, **schema, "type": kind}
    return {
        key: of for key, of in known.items() if key not in ("anyOf", "title") and (key != "default" or of is not None)
    }


def test_a_language_model_sees_the_limits_and_defaults():
    function = convert_to_openai_tool(query_tool(finding()))["function"]
    assert function["name"] == "query_documents_compressed"
    assert len(function["description"]) > 80
    seen = function["parameters"]["properties"]
    for name, wanted in QueryTool.of().parameters.schema["properties"].items():
        assert as_one_type(seen[name]) == {key: of for key, of in wanted.items() if key != "default" or of is not None}
    assert function["parameters"]["required"] == ["query"]


def test_the_answer_says_where_its_parts_are_from_and_brings_their_documents():
    documents = make_documents()
    before = deepcopy(documents)
    message = call(query_tool(finding(*documents)), query=QUERY)
    assert message.status == "success"
    assert "docs/0.md § Client" in message.content.splitlines()[0]
    assert "The default timeout is 30 seconds." in message.content
    assert [document.id for document in message.artifact["documents"]] == [f"doc-{n}" for n in range(5)]
    assert all(document.page_content.strip() in message.content for document in message.artifact["documents"])
    assert record_of(message.artifact["documents"][0])["spans"]
    assert documents == before


def test_the_artifact_has_the_statistics_as_data():
    message = call(query_tool(finding(*scored(1.0, 0.6, 0.1))), query=QUERY, show_stats=True)
    stats = message.artifact["compression_stats"]
    counts = ("found_count", "original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged")
    assert [stats[name] for name in counts] == [3, 3, 2, 2, 2, 0]
    assert 0 < stats["after_limit_tokens"] < stats["original_tokens"]
    assert stats["notes"] == ["semantic skipped: no embeddings and no encoder"]
    assert "- Semantic skipped: no embeddings and no encoder" in message.content.splitlines()


def test_scores_come_as_shares_of_the_best_and_the_artifact_keeps_those_of_the_store():
    message = call(query_tool(finding(*scored(4.0, 3.0, 0.4))), query=QUERY, top_n=2)
    assert "docs/1.md § Client (0.75)\n" in message.content
    assert [record_of(document)["score"] for document in message.artifact["documents"]] == [4.0, 3.0]
    distances = call(query_tool(finding(*scored(0.0, 1.0, 9.0, kind="distance")), score_kind="distance"), query=QUERY)
    assert "docs/1.md § Client (0.50)\n" in distances.content
    assert len(distances.artifact["documents"]) == 2


def test_the_arguments_of_the_call_hold():
    tool = query_tool(finding(*scored(1.0, 0.6, 0.2)))
    calls = [call(tool, query=QUERY, **given) for given in ({}, {"min_score": 0}, {"top_n": 1})]
    counts = [len(message.artifact["documents"]) for message in calls]
    assert counts == [2, 3, 1]
    assert "- Original results: 3" in call(tool, query=QUERY, show_stats=True).content


@pytest.mark.parametrize("show_stats", [False, True])
@pytest.mark.parametrize("max_tokens", [10, 50, 150])
def test_the_answer_has_at_most_max_tokens(max_tokens, show_stats):
    tool = query_tool(finding(*make_documents()), max_tokens=max_tokens)
    content = call(tool, query=QUERY, show_stats=show_stats).content
    assert len(reference_encoding("o200k_base").encode_ordinary(content)) <= max_tokens


WRONG = [
    ({"query": QUERY, "top_n": 0}, "top_n is 0; give a whole number from 1 to 100"),
    ({"query": QUERY, "top_n": 101}, "top_n is 101; give a whole number from 1 to 100"),
    ({"query": QUERY, "top_n": "5"}, "top_n is '5'; give a whole number from 1 to 100"),
    ({"query": QUERY, "min_score": 2}, "min_score is 2; give a number from 0.0 to 1.0"),
    ({"query": QUERY, "k": 2}, "there is no argument 'k'; the arguments are query"),
    ({"query": "  "}, "query is '  '; give a question or keywords, as a string"),
    ({}, "query is None; give a question or keywords, as a string"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
async def test_wrong_arguments_are_a_message_that_the_model_can_read(arguments, said):
    tool = query_tool(finding(*make_documents()))
    for message in (call(tool, **arguments), await acall(tool, **arguments)):
        assert message.status == "error"
        assert message.content.startswith(said)


async def test_async_gives_the_same_and_awaits_what_can_be_awaited():
    meanings = Meanings()
    tool = query_tool(finding(*car_documents()), encoder=meanings, max_tokens=60)
    waited, at_once = await acall(tool, query=QUESTION), call(tool, query=QUESTION)
    assert (waited.content, waited.artifact) == (at_once.content, at_once.artifact)


def test_the_run_of_the_retriever_is_a_child_of_the_tools():
    collector = RunCollectorCallbackHandler()
    query_tool(finding(*make_documents())).invoke({"query": QUERY}, {"callbacks": [collector]})
    (run,) = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["finder"]


def test_nothing_found_is_said():
    message = call(query_tool(finding()), query=QUERY)
    assert message.content.startswith("No results.")
    assert (message.status, message.artifact["documents"]) == ("success", [])


def test_a_result_that_does_not_answer_is_said_to_do_so():
    tool = query_tool(finding(*make_documents()), adaptive=True, on_empty="drop")
    message = call(tool, query="which zebra crossed the Alps?")
    assert message.content.startswith("No result answers the query.")
    assert message.artifact["documents"] == []


def test_what_the_retriever_raises_is_raised():
    def fail(_: str) -> list[Document]:
        raise ConnectionError("the store is away")

    with pytest.raises(ConnectionError, match="the store is away"):
        call(query_tool(RunnableLambda(fail)), query=QUERY)


def test_wrong_options_are_refused_when_the_tool_is_made():
    with pytest.raises(ValueError, match="max_tokens is 0"):
        query_tool(finding(), max_tokens=0)
    with pytest.raises(ValueError, match="min_score is 2; the best score of a retrieval counts as"):
        query_tool(finding(), min_score=2)


def test_an_option_is_the_default_of_an_argument():
    tool = query_tool(finding(*scored(1.0, 0.6, 0.2)), top_n=1, min_score=None)
    assert convert_to_openai_tool(tool)["function"]["parameters"]["properties"]["top_n"]["default"] == 1
    assert [len(call(tool, query=QUERY, **given).artifact["documents"]) for given in ({}, {"top_n": None})] == [1, 3]
