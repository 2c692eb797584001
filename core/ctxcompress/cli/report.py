"""What a compression looks like: to a program as JSON, to a person as a table."""

import json
from collections.abc import Iterable

from rich.table import Table

from ctxcompress.passages import Span
from ctxcompress.types import Compression, Stats

__all__ = ["SCHEMA", "as_json", "stats_table"]

SCHEMA = "ctxcompress/1"


def as_json(result: Compression) -> str:
    """The compression as one JSON object, in ASCII. Spans are half-open offsets in code points."""
    kept = [
        {
            "index": item.index,
            "id": item.id,
            "file": item.original.file_path,
            "text": item.text,
            "spans": _pairs(item.spans),
            "markers": [[before, text] for before, text in item.markers],
            "metadata_only": item.metadata_only,
            "tokens": item.tokens,
            "relevance": item.relevance,
            "stands_for": list(item.stands_for),
        }
        for item in result.passages
    ]
    dropped = [
        {
            "index": item.index,
            "id": item.passage.id,
            "spans": _pairs(item.spans),
            "reason": item.reason.value,
            "duplicate_of": item.duplicate_of,
        }
        for item in result.dropped
    ]
    document = {
        "schema": SCHEMA,
        "query": result.query,
        "max_tokens": result.max_tokens,
        "text": result.text,
        "passages": kept,
        "dropped": dropped,
        "stats": result.stats.to_dict(),
    }
    return json.dumps(document, indent=2)


def stats_table(stats: Stats, max_tokens: int) -> Table:
    """The statistics as a table of two columns."""
    table = Table("ctxcompress", "", show_edge=False)
    table.add_row("passages", f"{stats.original_count} -> {stats.kept_count}")
    table.add_row("tokens", f"{stats.original_tokens:,} -> {stats.compressed_tokens:,} (limit {max_tokens:,})")
    table.add_row("saved", f"{stats.tokens_saved:,} tokens, {stats.savings_percent:.1f} %")
    for stage in stats.stages:
        note = f", {stage.note}" if stage.note else ""
        table.add_row(stage.name, f"{stage.items_in} -> {stage.items_out} in {stage.milliseconds:.1f} ms{note}")
    return table


def _pairs(spans: Iterable[Span]) -> list[list[int]]:
    return [[start, end] for start, end in spans]
