"""What comes out: copies of nodes, true to what came in."""

import json
import threading
from copy import deepcopy

import numpy as np
import pytest
from li_nodes import QUERY, TEXTS, four_nodes, is_subsequence, scored, text_node
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageDocument,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from ctxcompress import KeptPassage
from ctxcompress.data.passages import Span
from llamaindex_ctxcompress import CtxCompressPostprocessor
from llamaindex_ctxcompress.convert import compressed_node, copy_node, is_text_only, passage_from_node, passed_through
from llamaindex_ctxcompress.framing import framing

SMALL = CtxCompressPostprocessor(max_tokens=60)
LARGE = CtxCompressPostprocessor(max_tokens=10_000)


class Letter(TextNode):
    """A node class of somebody's own, with a way of its own to show itself."""

    greeting: str = "Dear reader"

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        if metadata_mode is MetadataMode.NONE:
            return self.text
        return f"{self.greeting},\n{self.text}\n{self.get_metadata_str(metadata_mode)}"


class Hit(NodeWithScore):
    rank: int = 0


def cut(item: NodeWithScore, *spans: tuple[int, int]) -> NodeWithScore:
    """What the adapter makes of `item` when the core keeps these spans of its text."""
    passage = passage_from_node(item)
    text = "".join(passage.text[start:end] for start, end in spans)
    kept = KeptPassage(0, passage, text, tuple(Span(*span) for span in spans), 7, np.float64(0.5))
    return compressed_node(item, kept, 3)


def mutables(value: object) -> set[int]:
    """Identities of all containers and nodes that can be reached from `value`."""
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    elif isinstance(value, BaseNode | NodeWithScore | RelatedNodeInfo | MediaResource):
        inner = list(value.__dict__.values())
    else:
        return set()
    return {id(value)}.union(*map(mutables, inner))


source = RelatedNodeInfo(node_id="document", metadata={"author": "Ada"})
ALL_KINDS = [
    pytest.param(text_node(embedding=[0.5] * 8), id="text"),
    pytest.param(text_node(relationships={NodeRelationship.SOURCE: source}), id="text with source only"),
    pytest.param(Document(text=TEXTS[0], metadata={"tags": ["a"]}, id_="d"), id="document"),
    pytest.param(ImageNode(text="A caption.", image="aGVsbG8=", metadata={"tags": ["a"]}), id="image"),
    pytest.param(ImageDocument(text="A caption.", image=b"hello"), id="image document"),
    pytest.param(Node(text_resource=MediaResource(text="x"), audio_resource=MediaResource(data=b"hello")), id="audio"),
    pytest.param(IndexNode(text=TEXTS[0], index_id="i", obj=text_node(9)), id="index with object"),
    pytest.param(IndexNode(text=TEXTS[0], index_id="i"), id="index"),
    pytest.param(Letter(text=TEXTS[0], metadata={"place": {"name": "here"}}), id="own class"),
]


@pytest.mark.parametrize("node", ALL_KINDS)
@pytest.mark.parametrize("postprocessor", [SMALL, LARGE], ids=["small", "large"])
def test_nothing_that_goes_in_is_changed_or_shared(node, postprocessor):
    given = [NodeWithScore(node=node, score=0.5), *four_nodes()]
    before = deepcopy(given)
    result = postprocessor.postprocess_nodes(given, query_str=QUERY)
    assert given == before
    shared = mutables(given) & mutables(result)
    if isinstance(node, IndexNode) and node.obj is not None:
        shared -= mutables(node.obj)  # the object behind an index node stays the same object
    assert not shared


@pytest.mark.parametrize("node", ALL_KINDS)
def test_a_copy_of_a_node_equals_it_in_everything(node):
    copy = copy_node(node)
    assert type(copy) is type(node)
    assert copy == node
    assert copy.hash == node.hash
    assert copy.to_dict() == node.to_dict()


def test_metadata_that_refers_to_itself_can_be_copied():
    node = text_node()
    node.metadata["self"] = node.metadata
    copy = copy_node(node)
    assert copy.metadata["self"] is not node.metadata
    assert copy.metadata["file_name"] == "guide-0.md"


def test_metadata_that_cannot_be_copied_does_not_stop_anything():
    lock = threading.Lock()
    node = text_node(
        metadata={"file_name": "a.md", "locks": [lock], "tags": ["a"]}, excluded_llm_metadata_keys=["locks"]
    )
    (result,) = LARGE.postprocess_nodes(scored([node]), query_str=QUERY)
    assert result.metadata["locks"] == [lock]
    assert result.metadata["locks"] is not node.metadata["locks"]
    assert result.metadata["tags"] is not node.metadata["tags"]


