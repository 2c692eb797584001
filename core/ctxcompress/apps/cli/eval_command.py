"""The command `eval`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from ctxcompress.apps.cli.common_options import PriceOption

__all__ = ["Request", "Wanted", "eval_command"]

WORSE = 4
"""Exit code: something is worse than in the baseline."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is evaluated, and the files that are written of it."""

    questions: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTIONS",
            help="Questions: JSON lines, JSON or CSV with query, answers, evidence and passages or contexts; or a set "
            "of SQuAD, XQuAD, Natural Questions (with ctxs), HotpotQA, MuSiQue, Ragas, BEIR (a folder), or "
            "LlamaIndex's LabelledRagDataset or EmbeddingQAFinetuneDataset.",
        ),
    ] = None
    docs: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="The folder to find passages in, by BM25.", show_default="the passages of the questions"
        ),
    ] = None
    budgets: Annotated[
        str, typer.Option(metavar="N,...", help="The budgets in tokens; all is the context as it is.")
    ] = "100,200,500,1000,2000,5000,all"
    compare: Annotated[
        str,
        typer.Option(
            metavar="METHOD,...",
            help="The methods, compared with the first: default, adaptive, bm25, first, preset:NAME, encoder:NAME, "
            "config:FILE, EmbeddingsFilter:ENCODER.",
        ),
    ] = "default"
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Take the first N questions.", show_default="all")
    ] = None
    from_headings: Annotated[
        int | None,
        typer.Option(
            "--questions-from-headings",
            metavar="N",
            min=1,
            help="Without QUESTIONS: make N of the headings in --docs. Weaker than questions of users.",
        ),
    ] = None
    json: Annotated[str | None, typer.Option(metavar="OUT", help="Write the report, with the texts, to a file.")] = None
    page: Annotated[
        str | None, typer.Option(metavar="OUT.html", help="Write a page to show to others, with the texts.")
    ] = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of the report besides its tables."""

    max_loss: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Name the least budget that loses at most this share of the evidence on new questions, such as 0.05.",
        ),
    ] = None
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="How sure --max-loss is to hold.")] = 0.9
    settings: Annotated[
        str | None, typer.Option(metavar="OUT.toml", help="Write that budget as a configuration file.")
    ] = None
    llm: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A chat model of LangChain, an LLM of LlamaIndex or a function that answers from each text.",
        ),
    ] = None
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A model that grades the answers.",
            show_default="answers are compared word for word",
        ),
    ] = None
    answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep the model's answers in this file, and go on from there.",
            show_default="they are not kept",
        ),
    ] = None
    price: PriceOption = None


def eval_command(
    request: Request,
    wanted: Wanted,
    baseline: Annotated[
        str | None, typer.Option(metavar="REPORT", help="Compare with a report that --json wrote.")
    ] = None,
) -> None:
    """Measure on your questions what a budget keeps and saves.

    Exit codes: 0 on success, 1 if nothing can be evaluated or written, 2 for wrong usage, 4 if something is worse than
    in the baseline.
    """
    from ctxcompress.apps.cli.evaluation_run import run_eval

    if run_eval(request, wanted, baseline):
        raise typer.Exit(WORSE)
