"""The command `batch`."""

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from ctxcompress.apps.cli import common_options as common
from ctxcompress.apps.cli.report import INCOMPLETE
from ctxcompress.config.options import CompressionConfig

__all__ = ["Request", "batch_command"]


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of the command."""

    inputs: Annotated[
        list[str],
        typer.Argument(metavar="IN...", help="The .jsonl or .parquet files of the rows: paths, folders or globs."),
    ]
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="The result: a .jsonl file, or with the ending .parquet a folder of Parquet files."
        ),
    ]
    max_tokens: common.MaxTokensOption = None
    tier: common.TierOption = None
    preset: common.PresetOption = None
    config: common.ConfigOption = None
    encoder: common.EncoderOption = None
    format: common.FormatOption = None
    others: common.SetOption = None
    query_field: Annotated[str, typer.Option(metavar="NAME", help="The column of the query.")] = "query"
    passages_field: Annotated[str, typer.Option(metavar="NAME", help="The column of the passages.")] = "passages"
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The number of processes, or of Ray's actors.", show_default="one for each core"
        ),
    ] = None
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="Work on this machine, or on a cluster of Ray (extra ray).")
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The cluster for --engine ray.", show_default="a cluster on this machine"),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew if OUT exists.")] = False

    def options(self) -> CompressionConfig:
        """Return the options of all rows."""
        given = {name: getattr(self, name) for name in ("max_tokens", "tier", "format", "encoder")}
        return common.starting_options(self.preset, self.config, self.others).with_options(
            **common.given_options(given)
        )


def batch_command(
    request: Request,
    price: common.PriceOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON, to standard output.")] = False,
) -> None:
    """Compress many rows, each a query with passages of its own.

    If the command is stopped, the same command goes on where OUT ends. Rows that fail go to OUT.errors.jsonl with the
    reason, and the statistics to OUT.batch.json.

    Exit codes: 0 on success, 1 if a file cannot be read or written, 2 for wrong usage or a missing input, 3 if some
    rows failed, 130 if the command was stopped.
    """
    from ctxcompress.apps.cli.batch_run import run_batch

    if run_batch(request, request.options(), common.price_of(price), as_json=json):
        raise typer.Exit(INCOMPLETE)
