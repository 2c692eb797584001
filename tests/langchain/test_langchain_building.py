"""One context of several retrievals, in documents, kept in the state of an agent."""

from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxcompress import CtxContextBuilder, builder_tools, latest_context

RULES = [f"Rule {n} says that port {8000 + n} is for tenant {n}. Nobody knows why it was chosen." for n in range(9)]
DOCUMENTS = [Document(text, id=f"r{n}", metadata={"source": "rules.md", "n": n}) for n, text in enumerate(RULES)]
RETRIEVER = RunnableLambda(lambda query: DOCUMENTS)
THREAD: Any = {"configurable": {"thread_id": "1"}}


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
    tools = builder_tools(builder or CtxContextBuilder(max_tokens=70), RETRIEVER, state_key="context")
    return create_agent(Model(responses=responses), tools, state_schema=State, checkpointer=checkpointer)


def texts_of(state):
    return [message.text for message in state["messages"] if isinstance(message, ToolMessage)]


ANSWERS = [
    searching("tenant 1", "tenant 2"),
    AIMessage("1 and 2"),
    searching("tenant 3", "tenant 1"),
    AIMessage("3 and 1"),
]


def test_an_agent_that_goes_back_in_time_adds_to_what_was_there_then():
    saver = InMemorySaver()
    agent = agent_of([*ANSWERS[:2], ANSWERS[1]], saver)
    first = agent.invoke({"messages": [HumanMessage("1, 2?")]}, THREAD)
    before_tools = next(found for found in agent.get_state_history(THREAD) if "tools" in found.next)
    again = agent.invoke(None, before_tools.config)
    said = [sorted(text.removesuffix(" […]") for text in texts_of(state)) for state in (again, first)]
    assert said[0] == said[1]  # which of two tools comes first is chance, and what comes first has no marker
    assert len(again["context"]["items"]) == len(first["context"]["items"])


def test_the_later_context_is_taken():
    builder = CtxContextBuilder(max_tokens=60)
    one = builder.to_dict()
    builder.add(DOCUMENTS[:1])
    other = builder.to_dict()
    assert latest_context(one, other) is latest_context(other, one) is other
    assert latest_context(None, one) is latest_context({}, one) is latest_context(one, None) is one
