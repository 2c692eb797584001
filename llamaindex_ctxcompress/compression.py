"""From nodes to compressed nodes: the core does the work, this keeps track of which node is which."""

import logging
from collections.abc import Callable, Mapping, Sequence

from llama_index.core.schema import MetadataMode, NodeWithScore

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from llamaindex_ctxcompress.convert import compressed_node, is_text_only, passage_from_node, passed_through
from llamaindex_ctxcompress.framing import framing

__all__ = ["compress_nodes"]

_Frame = Callable[[Passage, str], str]
_UNBOUNDED = 1 << 40

logger = logging.getLogger(__name__)


def compress_nodes(
    config: CompressionConfig, query: str | None, nodes: Sequence[NodeWithScore], mode: MetadataMode
) -> list[NodeWithScore]:
    """Copies of what of `nodes` answers `query`, in their order.

    Their `get_content(mode)`, joined by the separator, has at most `config.budget` tokens, unless the
    nodes that are more than a text, which are passed on whole, have more already. A warning is logged
    if texts came in and none is left.
    """
    texts = {
        position: passage_from_node(item, config.metadata_map)
        for position, item in enumerate(nodes)
        if is_text_only(item.node)
    }
    whole = {position: item.get_content(mode) for position, item in enumerate(nodes) if position not in texts}
    # By identity, because two nodes can have one id.
    framings = {id(passage): framing(nodes[position].node, mode) for position, passage in texts.items()}
    compression = _compress_beside(
        Compressor(config), query, texts, whole, lambda passage, text: framings[id(passage)](text)
    )
    if not compression.passages and any(passage.text.strip() for passage in texts.values()):
        _warn(len(texts), config.budget)
    positions = list(texts)
    kept = {positions[passage.index]: passage for passage in compression.passages}
    return [
        compressed_node(item, kept[position], position) if position in kept else passed_through(item)
        for position, item in enumerate(nodes)
        if position in kept or position in whole
    ]


def _compress_beside(
    compressor: Compressor, query: str | None, texts: Mapping[int, Passage], whole: Mapping[int, str], frame: _Frame
) -> Compression:
    """Compresses `texts` into what `whole`, which stays, leaves of the budget. Both are by position."""
    if not any(whole.values()):
        return compressor.compress(query, texts.values(), frame=frame)
    positions = list(texts)
    left = compressor.config.budget - _tokens(compressor, whole)
    while left > 0:
        compression = compressor.compress(query, texts.values(), max_tokens=left, frame=frame)
        shown = {positions[kept.index]: frame(kept.original, kept.text) for kept in compression.passages}
        excess = _tokens(compressor, {**whole, **shown}) - compressor.config.budget
        if excess <= 0:
            return compression
        left -= excess
    return compressor.compress(query, ())


def _tokens(compressor: Compressor, shown: Mapping[int, str]) -> int:
    """Tokens of the texts joined in the order of their positions, counted as the core counts."""
    joined = compressor.config.separator.join(shown[position] for position in sorted(shown))
    return compressor.compress(None, [joined], max_tokens=_UNBOUNDED).tokens


def _warn(count: int, budget: int) -> None:
    logger.warning(
        "nothing of %d texts fits into %d tokens beside what stands with them; raise max_tokens, or name the "
        "metadata that the language model need not see in excluded_llm_metadata_keys",
        count,
        budget,
    )
