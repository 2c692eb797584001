"""Options and models that LlamaIndex writes down, reads back, pickles and assigns, and what it instruments."""

import inspect
import json
import pickle
import threading
from copy import deepcopy
from typing import Any

import pytest
from language_models import ANSWER as OF_TOWN
from language_models import QUERY as OF_TOWNS
from language_models import naming, page
from li_nodes import QUERY, count_words, four_nodes, joined, scored, text_node, tokens
from llama_index.core import MockEmbedding, Settings, SummaryIndex, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage, CompletionResponse, LLMMetadata
from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import ImageNode, IndexNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import JsonSerializer
from llamaindex_way import WAY, Chat, Meanings, events
from meanings import ANSWER, DIMENSIONS, PARAPHRASE, QUESTION, Spelled

from ctxcompress import Compressor, CtxCompressError
from ctxcompress.language_model import Prompt
from llamaindex_ctxcompress import (
    CtxCompressPostprocessor,
    CtxContextBuilder,
    LLMSelector,
    compress_tool,
    prompt_tokens,
)

count = Compressor().count
AGAIN = {
    "dictionary": lambda given: CtxCompressPostprocessor.from_dict(given.to_dict()),
    "json": lambda given: CtxCompressPostprocessor.from_json(given.to_json()),
    "pickle": lambda given: pickle.loads(pickle.dumps(given)),
    "deepcopy": deepcopy,
}
again_in_each_way = pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN)


def test_it_is_a_node_postprocessor_whose_fields_are_its_keywords_with_the_same_defaults():
    CtxCompressPostprocessor()  # pydantic completes a class when it is first used
    keywords, fields = inspect.signature(CtxCompressPostprocessor).parameters, CtxCompressPostprocessor.model_fields
    assert issubclass(CtxCompressPostprocessor, BaseNodePostprocessor)
    assert CtxCompressPostprocessor.class_name() == "CtxCompressPostprocessor"
    assert set(keywords) == set(fields) - {"start"} | {"config"}  # which is read once, and never written down
    for name in set(keywords) - {"config", "callback_manager", "feedback"}:
        assert fields[name].default_factory or keywords[name].default == fields[name].default, name
        assert keywords[name].annotation == fields[name].annotation, name


@again_in_each_way
def test_every_option_survives_being_written_down(again):
    given: dict[str, Any] = {
        "preset": "docs",
        "max_tokens": 123,
        "encoder": MockEmbedding(embed_dim=3),
        "llm": MockLLM(max_tokens=7),
        "metadata_mode": MetadataMode.NONE,
        "must_keep": ["INV-7", "dates"],
        "trace_to": "traces",
        "context_window": 4_000,
        "keep_all_sources": True,
        "on_error": "without",
        "timeout": 2.5,
    }
    one = CtxCompressPostprocessor(**given)
    twin = again(one)
    assert type(twin) is CtxCompressPostprocessor
    assert one.to_dict() == twin.to_dict()
    assert (type(twin.encoder), twin.encoder.embed_dim, twin.llm.max_tokens) == (MockEmbedding, 3, 7)
    assert (twin.metadata_mode, twin.config.min_score, twin.trace_to) == (MetadataMode.NONE, 0.3, "traces")
    plain = CtxCompressPostprocessor()
    assert again(plain).config == plain.config


@pytest.mark.parametrize("mode", [MetadataMode.ALL, MetadataMode.EMBED, "everything", None])
def test_a_metadata_mode_that_no_language_model_reads_is_refused(mode):
    with pytest.raises(ValueError, match=r"metadata_mode is .*; give MetadataMode.LLM or MetadataMode.NONE"):
        CtxCompressPostprocessor(metadata_mode=mode)


def test_an_option_that_is_assigned_later_counts_and_is_checked():
    postprocessor = CtxCompressPostprocessor(max_tokens=10_000)
    postprocessor.max_tokens = 20
    assert 0 < tokens(joined(postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY))) <= 20
    for name, wrong in (("max_tokens", 0), ("encoder", "bge"), ("order", "nonsense"), ("metadata_map", 7)):
        postprocessor = CtxCompressPostprocessor()
        setattr(postprocessor, name, wrong)
        with pytest.raises(CtxCompressError, match=name):
            postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)


def test_a_callable_is_named_and_must_be_given_again():
    written = CtxCompressPostprocessor(max_tokens=7, encoding=count_words).to_json()
    assert json.loads(written)["encoding"] == "<callable count_words>"
    with pytest.raises(ValueError, match=r"encoding is '<callable count_words>'; give .* a callable"):
        CtxCompressPostprocessor.from_json(written)
    assert CtxCompressPostprocessor.from_json(written, encoding=count_words).encoding is count_words
    assert (
        json.loads(CtxCompressPostprocessor(encoding=Settings.tokenizer).to_json())["encoding"] == "<callable partial>"
    )
    assert CtxCompressPostprocessor.model_json_schema()["properties"]["encoding"]["type"] == "string"


