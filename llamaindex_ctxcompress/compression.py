"""From nodes to compressed nodes: the core does the work, this keeps track of which node is which."""

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from llama_index.core.schema import MetadataMode, NodeWithScore

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from llamaindex_ctxcompress.convert import compressed_node, is_text_only, passage_from_node, passed_through
from llamaindex_ctxcompress.framing import framing

__all__ = ["acompress_nodes", "compress_nodes"]

_Frame = Callable[[Passage, str], str]
_UNBOUNDED = 1 << 40

logger = logging.getLogger(__name__)


class _Step(NamedTuple):
    """A compression whose outcome is needed to go on."""

    query: str | None
    passages: Iterable[Passage | str]
    max_tokens: int | None
    frame: _Frame | None


_Result = list[NodeWithScore]
_T = TypeVar("_T")
_Asking = Generator[_Step, Compression, _T]
"""Ends with a _T, after it was sent the outcome of each step."""


def compress_nodes(
    config: CompressionConfig, query: str | None, nodes: Sequence[NodeWithScore], mode: MetadataMode
) -> _Result:
    """Copies of what of `nodes` answers `query`, in their order.

    Their `get_content(mode)`, joined by the separator, has at most `config.budget` tokens, unless the
    nodes that are more than a text, which are passed on whole, have more already. A warning is logged
    if texts came in and none is left.
    """
    compressor, steps = Compressor(config), _steps(config, query, nodes, mode)
    step = next(steps)
    while isinstance(step, _Step):
        step = steps.send(compressor.compress(step.query, step.passages, max_tokens=step.max_tokens, frame=step.frame))
    return step


async def acompress_nodes(
    config: CompressionConfig, query: str | None, nodes: Sequence[NodeWithScore], mode: MetadataMode
) -> _Result:
    """The same on another thread, but for an encoder that can be awaited, which is."""
    compressor, steps = Compressor(config), _steps(config, query, nodes, mode)
    step = await asyncio.to_thread(next, steps)
    while isinstance(step, _Step):
        compression = await compressor.acompress(
            step.query, step.passages, max_tokens=step.max_tokens, frame=step.frame
        )
        step = await asyncio.to_thread(steps.send, compression)
    return step


def _steps(
    config: CompressionConfig, query: str | None, nodes: Sequence[NodeWithScore], mode: MetadataMode
) -> Generator[_Step | _Result, Compression, None]:
    """Asks for one compression after the other, and gives the result at the end."""
    texts = {
        position: passage_from_node(item, config.metadata_map)
        for position, item in enumerate(nodes)
        if is_text_only(item.node)
    }
    whole = {position: item.get_content(mode) for position, item in enumerate(nodes) if position not in texts}
    # By identity, because two nodes can have one id.
    framings = {id(passage): framing(nodes[position].node, mode) for position, passage in texts.items()}
    compression = yield from _compress_beside(
        config, query, texts, whole, lambda passage, text: framings[id(passage)](text)
    )
    if not compression.passages and any(passage.text.strip() for passage in texts.values()):
        _warn(len(texts), config.budget)
    positions = list(texts)
    kept = {positions[passage.index]: passage for passage in compression.passages}
    yield [
        compressed_node(item, kept[position], position) if position in kept else passed_through(item)
        for position, item in enumerate(nodes)
        if position in kept or position in whole
    ]


def _compress_beside(
    config: CompressionConfig, query: str | None, texts: Mapping[int, Passage], whole: Mapping[int, str], frame: _Frame
) -> _Asking[Compression]:
    """Compresses `texts` into what `whole`, which stays, leaves of the budget. Both are by position."""
    if not any(whole.values()):
        return (yield _Step(query, texts.values(), None, frame))
    positions = list(texts)
    left = config.budget - (yield from _tokens(config, whole))
    while left > 0:
        compression = yield _Step(query, texts.values(), left, frame)
        shown = {positions[kept.index]: frame(kept.original, kept.text) for kept in compression.passages}
        excess = (yield from _tokens(config, {**whole, **shown})) - config.budget
        if excess <= 0:
            return compression
        left -= excess
    return (yield _Step(query, (), None, None))


def _tokens(config: CompressionConfig, shown: Mapping[int, str]) -> _Asking[int]:
    """Tokens of the texts joined in the order of their positions, counted as the core counts."""
    joined = config.separator.join(shown[position] for position in sorted(shown))
    return (yield _Step(None, [joined], _UNBOUNDED, None)).tokens


def _warn(count: int, budget: int) -> None:
    logger.warning(
        "nothing of %d texts fits into %d tokens beside what stands with them; raise max_tokens, or name the "
        "metadata that the language model need not see in excluded_llm_metadata_keys",
        count,
        budget,
    )
