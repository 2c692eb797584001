"""Documents and stores of the tests of LangChain."""

from collections.abc import Sequence

from framework import QUERY, TEXTS
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_way import WAY

__all__ = ["QUERY", "TEXTS", "make_documents", "make_store"]

make_documents = WAY.items


def make_store(documents: Sequence[Document]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(list(documents))
    return store
