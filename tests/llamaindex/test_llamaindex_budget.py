"""The budget: counted on what the language model reads, with the tokenizer that was declared."""

import pytest
from li_nodes import QUERY, TEXTS, count_words, four_nodes, joined, scored, text_node, tokens
from llama_index.core import QueryBundle, Settings
from llama_index.core.schema import Document, ImageNode, IndexNode, MetadataMode, NodeWithScore, TextNode

from llamaindex_ctxcompress import CtxCompressPostprocessor

BUDGETS = [1, 5, 17, 40, 60, 90, 150, 10_000]


def budgeted(max_tokens: int, mode: MetadataMode = MetadataMode.LLM) -> CtxCompressPostprocessor:
    return CtxCompressPostprocessor(max_tokens=max_tokens, encoding="cl100k_base", metadata_mode=mode)


def mixed_nodes() -> list[NodeWithScore]:
    return scored(
        [
            text_node(0),
            ImageNode(text="A drawing of a clock.", image="aGVsbG8=", metadata={"page": 3}),
            Document(text=TEXTS[1], metadata={"title": "Logo"}),
            text_node(2, text_template="[[{metadata_str}]]\n{content}"),
            IndexNode(text="What the other index holds.", index_id="i", obj=object()),
            text_node(3),
        ]
    )


@pytest.mark.parametrize("max_tokens", BUDGETS)
def test_the_text_that_the_synthesizer_joins_stays_within_the_budget(max_tokens):
    result = budgeted(max_tokens).postprocess_nodes(four_nodes(), query_str=QUERY)
    assert tokens(joined(result)) <= max_tokens


@pytest.mark.parametrize("max_tokens", [40, 41, 42, 43, 60, 90, 150, 10_000])
@pytest.mark.parametrize("mode", [MetadataMode.LLM, MetadataMode.NONE])
def test_what_nodes_with_images_or_objects_show_counts_too(max_tokens, mode):
    result = budgeted(max_tokens, mode).postprocess_nodes(mixed_nodes(), query_str=QUERY)
    assert tokens(joined(result, mode)) <= max_tokens
    assert [type(item.node) for item in result if not item.metadata.get("ctxcompress")] == [ImageNode, IndexNode]


def test_separators_between_texts_and_nodes_passed_on_whole_count():
    def count(text: str) -> int:
        return count_words(text) + 10 * text.count("\n\n")

    for max_tokens in range(35, 120, 5):
        postprocessor = CtxCompressPostprocessor(max_tokens=max_tokens, encoding=count)
        assert count(joined(postprocessor.postprocess_nodes(mixed_nodes(), query_str=QUERY))) <= max_tokens


def test_a_caption_larger_than_the_budget_stays_alone():
    caption = ImageNode(text="A caption of very many words. " * 20, image="aGVsbG8=")
    result = budgeted(100).postprocess_nodes(scored([text_node(0), caption]), query_str=QUERY)
    assert [item.node for item in result] == [caption]


def test_nodes_passed_on_whole_that_fill_the_budget_leave_nothing_and_that_is_said(
    warned,
):
    result = budgeted(5).postprocess_nodes(mixed_nodes(), query_str=QUERY)
    assert [type(item.node) for item in result] == [ImageNode, IndexNode]
    assert "no text fits into 5 tokens" in warned.text


def test_a_node_with_an_image_and_no_text_costs_nothing():
    result = budgeted(10_000).postprocess_nodes(scored([ImageNode(image="aGVsbG8="), text_node()]), query_str=QUERY)
    assert len(result) == 2


def test_metadata_that_the_language_model_reads_counts():
    long = text_node(0, metadata={"summary": "word " * 400}, excluded_llm_metadata_keys=[])
    hidden = text_node(0, metadata={"summary": "word " * 400}, excluded_llm_metadata_keys=["summary"])
    assert not budgeted(200).postprocess_nodes(scored([long]), query_str=QUERY)
    assert budgeted(200).postprocess_nodes(scored([hidden]), query_str=QUERY)[0].text == TEXTS[0]
    assert budgeted(200, MetadataMode.NONE).postprocess_nodes(scored([long]), query_str=QUERY)[0].text == TEXTS[0]


def test_an_empty_result_is_never_silent(warned):  # LI#20894, LI#9873
    crowded = text_node(0, metadata={"summary": "word " * 400})
    assert budgeted(200).postprocess_nodes(scored([crowded]), query_str=QUERY) == []
    assert "no text fits into 200 tokens" in warned.text
    assert "excluded_llm_metadata_keys" in warned.text


