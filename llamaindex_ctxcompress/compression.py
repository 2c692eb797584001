"""Compression of nodes: the core compresses passages, and this keeps track of their nodes."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from llama_index.core.node_parser.text.sentence_window import DEFAULT_WINDOW_METADATA_KEY
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from ctxcompress import Compression, CompressionConfig, Compressor, KeptPassage, Passage
from ctxcompress.adapters.call_memory import Remember, remembering
from ctxcompress.errors import warn
from llamaindex_ctxcompress.convert import (
    RECORD_KEY,
    compressed_node,
    is_text_only,
    passage_from_node,
    passed_through,
)
from llamaindex_ctxcompress.formats import NodeFrames, showing, templates

if TYPE_CHECKING:
    from ctxcompress.adapters.feedback_calls import FeedbackLog

__all__ = ["acompress_nodes", "compress_node_lists", "compress_nodes"]


def compress_nodes(
    config: CompressionConfig,
    query: str | None,
    nodes: Sequence[NodeWithScore],
    mode: MetadataMode,
    feedback: "FeedbackLog | None" = None,
) -> tuple[list[NodeWithScore], Compression]:
    """Return copies of the nodes that keep what answers `query`, in their order, and the compression.

    Their `get_content(mode)`, joined by the separator, has at most the budget's tokens, unless nodes that bring more
    than text, which stay whole, exceed it already. There is a warning if there were texts and none is kept. feedback:
    the log that remembers the call.
    """
    compressor = Compressor(config).resolve_auto_budget(query)
    job = _Job(compressor.config, nodes, mode)
    room = job.room()
    with compressor.observed(), remembering(feedback) as remember:
        while True:
            compression = compressor.compress(query, job.passages(room), max_tokens=max(room, 1), frame=job.frame)
            excess = job.excess(compression)
            if excess <= 0:
                return job.compressed(compression, remember), compression
            room -= excess


async def acompress_nodes(
    config: CompressionConfig,
    query: str | None,
    nodes: Sequence[NodeWithScore],
    mode: MetadataMode,
    feedback: "FeedbackLog | None" = None,
) -> tuple[list[NodeWithScore], Compression]:
    """Do the same on another thread. An encoder that can be awaited is awaited on the event loop."""
    compressor = Compressor(config).resolve_auto_budget(query)
    job = await asyncio.to_thread(_Job, compressor.config, nodes, mode)
    room = await asyncio.to_thread(job.room)
    with compressor.observed(), remembering(feedback) as remember:
        while True:
            passages = job.passages(room)
            compression = await compressor.acompress(query, passages, max_tokens=max(room, 1), frame=job.frame)
            excess = await asyncio.to_thread(job.excess, compression)
            if excess <= 0:
                return await asyncio.to_thread(job.compressed, compression, remember), compression
            room -= excess


class _Job:
    """The nodes of one call with their passages, and how each node looks in the prompt."""

    def __init__(self, config: CompressionConfig, nodes: Sequence[NodeWithScore], mode: MetadataMode) -> None:
        self._config, self._nodes, self._mode = config, nodes, mode
        self._is_plain = config.format == "plain"
        self._count = Compressor(config).count
        texts = {
            position: passage_from_node(item, config.metadata_map)
            for position, item in enumerate(nodes)
            if is_text_only(item.node)
        }
        self._positions, self._passages = list(texts), list(texts.values())
        _warn_of_windows([nodes[position].node for position in texts])
        self._whole = {position: item.get_content(mode) for position, item in enumerate(nodes) if position not in texts}
        self._framed = NodeFrames(self._passages, [nodes[position].node for position in texts], mode)
        self.frame = self._framed if self._is_plain else None
        """How a text looks in place of a node's text; None where the format decides."""

    def room(self) -> int:
        """Return the tokens of the budget that nodes which stay whole do not use."""
        return self._config.budget - (self._tokens(self._whole) if any(self._whole.values()) else 0)

    def passages(self, room: int) -> list[Passage]:
        """Return the passages to compress: none where there is no room. Raises BudgetTooSmall if one must be kept."""
        if room > 0:
            return self._passages
        Compressor(self._config).check_droppable(self._passages)
        return []

    def excess(self, compression: Compression) -> int:
        """Return the tokens of all nodes together that are over the budget; 0 for nodes that are as they came."""
        if not compression.passages or compression.is_original or (self._is_plain and not any(self._whole.values())):
            return 0
        if self._is_plain:
            kept = {slot: self._framed(kept.original, kept.text) for slot, kept in self._places(compression).items()}
        else:  # the format's frame around all is missing here, and a class may show its text differently
            kept = {slot: item.get_content(self._mode) for slot, item in self._made(compression).items()}
        return self._tokens({**self._whole, **kept}) - self._config.budget

    def compressed(self, compression: Compression, remember: Remember) -> list[NodeWithScore]:
        """Return the nodes to keep. Nodes that stay whole keep their place among the others."""
        call = remember(compression, self.frame)
        made = self._made(compression, call)
        is_intended = compression.dropped and all(part.reason != "budget" for part in compression.dropped)
        if not made and not is_intended and any(passage.text.strip() for passage in self._passages):
            warn(
                f"no text fits into {self._config.budget} tokens beside what stands "
                "with them; raise max_tokens, or name the metadata that the language model need not see in "
                "excluded_llm_metadata_keys"
            )
        elif self._is_plain:
            self._warn_of_large_metadata(compression)
        return [
            made[position] if position in made else passed_through(item)
            for position, item in enumerate(self._nodes)
            if position in made or position in self._whole
        ]

    def _warn_of_large_metadata(self, compression: Compression) -> None:
        """Warn if nodes are dropped whose metadata alone is over the budget: no answer in them can be kept."""
        kept, budget = {part.index for part in compression.passages}, self._config.budget
        dropped = {part.index for part in compression.dropped if part.reason == "budget"} - kept
        frames = [self._framed(self._passages[index], "") for index in dropped]
        if any(len(frame) > budget and self._count(frame) > budget for frame in frames):
            warn(
                f"the metadata of some nodes takes more than the {budget} tokens of the budget, so they are dropped; "
                "name what the language model need not see in excluded_llm_metadata_keys"
            )

    def _made(self, compression: Compression, call: str | None = None) -> dict[int, NodeWithScore]:
        """Return the compressed nodes, by position in the output."""
        places = self._places(compression)
        made = {position: self._compressed(kept, call) for position, kept in places.items()}
        if self._is_plain or any(failure.part.startswith("renderer ") for failure in compression.failures):
            return made
        shown = zip(made.items(), templates(self._config, list(places.values())), strict=True)
        return {position: showing(item, template) for (position, item), template in shown}

    def _places(self, compression: Compression) -> dict[int, KeptPassage]:
        """Return the kept passages by position: the positions of kept nodes, filled in the order of the result."""
        positions = sorted(self._positions[kept.index] for kept in compression.passages)
        return dict(zip(positions, compression.passages, strict=True))

    def _compressed(self, kept: KeptPassage, call: str | None) -> NodeWithScore:
        position = self._positions[kept.index]
        stands_for = [self._positions[index] for index in kept.stands_for]
        return compressed_node(self._nodes[position], kept, position, stands_for, call)

    def _tokens(self, shown: Mapping[int, str]) -> int:
        """Return the tokens of the texts, joined in the order of their positions."""
        return self._count(self._config.separator.join(shown[position] for position in sorted(shown)))


