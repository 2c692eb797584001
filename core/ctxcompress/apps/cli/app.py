"""The commands: compress, xray, batch and demo here, the others in modules of their own."""

from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer
from rich.console import Console

from ctxcompress import Passage, __version__, compress
from ctxcompress.apps.cli.common_options import (
    AdaptiveOption,
    AddressOption,
    BatchInputsArgument,
    BatchOutputArgument,
    ConfigOption,
    EncoderOption,
    EncodingOption,
    EngineOption,
    ExcludeOption,
    FilesArgument,
    FormatOption,
    IncludeOption,
    JsonlOption,
    LanguageOption,
    MaxTokensOption,
    MinScoreOption,
    MustKeepOption,
    MustKeepRegexOption,
    OrderOption,
    PassagesFieldOption,
    PresetOption,
    PriceOption,
    QueryFieldOption,
    QueryOption,
    SetOption,
    SynonymOption,
    TierOption,
    TopNOption,
    WorkersOption,
    given_options,
    keep_rules,
    price_of,
    starting_options,
)
from ctxcompress.apps.cli.doctor_command import doctor_command
from ctxcompress.apps.cli.eval_command import eval_command
from ctxcompress.apps.cli.inputs import STDIN, Choice, Inputs, usable_inputs
from ctxcompress.apps.cli.mcp_command import mcp_command
from ctxcompress.apps.cli.play_command import play_command
from ctxcompress.apps.cli.report import (
    as_json,
    complain,
    readable_errors,
    stats_table,
    write_file,
    write_new_page,
    write_text,
)
from ctxcompress.apps.cli.tune_command import tune_command
from ctxcompress.apps.xray import html_page

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

INCOMPLETE = 3
"""Exit code: there is a result, but some inputs were skipped."""
LONG_WORK = 2_000_000
"""Characters from which progress is shown: about a second of work."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ctxcompress {__version__}")
        raise typer.Exit


@app.callback()
def ctxcompress(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Make texts smaller without losing the answer to a question."""


@app.command("compress")
def compress_command(
    query: QueryOption,
    files: FilesArgument = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    jsonl: JsonlOption = False,
    max_tokens: MaxTokensOption = None,
    tier: TierOption = None,
    must_keep: MustKeepOption = None,
    must_keep_regex: MustKeepRegexOption = None,
    encoding: EncodingOption = None,
    language: LanguageOption = None,
    preset: PresetOption = None,
    config: ConfigOption = None,
    encoder: EncoderOption = None,
    format: FormatOption = None,
    adaptive: AdaptiveOption = None,
    min_score: MinScoreOption = None,
    top_n: TopNOption = None,
    order: OrderOption = None,
    synonym: SynonymOption = None,
    others: SetOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with what was kept, what was dropped, and why.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Print statistics to standard error.")] = False,
    price: PriceOption = None,
) -> None:
    """Print the parts of the texts that answer the question.

    Files that cannot be read are skipped, with a message on standard error.

    Exit codes: 0 on success, 1 if no input can be used or nothing is kept, 2 for wrong usage, 3 if inputs were skipped.
    """
    screen = _screen()
    with readable_errors():
        options = given_options(
            {
                "max_tokens": max_tokens,
                "tier": tier,
                "encoding": encoding,
                "language": language,
                "format": format,
                "encoder": encoder,
                "adaptive": adaptive,
                "min_score": min_score,
                "top_n": top_n,
                "order": order,
                "synonyms": synonym,
                "must_keep": keep_rules(must_keep, must_keep_regex),
            }
        )
        start, money = starting_options(preset, config, others), price_of(price)
        inputs = usable_inputs(files, Choice(include=include or (), exclude=exclude or (), jsonl=jsonl))
        with _progress(screen, inputs.passages):
            result = compress(query, inputs.passages, config=start, **options)
            output = as_json(result) if json else result.text
        if stats or money:
            screen.print(stats_table(result.stats, result.max_tokens, money))
    write_text(output)
    if not result.text:
        complain("nothing is kept of the input, as the options have it; with on_empty=keep_best the best is kept")
        raise typer.Exit(1)
    _end(inputs)