def test_pickle_keeps_what_can_be_pickled_and_refuses_what_it_would_lose():
    kept = CtxCompressPostprocessor(encoding=count_words, encoder=Spelled(), must_keep=[len])
    assert isinstance(pickle.loads(pickle.dumps(kept)).encoder, Spelled)
    locked = Spelled()
    locked.lock = threading.Lock()
    for options, said in (
        ({"encoding": lambda text: len(text)}, r"encoding is .*lambda.*; give an encoding's name"),
        ({"encoder": locked}, r"encoder is .*Spelled.*, which cannot be pickled; give"),
        ({"must_keep": [lambda text: []]}, "must_keep has a function that cannot be pickled"),
    ):
        postprocessor = CtxCompressPostprocessor(**options)
        with pytest.raises(pickle.PicklingError, match=said):
            pickle.dumps(postprocessor)
        assert getattr(postprocessor, next(iter(options))) is not None
    handler = LlamaDebugHandler()
    handler.lock = threading.Lock()
    manager = CallbackManager([handler])
    postprocessor = CtxCompressPostprocessor(max_tokens=5, callback_manager=manager)
    assert pickle.loads(pickle.dumps(postprocessor)).max_tokens == 5
    assert postprocessor.callback_manager is manager
    assert "callback_manager" not in postprocessor.to_dict()


# Embedding models


def tight(encoder: object, max_tokens: int = 12) -> CtxCompressPostprocessor:
    return CtxCompressPostprocessor(max_tokens=max_tokens, encoder=encoder, metadata_mode=MetadataMode.NONE)


class Hosted(Meanings):
    api_key: str = "sk-secret"

    @classmethod
    def class_name(cls) -> str:
        return "HostedEmbedding"


def test_what_llamaindex_does_not_know_by_name_must_be_given_again_and_no_secret_is_said():
    written = tight(Hosted()).to_json()
    assert json.loads(written)["encoder"]["class_name"] == "HostedEmbedding"
    with pytest.raises(
        ValueError, match=r"a 'HostedEmbedding', which .*; give .* from_dict\(data, encoder="
    ) as refused:
        CtxCompressPostprocessor.from_json(written)
    assert "sk-secret" not in str(refused.value)
    with pytest.raises(ValueError, match="a None, which"):
        CtxCompressPostprocessor(encoder={"embed_dim": 3})
    named = tight(Spelled()).to_json()
    assert json.loads(named)["encoder"] == "<encoder Spelled>"
    with pytest.raises(ValueError, match="encoder is '<encoder Spelled>'; give 'static'"):
        CtxCompressPostprocessor.from_json(named)
    for encoder in (Hosted(), Spelled()):
        assert CtxCompressPostprocessor.from_json(tight(encoder).to_json(), encoder=encoder).encoder is encoder
    model = Chat(answer=naming(OF_TOWN))
    data = CtxCompressPostprocessor(llm=model).to_dict()
    with pytest.raises(ValueError, match=r"from_dict\(data, llm=...\)"):
        CtxCompressPostprocessor.from_dict(data)
    assert CtxCompressPostprocessor.from_dict(data, llm=model).llm is model
    assert CtxCompressPostprocessor(llm=LLMSelector(model)).to_dict()["llm"] == "<llm LLMSelector>"


async def test_beside_an_image_the_rest_of_the_budget_is_found_without_sync_calls():
    encoder, image = Meanings(), NodeWithScore(node=ImageNode(text="A drawing of a clock.", image="aGVsbG8="))
    assert len(tight(encoder, 10_000).postprocess_nodes([image, *WAY.pages()], query_str=QUESTION)) == 5
    assert encoder.asked == []
    await tight(encoder, 30).apostprocess_nodes([image, *WAY.pages()], query_str=QUESTION)
    assert set(encoder.methods) == {"async query", "async texts"}


@pytest.mark.parametrize("dimensions", [8, DIMENSIONS])
def test_the_index_may_have_another_model_than_the_encoder(dimensions):
    """Retrieval leaves the question's vector in the query bundle; it means nothing to the encoder."""
    encoder = Meanings()
    nodes = [item.node for item in WAY.pages()]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=dimensions))
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[tight(encoder)], llm=MockLLM())
    assert ANSWER in str(engine.query(PARAPHRASE))
    assert encoder.asked[0] == ("query", [PARAPHRASE])


def test_with_a_cache_a_question_is_embedded_once_for_retrieval_and_compression():
    encoder = Meanings(embeddings_cache=SimpleKVStore())
    index = VectorStoreIndex([item.node for item in WAY.pages()], embed_model=encoder)
    encoder.asked.clear()
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[tight(encoder)], llm=MockLLM())
    assert ANSWER in str(engine.query(PARAPHRASE))
    assert [texts for method, texts in encoder.asked if method == "query"] == [[PARAPHRASE]]


async def test_engines_use_the_embeddings_sync_and_async():
    encoder = Meanings()
    index = SummaryIndex([item.node for item in WAY.pages()])
    engine = index.as_query_engine(node_postprocessors=[tight(encoder)], llm=MockLLM())
    assert ANSWER in str(engine.query(PARAPHRASE))
    assert ANSWER in str(await engine.aquery(PARAPHRASE))
    assert encoder.methods == ["query", "texts", "async query", "async texts"]


# LLMs


