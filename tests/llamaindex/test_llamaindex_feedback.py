"""Feedback on nodes: what was used reaches the log."""

import pickle

import pytest
from li_nodes import QUERY, TEXTS, four_nodes, text_node
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import ImageNode, NodeWithScore
from pydantic import Field

from ctxcompress.apps.feedback import FeedbackLog, Used
from llamaindex_ctxcompress import CtxCompressPostprocessor, cite, record

ANSWER = "The default timeout is thirty seconds."


@pytest.fixture
def log(tmp_path):
    return FeedbackLog(tmp_path / "feedback.sqlite", scope="shop")


def kept_by(log: FeedbackLog, nodes: list[NodeWithScore], **options) -> list[NodeWithScore]:
    return CtxCompressPostprocessor(max_tokens=150, feedback=log, **options).postprocess_nodes(nodes, query_str=QUERY)


def test_nodes_ids_and_citations_can_be_marked(log):
    kept = kept_by(log, four_nodes())
    (block,) = cite(ANSWER, kept)
    assert record(kept, log=log, used=[block, kept[-1]]) == 2
    (found,) = log.records()
    start = TEXTS[0].index(ANSWER)
    assert Used(0, ((start, start + len(ANSWER)),)) in found.used
    assert record(kept, log=log, used=[kept[0].node.node_id]) == 1


def test_an_engine_needs_the_postprocessor_only(log):
    index = VectorStoreIndex([text_node(number) for number in range(4)], embed_model=MockEmbedding(embed_dim=8))
    engine = index.as_query_engine(
        llm=MockLLM(),
        similarity_top_k=4,
        node_postprocessors=[CtxCompressPostprocessor(max_tokens=150, feedback=log)],
    )
    response = engine.query(QUERY)
    assert "call" not in str(response)
    assert record(response.source_nodes, log=log, answer=str(response)) >= 0
    assert record(response.source_nodes, log=log, answer=f"It says: {ANSWER}") >= 1
    (found,) = log.records()
    assert found.sheet.tokens[found.used[0].passage] > 5


def test_the_budget_of_the_evidence_has_room_for_what_the_template_shows(log):
    nodes = [NodeWithScore(node=text_node(number)) for number in range(4)]
    for item in nodes:
        item.node.metadata["note"] = "a long note of the template " * 20
    kept = CtxCompressPostprocessor(max_tokens=400, feedback=log).postprocess_nodes(nodes, query_str=QUERY)
    record(kept, log=log, answer=ANSWER)
    (found,) = log.records()
    assert found.sheet.evidence(found.used[0]).budget >= 150


def test_an_image_beside_texts_shifts_no_passage(log):
    nodes = [NodeWithScore(node=ImageNode(text="", image_url="a.png")), *four_nodes()]
    kept = kept_by(log, nodes)
    texts = [item for item in kept if "ctxcompress" in item.node.metadata]
    record(texts, log=log, answer=ANSWER)
    assert {used.passage for used in log.records()[0].used} == {0}


async def test_async_calls_are_remembered_too(log):
    postprocessor = CtxCompressPostprocessor(max_tokens=150, feedback=log)
    kept = await postprocessor.apostprocess_nodes(four_nodes(), query_str=QUERY)
    assert record(kept, log=log, used=[kept[0]]) == 1


def test_the_log_is_carried_but_not_written_down(log):
    postprocessor = CtxCompressPostprocessor(max_tokens=150, feedback=log)
    assert "feedback" not in postprocessor.to_dict()
    assert CtxCompressPostprocessor.from_dict(postprocessor.to_dict()).feedback is None
    copy = pickle.loads(pickle.dumps(postprocessor))
    assert copy.feedback is None or copy.feedback.path == log.path


def test_other_nodes_and_evidence_are_refused(log):
    with pytest.raises(TypeError, match="does not come from a compression with feedback"):
        record(four_nodes(), log=log)
    with pytest.raises(TypeError, match="none of the nodes"):
        record(kept_by(log, four_nodes()), log=log, used=["no id"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x", "nodes is a str"),
        (None, "nodes is a NoneType"),
        (["x"], r"nodes\[0\] is a str; give a list of NodeWithScore"),
    ],
)
def test_what_is_no_list_of_nodes_is_refused(log, given, said):
    with pytest.raises(TypeError, match=said):
        record(given, log=log, answer="x")


def test_something_else_than_a_log_is_refused(log):
    with pytest.raises(TypeError, match="log is a str; give the FeedbackLog that the compressor has"):
        record(kept_by(log, four_nodes()), log="feedback.sqlite", answer=ANSWER)


class _Counted(MockEmbedding):
    """Counts the calls."""

    calls: list[int] = Field(default_factory=list)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        return super()._get_text_embeddings(texts)


async def test_an_encoder_is_asked_no_more_than_without_feedback(log):
    asked = []
    for feedback in (None, log):
        encoder = _Counted(embed_dim=8, calls=[])
        postprocessor = CtxCompressPostprocessor(max_tokens=150, encoder=encoder, feedback=feedback)
        kept = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
        await postprocessor.apostprocess_nodes(four_nodes(), query_str=QUERY)
        asked.append(encoder.calls)
    assert asked[0] == asked[1] != []
    assert record(kept, log=log, used=[kept[0]]) == 1
