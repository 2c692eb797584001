"""Documents as previews: the line of each, and how more of one is shown."""

import pytest
from langchain_core.documents import Document
from lc_documents import tokens_in_prompt

from langchain_ctxcompress import CtxCompressor, cite, format_documents

QUERY = "what is the default timeout?"
DOCUMENTS = [
    Document("Logs are kept for one week. They are compressed at night.", metadata={"title": "Logs"}),
    Document(
        "The pool opens ten connections. The default timeout is 30 seconds.", id="c", metadata={"title": "Client"}
    ),
    Document("", id="blank"),
]


def previews(**options):
    return CtxCompressor(format="preview", **options).compress_documents(DOCUMENTS, QUERY)


def test_each_document_is_a_line_with_its_relevance():
    logs, client = previews(max_tokens=100)
    relevance = [document.metadata["ctxcompress"]["relevance"] for document in (logs, client)]
    assert client.page_content == "The default timeout is 30 seconds."
    assert format_documents([logs, client], format="preview") == (
        f"[0] ({relevance[0]:.2f}) Logs: Logs are kept for one week.\n"
        f"[c] ({relevance[1]:.2f}) Client: The default timeout is 30 seconds."
    )


@pytest.mark.parametrize("max_tokens", range(1, 60, 7))
def test_the_lines_are_within_the_budget(max_tokens):
    lines = format_documents(previews(max_tokens=max_tokens), format="preview")
    assert tokens_in_prompt([Document(lines)]) <= max_tokens


def test_adaptive_counts_for_previews():
    assert [document.id for document in previews(adaptive=0.2)] == ["c"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_all_of_a_document_can_be_shown(is_async):
    compressor = CtxCompressor(format="preview", adaptive=True, min_score=0.5, max_tokens=40)
    shown = compressor.compress_documents(DOCUMENTS, QUERY)[-1]
    whole = await compressor.aexpand(shown, DOCUMENTS) if is_async else compressor.expand(shown, DOCUMENTS)
    assert whole.page_content == DOCUMENTS[1].page_content
    assert (whole.id, whole.metadata["title"]) == ("c", "Client")
    assert whole.metadata["ctxcompress"]["index"] == 1
    assert whole is not DOCUMENTS[1]
    assert "ctxcompress" not in DOCUMENTS[1].metadata


def test_the_parts_that_answer_another_question_can_be_shown():
    compressor = CtxCompressor(format="preview")
    more = compressor.expand(previews()[0], DOCUMENTS, query="when are they compressed?", max_tokens=8)
    assert more.page_content == "They are compressed at night."
    assert more.metadata["ctxcompress"]["spans"] == [[28, 57]]


def test_documents_of_another_call_are_refused():
    compressor, shown = CtxCompressor(format="preview"), previews()[0]
    with pytest.raises(TypeError, match="what was kept is not in the text at position 0; give what was compressed"):
        compressor.expand(shown, DOCUMENTS[::-1])
    with pytest.raises(TypeError, match="what was kept is not in the text at position 0"):
        compressor.expand(shown, [])
    with pytest.raises(TypeError, match="has no record of a compression; give what the compression returned"):
        compressor.expand(DOCUMENTS[0], DOCUMENTS)
    with pytest.raises(ValueError, match="max_tokens is 0"):
        compressor.expand(shown, DOCUMENTS, max_tokens=0)


def test_extracts_can_be_expanded_too():
    compressor = CtxCompressor(max_tokens=9)
    [kept] = compressor.compress_documents(DOCUMENTS, QUERY)
    assert kept.page_content == "The default timeout is 30 seconds."
    assert compressor.expand(kept, DOCUMENTS).page_content == DOCUMENTS[1].page_content


def test_a_quote_from_what_was_kept_is_cited():
    [kept] = CtxCompressor(max_tokens=9).compress_documents(DOCUMENTS, QUERY)
    [found] = cite("default timeout is 30 seconds", [kept])
    [[start, end]] = found["extras"]["spans"]
    assert DOCUMENTS[1].page_content[start:end] == "default timeout is 30 seconds"
