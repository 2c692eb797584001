"""What only LangChain has of documents, options and models: classes of users, states of filters, chains of models."""

import json
import pickle
import threading

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.load import dumpd
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_way import USAGE, WAY, Chat, DocumentWithState
from language_models import ANSWER, naming, page
from language_models import QUERY as OF_TOWNS
from lc_documents import QUERY, TEXTS, make_documents
from meanings import QUESTION, meaning
from pydantic import Field, PrivateAttr, ValidationError

from ctxcompress import CompressionConfig
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.cache import Cache
from ctxcompress.errors import PluginError
from ctxcompress.language_model import Prompt
from langchain_ctxcompress import CtxCompressor, LLMSelector, format_documents, record
from langchain_ctxcompress.convert import passages_from_documents

ROOMY = CtxCompressor(max_tokens=100_000)


class Chunk(Document):
    """A user's own document class."""

    page: int = 0
    boxes: list[list[float]] = Field(default_factory=list)
    _seen: list[str] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[str]:
        """By whom it was seen."""
        return self._seen


@pytest.mark.parametrize("metadata", [{"tags": ["a"]}, {"lock": threading.Lock()}], ids=["plain", "uncopyable"])
def test_a_users_subclass_keeps_class_fields_and_private_attributes(metadata):
    given = Chunk(page_content=TEXTS[0], id="c", page=7, boxes=[[0.0, 1.0]], metadata=metadata)
    given.seen.append("index")
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert type(kept) is Chunk
    assert (kept.id, kept.page, kept.boxes) == ("c", 7, [[0.0, 1.0]])
    assert kept.seen == ["index"]
    kept.boxes[0].append(2.0)
    assert given.boxes == [[0.0, 1.0]]
    assert "ctxcompress" not in given.metadata


def test_a_transformers_state_does_not_leak_out_and_plain_documents_come_out():  # LC#28511
    given = DocumentWithState(page_content=TEXTS[0], id="s", metadata={"source": "a"}, state={"embedded_doc": [0.1]})
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert type(kept) is Document
    assert dumpd(kept)["id"] == ["langchain", "schema", "document", "Document"]
    assert (kept.id, kept.metadata["source"]) == ("s", "a")
    assert "embedded_doc" not in kept.model_dump_json()


def test_neither_an_id_nor_keys_of_one_kind_are_needed():
    [kept] = ROOMY.compress_documents([Document("A text.", metadata={1: "one", None: 2})], QUERY)
    assert (kept.id, kept.metadata[1]) == (None, "one")


@pytest.mark.parametrize("score", ["0.5", np.int64(3), True, [0.1], object()], ids=lambda score: type(score).__name__)
def test_a_score_in_the_metadata_is_kept_as_it_is_and_not_taken_for_one_unasked(score):  # LC#4517, LC#38506
    given = [Document(text, metadata={"score": n and score, "relevance_score": n}) for n, text in enumerate(TEXTS)]
    kept = CtxCompressor(max_tokens=60).compress_documents(given, QUERY)
    plain = CtxCompressor(max_tokens=60).compress_documents([Document(text) for text in TEXTS], QUERY)
    assert WAY.texts(kept) == WAY.texts(plain)
    assert all("score" not in document.metadata["ctxcompress"] for document in kept)
    kept = CtxCompressor(metadata_map={"score": "score"}).compress_documents(given, QUERY)
    assert (len(kept), type(kept[1].metadata["score"])) == (5, type(score))


@pytest.mark.parametrize("given", ["text", ["text"], [None], [{"page_content": "text"}], Document("a"), None])
def test_what_is_not_a_list_of_documents_is_a_type_error(given):
    with pytest.raises(TypeError, match="documents"):
        ROOMY.compress_documents(given, QUERY)
    if isinstance(given, list):
        with pytest.raises(TypeError, match=r"documents\[0\] is a "):
            format_documents(given)


def test_feedback_may_come_with_documents_read_from_json(tmp_path):
    log = FeedbackLog(tmp_path / "feedback.sqlite")
    kept = CtxCompressor(max_tokens=120, feedback=log).compress_documents(make_documents(), QUERY)
    read = [Document(**json.loads(document.model_dump_json())) for document in kept]
    assert record(read, log=log, used=[read[0]]) == 1


def test_options_cannot_be_set_afterwards():
    with pytest.raises(ValidationError, match="frozen"):
        ROOMY.max_tokens = 5


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda numbers: np.array(numbers, np.float32)])
def test_an_embedding_that_filters_left_is_any_series_of_numbers(kind):
    document = DocumentWithState(page_content="A text.", state={"embedded_doc": kind([1, 0.5, -2.0])})
    [passage] = passages_from_documents([document], CompressionConfig())
    document.state.clear()
    assert list(passage.embedding) == [1, 0.5, -2.0]


WRONG = (None, [], 0.5, "0.5", ["0.5"], [[0.5]], np.zeros((2, 2)), [0.5, None])


