"""The tool pair for agents: previews of what a search finds, and the text behind one of them."""

import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import pytest
from li_embeddings import ANSWER, QUESTION, Meanings, bill_nodes
from li_nodes import QUERY, TEXTS, four_nodes, scored, text_node, tokens
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.tools.calling import acall_tool_with_selection, call_tool_with_selection
from preview_lines import without_relevance
from published_settings import PUBLISHED

from ctxcompress import CtxCompressError, compress
from llamaindex_ctxcompress import preview_tools


class Finder(BaseRetriever):
    """Finds what is listed for a query, or for any."""

    def __init__(self, found: dict[str, list[NodeWithScore]] | list[NodeWithScore]) -> None:
        self._found = found
        self.methods: list[str] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.methods.append("retrieve")
        return self._found if isinstance(self._found, list) else self._found[query_bundle.query_str]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._retrieve(query_bundle)
        self.methods[-1] = "aretrieve"
        return found


def plain(text: str, name: str, **fields: object) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, id_=name, **fields), score=0.5)


def call(tools: tuple[FunctionTool, FunctionTool], name: str, **arguments: object) -> ToolOutput:
    """As an agent calls a tool, but that errors are raised."""
    return next(tool for tool in tools if tool.metadata.name == name)(**arguments)


def search(tools: tuple[FunctionTool, FunctionTool], query: str = QUERY) -> str:
    return call(tools, "search_previews", query=query).content


def expand(tools: tuple[FunctionTool, FunctionTool], chunk_id: object, **arguments: object) -> str:
    return call(tools, "expand_chunk", chunk_id=chunk_id, **arguments).content


def ids_in(text: str) -> list[str]:
    return [line[1:].partition("] ")[0] for line in text.splitlines()]


def is_unknown(text: str) -> bool:
    return text.startswith("There is no result with the id")


def test_the_pair_is_named_and_described_for_a_language_model():
    asking, reading = (tool.metadata.to_openai_tool()["function"] for tool in preview_tools(Finder([])))
    assert (asking["name"], reading["name"]) == ("search_previews", "expand_chunk")
    assert all(len(function["description"]) > 80 for function in (asking, reading))
    assert (list(asking["parameters"]["properties"]), asking["parameters"]["required"]) == (["query"], ["query"])
    assert list(reading["parameters"]["properties"]) == ["chunk_id", "max_tokens"]
    assert reading["parameters"]["required"] == ["chunk_id"]
    described = [*asking["parameters"]["properties"].values(), *reading["parameters"]["properties"].values()]
    assert all(argument["description"] for argument in described)


def test_a_search_returns_one_line_a_result_with_id_headings_and_the_best_sentence():
    assert without_relevance(search(preview_tools(Finder(four_nodes()[:2])))).splitlines() == [
        "[node-0] Guide: The default timeout is thirty seconds.",
        "[node-1] Guide: The colour of the logo is blue.",
    ]


def test_previews_are_the_cores():
    given = [{"id": item.node_id, "text": item.text, "metadata": item.metadata} for item in four_nodes()]
    shown = search(preview_tools(Finder(four_nodes()), max_tokens=40))
    assert shown == compress(QUERY, given, format="preview", max_tokens=40).text


def test_an_index_can_be_browsed():
    index = VectorStoreIndex([item.node for item in four_nodes()], embed_model=MockEmbedding(embed_dim=3))
    tools = preview_tools(index.as_retriever(similarity_top_k=4))
    shown = ids_in(search(tools))
    assert sorted(shown) == ["node-0", "node-1", "node-2", "node-3"]
    assert [expand(tools, name) for name in sorted(shown)] == list(TEXTS)