@app.command()
def xray(
    query: QueryOption,
    files: FilesArgument = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PAGE",
            help="The file to write, replaced if it exists; - for standard output.",
            show_default="a new file in the current folder, whose path is printed",
        ),
    ] = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    jsonl: JsonlOption = False,
    max_tokens: MaxTokensOption = None,
    tier: TierOption = None,
    must_keep: MustKeepOption = None,
    must_keep_regex: MustKeepRegexOption = None,
    encoding: EncodingOption = None,
    language: LanguageOption = None,
    preset: PresetOption = None,
    config: ConfigOption = None,
    encoder: EncoderOption = None,
    format: FormatOption = None,
    adaptive: AdaptiveOption = None,
    min_score: MinScoreOption = None,
    top_n: TopNOption = None,
    order: OrderOption = None,
    synonym: SynonymOption = None,
    others: SetOption = None,
    price: PriceOption = None,
) -> None:
    """Write an HTML page that shows what is kept, and why.

    The page is a single file and contains the texts. Files that cannot be read are skipped, with a message on standard
    error.

    Exit codes: the same as those of compress.
    """
    with readable_errors():
        options = given_options(
            {
                "max_tokens": max_tokens,
                "tier": tier,
                "encoding": encoding,
                "language": language,
                "format": format,
                "encoder": encoder,
                "adaptive": adaptive,
                "min_score": min_score,
                "top_n": top_n,
                "order": order,
                "synonyms": synonym,
                "must_keep": keep_rules(must_keep, must_keep_regex),
            }
        )
        start, money = starting_options(preset, config, others), price_of(price)
        choice = Choice(include=include or (), exclude=exclude or (), jsonl=jsonl, output=output)
        inputs = usable_inputs(files, choice)
        with _progress(_screen(), inputs.passages):
            result = compress(query, inputs.passages, config=start, **options)
            page = html_page(result, start.with_options(**options), price=money)
    if output is None:
        write_text(str(write_new_page(page)))
    elif output == STDIN:
        write_text(page)
    else:
        write_file(output, page)
    _end(inputs)


@app.command("batch")
def batch_command(
    inputs: BatchInputsArgument,
    output: BatchOutputArgument,
    max_tokens: MaxTokensOption = None,
    tier: TierOption = None,
    preset: PresetOption = None,
    config: ConfigOption = None,
    encoder: EncoderOption = None,
    format: FormatOption = None,
    others: SetOption = None,
    query_field: QueryFieldOption = "query",
    passages_field: PassagesFieldOption = "passages",
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew if OUT exists.")] = False,
    price: PriceOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON, to standard output.")] = False,
) -> None:
    """Compress many rows, each a query with passages of its own.

    If the command is stopped, the same command goes on where OUT ends. Rows that fail go to OUT.errors.jsonl with the
    reason, and the statistics to OUT.batch.json.

    Exit codes: 0 on success, 1 if a file cannot be read or written, 2 for wrong usage or a missing input, 3 if some
    rows failed, 130 if the command was stopped.
    """
    from ctxcompress.apps.cli.batch_run import Request, run_batch

    with readable_errors():
        given = {"max_tokens": max_tokens, "tier": tier, "format": format, "encoder": encoder}
        start = starting_options(preset, config, others).with_options(**given_options(given))
        request = Request(inputs, output, start, (query_field, passages_field), workers, engine, address, overwrite)
        failed = run_batch(request, _screen(), price_of(price), as_json=json)
    if failed:
        raise typer.Exit(INCOMPLETE)


@app.command()
def demo(
    question: Annotated[
        str | None,
        typer.Option(help="A question about the installed packages.", show_default="three"),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Limit the compressed documentation to N tokens.", show_default="150"),
    ] = None,
    preset: PresetOption = None,
    config: ConfigOption = None,
    others: SetOption = None,
) -> None:
    """Ask the installed documentation three questions, of which nothing answers the last.

    It is retrieved with LangChain. What is kept is compared with all of it and with BM25, in tokens, time and money.
    """
    from ctxcompress.apps.cli.demo import run_demo

    screen = Console()
    with readable_errors(), screen.capture() as shown:
        start = starting_options(preset, config, others)
        if max_tokens is not None or not (start.max_tokens or start.tier):
            start = start.with_options(max_tokens=150 if max_tokens is None else max_tokens, adaptive=True)
        run_demo(screen, question, start)
    write_text(shown.get())


app.command("eval")(eval_command)
app.command("mcp")(mcp_command)
app.command("play")(play_command)
app.command("tune")(tune_command)
app.command("doctor")(doctor_command)


def _screen() -> Console:
    # Without markup: file names and messages may contain brackets.
    return Console(stderr=True, markup=False)


def _end(inputs: Inputs) -> None:
    if inputs.skipped:
        raise typer.Exit(INCOMPLETE)


def _progress(screen: Console, passages: list[Passage]) -> AbstractContextManager[object]:
    size = sum(len(passage.text) for passage in passages)
    if not screen.is_terminal or size < LONG_WORK:
        return nullcontext()
    return screen.status(f"compressing {len(passages):,} passages, {size:,} characters")
