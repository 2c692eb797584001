"""The demonstration: a question, LangChain's retriever, and what the compression makes of its answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ctxcompress.cli.documentation import Chunk, installed_documentation
from ctxcompress.cli.embedding import HashedWords
from ctxcompress.config import CompressionConfig
from ctxcompress.errors import MissingExtra
from ctxcompress.tokens import TokenCounter

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever

__all__ = ["run_demo"]

RETRIEVED = 20

_QUESTIONS = (
    ("orjson", "Which orjson option serializes datetime objects without a tzinfo as UTC?"),
    ("tiktoken", "Is byte pair encoding reversible and lossless, and why does it compress text?"),
)


def run_demo(console: Console, question: str | None, max_tokens: int) -> None:
    """Show what the compression keeps of what a LangChain retriever finds in the installed documentation.

    Raises MissingExtra if LangChain is not installed.
    """
    config = CompressionConfig(max_tokens=max_tokens)
    chunks = installed_documentation()
    question = question or _answerable_question(chunks)
    before, after = _retrieve(question, chunks, max_tokens)
    count = TokenCounter(config.encoding)
    texts = [config.separator.join(document.page_content for document in documents) for documents in (before, after)]
    console.print(f"{len(chunks):,} chunks of documentation of {len({c.package for c in chunks})} packages")
    console.print(Text.assemble("Question: ", (question, "bold")))
    for document in after:
        console.print(Panel(Text(document.page_content.strip()), title=Text(str(document.metadata["title"]))))
    console.print(_table((len(before), len(after)), (count(texts[0]), count(texts[1])), max_tokens))


def _answerable_question(chunks: Sequence[Chunk]) -> str:
    """A question about a package that is there."""
    packages = {chunk.package for chunk in chunks}
    return next((question for package, question in _QUESTIONS if package in packages), _QUESTIONS[-1][1])


def _retrieve(question: str, chunks: Sequence[Chunk], max_tokens: int) -> tuple[list["Document"], list["Document"]]:
    """What the retriever finds, and what it finds when it is wrapped."""
    try:
        from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "langchain_core":
            raise
        raise MissingExtra(
            "the demo needs langchain-core; install it with: pip install 'ctxcompress[langchain,cli]'"
        ) from error
    retriever = _retriever(chunks)
    compressing = CtxCompressRetriever(base_retriever=retriever, compressor=CtxCompressor(max_tokens=max_tokens))
    return retriever.invoke(question), compressing.invoke(question)


def _retriever(chunks: Sequence[Chunk]) -> "BaseRetriever":
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    embedding = HashedWords(chunk.text for chunk in chunks)
    # A cast and not a subclass, so that importing this module imports no framework.
    store = InMemoryVectorStore(cast("Embeddings", embedding))
    store.add_documents(
        [
            Document(chunk.text, id=f"{chunk.package}:{chunk.number}", metadata={"title": chunk.package})
            for chunk in chunks
        ]
    )
    return store.as_retriever(search_kwargs={"k": RETRIEVED})


def _table(documents: tuple[int, int], tokens: tuple[int, int], max_tokens: int) -> Table:
    table = Table("", "retrieved", f"compressed to {max_tokens:,} tokens", show_edge=False)
    table.add_row("documents", *map(str, documents))
    table.add_row("tokens", *(f"{number:,}" for number in tokens))
    saved = 100 * (1 - tokens[1] / tokens[0]) if tokens[0] else 0.0
    table.add_row("saved", "", f"{saved:.1f} %", style="bold green")
    return table
