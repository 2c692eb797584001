"""Nodes as previews: the line of each, and how more of one is shown."""

import pytest
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore, TextNode

from ctxcompress import Compressor
from llamaindex_ctxcompress import CtxCompressPostprocessor, cite, format_nodes

QUERY = "what is the default timeout?"
TEXTS = {
    "logs": "Logs are kept for one week. They are compressed at night.",
    "client": "The pool opens ten connections. The default timeout is 30 seconds.",
}
NODES = [
    NodeWithScore(node=TextNode(id_=name, text=text, metadata={"title": name.title(), "size": 5}), score=0.5)
    for name, text in TEXTS.items()
]


def previews(nodes=NODES, **options):
    return CtxCompressPostprocessor(format="preview", **options).postprocess_nodes(nodes, query_str=QUERY)


def shown(nodes):
    return [item.node.get_content(MetadataMode.LLM) for item in nodes]


def test_the_language_model_reads_a_line_of_each_node_with_its_relevance():
    logs, client = previews(max_tokens=100)
    relevance = [item.node.metadata["ctxcompress"]["relevance"] for item in (logs, client)]
    assert shown([logs, client]) == [
        f"[logs] ({relevance[0]:.2f}) Logs: Logs are kept for one week.",
        f"[client] ({relevance[1]:.2f}) Client: The default timeout is 30 seconds.",
    ]
    assert client.node.get_content(MetadataMode.NONE) == "The default timeout is 30 seconds."
    assert format_nodes([logs, client], format="preview") == "\n".join(shown([logs, client]))


def test_a_brace_in_a_line_is_no_field_of_a_template():
    node = NodeWithScore(node=TextNode(id_="{id}", text="The {timeout} is  30.", metadata={"title": "{x} {content}"}))
    [line] = shown(previews([node]))
    assert line.endswith(" {x} {content}: The {timeout} is 30.")
    assert line.startswith("[{id}] (")


@pytest.mark.parametrize("max_tokens", range(1, 60, 7))
def test_the_lines_are_within_the_budget(max_tokens):
    kept = previews(max_tokens=max_tokens)
    joined = "\n\n".join(shown(kept))
    assert Compressor().count(joined) <= max_tokens


def test_adaptive_counts_for_previews():
    assert [item.node.node_id for item in previews(adaptive=0.2)] == ["client"]


def test_an_image_stays_among_previews():
    image = NodeWithScore(node=ImageNode(id_="image", image="aGk=", text="A chart."))
    assert [item.node.node_id for item in previews([*NODES, image])] == ["logs", "client", "image"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_all_of_a_node_can_be_shown(is_async):
    postprocessor = CtxCompressPostprocessor(format="preview", adaptive=True, max_tokens=40)
    kept = postprocessor.postprocess_nodes(NODES, query_str=QUERY)[-1]
    whole = await postprocessor.aexpand(kept, NODES) if is_async else postprocessor.expand(kept, NODES)
    assert whole.node.get_content(MetadataMode.NONE) == TEXTS["client"]
    assert (whole.node.node_id, whole.score) == ("client", 0.5)
    assert whole.node.metadata["ctxcompress"]["index"] == 1
    assert "ctxcompress" not in NODES[1].node.metadata


def test_the_parts_that_answer_another_question_can_be_shown():
    postprocessor = CtxCompressPostprocessor(format="preview")
    more = postprocessor.expand(previews()[0], NODES, query_str="when are they compressed?", max_tokens=8)
    assert more.node.get_content(MetadataMode.NONE) == "They are compressed at night."
    assert more.node.metadata["ctxcompress"]["spans"] == [[28, 57]]


def test_nodes_of_another_call_are_refused():
    postprocessor, kept = CtxCompressPostprocessor(format="preview"), previews()[0]
    with pytest.raises(TypeError, match="what was kept is not in the text at position 0; give what was compressed"):
        postprocessor.expand(kept, NODES[::-1])
    with pytest.raises(TypeError, match="has no record of a compression; give what the compression returned"):
        postprocessor.expand(NODES[0], NODES)


def test_a_quote_from_what_was_kept_is_cited():
    [kept] = CtxCompressPostprocessor(max_tokens=9, metadata_mode=MetadataMode.NONE).postprocess_nodes(
        NODES, query_str=QUERY
    )
    assert cite("default timeout is 30 seconds", [kept])
