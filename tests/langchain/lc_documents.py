"""Documents, retrievers and checks that the tests of the LangChain adapter share."""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import llama_index.core
import pytest
import tiktoken
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

QUERY = "what is the default timeout of the client?"

TEXTS = (
    "# Client\n\nThe client opens one connection for each host. The default timeout is 30 seconds. "
    "It can be changed with `timeout=`.\n\nConnections are closed when the client is closed.",
    "The weather in the mountains changes fast. Bring a coat, a map and something to drink. "
    "In winter the upper paths are closed and the huts have no one in them.",
    "```python\nclient = Client(timeout=5)\nclient.get('/health')\n```\n\nThis sets another timeout for the client.",
    "| option | default |\n|---|---|\n| timeout | 30 |\n| retries | 3 |\n\nAll options can be set in the file.",
    "客户端的默认超时时间是三十秒。可以在配置文件中修改。",
)


def make_documents(count: int = len(TEXTS)) -> list[Document]:
    """Documents with the metadata that loaders and splitters write, ids and nesting included."""
    return [
        Document(
            id=f"doc-{i}",
            page_content=TEXTS[i % len(TEXTS)],
            metadata={
                "source": f"docs/{i}.md",
                "title": f"Page {i}",
                "Header 1": "Client",
                "page": i,
                "loc": {"lines": {"from": 1, "to": 4}},
                "tags": ["a", "b"],
            },
        )
        for i in range(count)
    ]


def make_store(documents: Sequence[Document]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(list(documents))
    return store


def record_of(document: Document) -> dict[str, object]:
    return document.metadata["ctxcompress"]


def tokens_in_prompt(documents: Sequence[Document], encoding: str = "o200k_base", separator: str = "\n\n") -> int:
    """Counted by tiktoken itself, over the text as a chain would join it."""
    return len(reference_encoding(encoding).encode_ordinary(separator.join(d.page_content for d in documents)))


@lru_cache
def reference_encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding, from the vocabulary that llama-index-core carries if there is no other."""
    carried = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", os.environ.get("TIKTOKEN_CACHE_DIR", str(carried)))
        return tiktoken.get_encoding(name)


def check_verbatim(given: Sequence[Document], compressed: Sequence[Document]) -> None:
    """Source order, and every text consists of the pieces of its document that its spans say, and declared markers."""
    indices = [record_of(document)["index"] for document in compressed]
    assert indices == sorted(set(indices))
    for document in compressed:
        text = given[record_of(document)["index"]].page_content
        spans = record_of(document)["spans"]
        flat = [offset for span in spans for offset in span]
        assert flat == sorted(flat)
        pieces = [text[start:end] for start, end in spans]
        for before, marker in reversed(record_of(document).get("markers", ())):
            pieces.insert(before, marker)
        assert document.page_content == "".join(pieces)


def as_json(documents: Sequence[Document]) -> str:
    return json.dumps([document.metadata for document in documents], allow_nan=False)
