"""The command `eval`."""

from typing import Annotated

import typer

from ctxcompress.apps.cli.report import readable_errors

__all__ = ["eval_command"]

WORSE = 4
"""Exit code: something is worse than in the baseline."""


def eval_command(
    questions: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTIONS",
            help="Questions with answers or evidence: JSON lines, CSV, or a published set, such as of BEIR or Ragas.",
            show_default=False,
        ),
    ] = None,
    docs: Annotated[
        str | None,
        typer.Option(
            "--docs",
            metavar="DIR",
            help="The folder to find passages in, by BM25.",
            show_default="the passages of the questions",
        ),
    ] = None,
    budgets: Annotated[
        str, typer.Option(metavar="N,...", help="The budgets in tokens; all is the context as it is.")
    ] = "100,200,500,1000,2000,5000,all",
    compare: Annotated[
        str,
        typer.Option(
            metavar="METHOD,...",
            help="The methods, compared with the first: default, adaptive, bm25, first, preset:NAME, encoder:NAME, "
            "config:FILE, EmbeddingsFilter:ENCODER.",
        ),
    ] = "default",
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Take the first N questions.", show_default="all")
    ] = None,
    from_headings: Annotated[
        int | None,
        typer.Option(
            "--questions-from-headings",
            metavar="N",
            min=1,
            help="Without QUESTIONS: make N of the headings in --docs. Weaker than questions of users.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="OUT", help="Write the report, with the texts, to a file.", show_default=False),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="REPORT", help="Compare with a report that --json wrote.", show_default=False),
    ] = None,
) -> None:
    """Measure on your questions what a budget keeps and saves.

    Exit codes: 0 on success, 1 if nothing can be evaluated or written, 2 for wrong usage, 4 if something is worse than
    in the baseline.
    """
    from ctxcompress.apps.cli.evaluation_run import Request, run_eval

    with readable_errors():
        request = Request(questions, docs, budgets, compare, limit, from_headings, json, baseline)
        worse = run_eval(request)
    if worse:
        raise typer.Exit(WORSE)
