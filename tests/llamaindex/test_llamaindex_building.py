"""One context of several retrievals, in nodes, kept in the Context of a workflow."""

import asyncio
import json

import pytest
from li_nodes import text_node
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import ImageNode, IndexNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.workflow import Context, JsonSerializer, StartEvent, StopEvent, Workflow, step

from llamaindex_ctxcompress import CtxContextBuilder, builder_tools

RULES = [f"Rule {n} says that port {8000 + n} is for tenant {n}. Nobody knows why it was chosen." for n in range(9)]
NODES = [
    NodeWithScore(node=TextNode(text=text, id_=f"r{n}", metadata={"file_name": "rules.md"}), score=n / 10)
    for n, text in enumerate(RULES)
]


class Rules(BaseRetriever):
    def _retrieve(self, query_bundle):
        return NODES


def test_nodes_go_in_and_come_out():
    builder = CtxContextBuilder(max_tokens=60)
    node = text_node(1, text=RULES[1])
    added = builder.add([NODES[0], NodeWithScore(node=node, score=0.5)], query="port for tenant 1?", max_tokens=15)
    (kept,) = added.nodes
    assert added.text == str(added) == kept.text == "Rule 1 says that port 8001 is for tenant 1."
    assert (kept.score, kept.node.relationships) == (0.5, node.relationships)
    assert kept.node.metadata["ctxcompress"]["index"] == 1
    assert "ctxcompress" not in kept.node.get_content(MetadataMode.LLM)
    assert added.reasons == ["budget", "budget"]
    assert added.dropped[0].text == RULES[0]
    assert added.remaining == builder.remaining == 60 - added.tokens
    assert builder.nodes == added.nodes


async def test_the_async_twin_does_the_same():
    one, other = CtxContextBuilder(max_tokens=40), CtxContextBuilder(max_tokens=40)
    for query in ("tenant 1", "tenant 5"):
        added, again = one.add(NODES, query, max_tokens=15), await other.aadd(NODES, query, max_tokens=15)
        assert added == again


def test_nodes_with_more_than_text_are_refused():
    builder = CtxContextBuilder(max_tokens=40)
    for node in (ImageNode(image="aa", text="An image."), IndexNode(text="x", index_id="i", obj=TextNode(text="y"))):
        with pytest.raises(ValueError, match="with more than text"):
            builder.add([NodeWithScore(node=node)])


@pytest.mark.parametrize("resume", ["from_dict", "resumed"])
def test_saved_and_restored_it_goes_on_as_if_nothing_had_happened(resume):
    one, other = CtxContextBuilder(max_tokens=60), CtxContextBuilder(max_tokens=60)
    found = [*NODES, NodeWithScore(node=text_node(3))]
    for query in ("tenant 1", "tenant 5", "parking of visitors"):
        data = json.loads(json.dumps(other.to_dict()))
        other = CtxContextBuilder.from_dict(data) if resume == "from_dict" else other.resumed(data)
        assert one.add(found, query, max_tokens=20) == other.add(found, query, max_tokens=20)
    assert one.render() == other.render()
    assert one.nodes == other.nodes


def test_the_serializer_of_workflows_writes_the_builder_itself():
    builder, serializer = CtxContextBuilder(max_tokens=60), JsonSerializer()
    builder.add(NODES, "tenant 1", max_tokens=15)
    again = serializer.deserialize(serializer.serialize(builder))
    assert isinstance(again, CtxContextBuilder)
    assert again.to_dict() == builder.to_dict()


def test_the_tools_add_to_the_builder_and_tell_what_is_in():
    builder = CtxContextBuilder(max_tokens=60)
    search, status = builder_tools(builder, Rules())
    assert search.call(query="tenant 4").content == "Rule 4 says that port 8004 is for tenant 4."
    assert status.call().content == (
        "The context has 1 passage of 1 source: 15 of 60 tokens; 45 are left.\n- rules.md: 1 passage"
    )
    assert [tool.metadata.name for tool in builder_tools(builder)] == ["context_status"]


class Research(Workflow):
    """Searches for two things at once."""

    tools = builder_tools(CtxContextBuilder(max_tokens=60), Rules(), state_key="context")

    @step
    async def search(self, ctx: Context, ev: StartEvent) -> StopEvent:
        add, status = self.tools
        found = await asyncio.gather(*(add.acall(ctx=ctx, query=query) for query in ev.queries))
        told = await status.acall(ctx=ctx)
        return StopEvent(result=[*(output.content for output in found), told.content])


async def test_in_the_context_of_a_workflow_it_goes_on_after_a_restart():
    workflow = Research()
    context = Context(workflow)
    first = await workflow.run(ctx=context, queries=["tenant 1", "tenant 2"])
    saved = json.loads(json.dumps(context.to_dict(serializer=JsonSerializer())))
    restored = Context.from_dict(workflow, saved, serializer=JsonSerializer())
    second = await workflow.run(ctx=restored, queries=["tenant 3", "tenant 1"])
    builder = CtxContextBuilder.from_dict(await restored.store.get("context"))
    assert sorted(builder.render().split("\n\n")) == sorted([*first[:2], *second[:2]])
    assert len({*first[:2], *second[:2]}) == 4
    assert "4 passages" in second[2]
    assert builder.remaining >= 0


class Searching(FunctionCallingLLM, MockLLM):
    """Calls search_and_add for two tenants at once, then for a third, then answers."""

    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True)

    async def achat_with_tools(self, tools, user_msg=None, chat_history=None, **kwargs):
        results = [message for message in chat_history if message.role == MessageRole.TOOL]
        tenants = {0: [1, 2], 2: [3]}.get(len(results), [])
        calls = [
            ToolSelection(tool_id=f"{n}", tool_name="search_and_add", tool_kwargs={"query": f"tenant {n}"})
            for n in tenants
        ]
        message = ChatMessage("Done.", role="assistant", additional_kwargs={"calls": calls})
        return ChatResponse(message=message)

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        return response.message.additional_kwargs["calls"]

    def _prepare_chat_with_tools(self, tools, **kwargs):
        raise NotImplementedError


async def test_an_agent_builds_its_context():
    tools = builder_tools(CtxContextBuilder(max_tokens=60), Rules(), state_key="context")
    agent = FunctionAgent(name="agent", description="An agent.", tools=tools, llm=Searching(), streaming=False)
    context = Context(agent)
    result = await agent.run("Which ports?", ctx=context)
    builder = CtxContextBuilder.from_dict(await context.store.get("context"))
    found = [call.tool_output.content for call in result.tool_calls]
    assert len(found) == len(set(found)) == 3
    assert sorted(builder.render().split("\n\n")) == sorted(found)
