"""Chunks that lie beside each other in their document, by the offsets that splitters write, are read as one text."""

import pytest
from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core import Document as WholeNode
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.schema import NodeWithScore

from ctxcompress import Passage, compress
from ctxcompress.cache import Cache
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor

TOPICS = ("Limits", "Logs", "Retries", "Proxies", "Colours", "Ferries")
PAGE = "# Client\n\n" + "".join(
    f"## {topic}\n\nThe harbour of {topic.lower()} has two piers, an office and a garden that is open on Sundays.\n\n"
    f"It is {number} by default, and nobody has ever changed that.\n\n"
    for number, topic in enumerate(TOPICS)
)
QUERY, ANSWER = "what are the retries?", "It is 2 by default"


def chunks(size: int = 110) -> list[Passage]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0, add_start_index=True)
    found = splitter.split_documents([Document(PAGE, metadata={"source": "client.md"})])
    return [Passage(str(n), each.page_content, doc_id="client", metadata=each.metadata) for n, each in enumerate(found)]


def test_a_chunk_is_found_by_the_heading_in_the_chunk_before() -> None:
    assert not any("Retries" in chunk.text and ANSWER in chunk.text for chunk in chunks())
    assert ANSWER in compress(QUERY, chunks(), max_tokens=60).text
    unknown = [Passage(chunk.id, chunk.text, doc_id=chunk.doc_id) for chunk in chunks()]
    assert ANSWER not in compress(QUERY, unknown, max_tokens=60).text


def test_both_frameworks_pass_the_offsets_on() -> None:
    splitter = RecursiveCharacterTextSplitter(chunk_size=110, chunk_overlap=0, add_start_index=True)
    documents = splitter.split_documents([Document(PAGE, metadata={"source": "client.md"})])
    kept = CtxCompressor(max_tokens=60).compress_documents(documents, QUERY)
    assert any(ANSWER in document.page_content for document in kept)
    parser = TokenTextSplitter(chunk_size=26, chunk_overlap=0, separator="\n\n", backup_separators=[])
    nodes = [NodeWithScore(node=node) for node in parser.get_nodes_from_documents([WholeNode(text=PAGE)])]
    assert not any("Retries" in node.get_content() and ANSWER in node.get_content() for node in nodes)
    left = CtxCompressPostprocessor(max_tokens=60).postprocess_nodes(nodes, query_str=QUERY)
    assert any(ANSWER in node.get_content() for node in left)


@pytest.mark.parametrize("size", [110, 180, 300])
def test_chunks_in_order_keep_what_the_whole_page_keeps(size: int) -> None:
    whole, parts = (compress(QUERY, given, max_tokens=60).text for given in ([PAGE], chunks(size)))
    assert " ".join(parts.replace("[…]", " ").split()) == " ".join(whole.replace("[…]", " ").split())


def test_a_heading_never_comes_after_its_text_or_over_other_passages() -> None:
    head = Passage("head", "# Retries\n\nThe harbour has two piers.", doc_id="client", metadata={"start_index": 0})
    body = Passage("body", f"{ANSWER}. The garden is open.", doc_id="client", metadata={"start_index": 37})
    other = Passage("other", "Colours are blue, red and green, and they stay so. " * 4, doc_id="paint")
    for passages in ([body, head], [head, other, body]):
        text = compress("what is it by default?", passages, max_tokens=12).text
        assert ANSWER in text
        assert "# Retries" not in text


def test_in_any_order_a_chunk_is_found_by_the_heading_that_is_open_before_it() -> None:
    known = chunks()[::-1]
    unknown = [Passage(chunk.id, chunk.text, doc_id=chunk.doc_id) for chunk in known]
    cache = Cache()
    for passages, is_found in ((unknown, False), (known, True), (unknown, False), (known, True)):
        kept = compress(QUERY, passages, max_tokens=60, cache=cache).text
        assert (ANSWER in kept) == is_found
        assert kept == compress(QUERY, passages, max_tokens=60).text
