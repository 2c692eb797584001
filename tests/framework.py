"""What tests ask of a framework, so that they can be the same for both."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import llama_index.core
import pytest
import tiktoken
from meanings import sentences

__all__ = ["QUERY", "TEXTS", "Call", "Chunk", "Find", "Framework", "Output", "Played", "check_verbatim", "tokens"]

Options = Mapping[str, Any]
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


@lru_cache
def reference_encoding(name: str) -> tiktoken.Encoding:
    """tiktoken's encoding, from the vocabulary that llama-index-core carries if there is no other."""
    carried = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", os.environ.get("TIKTOKEN_CACHE_DIR", str(carried)))
        return tiktoken.get_encoding(name)


def tokens(text: str, encoding: str = "o200k_base") -> int:
    """Counted by tiktoken itself."""
    return len(reference_encoding(encoding).encode_ordinary(text))


@dataclass(frozen=True)
class Chunk:
    """What a retriever found."""

    text: str
    source: str = "page.md"
    score: float = 0.5
    section: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        return {"source": self.source, **({"header_path": self.section} if self.section else {})}


Find = Callable[[str], Sequence[Any]]
"""Returns the items that are found for a query."""
Call = tuple[str, dict[str, Any]]
"""The name of a tool and what it is called with. "?" stands for the last handle that the model was shown."""


@dataclass(frozen=True)
class Output:
    """What an agent gets of a tool."""

    text: str
    """What the model reads."""
    beside: Any = None
    """What comes with it: the artifact, or the raw output."""
    is_error: bool = False


class Framework:
    """One way through an adapter, for all situations. An item is a document or a node.

    The ways themselves have the methods that need the framework. Of those whose names do not say it: `shown` returns
    what a language model reads of items without a format, `more_of` expands an item, `written` and `read` go through
    JSON, `hearing` yields the list into which the framework's own observers put the statistics of each compression,
    `analyse` puts items through the transformer, `told` calls a tool as an agent does, which tells the model of an
    error, `parsed` returns the value of which the model reads a text, `beside` returns the items and the statistics
    beside the text of a tool, `conversation` returns what agents need to go on, in this process or in another one,
    `play` runs a new agent whose model makes calls, turn by turn, and `makers` returns for each exported name what
    makes or calls it with the fewest arguments.
    """

    package: ModuleType
    Component: Any
    """The class that compresses items."""
    noun: str
    """What messages call the items."""
    no_retriever: str
    """What messages ask for in place of something else than a retriever."""

    def items(self, count: int = len(TEXTS), scores: Sequence[Any] = ()) -> list[Any]:
        """Items with the metadata that loaders and splitters write, ids and nesting included."""
        return [
            self.item(
                TEXTS[n % len(TEXTS)],
                f"doc-{n}",
                metadata={
                    "source": f"docs/{n}.md",
                    "title": f"Page {n}",
                    "Header 1": "Client",
                    "loc": {"lines": {"from": 1, "to": 4}},
                    "tags": ["a", "b"],
                },
                score=scores[n] if scores else None,
            )
            for n in range(len(scores) or count)
        ]

    def pages(self) -> list[Any]:
        """Four pages of ten sentences each, with a title and a heading."""
        made = sentences()
        places = [{"title": f"Guide {n}", "Header 1": "Notes"} for n in range(4)]
        return [
            self.item(" ".join(made[10 * n : 10 * n + 10]), f"page-{n}", metadata=place)
            for n, place in enumerate(places)
        ]

    def texts(self, items: Sequence[Any]) -> list[str]:
        return [self.text(item) for item in items]

    def ids(self, items: Sequence[Any]) -> list[str | None]:
        return [self.id(item) for item in items]

    def record(self, item: Any) -> dict[str, Any]:
        return self.metadata(item)["ctxcompress"]

    def scored(self, options: Options) -> dict[str, Any]:
        """Return options with which the scores of items count."""
        return dict(options)

    def component(self, **options: Any) -> Any:
        return self.Component(**self.scored(options))

    def kept(self, items: Sequence[Any], query: str | None = QUERY, **options: Any) -> list[Any]:
        return self.compress(self.component(**options), items, query)

    def finding(self, *items: Any) -> Any:
        """Make a retriever that finds these items, whatever it is asked for."""
        return self.retriever(lambda _: list(items))

    async def found(self, retriever: Any, query: str, *, is_async: bool) -> list[Any]:
        return await self.aretrieve(retriever, query) if is_async else self.retrieve(retriever, query)

    async def ask(self, tool: Any, *, is_async: bool, **given: Any) -> Output:
        return await self.acall(tool, **given) if is_async else self.call(tool, **given)

    # The situations of published examples

    def _chunks(self, chunks: Sequence[Chunk]) -> list[Any]:
        return [
            self.item(chunk.text, f"{chunk.source}-{n}", metadata=chunk.metadata, score=chunk.score, is_all_shown=True)
            for n, chunk in enumerate(chunks)
        ]

    def compressed(self, chunks: Sequence[Chunk], query: str, options: Options) -> tuple[list[str], str]:
        """Return the texts, and all of them as the language model reads them."""
        kept = self.kept(self._chunks(chunks), query, **options)
        shape = {"format": options["format"]} if "format" in options else {}
        return self.texts(kept), self.formatted(kept, **shape)


@dataclass(frozen=True)
class Played:
    """The run of an agent."""

    answers: list[str]
    """What the tools answered, in the order of the calls."""
    prompts: list[list[str]]
    """The texts that the model was shown each time."""


def check_verbatim(framework: Framework, given: Sequence[Any], kept: Sequence[Any]) -> None:
    """Source order, and every text consists of the pieces of its item that its spans say, and declared markers."""
    records = [framework.record(item) for item in kept]
    indices = [record["index"] for record in records]
    assert indices == sorted(set(indices))
    for item, record in zip(kept, records, strict=True):
        flat = [offset for span in record["spans"] for offset in span]
        assert flat == sorted(flat)
        text = framework.text(given[record["index"]])
        pieces = [text[start:end] for start, end in record["spans"]]
        for before, marker in reversed(record.get("markers", ())):
            pieces.insert(before, marker)
        assert framework.text(item) == "".join(pieces)