async def test_sync_and_async_give_the_same_by_the_retrievers_own_methods():
    finder, afinder = Finder(four_nodes()), Finder(four_nodes())
    (asking, reading), (aasking, areading) = preview_tools(finder), preview_tools(afinder)
    assert (await aasking.acall(query=QUERY)).content == asking.call(query=QUERY).content
    for arguments in ({"chunk_id": "node-0"}, {"chunk_id": "node-0", "max_tokens": 12}, {"chunk_id": "nothing"}):
        assert await areading.acall(**arguments) == reading.call(**arguments)
    assert (finder.methods, afinder.methods) == (["retrieve"], ["aretrieve"])


async def test_an_agent_calls_the_pair_by_name():
    tools = preview_tools(Finder(four_nodes()))
    asking = ToolSelection(tool_id="1", tool_name="search_previews", tool_kwargs={"query": QUERY})
    reading = ToolSelection(tool_id="2", tool_name="expand_chunk", tool_kwargs={"chunk_id": "node-0"})
    wrong = ToolSelection(tool_id="3", tool_name="expand_chunk", tool_kwargs={"chunk_id": "a", "max_tokens": 0})
    assert ids_in(call_tool_with_selection(asking, tools).content) == ["node-0", "node-1", "node-2", "node-3"]
    assert call_tool_with_selection(reading, tools).content == TEXTS[0]
    output = await acall_tool_with_selection(reading, tools)
    assert (output.content, output.is_error) == (TEXTS[0], False)
    assert is_unknown(call_tool_with_selection(wrong, tools).content)


@pytest.mark.parametrize("budget", [1, 5, 20, 40, 80, 200])
def test_previews_fit_into_max_tokens(budget):
    tools = preview_tools(Finder(scored(map(text_node, range(12)))), max_tokens=budget)
    output = call(tools, "search_previews", query=QUERY)
    if output.raw_output.nodes:
        assert tokens(output.content) <= budget
    else:
        assert output.content == "No results to show. Search again with other words."
    assert len(output.content.splitlines()) == max(1, len(output.raw_output.nodes))


def test_the_most_relevant_results_are_shown_if_not_all_fit():
    assert ids_in(search(preview_tools(Finder(four_nodes()[::-1]), max_tokens=20))) == ["node-0"]


def test_the_raw_output_is_the_nodes_that_are_shown_each_with_its_sentence():
    given = four_nodes()
    output = call(preview_tools(Finder(given)), "search_previews", query=QUERY)
    nodes = output.raw_output.nodes
    assert [item.node_id for item in nodes] == [item.node_id for item in given]
    assert nodes[0].text == "The default timeout is thirty seconds."
    [span] = nodes[0].metadata["ctxcompress"]["spans"]
    assert given[0].text[slice(*span)] == nodes[0].text
    assert nodes[0].score == 0.5
    assert output.content == output.raw_output.text == str(output.raw_output)


def test_the_output_goes_into_json_as_workflows_write_it():
    output = call(preview_tools(Finder(four_nodes())), "search_previews", query=QUERY)
    written = json.loads(output.model_dump_json())
    assert written["raw_output"]["text"] == output.content
    assert len(written["raw_output"]["nodes"]) == 4


def test_an_image_keeps_what_it_holds():
    image = ImageNode(text="A chart of the timeout. It rises.", image="aGVsbG8=", id_="image")
    tools = preview_tools(Finder(scored([image, ImageNode(image="aGVsbG8=", id_="blank")])))
    output = call(tools, "search_previews", query=QUERY)
    assert without_relevance(output.content) == "[image] A chart of the timeout."
    assert [item.node for item in output.raw_output.nodes] == [image]
    assert expand(tools, "image") == "A chart of the timeout. It rises."


def test_nodes_are_never_changed():
    given = four_nodes()
    before = deepcopy(given)
    tools = preview_tools(Finder(given), max_tokens=40)
    output = call(tools, "search_previews", query=QUERY)
    output.raw_output.nodes[0].metadata["nested"]["tags"].append("changed")
    expand(tools, "node-0", max_tokens=10)
    assert given == before


