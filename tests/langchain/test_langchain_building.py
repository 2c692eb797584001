"""One context of several retrievals, in documents, kept in the state of an agent."""

import json
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from ctxcompress.agents.building import Branches
from langchain_ctxcompress import CtxContextBuilder, builder_tools, latest_context

RULES = [f"Rule {n} says that port {8000 + n} is for tenant {n}. Nobody knows why it was chosen." for n in range(9)]
DOCUMENTS = [Document(text, id=f"r{n}", metadata={"source": "rules.md", "n": n}) for n, text in enumerate(RULES)]
RETRIEVER = RunnableLambda(lambda query: DOCUMENTS)
THREAD: Any = {"configurable": {"thread_id": "1"}}


class Plain(Document):
    """A subclass with a field of its own."""

    extra: str = ""


def test_documents_go_in_and_come_out():
    builder = CtxContextBuilder(max_tokens=60)
    given = [Plain(RULES[0], id="a", metadata={"tags": ["x"]}, extra="e"), Document(RULES[1])]
    added = builder.add(given, query="which port is for tenant 1?", max_tokens=15)
    (kept,) = added.documents
    assert added.text == kept.page_content == "Rule 1 says that port 8001 is for tenant 1."
    assert (kept.id, kept.metadata["ctxcompress"]["index"], kept.metadata["ctxcompress"]["spans"]) == (
        None,
        1,
        [[0, 43]],
    )
    assert [(found.page_content, found.metadata["ctxcompress"]["reason"]) for found in added.dropped] == [
        (RULES[0], "budget"),
        (RULES[1][43:], "budget"),
    ]
    assert added.dropped[0].metadata["tags"] == ["x"]
    assert added.remaining == builder.remaining == 60 - added.tokens
    again = builder.add(given, query="which port is for tenant 0?")
    assert isinstance(again.documents[0], Plain)
    assert again.documents[0].extra == "e"
    assert builder.render() == "\n\n".join(document.page_content for document in builder.documents)
    assert again.dropped[0].metadata["ctxcompress"]["reason"] == "duplicate"
    given[0].metadata["tags"].append("y")
    assert builder.documents[1].metadata["tags"] == ["x"]


def test_all_that_came_can_be_rebalanced():
    builder = CtxContextBuilder(max_tokens=15)
    builder.add([DOCUMENTS[0]], query="why it was chosen", max_tokens=8)
    added = builder.add([DOCUMENTS[1]], query="port of tenant 1", rebalance=True)
    assert added.text == builder.render()
    assert {document.id for document in (*added.documents, *added.dropped)} == {"r0", "r1"}


async def test_the_async_twin_does_the_same():
    one, other = CtxContextBuilder(max_tokens=40), CtxContextBuilder(max_tokens=40)
    for query in ("tenant 1", "tenant 5"):
        added, again = one.add(DOCUMENTS, query, max_tokens=15), await other.aadd(DOCUMENTS, query, max_tokens=15)
        assert added.documents == again.documents
        assert added.dropped == again.dropped


@pytest.mark.parametrize("resume", ["from_dict", "resumed"])
def test_saved_and_restored_it_goes_on_as_if_nothing_had_happened(resume):
    one, other = CtxContextBuilder(max_tokens=60, format="compact"), CtxContextBuilder(max_tokens=60, format="compact")
    for query in ("tenant 1", "tenant 5", "tenant 1"):
        data = json.loads(json.dumps(other.to_dict()))
        other = CtxContextBuilder.from_dict(data) if resume == "from_dict" else other.resumed(data)
        added, again = one.add(DOCUMENTS, query, max_tokens=25), other.add(DOCUMENTS, query, max_tokens=25)
        assert added == again
    assert one.render() == other.render()
    assert one.documents == other.documents
    assert one.to_dict() == other.to_dict()


