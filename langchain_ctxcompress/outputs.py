"""Compression of the results of LangChain's tools, and the event that reports it.

Text, content blocks of text, search results in their shapes, lists of documents, and lists and mappings that can be
written as JSON can be compressed. Anything else stays as it is.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import get_callback_manager_for_config
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES
from typing_extensions import TypedDict

from ctxcompress import Compressor, Passage
from ctxcompress.agents.markers import LeftOut, Shorter
from ctxcompress.agents.output_compressor import OutputCompressor, SearchLimits, check_limits, on_thread
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import RECORD_KEY, compressed_document, passages_from_documents

__all__ = ["EVENT", "Outputs", "ToolSavings", "areport", "is_traced", "report"]

EVENT = "ctxcompress"
"""The name of the custom event that callbacks get for each compressed result."""


class ToolSavings(TypedDict):
    """The savings of one result, as callbacks get them."""

    tool: str
    original_tokens: int
    compressed_tokens: int
    tokens_saved: int


@dataclass(frozen=True, slots=True)
class Outputs(OutputCompressor):
    """A compressor for what LangChain's tools return."""

    @classmethod
    def of(
        cls, *, min_tokens: int, complexity: str | None, search_limits: SearchLimits | None = None, **options: Any
    ) -> "Outputs":
        """Make the compressor. options: those of CtxCompressor other than `format`. Raises ValueError."""
        check_limits(min_tokens, complexity, search_limits)
        config = CtxCompressor(format="plain", **options).config
        return cls(config, min_tokens, complexity, search_limits)

    def with_budget(self, max_tokens: int | str) -> "Outputs":
        """Return the same with another budget. Raises ValueError."""
        return replace(self, config=self.config.with_options(max_tokens=max_tokens))

    def shortened(self, content: object, query: str | None) -> Shorter | None:
        """Return the replacement of a tool's result; None if it stays as it is.

        It stays if it is short, fits, is an error, or cannot be compressed.
        """
        if isinstance(content, ToolMessage):
            inner = None if content.status == "error" else self.shortened(content.content, query)
            return inner and replace(inner, content=content.model_copy(update={"content": inner.content}))
        found = self.for_query(query)._shortened(content, query)
        if found is None or found.original_tokens < self.min_tokens or found.compressed_tokens >= found.original_tokens:
            return None
        return found

    async def ashortened(self, content: object, query: str | None) -> Shorter | None:
        """Do the same off the event loop."""
        return await on_thread(partial(self.shortened, content, query))

    def _shortened(self, content: object, query: str | None) -> Shorter | None:
        if isinstance(content, str):
            return self._text(content, query)
        if isinstance(content, list | tuple) and content:
            if all(isinstance(item, Document) for item in content):
                return self._documents(content, query)
            if all(
                isinstance(item, str) or (isinstance(item, Mapping) and isinstance(item.get("type"), str))
                for item in content
            ):
                return self._blocks(content, query)
        return self._search(content, query) or self.data(content, query)

    def _text(self, text: str, query: str | None) -> Shorter | None:
        if self.count(text) < self.min_tokens:
            return None
        found = self._search(text, query)
        if found:
            return found
        result = self.compress([text], query)
        left_out = LeftOut.of_compression(result)
        if not result.text and (empty := self.emptied_text(text) or self.said_nothing()):
            return Shorter(empty, result.stats.original_tokens, self.count(empty), left_out)
        return Shorter(result.text, result.stats.original_tokens, result.tokens, left_out)

    def _search(self, content: object, query: str | None) -> Shorter | None:
        """Return the replacement of search results; None for other content, or if they stay as they are."""
        found = self.search_results(content, query)
        if found is None or found.compressed_tokens == found.original_tokens:
            return None
        left_out = LeftOut(
            found.original_count - found.compressed_count,
            "result",
            tokens=found.original_tokens - found.compressed_tokens,
        )
        return Shorter(found.results, found.original_tokens, found.compressed_tokens, left_out)

    def _blocks(self, blocks: Sequence[Any], query: str | None) -> Shorter | None:
        """Return the replacement of content blocks. Text blocks of which nothing is kept are dropped."""
        texts = {place: text for place, block in enumerate(blocks) if (text := _text_of(block))}
        if len(texts) == 1:
            ((place, text),) = texts.items()
            found = self._text(text, query)
            return found and replace(found, content=_with_texts(blocks, {place: found.content}, texts))
        if not texts:
            is_data = not any(
                isinstance(block, Mapping) and block["type"] in TOOL_MESSAGE_BLOCK_TYPES for block in blocks
            )
            return self.data(blocks, query) if is_data else None
        places = list(texts)
        result = self.compress([texts[place] for place in places], query)
        kept = {places[part.index]: part.text for part in result.passages}
        if not kept and (nothing := self.said_nothing()):
            kept = {places[0]: nothing}
        content = _with_texts(blocks, kept, places)
        return Shorter(content, result.stats.original_tokens, result.tokens or sum(map(self.count, kept.values())))

    def _documents(self, documents: list[Document] | tuple[Document, ...], query: str | None) -> Shorter:
        """Return the replacement of documents, which LangChain shows to the model as Python writes them."""
        budget = self.config.budget
        while True:
            copies = type(documents)(self._copies(documents, query, budget))
            tokens = self.count(str(copies))
            if tokens <= self.config.budget or budget == 1:
                return Shorter(copies, self.count(str(documents)), tokens)
            budget = max(1, budget - (tokens - self.config.budget))  # the brackets around them

    def _copies(self, documents: Sequence[Document], query: str | None, budget: int) -> Iterator[Document]:
        """Yield copies of the kept documents, which have at most `budget` tokens as Python writes them in a row."""
        passages = passages_from_documents(documents, self.config)
        numbered = [replace(passage, id=str(place)) for place, passage in enumerate(passages)]

        def shown(passage: Passage, text: str) -> str:
            return repr(documents[int(passage.id)].model_copy(update={"page_content": text}))

        config = self.config.with_options(max_tokens=budget, separator=", ")
        for kept in Compressor(config).compress_part(query, numbered, frame=shown).passages:
            copy = compressed_document(documents[kept.index], kept, self.config)
            copy.metadata.pop(RECORD_KEY)  # the model would see it
            yield copy