@pytest.mark.parametrize(
    "state", [{}, {"vector": [0.5]}, *({"embedded_doc": wrong} for wrong in WRONG), "new"], ids=str
)
def test_a_state_without_an_embedding_is_no_embedding(state):
    document = DocumentWithState(page_content="A text.")
    document.state = state
    [passage] = passages_from_documents([document], CompressionConfig())
    assert passage.embedding is None


async def test_embeddings_that_only_know_async_or_only_sync_work():
    class OnlySync(Embeddings):
        def embed_query(self, text):
            return meaning(text)

        def embed_documents(self, texts):
            assert threading.current_thread() is not threading.main_thread()
            return [*map(meaning, texts)]

    class OnlyAsync(type(WAY.embeddings())):
        def embed_query(self, text):
            raise AssertionError("blocks the event loop")

        embed_documents = embed_query

    expected = CtxCompressor(max_tokens=12, encoder=WAY.embeddings()).compress_documents(WAY.pages(), QUESTION)
    for encoder in (OnlySync(), OnlyAsync(meaning, list)):
        compressor = CtxCompressor(max_tokens=12, encoder=encoder)
        assert await compressor.acompress_documents(WAY.pages(), QUESTION) == expected


async def test_what_the_embeddings_raise_ends_the_run_in_the_trace():
    def refuse(text):
        raise ConnectionError("no quota")

    compressor, collector = CtxCompressor(max_tokens=12, encoder=WAY.embeddings(refuse)), RunCollectorCallbackHandler()
    with pytest.raises(PluginError):
        compressor.compress_documents(WAY.pages(), QUESTION, callbacks=[collector])
    with pytest.raises(PluginError):
        await compressor.acompress_documents(WAY.pages(), QUESTION, callbacks=[collector])
    assert ["no quota" in run.error for run in collector.traced_runs] == [True, True]
    assert all(run.end_time for run in collector.traced_runs)


SELECTED = [f"## Riga\n\n[…] {ANSWER} […]"]
TOWNS = [Document(page().text, id="page", metadata={"source": "docs/towns.md"})]


def chat(answer=None, **given) -> Chat:
    return Chat(answer=answer or naming(ANSWER), **given)


def selected(llm, **options) -> list[str]:
    return WAY.texts(CtxCompressor(max_tokens=120, llm=llm, **options).compress_documents(TOWNS, OF_TOWNS))


def fail_first(times):
    left = iter(range(times))

    def answer(prompt):
        if next(left, None) is not None:
            raise ConnectionError("key sk-123")
        return naming(ANSWER)(prompt)

    return answer


@pytest.mark.parametrize(
    "llm",
    [
        chat(fail_first(1)).with_retry(wait_exponential_jitter=False),
        chat(fail_first(99)).with_fallbacks([chat()]),
        chat().bind(temperature=0),
        RunnableLambda(lambda messages: naming(ANSWER)(Prompt(*(message.content for message in messages)))),
    ],
    ids=["retry", "fallbacks", "bound", "strings"],
)
def test_runnables_around_a_model_are_models_too(llm):
    assert selected(llm) == SELECTED


async def test_the_run_of_a_model_is_a_child_of_the_compressors_and_tells_its_tokens():
    collector, compressor = RunCollectorCallbackHandler(), CtxCompressor(max_tokens=120, llm=chat())
    compressor.compress_documents(TOWNS, OF_TOWNS, callbacks=[collector])
    await compressor.acompress_documents(TOWNS, OF_TOWNS, callbacks=[collector])
    for run in collector.traced_runs:
        assert [(child.name, child.run_type) for child in run.child_runs] == [("select_segments", "llm")]
        stats = run.outputs["stats"]["llm"]
        assert (stats["input_tokens"], stats["output_tokens"]) == (USAGE["input_tokens"], USAGE["output_tokens"])
        assert stats["is_estimated"] is False


def test_answers_are_cached_by_all_that_describes_a_model():
    cache, models = Cache(), [chat(version=version) for version in (1, 1, 2)]
    wrapped = [*models[:2], models[2].bind(top_p=1).with_retry().with_fallbacks([models[0]])]
    for model in wrapped * 2:
        assert selected(model, cache=cache) == SELECTED
    assert [len(model.asked) for model in models] == [1, 0, 1]
    asked = []
    for _ in range(2):  # nothing describes a function
        selected(RunnableLambda(lambda messages: asked.append(messages) or "1"), cache=cache)
    assert len(asked) == 2


def test_a_compressor_with_a_model_can_be_pickled():
    compressor = CtxCompressor(max_tokens=120, llm=LLMSelector(WAY.with_window(9)))
    restored = pickle.loads(pickle.dumps(compressor))
    assert restored.compress_documents(TOWNS, OF_TOWNS) == compressor.compress_documents(TOWNS, OF_TOWNS)