def test_the_tokenizer_of_the_settings_can_be_the_encoding():
    by_name = budgeted(60).postprocess_nodes(four_nodes(), query_str=QUERY)
    by_callable = CtxCompressPostprocessor(max_tokens=60, encoding=Settings.tokenizer)
    assert tokens(joined(by_callable.postprocess_nodes(four_nodes(), query_str=QUERY))) <= 60
    assert by_callable.postprocess_nodes(four_nodes(), query_str=QUERY) == by_name


def test_a_function_can_be_the_encoding():
    postprocessor = CtxCompressPostprocessor(max_tokens=40, encoding=count_words)
    result = postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert result
    assert count_words(joined(result)) <= 40


def test_a_tier_is_a_budget_by_name():
    texts = [
        f"Room {number} has a timeout of {number} minutes. Door {number} is by the stairs." for number in range(80)
    ]
    many = scored(text_node(number, text) for number, text in enumerate(texts))
    key_facts = CtxCompressPostprocessor(tier="key_facts", encoding="cl100k_base")
    assert 0 < tokens(joined(key_facts.postprocess_nodes(many, query_str=QUERY))) <= 200
    default = CtxCompressPostprocessor(encoding="cl100k_base")
    assert 200 < tokens(joined(default.postprocess_nodes(many, query_str=QUERY))) <= 1_000


def test_what_is_kept_is_what_the_query_asks_for():
    first, *_ = budgeted(30, MetadataMode.NONE).postprocess_nodes(four_nodes(), query_str=QUERY)
    assert first.node_id == "node-0"
    assert "The default timeout is thirty seconds." in first.text
    assert first.text != TEXTS[0]


@pytest.mark.parametrize("query", [None, "", "   ", "?"])
def test_without_a_query_the_budget_holds_and_something_is_kept(query):
    result = budgeted(60).postprocess_nodes(four_nodes(), None if query is None else QueryBundle(query))
    assert result
    assert tokens(joined(result)) <= 60


def test_an_empty_list_stays_empty():
    assert budgeted(10).postprocess_nodes([], query_str=QUERY) == []
    assert budgeted(10).postprocess_nodes([]) == []


@pytest.mark.parametrize("text", ["", " ", "\n", "a", "日"])
def test_tiny_texts_do_not_crash(text):
    result = budgeted(10_000).postprocess_nodes(scored([text_node(0, text=text), text_node(2)]), query_str=QUERY)
    assert result[-1].text == TEXTS[2]
    assert [item.text for item in result[:-1]] in ([], [text])


def test_a_document_without_any_text_does_not_crash():
    result = budgeted(10_000).postprocess_nodes(scored([Document(metadata={"a": 1}), text_node(2)]), query_str=QUERY)
    assert result[-1].text == TEXTS[2]


@pytest.mark.parametrize(
    "node", [TextNode(text="x" * 5_000), Document(text="w\u0308" * 3_000), text_node(0, "長" * 3_000)]
)
def test_one_giant_word_stays_within_the_budget(node):
    result = budgeted(50).postprocess_nodes(scored([node]), query_str=QUERY)
    assert tokens(joined(result)) <= 50


def test_lone_surrogates_do_not_crash():
    node = TextNode(text="before \ud800 after. The default timeout is ten.", metadata={"a": "\udfff"})
    result = CtxCompressPostprocessor(max_tokens=10_000).postprocess_nodes(scored([node]), query_str=QUERY)
    assert result[0].text == node.text


def test_what_is_dropped_on_purpose_is_not_said_to_be_too_long(warned):
    nodes = [NodeWithScore(node=TextNode(text="The canteen serves lunch from 11:30."))]
    postprocessor = CtxCompressPostprocessor(max_tokens=600, adaptive=True, on_empty="drop")
    assert postprocessor.postprocess_nodes(nodes, query_str="capital of Australia?") == []
    assert not warned.messages


def test_a_node_whose_metadata_is_over_the_budget_is_named_in_a_warning(warned):
    answer = TextNode(text="The default timeout of the client is 30 seconds.", metadata={"summary": "word " * 300})
    others = [TextNode(text=f"Ship {number} came late.") for number in range(9)]
    nodes = [NodeWithScore(node=node) for node in (answer, *others)]
    kept = CtxCompressPostprocessor(max_tokens=200).postprocess_nodes(nodes, query_str="what is the default timeout?")
    assert len(kept) == 9
    assert "metadata of some nodes takes more than the 200 tokens" in warned.text
