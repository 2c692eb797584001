"""Feedback on documents: what was used reaches the log, and tunes."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from lc_documents import QUERY, make_documents
from pydantic import Field, ValidationError

from ctxcompress.apps.feedback import FeedbackLog, Used, tune
from langchain_ctxcompress import CtxCompressor, cite, record

ANSWER = "The default timeout is 30 seconds."


@pytest.fixture
def log(tmp_path):
    return FeedbackLog(tmp_path / "feedback.sqlite", scope="shop")


@pytest.fixture
def kept(log):
    return CtxCompressor(max_tokens=120, feedback=log).compress_documents(make_documents(), QUERY)


def test_the_documents_are_the_same_but_for_the_call(log, kept):
    plain = CtxCompressor(max_tokens=120).compress_documents(make_documents(), QUERY)
    assert [document.page_content for document in kept] == [document.page_content for document in plain]
    for document, other in zip(kept, plain, strict=True):
        found = dict(document.metadata["ctxcompress"])
        assert found.pop("passage") == other.metadata["ctxcompress"]["index"]
        assert len(found.pop("call")) == 32
        assert found == other.metadata["ctxcompress"]
        json.dumps(document.metadata["ctxcompress"])


def test_documents_ids_and_citations_can_be_marked(log, kept):
    (citation,) = cite(ANSWER, kept)
    place = kept[-1].metadata["ctxcompress"]["index"]
    assert record(kept, log=log, used=[kept[-1], citation]) == 2
    (found,) = log.records()
    (start, end) = citation["extras"]["spans"][0]
    assert found.used == (Used(place), Used(0, ((start, end),)))
    assert make_documents()[0].page_content[start:end] == ANSWER
    record(kept, log=log, used=[kept[0].id])
    assert [found.used for found in log.records()] == [(Used(0),)]


def test_an_answer_that_quotes_says_what_it_used(log, kept):
    assert record(kept, log=log, answer=f"Of course! {ANSWER} Ask again.") >= 1
    assert {used.passage for used in log.records()[0].used} == {0}
    assert record(kept, log=log, answer="Nobody knows [1].", numbered=True) == 1


def test_the_feedback_may_come_in_another_process_with_documents_read_from_json(log, kept, tmp_path):
    read = [Document(**json.loads(document.model_dump_json())) for document in kept]
    elsewhere = FeedbackLog(tmp_path / "feedback.sqlite", scope="shop")
    assert record(read, log=elsewhere, used=[read[0]]) == 1
    assert log.records()[0].sheet.budget == 120


def test_documents_of_two_calls_are_told_apart(log, kept):
    other = CtxCompressor(max_tokens=60, feedback=log).compress_documents(make_documents(3), "how do I bring a coat?")
    assert record([*kept, *other], log=log, used=[kept[0], other[0]]) == 2
    assert sorted(found.sheet.budget for found in log.records()) == [60, 120]


def test_a_missing_answer_and_the_question_are_recorded(tmp_path):
    log = FeedbackLog(tmp_path / "texts.sqlite", keep_texts=True)
    kept = CtxCompressor(max_tokens=120, feedback=log).compress_documents(make_documents(), QUERY)
    record(kept, log=log, used=cite(ANSWER, kept), missing=True, question=QUERY)
    (found,) = log.records()
    assert (found.missing, found.question, found.texts) == (True, QUERY, (ANSWER,))


async def test_an_async_compressor_remembers_too(log):
    kept = await CtxCompressor(max_tokens=120, feedback=log).acompress_documents(make_documents(), QUERY)
    assert record(kept, log=log, used=[kept[0]]) == 1


def test_enough_feedback_tunes(log):
    compressor = CtxCompressor(max_tokens=200, feedback=log)

    def ask(_: int) -> None:
        kept = compressor.compress_documents(make_documents(), QUERY)
        record(kept, log=log, answer=ANSWER)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(30)))
    tuning = tune(log.records(), keep=0.9)
    assert tuning.together.tokens < 0.6 * tuning.tokens_before
    tuned = CtxCompressor(max_tokens=200, adaptive=True).with_options(**tuning.options)
    (best, *_) = tuned.compress_documents(make_documents(), QUERY)
    assert ANSWER in best.page_content


def test_other_documents_and_evidence_are_refused(log, kept):
    with pytest.raises(TypeError, match="does not come from a compression with feedback"):
        record(make_documents(1), log=log, used=[])
    with pytest.raises(TypeError, match="none of the documents"):
        record(kept, log=log, used=["no id"])
    with pytest.raises(TypeError, match="remembers no call"):
        record(kept, log=FeedbackLog(log.path, scope="other"), used=[kept[0]])
    assert record([], log=log, missing=True) == 0


def test_something_else_than_a_log_is_refused(kept):
    with pytest.raises(TypeError, match="log is a str; give the FeedbackLog that the compressor has"):
        record(kept, log="feedback.sqlite", answer=ANSWER)
    with pytest.raises(ValidationError, match="feedback is a str; give a FeedbackLog"):
        CtxCompressor(feedback="feedback.sqlite")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x", "documents is a str"),
        (None, "documents is a NoneType"),
        (["x"], r"documents\[0\] is a str; give a list of Document"),
    ],
)
def test_what_is_no_list_of_documents_is_refused(log, given, said):
    with pytest.raises(TypeError, match=said):
        record(given, log=log, answer="x")


class _Counted(DeterministicFakeEmbedding):
    """Counts the calls."""

    calls: list[int] = Field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        return super().embed_documents(texts)


async def test_an_encoder_is_asked_no_more_than_without_feedback(log):
    asked = []
    for feedback in (None, log):
        encoder = _Counted(size=8, calls=[])
        compressor = CtxCompressor(max_tokens=120, encoder=encoder, feedback=feedback)
        kept = compressor.compress_documents(make_documents(), QUERY)
        await compressor.acompress_documents(make_documents(), QUERY)
        asked.append(encoder.calls)
    assert asked[0] == asked[1] != []
    assert record(kept, log=log, used=[kept[0]]) == 1