def report(tool: str, shorter: Shorter, config: RunnableConfig | None = None) -> None:
    """Report the savings of a tool's result to the callbacks of the surrounding run, if there is one."""
    if is_traced(config):
        dispatch_custom_event(EVENT, _savings(tool, shorter), config=config)


async def areport(tool: str, shorter: Shorter, config: RunnableConfig | None = None) -> None:
    """Do the same, and await the callbacks."""
    if is_traced(config):
        await adispatch_custom_event(EVENT, _savings(tool, shorter), config=config)


def _savings(tool: str, shorter: Shorter) -> ToolSavings:
    return ToolSavings(
        tool=tool,
        original_tokens=shorter.original_tokens,
        compressed_tokens=shorter.compressed_tokens,
        tokens_saved=shorter.original_tokens - shorter.compressed_tokens,
    )


def is_traced(config: RunnableConfig | None) -> bool:
    """Return whether there is a surrounding run whose callbacks can be told."""
    return get_callback_manager_for_config(ensure_config(config)).parent_run_id is not None


def _text_of(block: str | Mapping[str, object]) -> str:
    """Return the text of a block, "" if it has none."""
    text = block if isinstance(block, str) else block.get("text") if block["type"] == "text" else None
    return text if isinstance(text, str) else ""


def _with_texts(blocks: Sequence[Any], texts: Mapping[int, str], asked: Collection[int]) -> list[Any]:
    """Return the blocks with other texts, without those among `asked` that have none now."""
    return [
        block if place not in texts else texts[place] if isinstance(block, str) else {**block, "text": texts[place]}
        for place, block in enumerate(blocks)
        if place not in asked or texts.get(place)
    ]
