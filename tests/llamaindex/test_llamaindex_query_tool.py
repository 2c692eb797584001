"""The search tool for agents: what a retriever or a query engine finds, compressed."""

import json
from copy import deepcopy

import pytest
from li_embeddings import QUESTION, Meanings, bill_nodes
from li_nodes import QUERY, four_nodes, text_node
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools.calling import acall_tool_with_selection, call_tool_with_selection

from ctxcompress import Compressor
from ctxcompress.agents.query_tool import QueryTool
from llamaindex_ctxcompress import query_tool

COUNT = Compressor().count


class Finder(BaseRetriever):
    """Finds these nodes, whatever it is asked for."""

    def __init__(self, *found: NodeWithScore) -> None:
        self._found = list(found)
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._found


def found(*scores: float) -> list[NodeWithScore]:
    texts = ("The default timeout is 30 seconds.", "Retries wait for the timeout.", "The logo is blue.")
    return [
        NodeWithScore(node=text_node(n, text, id_=f"node-{n}", metadata={"file_path": f"docs/{n}.md"}), score=score)
        for n, (text, score) in enumerate(zip(texts, scores, strict=False))
    ]


def engine(*nodes: NodeWithScore, streaming: bool = False) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(
        llm=MockLLM(max_tokens=4), response_mode=ResponseMode.SIMPLE_SUMMARIZE, streaming=streaming
    )
    return RetrieverQueryEngine(Finder(*nodes), response_synthesizer=synthesizer)


def selection(**arguments: object) -> ToolSelection:
    return ToolSelection(tool_id="1", tool_name="query_documents_compressed", tool_kwargs=arguments)


def test_a_language_model_sees_the_limits_and_defaults():
    function = query_tool(Finder()).metadata.to_openai_tool()["function"]
    assert function["name"] == "query_documents_compressed"
    seen = function["parameters"]["properties"]
    for name, wanted in QueryTool.of().parameters.schema["properties"].items():
        kinds = [kind["type"] for kind in seen[name].get("anyOf", [seen[name]])]
        limits = {**seen[name].get("anyOf", [{}])[0], **seen[name], "type": kinds if len(kinds) > 1 else kinds[0]}
        assert {key: limits.get(key) for key in wanted} == wanted
    assert function["parameters"]["required"] == ["query"]


def test_the_answer_says_where_its_parts_are_from_and_brings_their_nodes():
    nodes = found(0.8, 0.4, 0.1)
    before = deepcopy(nodes)
    output = query_tool(Finder(*nodes))(query=QUERY)
    places, texts = output.content.splitlines()[::3], output.content.splitlines()[1::3]
    assert [place.split()[-2:] for place in places] == [["docs/0.md", "(1.00)"], ["docs/1.md", "(0.50)"]]
    assert texts == ["The default timeout is 30 seconds.", "Retries wait for the timeout."]
    assert [item.node_id for item in output.raw_output.nodes] == ["node-0", "node-1"]
    assert [item.score for item in output.raw_output.nodes] == [0.8, 0.4]
    assert output.raw_output.compression_stats["after_threshold"] == 2
    json.dumps(output.raw_output.compression_stats)
    assert nodes == before


def test_a_real_index_can_be_searched():
    index = VectorStoreIndex([item.node for item in four_nodes()], embed_model=MockEmbedding(embed_dim=4))
    output = query_tool(index.as_retriever(similarity_top_k=4), max_tokens=40)(query=QUERY)
    assert "thirty seconds" in output.content
    assert COUNT(output.content) <= 40


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_answer_of_a_query_engine_comes_first(streaming):
    tool = query_tool(engine(*found(0.8, 0.4), streaming=streaming))
    at_once, waited = tool(query=QUERY), await tool.acall(query=QUERY)
    assert at_once.raw_output.response
    assert (
        at_once.content
        == f"{at_once.raw_output.response}\n\n{query_tool(Finder(*found(0.8, 0.4)))(query=QUERY).content}"
    )
    assert waited.content == at_once.content


@pytest.mark.parametrize("show_stats", [False, True])
@pytest.mark.parametrize("max_tokens", [10, 50, 150])
def test_the_answer_has_at_most_max_tokens(max_tokens, show_stats):
    for source in (Finder(*four_nodes()), engine(*four_nodes())):
        output = query_tool(source, max_tokens=max_tokens)(query=QUERY, show_stats=show_stats)
        assert COUNT(output.content) <= max_tokens


WRONG = [
    ({"query": QUERY, "top_n": 0}, "top_n is 0; give a whole number from 1 to 100"),
    ({"query": QUERY, "top_n": 101}, "top_n is 101; give a whole number from 1 to 100"),
    ({"query": QUERY, "top_n": "five"}, "top_n is 'five'; give a whole number from 1 to 100"),
    ({"query": QUERY, "similarity_threshold": 0.4}, "similarity_threshold is 0.4; give a number from 0.5 to 1.0"),
    ({"query": QUERY, "k": 2}, "there is no argument 'k'; the arguments are query"),
    ({}, "query is None; give a question or keywords, as a string"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
async def test_wrong_arguments_are_an_error_that_the_model_can_read(arguments, said):
    tool = query_tool(Finder(*found(1.0)))
    outputs = [
        call_tool_with_selection(selection(**arguments), [tool]),
        await acall_tool_with_selection(selection(**arguments), [tool]),
    ]
    for output in outputs:
        assert output.is_error
        assert said in output.content


async def test_async_gives_the_same_and_awaits_what_can_be_awaited():
    tool = query_tool(Finder(*bill_nodes()), encoder=Meanings(), max_tokens=60)
    waited, at_once = await tool.acall(query=QUESTION), tool(query=QUESTION)
    assert waited.content == at_once.content


def test_nothing_found_is_said():
    output = query_tool(Finder())(query=QUERY)
    assert output.content.startswith("No results.")
    assert output.raw_output.nodes == []


def test_a_result_that_does_not_answer_is_said_to_do_so():
    tool = query_tool(Finder(*four_nodes()), adaptive=True, on_empty="drop")
    output = tool(query="which zebra crossed the Alps?")
    assert output.content.startswith("No result answers the query.")
    assert output.raw_output.nodes == []


def test_wrong_options_are_refused_when_the_tool_is_made():
    with pytest.raises(ValueError, match="max_tokens is 0"):
        query_tool(Finder(), max_tokens=0)
    with pytest.raises(ValueError, match="min_score is 2"):
        query_tool(Finder(), min_score=2)
    engine = RetrieverQueryEngine.from_args(Finder(), llm=MockLLM())
    with pytest.raises(ValueError, match="format is 'json' with a query engine, whose answer comes first as text"):
        query_tool(engine, format="json")
    with pytest.raises(ValueError, match="there is no option 'nonsense'"):
        query_tool(Finder(), nonsense=3)
