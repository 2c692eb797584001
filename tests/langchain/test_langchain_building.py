"""One context of several retrievals, in documents, kept in the state of an agent."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_way import WAY
from lc_tools import Scripted, calling

from langchain_ctxcompress import CtxContextBuilder, builder_tools, latest_context

RULES = [f"Rule {n} says that port {8000 + n} is for tenant {n}. Nobody knows why it was chosen." for n in range(9)]
DOCUMENTS = [Document(text, id=f"r{n}", metadata={"source": "rules.md", "n": n}) for n, text in enumerate(RULES)]
THREAD: Any = {"configurable": {"thread_id": "1"}}


def texts_of(state):
    return sorted(
        message.text.removesuffix(" […]") for message in state["messages"] if isinstance(message, ToolMessage)
    )


def test_an_agent_that_goes_back_in_time_adds_to_what_was_there_then():
    tools = builder_tools(CtxContextBuilder(max_tokens=70), WAY.finding(*DOCUMENTS), state_key="context")
    searches = calling(*((tools[0], {"query": f"tenant {n}"}) for n in (1, 2)))
    model = Scripted(responses=[searches, AIMessage("1 and 2"), AIMessage("1 and 2")])
    agent = create_agent(model, tools, **WAY.conversation(context_key="context"))
    first = agent.invoke({"messages": [HumanMessage("1, 2?")]}, THREAD)
    before_tools = next(found for found in agent.get_state_history(THREAD) if "tools" in found.next)
    again = agent.invoke(None, before_tools.config)
    assert texts_of(again) == texts_of(first)  # which of two tools comes first is chance, and what does has no marker
    assert len(again["context"]["items"]) == len(first["context"]["items"]) > 0


def test_the_later_context_is_taken():
    builder = CtxContextBuilder(max_tokens=60)
    one = builder.to_dict()
    builder.add(DOCUMENTS[:1])
    other = builder.to_dict()
    assert latest_context(one, other) is latest_context(other, one) is other
    assert latest_context(None, one) is latest_context({}, one) is latest_context(one, None) is one
