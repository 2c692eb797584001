"""A budget that is a share of the model's context window, and what a prompt takes of the window."""

import pickle

import pytest
from li_nodes import QUERY, text_node
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.llms.mock import LLMMetadata
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.tools import FunctionTool
from pydantic import ValidationError

from ctxcompress import Compressor
from llamaindex_ctxcompress import CtxCompressPostprocessor, compress_tool, prompt_tokens

TEXT = "The default timeout is 30 seconds. " + " ".join(f"Ship {n} came late." for n in range(400))
count = Compressor().count


class Windowed(MockLLM):
    """A model with a window of 500 tokens, of which 100 are for its answer."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=500, num_output=100)


def fetch(query: str) -> str:
    """Fetch a page."""
    return TEXT


def test_a_share_is_of_the_window_without_the_room_for_the_answer():
    postprocessor = CtxCompressPostprocessor(max_tokens="25%", model=Windowed())
    assert postprocessor.config.budget == 100
    (node,) = postprocessor.postprocess_nodes([NodeWithScore(node=text_node(text=TEXT))], query_str=QUERY)
    assert 60 < count(node.get_content(MetadataMode.LLM)) <= 100


def test_a_window_that_is_given_counts_in_place_of_the_whole_one_of_the_model():
    options = {"max_tokens": "50%", "model": Windowed(), "context_window": 200}
    assert CtxCompressPostprocessor(**options).config.budget == 100
    shorter = compress_tool(FunctionTool.from_defaults(fetch), **options)
    assert 60 < count(shorter.call(query=QUERY).content) <= 100


def test_what_is_written_down_has_the_window_and_not_the_model():
    postprocessor = CtxCompressPostprocessor(max_tokens="25%", model=Windowed())
    for copy in (
        CtxCompressPostprocessor.from_dict(postprocessor.to_dict()),
        CtxCompressPostprocessor.from_json(postprocessor.to_json()),
        pickle.loads(pickle.dumps(postprocessor)),
    ):
        assert copy.config.budget == 100


def test_a_window_that_is_not_known_is_an_error_with_the_remedy():
    with pytest.raises(ValidationError, match="whose size is not known; give context_window"):
        CtxCompressPostprocessor(max_tokens="25%")
    with pytest.raises(TypeError, match="model is a str; give an LLM of LlamaIndex"):
        CtxCompressPostprocessor(max_tokens="25%", model="gpt-5")


def test_system_prompt_messages_tool_calls_and_schemas_count():
    tool = FunctionTool.from_defaults(fetch)
    calls = ChatMessage(
        "", role="assistant", additional_kwargs={"tool_calls": [{"function": {"arguments": "x " * 90}}]}
    )
    assert prompt_tokens() == 0
    assert (
        prompt_tokens([ChatMessage("Be brief.")]) == prompt_tokens(system_prompt="Be brief.") == count("Be brief.") + 4
    )
    assert prompt_tokens([calls]) > 90
    assert prompt_tokens(tools=[tool]) == prompt_tokens(tools=[tool.metadata]) > 20