class Completing(CustomLLM):
    """Completes a text, and cannot chat."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="completing")

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=naming(OF_TOWN)(Prompt("", prompt)))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise AssertionError("nothing is streamed")


SELECTED = [f"## Riga\n\n[…] {OF_TOWN} […]"]


def towns() -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=page().text, id_="page"), score=0.8)]


def selected(llm: Any, *more: NodeWithScore, max_tokens: int = 120) -> list[str]:
    postprocessor = CtxCompressPostprocessor(max_tokens=max_tokens, llm=llm)
    return WAY.texts(postprocessor.postprocess_nodes([*towns(), *more], query_str=OF_TOWNS))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"usage": {"prompt_tokens": 900, "completion_tokens": 3}}, (900, 3, False)),
        ({"usage": {"input_tokens": 900, "output_tokens": 3}}, (900, 3, False)),
        ({}, None),
        (["odd"], None),
    ],
)
def test_an_llm_is_instrumented_and_its_tokens_are_as_the_provider_says_or_counted(raw, expected):
    with events() as seen:
        assert selected(Chat(answer=naming(OF_TOWN), raw=raw)) == SELECTED
    names = [event.class_name() for event in seen]
    assert names.count("LLMChatStartEvent") == names.count("LLMChatEndEvent") == 1
    [stats] = [event.stats["llm"] for event in seen if event.class_name() == "CompressionEvent"]
    found = (stats["input_tokens"], stats["output_tokens"], stats["is_estimated"])
    assert found == expected or (expected is None and stats["is_estimated"] and stats["input_tokens"] > 300)


async def test_its_span_is_within_the_span_of_the_postprocessor():
    root, handler = get_dispatcher(), SimpleSpanHandler()
    root.add_span_handler(handler)
    postprocessor = CtxCompressPostprocessor(max_tokens=120, llm=Chat(answer=naming(OF_TOWN)))
    postprocessor.postprocess_nodes(towns(), query_str=OF_TOWNS)
    await postprocessor.apostprocess_nodes(towns(), query_str=OF_TOWNS)
    root.span_handlers.remove(handler)
    parents = {span.id_.partition("-")[0]: str(span.parent_id).partition("-")[0] for span in handler.completed_spans}
    assert parents["Chat.chat"] == "CtxCompressPostprocessor._postprocess_nodes"
    assert parents["Chat.achat"] == "CtxCompressPostprocessor._apostprocess_nodes"


def test_other_llms_and_nodes_that_stay_whole_beside_the_answer():
    assert selected(Completing()) == SELECTED
    assert selected(MockLLM()) == selected(None)  # it repeats the prompt, which names nothing
    model, picture = Chat(answer=naming(OF_TOWN)), NodeWithScore(node=ImageNode(text="a picture"), score=0.1)
    assert selected(model, picture, max_tokens=100) == [*SELECTED, "a picture"]
    assert model.asked == ["sync"]


# The context window, and contexts in a workflow


def fetch(query: str) -> str:
    """Fetch a page."""
    return "The default timeout is 30 seconds. " + " ".join(f"Ship {n} came late." for n in range(400))


class Windowed(MockLLM):
    """A model with a window of 500 tokens, of which 100 are for its answer."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=500, num_output=100)


def test_a_share_is_of_the_window_without_the_room_for_the_answer():
    assert CtxCompressPostprocessor(max_tokens="25%", model=Windowed()).config.budget == 100
    options: dict[str, Any] = {"max_tokens": "25%", "model": Windowed()}
    shorter = compress_tool(FunctionTool.from_defaults(fetch), **options)
    assert 60 < count(shorter.call(query=QUERY).content) <= 100


def test_system_prompt_messages_tool_calls_and_schemas_count():
    tool = FunctionTool.from_defaults(fetch)
    called = [{"function": {"arguments": "x " * 90}}]
    calls = ChatMessage("", role="assistant", additional_kwargs={"tool_calls": called})
    assert prompt_tokens() == 0
    assert (
        prompt_tokens([ChatMessage("Be brief.")]) == prompt_tokens(system_prompt="Be brief.") == count("Be brief.") + 4
    )
    assert prompt_tokens([calls]) > 90
    assert prompt_tokens(tools=[tool]) == prompt_tokens(tools=[tool.metadata]) > 20


def test_a_context_is_written_by_the_serializer_of_workflows_and_takes_nothing_but_text():
    builder, serializer = CtxContextBuilder(max_tokens=60), JsonSerializer()
    node = text_node(1)
    (kept,) = builder.add(scored([node]), "logo", max_tokens=15).nodes
    assert (kept.score, kept.node.relationships) == (0.5, node.relationships)
    assert "ctxcompress" not in kept.node.get_content(MetadataMode.LLM)
    again = serializer.deserialize(serializer.serialize(builder))
    assert isinstance(again, CtxContextBuilder)
    assert again.to_dict() == builder.to_dict()
    for wrong in (ImageNode(image="aa", text="An image."), IndexNode(text="x", index_id="i", obj=TextNode(text="y"))):
        with pytest.raises(ValueError, match="with more than text"):
            builder.add([NodeWithScore(node=wrong)])
