"""From nodes to compressed nodes: the core does the work, this keeps track of which node is which."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from llama_index.core.node_parser.text.sentence_window import DEFAULT_WINDOW_METADATA_KEY
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from ctxcompress import Compression, CompressionConfig, Compressor, KeptPassage, Passage
from llamaindex_ctxcompress.convert import (
    RECORD_KEY,
    compressed_node,
    is_text_only,
    passage_from_node,
    passed_through,
)
from llamaindex_ctxcompress.formats import showing, templates
from llamaindex_ctxcompress.framing import framing

__all__ = ["acompress_nodes", "compress_nodes"]

logger = logging.getLogger(__name__)


def compress_nodes(
    config: CompressionConfig, query: str | None, nodes: Sequence[NodeWithScore], mode: MetadataMode
) -> tuple[list[NodeWithScore], Compression]:
    """Copies of what of `nodes` answers `query`, in their order, and the compression that this is.

    Their `get_content(mode)`, joined by the separator, has at most the budget's tokens, unless the
    nodes that are more than a text, which are passed on whole, have more already. A warning is logged
    if texts came in and none is left.
    """
    compressor = Compressor(config).resolve_auto_budget(query)
    job = _Job(compressor.config, nodes, mode)
    room = job.room()
    while True:
        compression = compressor.compress(query, job.passages(room), max_tokens=max(room, 1), frame=job.frame)
        excess = job.excess(compression)
        if excess <= 0:
            return job.compressed(compression), compression
        room -= excess


async def acompress_nodes(
    config: CompressionConfig, query: str | None, nodes: Sequence[NodeWithScore], mode: MetadataMode
) -> tuple[list[NodeWithScore], Compression]:
    """The same on another thread, but for an encoder that can be awaited, which is."""
    compressor = Compressor(config).resolve_auto_budget(query)
    job = await asyncio.to_thread(_Job, compressor.config, nodes, mode)
    room = await asyncio.to_thread(job.room)
    while True:
        passages = job.passages(room)
        compression = await compressor.acompress(query, passages, max_tokens=max(room, 1), frame=job.frame)
        excess = await asyncio.to_thread(job.excess, compression)
        if excess <= 0:
            return await asyncio.to_thread(job.compressed, compression), compression
        room -= excess


class _Job:
    """Which passage is which node, and how nodes look where they are read."""

    def __init__(self, config: CompressionConfig, nodes: Sequence[NodeWithScore], mode: MetadataMode) -> None:
        self._config, self._nodes, self._mode = config, nodes, mode
        self._is_plain = config.format == "plain"
        self._count = Compressor(config).count
        texts = {
            position: passage_from_node(item, config.metadata_map, config.score_key)
            for position, item in enumerate(nodes)
            if is_text_only(item.node)
        }
        self._positions, self._passages = list(texts), list(texts.values())
        _warn_of_windows([nodes[position].node for position in texts])
        self._whole = {position: item.get_content(mode) for position, item in enumerate(nodes) if position not in texts}
        # By identity, because two nodes can have one id.
        self._framings = {id(passage): framing(nodes[position].node, mode) for position, passage in texts.items()}
        self.frame = self._framed if self._is_plain else None
        """How a text looks in the place of a node's; None where the format of the options says it."""

    def _framed(self, passage: Passage, text: str) -> str:
        return self._framings[id(passage)](text)

    def room(self) -> int:
        """Tokens that the nodes which stay as they are leave of the budget."""
        return self._config.budget - (self._tokens(self._whole) if any(self._whole.values()) else 0)

    def passages(self, room: int) -> list[Passage]:
        """What is compressed: nothing where there is no room."""
        return self._passages if room > 0 else []

    def excess(self, compression: Compression) -> int:
        """Tokens over the budget, all together."""
        if not compression.passages or (self._is_plain and not any(self._whole.values())):
            return 0
        if self._is_plain:
            kept = {slot: self._framed(kept.original, kept.text) for slot, kept in self._places(compression).items()}
        else:  # what the format puts around all is not there, and a class may show its text otherwise
            kept = {slot: item.get_content(self._mode) for slot, item in self._made(compression).items()}
        return self._tokens({**self._whole, **kept}) - self._config.budget

    def compressed(self, compression: Compression) -> list[NodeWithScore]:
        """The nodes that come out. Those that stay as they are keep their place among the others."""
        made = self._made(compression)
        if not made and any(passage.text.strip() for passage in self._passages):
            _warn(len(self._passages), self._config.budget)
        return [
            made[position] if position in made else passed_through(item)
            for position, item in enumerate(self._nodes)
            if position in made or position in self._whole
        ]

    def _made(self, compression: Compression) -> dict[int, NodeWithScore]:
        """Position -> the node that comes out there, of those that were compressed."""
        places = self._places(compression)
        made = {position: self._compressed(kept) for position, kept in places.items()}
        if self._is_plain:
            return made
        shown = zip(made.items(), templates(self._config, list(places.values())), strict=True)
        return {position: showing(item, template) for (position, item), template in shown}

    def _places(self, compression: Compression) -> dict[int, KeptPassage]:
        """Position -> what comes out there: the positions of what is kept, filled in its order."""
        positions = sorted(self._positions[kept.index] for kept in compression.passages)
        return dict(zip(positions, compression.passages, strict=True))

    def _compressed(self, kept: KeptPassage) -> NodeWithScore:
        position = self._positions[kept.index]
        stands_for = [self._positions[index] for index in kept.stands_for]
        return compressed_node(self._nodes[position], kept, position, stands_for)

    def _tokens(self, shown: Mapping[int, str]) -> int:
        """Tokens of the texts joined in the order of their positions."""
        return self._count(self._config.separator.join(shown[position] for position in sorted(shown)))


def _warn_of_windows(nodes: Sequence[BaseNode]) -> None:
    """Where a longer text would take the place of what is kept, says so."""
    replaced = sum(map(_has_window, nodes))
    if replaced:
        logger.warning(
            "%d of %d nodes have under metadata[%r] a longer text with theirs in it, which counts in no budget; if a "
            "MetadataReplacementPostProcessor puts it in their place, list that before CtxCompressPostprocessor",
            replaced,
            len(nodes),
            DEFAULT_WINDOW_METADATA_KEY,
        )


def _has_window(node: BaseNode) -> bool:
    """Whether the text is a part of a window that has not taken its place yet. What was compressed is less than its
    window."""
    window = node.metadata.get(DEFAULT_WINDOW_METADATA_KEY)
    if not isinstance(window, str) or RECORD_KEY in node.metadata:
        return False
    text = node.get_content(MetadataMode.NONE)
    return len(window) > len(text) and text.strip() in window


def _warn(count: int, budget: int) -> None:
    logger.warning(
        "nothing of %d texts fits into %d tokens beside what stands with them; raise max_tokens, or name the "
        "metadata that the language model need not see in excluded_llm_metadata_keys",
        count,
        budget,
    )