def test_class_id_relationships_metadata_and_templates_survive_a_cut():
    node = text_node(text_template="<{metadata_str}>{content}", metadata_template="{key}={value}")
    result = cut(NodeWithScore(node=node, score=0.5), (0, 10), (20, 30)).node
    assert type(result) is TextNode
    assert result.id_ == node.id_
    assert result.relationships == node.relationships
    assert {key: value for key, value in result.metadata.items() if key != "ctxcompress"} == node.metadata
    assert result.excluded_llm_metadata_keys == ["file_size", "nested", "ctxcompress"]
    assert result.excluded_embed_metadata_keys == ["file_size", "ctxcompress"]
    assert (result.text_template, result.metadata_template) == (node.text_template, node.metadata_template)
    assert result.text == node.text[:10] + node.text[20:30]


def test_a_node_class_and_a_scored_node_class_of_ones_own_survive():
    hit = Hit(node=Letter(text=TEXTS[0], greeting="Hello"), score=0.25, rank=4)
    (result,) = LARGE.postprocess_nodes([hit], query_str=QUERY)
    assert type(result) is Hit
    assert result.rank == 4
    assert type(result.node) is Letter
    assert result.node.greeting == "Hello"


def test_a_document_is_cut_like_any_text():
    item = NodeWithScore(node=Document(text=TEXTS[0], metadata={"title": "Guide"}), score=0.5)
    result = cut(item, (0, 10)).node
    assert type(result) is Document
    assert result.text == TEXTS[0][:10]
    assert item.node.get_content() == TEXTS[0]


def test_an_embedding_is_dropped_with_the_text_it_was_made_of_and_kept_otherwise():
    item = NodeWithScore(node=text_node(embedding=[0.1, 0.2]), score=0.5)
    assert cut(item, (0, 10)).embedding is None
    assert cut(item, (0, len(item.text))).embedding == [0.1, 0.2]
    assert item.embedding == [0.1, 0.2]


def test_spans_are_half_open_offsets_into_the_original_chunk():  # LI#7925, LI#9101
    given = four_nodes()
    for item in SMALL.postprocess_nodes(given, query_str=QUERY):
        record = item.metadata["ctxcompress"]
        original = given[record["index"]].text
        assert "".join(original[start:end] for start, end in record["spans"]) == item.text
        assert is_subsequence(item.text, original)


def test_spans_and_the_start_of_the_chunk_give_the_place_in_the_document():
    document = "#" * 100 + TEXTS[0]
    result = cut(NodeWithScore(node=text_node()), (10, 20), (30, 40))
    assert (result.node.start_char_idx, result.node.end_char_idx) == (100, len(document))
    pieces = [document[100 + start : 100 + end] for start, end in result.metadata["ctxcompress"]["spans"]]
    assert "".join(pieces) == result.text


def test_the_record_is_plain_json():
    result = cut(NodeWithScore(node=text_node()), (0, 10))
    record = result.metadata["ctxcompress"]
    assert json.loads(json.dumps(record)) == record == {"spans": [[0, 10]], "tokens": 7, "relevance": 0.5, "index": 3}
    assert type(record["relevance"]) is float


def test_the_record_never_reaches_a_prompt_or_an_embedding():
    for item in LARGE.postprocess_nodes(four_nodes(), query_str=QUERY):
        assert "ctxcompress" in item.metadata
        for mode in (MetadataMode.LLM, MetadataMode.EMBED, MetadataMode.NONE):
            assert "ctxcompress" not in item.get_content(mode)


def test_compressing_again_changes_no_text_and_excludes_the_record_once():
    once = SMALL.postprocess_nodes(four_nodes(), query_str=QUERY)
    twice = SMALL.postprocess_nodes(once, query_str=QUERY)
    assert [item.text for item in twice] == [item.text for item in once]
    assert [item.get_content(MetadataMode.LLM) for item in twice] == [i.get_content(MetadataMode.LLM) for i in once]
    assert all(item.node.excluded_llm_metadata_keys.count("ctxcompress") == 1 for item in twice)


def test_what_fits_comes_out_with_the_same_text_in_the_same_order():  # LI#22354
    given = four_nodes()[::-1]
    result = LARGE.postprocess_nodes(given, query_str=QUERY)
    assert [item.get_content(MetadataMode.LLM) for item in result] == [i.get_content(MetadataMode.LLM) for i in given]


def test_source_order_is_kept_when_nodes_are_cut():  # LI#22354
    result = SMALL.postprocess_nodes(four_nodes(), query_str=QUERY)
    indices = [item.metadata["ctxcompress"]["index"] for item in result]
    assert indices == sorted(indices)


def test_none_scores_stay_unknown_and_do_not_drop_a_node():  # LI#12497
    result = LARGE.postprocess_nodes(scored(map(text_node, range(4)), score=None), query_str=QUERY)
    assert [item.score for item in result] == [None] * 4


def test_retrieval_scores_are_not_overwritten_and_stay_with_their_nodes():  # LI#10194, LI#20597
    given = [NodeWithScore(node=text_node(number), score=number / 10) for number in range(4)]
    for postprocessor in (SMALL, LARGE):
        result = postprocessor.postprocess_nodes(given, query_str=QUERY)
        assert result
        assert all(item.score == int(item.node_id.removeprefix("node-")) / 10 for item in result)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(1), 1])
