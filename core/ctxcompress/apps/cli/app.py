"""The commands: compress, xray, demo, tune and doctor here, the others in modules of their own."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_origin

import typer
from rich.console import Console

from ctxcompress import Passage, __version__, compress
from ctxcompress.apps.cli import common_options as common
from ctxcompress.apps.cli.batch_command import batch_command
from ctxcompress.apps.cli.eval_command import eval_command
from ctxcompress.apps.cli.inputs import STDIN, Choice, usable_inputs
from ctxcompress.apps.cli.report import (
    INCOMPLETE,
    as_json,
    complain,
    error_screen,
    readable_errors,
    stats_table,
    write_file,
    write_new_page,
    write_text,
)
from ctxcompress.apps.cli.server_commands import mcp_command, play_command
from ctxcompress.apps.doctor import diagnosis, shown
from ctxcompress.apps.xray import html_page

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

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


def compress_command(
    query: common.QueryOption,
    files: common.FilesArgument = None,
    *,
    choice: Choice,
    options: common.CompressionOptions,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with what was kept, what was dropped, and why.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Print statistics to standard error.")] = False,
    price: common.PriceOption = None,
) -> None:
    """Print the parts of the texts that answer the question.

    Files that cannot be read are skipped, with a message on standard error.

    Exit codes: 0 on success, 1 if no input can be used or nothing is kept, 2 for wrong usage, 3 if inputs were skipped.
    """
    given, start, money = options.given(), options.start(), common.price_of(price)
    inputs = usable_inputs(files, choice)
    with _progress(inputs.passages):
        result = compress(query, inputs.passages, config=start, **given)
        output = as_json(result) if json else result.text
    if stats or money:
        error_screen().print(stats_table(result.stats, result.max_tokens, money))
    write_text(output)
    if not result.text:
        complain("nothing is kept of the input, as the options have it; with on_empty=keep_best the best is kept")
        raise typer.Exit(1)
    if inputs.skipped:
        raise typer.Exit(INCOMPLETE)


def xray(
    query: common.QueryOption,
    files: common.FilesArgument = None,
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
    *,
    choice: Choice,
    options: common.CompressionOptions,
    price: common.PriceOption = None,
) -> None:
    """Write an HTML page that shows what is kept, and why.

    The page is a single file and contains the texts. Files that cannot be read are skipped, with a message on standard
    error.

    Exit codes: the same as those of compress.
    """
    given, start, money = options.given(), options.start(), common.price_of(price)
    inputs = usable_inputs(files, replace(choice, output=output))
    with _progress(inputs.passages):
        result = compress(query, inputs.passages, config=start, **given)
        page = html_page(result, start.with_options(**given), price=money)
    if output is None:
        write_text(str(write_new_page(page)))
    elif output == STDIN:
        write_text(page)
    else:
        write_file(output, page)
    if inputs.skipped:
        raise typer.Exit(INCOMPLETE)


def demo(
    question: Annotated[
        str | None, typer.Option(help="A question about the installed packages.", show_default="three")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Limit the compressed documentation to N tokens.", show_default="150"),
    ] = None,
    preset: common.PresetOption = None,
    config: common.ConfigOption = None,
    others: common.SetOption = None,
) -> None:
    """Ask the installed documentation three questions, of which nothing answers the last.

    It is retrieved with LangChain. What is kept is compared with all of it and with BM25, in tokens, time and money.
    """
    from ctxcompress.apps.cli.demo import run_demo

    screen = Console()
    with screen.capture() as captured:
        start = common.starting_options(preset, config, others)
        if max_tokens is not None or not (start.max_tokens or start.tier):
            start = start.with_options(max_tokens=150 if max_tokens is None else max_tokens, adaptive=True)
        run_demo(screen, question, start)
    write_text(captured.get())


def tune(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file of a FeedbackLog.")],
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
        str | None, typer.Option(metavar="TOML", help="The TOML file to write. Without it, nothing is written.")
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

    run_tune(file, scope, keep, confidence, out, force=force, as_json=json)


def doctor() -> None:
    """Say what this installation has, what is missing, and how to get it.

    Exit codes: 0 if a compression works, 1 if not.
    """
    findings = [*diagnosis()]
    write_text(shown(findings))
    if any(finding.is_broken for finding in findings):
        raise typer.Exit(1)


def command(run: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer, with the options of a dataclass in place of the parameter that it is the type of.

    Errors of this library become a message and an exit code.
    """
    own = signature(run).parameters
    shared = {name: _options(each.annotation) for name, each in own.items() if is_dataclass(each.annotation)}

    @wraps(run)
    def called(**given: Any) -> None:
        with readable_errors():
            made = {
                name: own[name].annotation(**{option.name: given.pop(option.name) for option in options})
                for name, options in shared.items()
            }
            run(**made, **given)

    options = [option for name, each in own.items() for option in shared.get(name, [each])]
    called.__signature__ = Signature([each.replace(kind=Parameter.KEYWORD_ONLY) for each in options])  # type: ignore[attr-defined]
    return called


def _options(kind: Any) -> list[Parameter]:
    return [each for each in signature(kind).parameters.values() if get_origin(each.annotation) is Annotated]


_COMMANDS: Mapping[str, Callable[..., None]] = {
    "compress": compress_command,
    "xray": xray,
    "batch": batch_command,
    "demo": demo,
    "eval": eval_command,
    "mcp": mcp_command,
    "play": play_command,
    "tune": tune,
    "doctor": doctor,
}
for _name, _run in _COMMANDS.items():
    app.command(_name)(command(_run))


def _progress(passages: list[Passage]) -> AbstractContextManager[object]:
    screen, size = error_screen(), sum(len(passage.text) for passage in passages)
    if not screen.is_terminal or size < LONG_WORK:
        return nullcontext()
    return screen.status(f"compressing {len(passages):,} passages, {size:,} characters")
