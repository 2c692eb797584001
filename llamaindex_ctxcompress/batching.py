"""Compression of many lists of nodes in several processes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial

from llama_index.core.schema import MetadataMode, NodeWithScore

from ctxcompress import Compression, CompressionConfig, Compressor
from ctxcompress.apps.batch import LOST, ProcessMap
from llamaindex_ctxcompress.compression import compress_nodes

__all__ = ["compress_node_lists"]

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
    work = _CompressNodes(config, mode)
    with ProcessMap(work, workers=workers) as processes:
        rows = list(zip(queries, nodes, strict=True))
        for row, result in zip(rows, processes.map(rows), strict=True):
            yield partial(work.finish, row, result)


class _Failed:
    """The result of a row that failed."""


class _Lost:
    """The result of a row that ended its process."""


@dataclass(frozen=True, slots=True)
class _CompressNodes:
    config: CompressionConfig
    mode: MetadataMode

    def prepare(self) -> None:
        Compressor(self.config).count("")

    def do(self, row: _Row, /) -> _Compressed | _Failed | _Lost:
        try:
            found, compression = compress_nodes(self.config, row[0], row[1], self.mode)
        except Exception:  # noqa: BLE001 - raised again by `finish`, whatever it is
            return _Failed()
        return found, replace(compression, compressor=Compressor())  # without an encoder, which may be large

    def lost(self, _: _Row, /) -> _Compressed | _Failed | _Lost:
        return _Lost()

    def finish(self, row: _Row, result: _Compressed | _Failed | _Lost) -> _Compressed:
        """Return the result with the compressor that renders it. A row that failed fails again, in this process."""
        if isinstance(result, _Lost):
            raise BrokenProcessPool(LOST)
        if isinstance(result, _Failed):
            return compress_nodes(self.config, row[0], row[1], self.mode)
        found, compression = result
        return found, replace(compression, compressor=Compressor(self.config).resolve_auto_budget(row[0]))