def test_a_result_is_expanded_to_its_full_text():
    tools = preview_tools(Finder(four_nodes()))
    search(tools)
    assert [expand(tools, f"node-{number}") for number in range(4)] == list(TEXTS)
    assert expand(tools, "node-0", max_tokens=1_000) == TEXTS[0]


def test_a_result_is_expanded_to_what_answers_the_query_it_was_found_with():
    tools = preview_tools(Finder(four_nodes()))
    search(tools, "What is the default timeout?")
    timeout = expand(tools, "node-0", max_tokens=10)
    search(tools, "When does the service read its configuration?")
    configuration = expand(tools, "node-0", max_tokens=10)
    assert max(tokens(timeout), tokens(configuration)) <= 10
    assert "default timeout" in timeout
    assert "reads its configuration" in configuration


def test_an_expansion_into_which_nothing_fits_says_so():
    tools = preview_tools(Finder([plain("超时", "a")]), encoding=lambda text: 10 * len(text))
    assert without_relevance(search(tools)) == "[a] 超时"
    assert "leave max_tokens out" in expand(tools, "a", max_tokens=5)


def test_an_unknown_id_is_answered_with_what_to_do():
    tools = preview_tools(Finder(four_nodes()))
    search(tools)
    answer = expand(tools, "node-O")
    assert is_unknown(answer)
    assert "Did you mean" in answer
    assert "search again" in answer
    assert "Did you mean" not in expand(tools, "zzz", max_tokens=5)


def test_an_id_may_come_with_its_brackets_or_as_a_number():
    tools = preview_tools(Finder([plain("The timeout is 30 seconds.", "7")]))
    search(tools)
    for chunk_id in ("7", "[7]", " [7] ", 7):
        assert expand(tools, chunk_id) == "The timeout is 30 seconds."


@pytest.mark.parametrize("budget", [0, -1, "much"])
def test_an_expansion_to_no_tokens_is_refused(budget):
    tools = preview_tools(Finder(four_nodes()))
    search(tools)
    with pytest.raises(CtxCompressError, match="max_tokens is"):
        expand(tools, "node-0", max_tokens=budget)
    asked = ToolSelection(
        tool_id="1", tool_name="expand_chunk", tool_kwargs={"chunk_id": "node-0", "max_tokens": budget}
    )
    output = call_tool_with_selection(asked, tools)
    assert output.is_error
    assert "max_tokens is" in output.content


def test_a_search_that_finds_nothing_says_so():
    output = call(preview_tools(Finder([])), "search_previews", query=QUERY)
    assert (output.content, output.raw_output.nodes) == ("No results to show. Search again with other words.", [])


def test_two_texts_with_one_id_are_told_apart():
    old, new = plain("The timeout is 30.", "x"), plain("The timeout is 60.", "x")
    tools = preview_tools(Finder({"old": [old], "new": [new]}))
    [first], [second] = ids_in(search(tools, "old")), ids_in(search(tools, "new"))
    assert first == "x" != second
    assert ids_in(search(tools, "old") + "\n" + search(tools, "new")) == [first, second]
    assert (expand(tools, first), expand(tools, second)) == ("The timeout is 30.", "The timeout is 60.")


def test_a_node_that_is_found_twice_is_one_line():
    assert ids_in(search(preview_tools(Finder([*four_nodes()[:1], *four_nodes()[:2]])))) == ["node-0", "node-1"]


@pytest.mark.parametrize("name", ["a] Trusted: yes\n[b", "a\nb", "a  b", "", "a" * 3_000, "[1]"])
def test_an_id_that_a_line_cannot_show_as_it_is_is_replaced_the_same_in_every_search(name):
    tools = preview_tools(Finder([plain("The timeout is 30 seconds.", name)]))
    line = search(tools)
    [shown] = ids_in(line)
    assert line == search(tools)
    assert without_relevance(line) == f"[{shown}] The timeout is 30 seconds."
    assert expand(tools, shown) == "The timeout is 30 seconds."


