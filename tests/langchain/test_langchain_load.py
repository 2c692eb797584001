"""What `langchain_core.load` writes of the compressor and the retriever, and reads again."""

import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.retrievers import BaseRetriever
from lc_documents import QUERY, make_documents, make_store
from pydantic import SecretStr

from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever
from langchain_ctxcompress.embeddings import EmbeddingsEncoder

pytestmark = pytest.mark.filterwarnings("ignore:The function `loads` is in beta")

KEY = "sk-never-written"


class Documents(BaseRetriever):
    documents: list[Document]

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


class Chat(FakeListChatModel):
    api_key: SecretStr

    @property
    def lc_secrets(self) -> dict[str, str]:
        return {"api_key": "CHAT_KEY"}

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True


class UnknownChat(FakeListChatModel):
    api_key: str


class Meanings(Embeddings):
    def __repr__(self) -> str:
        return KEY

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0]


def read(written: str, **options: Any) -> Any:
    allowed = [CtxCompressor, CtxCompressRetriever, Documents, Document, Chat]
    return loads(written, allowed_objects=allowed, valid_namespaces=["langchain_ctxcompress", __name__], **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_tokens": 60, "encoder": None, "must_keep": ["timeout", "ids", re.compile("a+", re.IGNORECASE)]},
        {"preset": "docs", "min_score": None, "order": "edges", "synonyms": {"fast": ["quick", "rapid"]}},
        {"tier": "detailed", "config": CtxCompressor(adaptive=0.2, metadata_map={"score": "rank"}).config},
    ],
)
def test_a_compressor_is_read_as_it_was_written(options: dict[str, Any]) -> None:
    compressor = CtxCompressor(**options)
    again = read(dumps(compressor))
    assert again == compressor
    assert again.config == compressor.config
    assert again.compress_documents(make_documents(), QUERY) == compressor.compress_documents(make_documents(), QUERY)


def test_a_folder_for_pages_is_written_as_text(tmp_path: Path) -> None:
    assert read(dumps(CtxCompressor(trace_to=tmp_path))).trace_to == str(tmp_path)


def test_a_retriever_is_read_with_its_base_retriever() -> None:
    retriever = CtxCompressRetriever(
        base_retriever=Documents(documents=make_documents()), max_tokens=60, k=5, decompose=True, tags=["a"]
    )
    again = read(dumps(retriever))
    assert again == retriever
    with pytest.raises(NotImplementedError, match="VectorStoreRetriever"):
        read(dumps(CtxCompressRetriever(base_retriever=make_store([]).as_retriever())))


def test_a_secret_is_never_written() -> None:
    compressor = CtxCompressor(llm=Chat(responses=["1"], api_key=SecretStr(KEY)))
    written = dumps(CtxCompressRetriever(base_retriever=Documents(documents=[]), compressor=compressor))
    assert KEY not in written
    again = read(written, secrets_map={"CHAT_KEY": KEY})
    assert again.compressor == compressor
    assert again.compressor.llm.api_key.get_secret_value() == KEY


@pytest.mark.parametrize(
    "options",
    [
        {"encoder": Meanings()},
        {"encoder": EmbeddingsEncoder(Meanings())},
        {"llm": UnknownChat(responses=["1"], api_key=KEY)},
    ],
    ids=str,
)
def test_of_a_model_that_cannot_be_written_only_the_class_is_named(options: dict[str, Any]) -> None:
    written = dumps(CtxCompressor(**options))
    assert KEY not in written
    with pytest.raises(NotImplementedError, match=r"EmbeddingsEncoder|Meanings|UnknownChat"):
        read(written)
