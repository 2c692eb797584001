"""Quotes from the final text, back to the passages they come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import langchain_ctxcompress
import llamaindex_ctxcompress
from ctxcompress import Compressor, Passage, compress

HOUSE = "The gate is red. Nobody knows why it was painted so, and nobody asks. The roof is blue. The cellar is dark."
GARDEN = "The garden has a pond. The roof is blue. Frogs live there in summer, and ducks in spring."
PASSAGES = [Passage("house", HOUSE, title="House"), Passage("garden", GARDEN, file_path="docs/garden.md")]
WHOLE = compress("q", PASSAGES, max_tokens=500)


def cited(result, quote):
    return [(citation.passage.id, citation.spans) for citation in result.cite(quote)]


@pytest.mark.parametrize(
    "quote",
    [
        "The gate  is\nred.",
        '"The gate is red."',
        "\u201cThe gate is red.\u201d",
        "  The gate is red.\n",
        "'The gate is red.'",
    ],
)
def test_white_space_and_marks_are_the_quoters(quote):
    assert cited(WHOLE, quote) == [("house", ((0, 16),))]


@pytest.mark.parametrize("dots", ["...", "[...]", "\u2026", "[\u2026]", " ... "])
def test_dots_stand_for_what_is_left_out(dots):
    citations = WHOLE.cite(f"The gate is red{dots}The cellar is dark.")
    assert [citation.text for citation in citations] == ["The gate is red", "The cellar is dark."]
    assert {citation.passage.id for citation in citations} == {"house"}


@pytest.mark.parametrize("quote", ["", " ", "...", '""', "The gate is green.", "the gate is red."])
def test_what_is_no_quote_has_no_citation(quote):
    assert WHOLE.cite(quote) == ()


texts = st.text(alphabet="ab .\n\u4f60\u00e9", max_size=60)


@given(parts=st.lists(texts, max_size=4), data=st.data(), budget=st.integers(1, 60))
def test_every_part_of_what_was_kept_is_cited_where_it_stands(parts, data, budget):
    passages = [Passage(str(n), text) for n, text in enumerate(parts)]
    result = compress("ab", passages, max_tokens=budget)
    if not result.passages:
        return
    kept = data.draw(st.sampled_from(result.passages))
    start = data.draw(st.integers(0, len(kept.text)))
    quote = kept.text[start : data.draw(st.integers(start, len(kept.text)))]
    citations = result.cite(quote)
    assert bool(citations) == bool(quote.strip()) or not quote.strip(" .\n")
    for citation in citations:
        for (first, last), text in zip(citation.spans, citation.texts, strict=True):
            assert citation.passage.text[first:last] == text


def test_long_quotes_are_no_burden():
    assert compress("q", ["a " * 50_000], max_tokens=200_000).cite("a " * 25_000 + "b") == ()
    text = "word " * 100_000
    result = Compressor().compress("q", [Passage("a", text)], max_tokens=1_000_000)
    assert len(result.cite("word " * 50_000)) == 2
    assert result.cite("word " * 100_000 + "end") == ()


@pytest.mark.parametrize("max_tokens", [10, 500])
def test_citations_for_langchain(max_tokens):
    documents = [Document(HOUSE, id="h", metadata={"title": "House", "source": "docs/house.md"}), Document(GARDEN)]
    compressor = langchain_ctxcompress.CtxCompressor(max_tokens=max_tokens)
    kept = compressor.compress_documents(documents, "what colour are gate and roof?")
    (citation,) = langchain_ctxcompress.cite("The gate is red.", kept)
    assert citation == {
        "type": "citation",
        "title": "House",
        "url": "docs/house.md",
        "cited_text": "The gate is red.",
        "extras": {"document_id": "h", "index": 0, "spans": [[0, 16]]},
    }
    assert langchain_ctxcompress.cite("The gate is green.", kept) == []


def test_citations_for_llamaindex():
    nodes = [NodeWithScore(node=TextNode(text=HOUSE, id_="h", metadata={"file_name": "house.md"}))]
    postprocessor = llamaindex_ctxcompress.CtxCompressPostprocessor(max_tokens=40)
    kept = postprocessor.postprocess_nodes(nodes, QueryBundle("what colour are gate and roof?"))
    blocks = llamaindex_ctxcompress.cite("red. ... The roof is blue.", kept)
    assert [block.cited_content.text for block in blocks] == ["red.", "The roof is blue."]
    for block in blocks:
        place = block.additional_location_info
        assert HOUSE[place["start_char_idx"] : place["end_char_idx"]] == block.cited_content.text
        assert (block.source, block.title) == ("h", "house.md")
