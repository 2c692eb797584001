"""The command `tune`."""

from typing import Annotated

import typer

from ctxcompress.apps.cli.report import readable_errors

__all__ = ["tune_command"]


def tune_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file of a FeedbackLog.", show_default=False)],
    scope: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The scope to learn from.", show_default="the only one in the file"),
    ] = None,
    keep: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of answers that must keep all evidence they used.")
    ] = 0.98,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="The confidence with which at least that share keeps it.")
    ] = 0.95,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="TOML", help="The TOML file to write. Without it, nothing is written.", show_default=False
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing TOML file, which is kept under another name.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Fit min_score, adaptive and max_tokens to recorded feedback.

    For each value, a table shows how much of the used evidence it would have kept, and how many tokens.

    Exit codes: 0 on success, 1 if a file cannot be written, 2 for wrong usage or too few records.
    """
    from ctxcompress.apps.cli.tuning_report import run_tune

    with readable_errors():
        run_tune(file, scope, keep, confidence, out, force=force, as_json=json)