def _warn_of_windows(nodes: Sequence[BaseNode]) -> None:
    """Warn if a window in the metadata may later replace the kept text."""
    if any(map(_has_window, nodes)):
        warn(
            f"nodes have under metadata[{DEFAULT_WINDOW_METADATA_KEY!r}] a longer text with theirs in it, which counts "
            "in no budget; if a MetadataReplacementPostProcessor puts it in their place, list that before "
            "CtxCompressPostprocessor"
        )


def _has_window(node: BaseNode) -> bool:
    """Return whether the metadata has a longer text around the node's own. A compressed node counts as having none."""
    window = node.metadata.get(DEFAULT_WINDOW_METADATA_KEY)
    if not isinstance(window, str) or RECORD_KEY in node.metadata:
        return False
    text = node.get_content(MetadataMode.NONE)
    return len(window) > len(text) and text.strip() in window


_Compressed = tuple[list[NodeWithScore], Compression]
_Row = tuple[str, list[NodeWithScore]]


def compress_node_lists(
    config: CompressionConfig,
    queries: Sequence[str],
    nodes: Sequence[list[NodeWithScore]],
    mode: MetadataMode,
    workers: int | None,
) -> Iterator[Callable[[], _Compressed]]:
    """Yield for each list of nodes a function that returns what `compress_nodes` does, and raises what it raises."""
    from ctxcompress.apps.batch import ProcessMap  # takes time to import, and few calls are many

    work = _CompressNodes(config, mode)
    with ProcessMap(work, workers=workers) as processes:
        rows = list(zip(queries, nodes, strict=True))
        for row, result in zip(rows, processes.map(rows), strict=True):
            yield partial(work.finish, row, result)


@dataclass(frozen=True, slots=True)
class _CompressNodes:
    config: CompressionConfig
    mode: MetadataMode

    def prepare(self) -> None:
        Compressor(self.config).count("")

    def do(self, row: _Row, /) -> _Compressed | str | None:
        try:
            found, compression = compress_nodes(self.config, row[0], row[1], self.mode)
        except Exception:  # noqa: BLE001 - raised again by `finish`, whatever it is
            return None
        return found, replace(compression, compressor=Compressor())  # without an encoder, which may be large

    def lost(self, _: _Row, /) -> _Compressed | str | None:
        from ctxcompress.apps.batch import LOST

        return LOST

    def finish(self, row: _Row, result: _Compressed | str | None) -> _Compressed:
        """Return the result with the compressor that renders it. A row that failed fails again, in this process."""
        if isinstance(result, str):
            raise BrokenProcessPool(result)
        if result is None:
            return compress_nodes(self.config, row[0], row[1], self.mode)
        found, compression = result
        return found, replace(compression, compressor=Compressor(self.config).resolve_auto_budget(row[0]))