def test_numpy_scores_come_out_as_numbers_that_json_can_hold(number):
    item = NodeWithScore(node=text_node())
    item.score = number  # as rerankers do, past all validation
    (result,) = LARGE.postprocess_nodes([item], query_str=QUERY)
    assert type(result.score) is float
    assert result.score == number
    assert json.loads(result.to_json())["score"] == number


def test_metadata_is_merged_under_one_key_and_never_replaced():  # what a reranker dropped elsewhere
    for item in LARGE.postprocess_nodes(four_nodes(), query_str=QUERY):
        assert list(item.metadata) == ["file_name", "file_size", "Header 1", "nested", "ctxcompress"]


def test_nodes_with_one_id_are_told_apart():
    given = scored([text_node(0, id_="same"), text_node(1, id_="same", metadata={}), text_node(2, id_="same")])
    result = LARGE.postprocess_nodes(given, query_str=QUERY)
    assert [item.get_content(MetadataMode.LLM) for item in result] == [i.get_content(MetadataMode.LLM) for i in given]
    assert [item.metadata["ctxcompress"]["index"] for item in result] == [0, 1, 2]


@pytest.mark.parametrize(
    ("node", "text_only"),
    [
        (text_node(), True),
        (Document(text="x"), True),
        (Letter(text="x"), True),
        (IndexNode(text="x", index_id="i"), True),
        (IndexNode(text="x", index_id="i", obj=text_node()), False),
        (ImageNode(text="x", image="aGVsbG8="), False),
        (ImageDocument(text="x", image=b"hello"), False),
        (Node(video_resource=MediaResource(data=b"hello")), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_more_than_a_text_is_passed_on_whole(node, text_only):
    assert is_text_only(node) is text_only


def test_images_and_index_nodes_with_objects_keep_their_place_and_everything_they_hold():
    retriever = object()
    image = ImageNode(text="A caption.", image="aGVsbG8=", image_mimetype="image/png", metadata={"page": 2})
    index = IndexNode(text="Summary.", index_id="i", obj=retriever)
    audio = Node(audio_resource=MediaResource(data=b"hello"))
    given = scored([text_node(0), image, index, text_node(2), audio])
    result = LARGE.postprocess_nodes(given, query_str=QUERY)
    assert [item.node_id for item in result] == [item.node_id for item in given]
    assert [result[position].node for position in (1, 2, 4)] == [image, index, audio]
    assert result[2].node.obj is retriever
    assert [item.metadata["ctxcompress"]["index"] for item in (result[0], result[3])] == [0, 3]


def test_a_node_that_is_passed_on_keeps_its_embedding():
    item = NodeWithScore(node=ImageNode(image="aGVsbG8=", embedding=[0.1]), score=0.5)
    assert passed_through(item).embedding == [0.1]


def test_a_passage_says_where_the_node_comes_from():
    passage = passage_from_node(NodeWithScore(node=text_node(2), score=0.25))
    assert (passage.id, passage.text, passage.score) == ("node-2", TEXTS[2], 0.25)
    assert (passage.doc_id, passage.file_path, passage.header_path) == ("document-2", "guide-2.md", ("Guide",))


def test_metadata_names_the_document_before_the_source_node_does():
    named = NodeWithScore(node=text_node(metadata={"doc_id": "named", "headline": "Title"}))
    assert passage_from_node(named, {"title": "headline"}).doc_id == "named"
    assert passage_from_node(named, {"title": "headline"}).title == "Title"
    assert passage_from_node(NodeWithScore(node=TextNode(text="x"))).doc_id is None
    broken = TextNode(text="x", relationships={NodeRelationship.SOURCE: [RelatedNodeInfo(node_id="a")]})
    assert passage_from_node(NodeWithScore(node=broken)).doc_id is None


@pytest.mark.parametrize("mode", [MetadataMode.LLM, MetadataMode.NONE])
@pytest.mark.parametrize(
    "node",
    [
        text_node(),
        text_node(metadata={}),
        text_node(metadata={"a": " "}, metadata_template="{value}"),
        text_node(text_template="{content}\n{metadata_str}"),
        text_node(text_template="{content} -- {content!r} {{x}} {metadata_str}", metadata_separator=" | "),
        text_node(text_template="no text at all"),
        text_node(metadata={"a": "{content} {braces}"}),
        Document(text="x", metadata={"a": 1, "b": 2}, excluded_llm_metadata_keys=["a"]),
        Document(text="x", metadata={"a": " "}, metadata_template="{value}"),
        Document(text="x"),
        Letter(text="x", metadata={"a": 1}),
        IndexNode(text="x", index_id="i", metadata={"a": 1}),
    ],
)
@pytest.mark.parametrize("text", ["short", " \n spaces around \n ", "{braces} {content}", "日本語\n\nend"])
def test_the_framed_text_is_what_the_language_model_reads_of_the_copy(node, mode, text):
    held = copy_node(node)
    held.set_content(text + "some more")
    item = NodeWithScore(node=held)
    assert framing(held, mode)(text) == cut(item, (0, len(text))).get_content(mode)