def test_what_cannot_be_saved_must_be_given_again():
    data = CtxContextBuilder(max_tokens=60, encoding=str.split, cache=None).to_dict()
    assert data["not_saved"] == ["encoding"]
    with pytest.raises(ValueError, match=r"give it again: from_dict\(data, encoding=\.\.\.\)"):
        CtxContextBuilder.from_dict(data)
    assert CtxContextBuilder.from_dict(data, encoding=str.split).remaining == 60


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
def test_damaged_data_is_refused(damage):
    builder = CtxContextBuilder(max_tokens=60)
    builder.add(DOCUMENTS[:1])
    with pytest.raises(TypeError):
        CtxContextBuilder.from_dict(damage(builder.to_dict()))


@pytest.mark.parametrize("options", [{"max_tokens": 0}, {"format": "preview"}, {"format": "xml"}, {"top": 3}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match=r"max_tokens|mode|format|top"):
        CtxContextBuilder(**options)


def test_the_tools_add_to_the_builder_and_tell_what_is_in():
    builder = CtxContextBuilder(max_tokens=60)
    search, status = builder_tools(builder, RETRIEVER)
    assert status.invoke({}) == "The context is empty: 0 of 60 tokens; 60 are left."
    call = {"type": "tool_call", "id": "1", "name": search.name, "args": {"query": "tenant 4"}}
    message = search.invoke(call)
    assert message.content == "Rule 4 says that port 8004 is for tenant 4."
    assert [document.id for document in message.artifact] == ["r4"]
    assert status.invoke({}) == (
        "The context has 1 passage of 1 source: 15 of 60 tokens; 45 are left.\n- rules.md: 1 passage"
    )
    assert [tool.name for tool in builder_tools(builder)] == ["context_status"]


def test_the_search_says_why_nothing_is_new():
    builder = CtxContextBuilder(max_tokens=40)
    search, _ = builder_tools(builder, RunnableLambda(lambda query: DOCUMENTS[:1] if "rule" in query else []))
    assert search.invoke({"query": "x"}) == "Nothing was found. Search again with other words."
    builder.add(DOCUMENTS[:1])
    assert search.invoke({"query": "rule"}) == "Nothing new: the context has what was found already."
    builder.add([Document("Another text that fills the rest of all the room there is.")])
    full = builder_tools(builder, RETRIEVER)[0].invoke({"query": "tenant 7"})
    assert full == f"Nothing was added: {builder.remaining} of 40 tokens are left, too few for what was found."


def test_what_does_not_answer_is_no_lack_of_room():
    builder = CtxContextBuilder(max_tokens=200, adaptive=True, on_empty="drop")
    search = builder_tools(builder, RunnableLambda(lambda _: [Document("The pool has ten connections.")]))[0]
    told = search.invoke({"query": "who won the bicycle race in Ghent?"})
    assert told == "Nothing was added: what was found hardly answers the query. Search again with other words."
    assert builder.remaining == 200


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


class State(AgentState[Any]):
    context: NotRequired[Annotated[dict[str, Any], latest_context]]


def searching(*queries):
    return AIMessage(
        "", tool_calls=[{"name": "search_and_add", "args": {"query": query}, "id": query} for query in queries]
    )


def agent_of(responses, checkpointer, builder=None):
    tools = builder_tools(builder or CtxContextBuilder(max_tokens=60), RETRIEVER, state_key="context")
    return create_agent(Model(responses=responses), tools, state_schema=State, checkpointer=checkpointer)


def texts_of(state):
    return [message.text for message in state["messages"] if isinstance(message, ToolMessage)]


async def ran(agent, given, *, is_async):
    return await agent.ainvoke(given, THREAD) if is_async else agent.invoke(given, THREAD)


ANSWERS = [
    searching("tenant 1", "tenant 2"),
    AIMessage("1 and 2"),
    searching("tenant 3", "tenant 1"),
    AIMessage("3 and 1"),
]


@pytest.mark.parametrize("is_async", [False, True])
async def test_in_the_state_of_a_graph_the_context_goes_on_after_a_restart(is_async):
    saver, builder = InMemorySaver(), CtxContextBuilder(max_tokens=60)
    await ran(agent_of(ANSWERS[:2], saver, builder), {"messages": [HumanMessage("1, 2?")]}, is_async=is_async)
    state = await ran(agent_of(ANSWERS[2:], saver), {"messages": [HumanMessage("3?")]}, is_async=is_async)
    found = texts_of(state)
    assert builder.render() == ""
    context = CtxContextBuilder.from_dict(state["context"])
    assert sorted(context.render().split("\n\n")) == sorted(found)
    assert len(set(found)) == 4
    assert context.remaining >= 0
    whole = await ran(agent_of(ANSWERS, InMemorySaver()), {"messages": [HumanMessage("1, 2?")]}, is_async=is_async)
    assert sorted(texts_of(whole)) == sorted(found[:2])


def test_a_sqlite_file_keeps_it(tmp_path):
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")
    path = str(tmp_path / "agent.db")
    with sqlite.SqliteSaver.from_conn_string(path) as saver:
        first = agent_of(ANSWERS[:2], saver).invoke({"messages": [HumanMessage("1, 2?")]}, THREAD)
    with sqlite.SqliteSaver.from_conn_string(path) as saver:
        state = agent_of(ANSWERS[2:], saver).invoke({"messages": [HumanMessage("3?")]}, THREAD)
    before, after = (CtxContextBuilder.from_dict(found["context"]).render() for found in (first, state))
    assert after.startswith(before + "\n\n")


def test_an_agent_that_goes_back_in_time_adds_to_what_was_there_then():
    saver = InMemorySaver()
    agent = agent_of([*ANSWERS[:2], ANSWERS[1]], saver)
    first = agent.invoke({"messages": [HumanMessage("1, 2?")]}, THREAD)
    before_tools = next(found for found in agent.get_state_history(THREAD) if "tools" in found.next)
    again = agent.invoke(None, before_tools.config)
    assert sorted(texts_of(again)) == sorted(texts_of(first))
    assert len(again["context"]["items"]) == len(first["context"]["items"])


def test_a_node_and_a_store_keep_it():
    class Research(TypedDict):
        queries: list[str]
        context: dict[str, Any]

    def research(state, *, store):
        saved = store.get(("research",), "context")
        builder = CtxContextBuilder.from_dict(saved.value) if saved else CtxContextBuilder(max_tokens=60)
        for query in state["queries"]:
            builder.add(DOCUMENTS, query, max_tokens=15)
        store.put(("research",), "context", builder.to_dict())
        return {"context": builder.to_dict()}

    graph = StateGraph(Research)
    graph.add_node("research", research)
    graph.add_edge(START, "research")
    graph.add_edge("research", END)
    compiled = graph.compile(checkpointer=InMemorySaver(), store=InMemoryStore())
    compiled.invoke({"queries": ["tenant 1"]}, THREAD)
    state = compiled.invoke({"queries": ["tenant 2"]}, {"configurable": {"thread_id": "2"}})
    assert CtxContextBuilder.from_dict(state["context"]).render() == (
        "Rule 1 says that port 8001 is for tenant 1.\n\nRule 2 says that port 8002 is for tenant 2."
    )


def test_the_later_context_is_taken():
    builder = CtxContextBuilder(max_tokens=60)
    one = builder.to_dict()
    builder.add(DOCUMENTS[:1])
    other = builder.to_dict()
    assert latest_context(one, other) is latest_context(other, one) is other
    assert latest_context(None, one) is latest_context({}, one) is latest_context(one, None) is one


def test_searches_of_a_step_share_a_builder_unless_one_of_them_is_run_again():
    branches = Branches(CtxContextBuilder(max_tokens=60))
    first = branches.join(None, "step", "a")
    assert branches.join(None, "step", "b") is first
    assert branches.join(None, "another step", "b") is not first
    again = branches.join(None, "step", "a")
    assert again is not first
    assert branches.join(None, "step", "b") is again
