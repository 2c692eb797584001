"""The command `demo`: questions about the installed packages, and what a language model would read for each.

That is all that was retrieved, or what ctxcompress keeps of it, or what BM25 keeps.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ctxcompress.apps.cli.demo_texts import installed_documentation, retriever_of
from ctxcompress.apps.prices import InputPrice
from ctxcompress.config.options import CompressionConfig
from ctxcompress.errors import MissingExtra
from ctxcompress.text.tokens import TokenCounter

__all__ = ["MODEL", "run_demo"]

if TYPE_CHECKING:
    from langchain_core.documents import Document

MODEL = "gpt-5-mini"
"""The model whose input is priced."""
_CALLS = 10_000
_ANSWER = "bold black on yellow"
_LINES = 4
"""The lines that are shown of what was retrieved."""


class Question(NamedTuple):
    """A question of the demo."""

    text: str
    package: str = ""
    """The package whose description answers it; "" if none does."""
    answer: str = ""
    """Words of the answer."""


_QUESTIONS = (
    Question("Which orjson option serializes datetime objects without a tzinfo as UTC?", "orjson", "OPT_NAIVE_UTC"),
    Question("Is byte pair encoding reversible and lossless?", "tiktoken", "reversible and lossless"),
    Question("At which temperature does tungsten melt?"),
)


class Way(NamedTuple):
    """What a language model would read."""

    name: str
    documents: "Sequence[Document]"
    milliseconds: float | None = None

    @property
    def text(self) -> str:
        """The text of all documents."""
        return "\n\n".join(document.page_content for document in self.documents)


def run_demo(console: Console, question: str | None, config: CompressionConfig) -> None:
    """Print, for each question, what a LangChain retriever finds in the installed documentation, what is kept of it,
    and what that saves. question: the only one.

    Raises MissingExtra if LangChain is not installed.
    """
    from langchain_ctxcompress import CtxCompressor

    ours = CtxCompressor(config=config)
    bm25 = CtxCompressor(config=config.with_options(scorer="bm25", encoder=None, adaptive=False))
    chunks = installed_documentation()
    packages = {chunk.package for chunk in chunks}
    console.print(f"{len(chunks):,} chunks of the documentation of {len(packages)} packages on this machine")
    retriever = retriever_of(chunks)
    asked = [Question(question)] if question else [each for each in _QUESTIONS if each.package in {"", *packages}]
    for each in asked:
        found = retriever.invoke(each.text)
        ways = (
            Way("retrieved", found),
            _timed("ctxcompress", partial(ours.compress_documents, found, each.text)),
            _timed("BM25", partial(bm25.compress_documents, found, each.text)),
        )
        confidence = ours.confidence(found, each.text)
        console.print(_screen(each, ways, confidence, TokenCounter(config.encoding)))


def _timed(name: str, work: "Callable[[], Sequence[Document]]") -> Way:
    begin = perf_counter()
    documents = work()
    return Way(name, documents, 1e3 * (perf_counter() - begin))


def _screen(question: Question, ways: Sequence[Way], confidence: float, count: TokenCounter) -> RenderableType:
    """Return what is printed for a question."""
    retrieved, ours = ways[0].text, ways[1].text
    glance = "\n".join(retrieved.split("\n", _LINES)[:_LINES])
    kept = Text(ours.strip())
    if question.answer:
        kept.highlight_words([question.answer], _ANSWER)
    doubt = f"; the probability that they answer it is {confidence:.2f}"
    return Group(
        Text.assemble("\n", (question.text, "bold")),
        Panel(Text(f"{glance} ..."), title=f"retrieved: {len(ways[0].documents)} chunks{doubt}", style="dim"),
        Panel(kept, title=f"compressed: {count(ours):,} of {count(retrieved):,} tokens"),
        _table(question, ways, count),
    )


def _table(question: Question, ways: Sequence[Way], count: TokenCounter) -> Table:
    """Return the table that compares all ways."""
    table = Table("", *(way.name for way in ways), show_edge=False)
    tokens = [count(way.text) for way in ways]
    table.add_row("tokens", *(f"{number:,}" for number in tokens))
    if question.answer:
        table.add_row("has the answer", *("yes" if question.answer in way.text else "no" for way in ways))
    table.add_row("milliseconds", *("" if way.milliseconds is None else f"{way.milliseconds:.0f}" for way in ways))
    prices = _dollars(tokens)
    if prices:
        table.add_row(f"{_CALLS:,} such calls of {MODEL}", *prices, style="bold green")
    return table


def _dollars(tokens: Iterable[int]) -> list[str]:
    """Return what calls with so many tokens cost; nothing without the extra `prices`."""
    try:
        price = InputPrice.of(MODEL)
    except MissingExtra:
        return []
    return [f"${price.saving([(number, number)], _CALLS).before:,.2f}" for number in tokens]