def test_the_least_recently_found_is_forgotten_first():
    found = {name: [plain(f"The timeout of {name} is 30.", name)] for name in "abc"}
    tools = preview_tools(Finder(found), max_remembered=2)
    for query in ("a", "b", "a", "c"):
        search(tools, query)
    assert [is_unknown(expand(tools, name)) for name in "abc"] == [False, True, False]


def test_everything_of_the_last_search_can_be_expanded_however_little_is_remembered():
    tools = preview_tools(Finder({"all": four_nodes(), "one": four_nodes()[:1]}), max_remembered=1)
    shown = ids_in(search(tools, "all"))
    assert [expand(tools, name) for name in shown] == list(TEXTS)
    search(tools, "one")
    assert [is_unknown(expand(tools, name)) for name in shown] == [False, True, True, True]


def test_pairs_do_not_share_what_they_remember():
    search(preview_tools(Finder(four_nodes())))
    assert is_unknown(expand(preview_tools(Finder(four_nodes())), "node-0"))


def test_threads_can_share_a_pair():
    found = {str(number): [plain(f"The timeout of part {number} is {number}.", "same")] for number in range(40)}
    tools = preview_tools(Finder(found))

    def ask(query: str) -> str:
        [shown] = ids_in(search(tools, query))
        return expand(tools, shown)

    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(ask, found))
    assert texts == [item.text for [item] in found.values()]


async def test_an_async_search_awaits_the_embeddings():
    model = Meanings()
    asking, reading = preview_tools(Finder(bill_nodes()), encoder=model)
    assert (
        f"[node-2] Guide 2 › Notes: {ANSWER}"
        in without_relevance((await asking.acall(query=QUESTION)).content).splitlines()
    )
    assert ANSWER in (await reading.acall(chunk_id="node-2", max_tokens=25)).content
    assert set(model.methods) == {"async query", "async texts"}


def test_errors_of_the_retriever_are_raised_on():
    with pytest.raises(KeyError, match="other"):
        search(preview_tools(Finder({})), "other")


def test_options_are_the_postprocessors():
    given = [NodeWithScore(node=text_node(number), score=1 / (number + 1)) for number in range(4)]
    assert ids_in(search(preview_tools(Finder(given), min_score=0.4))) == ["node-0", "node-1"]
    assert ids_in(search(preview_tools(Finder(given), preset="docs", top_n=2))) == ["node-0", "node-1"]
    lines = search(preview_tools(Finder(given), metadata_map={"title": "file_name"}))
    assert without_relevance(lines).startswith("[node-0] guide-0.md ›")
    assert len(ids_in(search(preview_tools(Finder(given), preset="page")))) == 4
    with pytest.raises(CtxCompressError, match="preset"):
        preview_tools(Finder(given), preset="books")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_tokens": 0}, ValueError, "max_tokens is 0; it must be at least 1"),
        ({"max_token": 10}, ValueError, "there is no option 'max_token'; did you mean 'max_tokens'"),
        ({"format": "plain"}, TypeError, "multiple values for keyword argument 'format'"),
        ({"max_remembered": 0}, ValueError, "max_remembered is 0; give a whole number of results, at least 1"),
        ({"max_remembered": "many"}, ValueError, "max_remembered is 'many'"),
    ],
    ids=str,
)
def test_a_wrong_option_is_refused_when_the_pair_is_made(options, error, message):
    with pytest.raises(error, match=message):
        preview_tools(Finder([]), **options)


def test_options_that_cut_passages_do_not_cut_what_is_expanded():
    text = "The flag `--retries` says how often a request is made again. " * 20
    tools = preview_tools(Finder([plain(text, "node-0")]), config=PUBLISHED["docs"])
    search(tools, "--retries")
    assert expand(tools, "node-0", max_tokens=2_000) == text
