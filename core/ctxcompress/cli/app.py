"""The commands: compress, xray, batch, demo, mcp and tune."""

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Annotated, Any

import typer
from rich.console import Console

from ctxcompress import CompressionConfig, CtxCompressError, Passage, __version__, compress
from ctxcompress.cli.common_options import (
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
    QueryFieldOption,
    QueryOption,
    SetOption,
    SynonymOption,
    TierOption,
    TopNOption,
    WorkersOption,
)
from ctxcompress.cli.inputs import STDIN, Choice, Inputs, read_inputs
from ctxcompress.cli.report import as_json, complain, stats_table, write_file, write_new_page, write_text
from ctxcompress.config.options import Format, Options, Preset
from ctxcompress.config.start import starting_config
from ctxcompress.config.toml import option_from_text, synonyms_from_texts
from ctxcompress.encoders import encoder_named
from ctxcompress.errors import ConfigError

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
    preview: Annotated[bool, typer.Option("--preview", help="Print one line for each text instead.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with what was kept, what was dropped, and why.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Print statistics to standard error.")] = False,
) -> None:
    """Print the parts of the texts that answer the question.

    Files that cannot be read are skipped, with a message on standard error.

    Exit codes: 0 on success, 1 if no input can be used, 2 for wrong usage, 3 if some inputs were skipped.
    """
    screen = _screen()
    with _readable_errors():
        options = _given(
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
                "must_keep": _rules(must_keep, must_keep_regex),
                "mode": "preview" if preview else None,
            }
        )
        start = _start(preset, config, others)
        inputs = _read(files, Choice(include=include or (), exclude=exclude or (), jsonl=jsonl))
        with _progress(screen, inputs.passages):
            result = compress(query, inputs.passages, config=start, **options)
            output = as_json(result) if json else result.text
        if not (result.text and result.passages) and any(passage.text.strip() for passage in inputs.passages):
            complain(f"nothing fits into {result.max_tokens} tokens; raise --max-tokens")
        if stats:
            screen.print(stats_table(result.stats, result.max_tokens))
    write_text(output)
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
) -> None:
    """Write an HTML page that shows what is kept, and why.

    The page is a single file and contains the texts. Files that cannot be read are skipped, with a message on standard
    error.

    Exit codes: the same as those of compress.
    """
    with _readable_errors():
        options = _given(
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
                "must_keep": _rules(must_keep, must_keep_regex),
            }
        )
        start = _start(preset, config, others)
        inputs = _read(files, Choice(include=include or (), exclude=exclude or (), jsonl=jsonl))
        with _progress(_screen(), inputs.passages):
            page = compress(query, inputs.passages, config=start, **options).xray()
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
    json: Annotated[bool, typer.Option("--json", help="Print the statistics as JSON, to standard output.")] = False,
) -> None:
    """Compress many rows, each a query with passages of its own.

    If the command is stopped, the same command goes on where OUT ends. Rows that fail go to OUT.errors.jsonl with the
    reason, and the statistics to OUT.batch.json.

    Exit codes: 0 on success, 1 if a file cannot be read or written, 2 for wrong usage, 3 if some rows failed, 130 if
    the command was stopped.
    """
    from ctxcompress.cli.batch_run import Request, run_batch

    with _readable_errors():
        given = {"max_tokens": max_tokens, "tier": tier, "format": format, "encoder": encoder}
        start = _start(preset, config, others).with_options(**_given(given))
        request = Request(inputs, output, start, (query_field, passages_field), workers, engine, address, overwrite)
        failed = run_batch(request, _screen(), as_json=json)
    if failed:
        raise typer.Exit(INCOMPLETE)


@app.command()
def demo(
    question: Annotated[
        str | None,
        typer.Option(help="A question about the installed packages.", show_default="one it can answer"),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Limit the compressed documentation to N tokens.", show_default="300"),
    ] = None,
    preset: PresetOption = None,
    config: ConfigOption = None,
    others: SetOption = None,
) -> None:
    """Answer a question from the installed documentation.

    The documentation is retrieved with LangChain and compressed, and the tokens before and after are compared.
    """
    from ctxcompress.cli.demo import run_demo

    screen = Console()
    with _readable_errors(), screen.capture() as shown:
        start = _start(preset, config, others)
        if max_tokens is not None or not (start.max_tokens or start.tier):
            start = start.with_options(max_tokens=300 if max_tokens is None else max_tokens)
        run_demo(screen, question, start)
    write_text(shown.get())


@app.command("mcp")
def mcp_command(
    docs: Annotated[
        str, typer.Option("--docs", metavar="DIR", help="The folder whose text, Markdown and code files are served.")
    ],
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Limit an answer to N tokens.", show_default="2000")
    ] = None,
    preset: PresetOption = None,
    config: ConfigOption = None,
    format: Annotated[
        Format | None,
        typer.Option(help="How an answer shows the source of each result.", show_default="compact"),
    ] = None,
    encoder: EncoderOption = None,
    adaptive: AdaptiveOption = None,
    others: SetOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP on 127.0.0.1 instead of standard input and output.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(metavar="N", help="The port for --http; 0 picks a free one.", show_default="8000")
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Serve a page for Prometheus at /metrics; needs --http.")
    ] = False,
) -> None:
    """Serve a folder of documents over MCP.

    Exit codes: 0 when the client disconnects, 2 for wrong usage.
    """
    from ctxcompress.mcp import serve

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    with _readable_errors():
        if port is not None and not http:
            raise ConfigError(f"--port {port} is given without --http; give both or neither")
        if metrics and not http:
            raise ConfigError("--metrics is given without --http; give both or neither")
        number = (8_000 if port is None else port) if http else None
        if not http:
            # Ctrl-C ends the process at once: a thread waits for standard input, and no exception can wake it.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        serve(
            docs,
            config=_start(preset, config, others, default="docs").with_options(**_given({"adaptive": adaptive})),
            max_tokens=max_tokens,
            format=format,
            encoder=encoder_named(encoder) if encoder is not None else None,
            port=number,
            metrics=metrics,
            ready=lambda where: complain(f"serving {docs} on {where}"),
        )


@app.command("tune")
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
    """Fit min_score, min_probability and max_tokens to recorded feedback.

    For each value, a table shows how much of the used evidence it would have kept, and how many tokens.

    Exit codes: 0 on success, 1 if a file cannot be written, 2 for wrong usage or too few records.
    """
    from ctxcompress.cli.tuning_report import run_tune

    with _readable_errors():
        run_tune(file, scope, keep, confidence, out, force=force, as_json=json)


def _rules(texts: list[str] | None, patterns: list[str] | None) -> list[object]:
    return [*(texts or ()), *({"regex": pattern} for pattern in patterns or ())]


def _given(options: dict[str, Any]) -> Options:
    """Return the options that were given, with the objects that their texts name."""
    given: Any = {name: value for name, value in options.items() if value not in (None, [])}
    if "encoder" in given:
        given["encoder"] = encoder_named(given["encoder"])
    if "synonyms" in given:
        given["synonyms"] = synonyms_from_texts(given["synonyms"])
    return given  # type: ignore[no-any-return]


def _start(
    preset: Preset | None, config: str | None, others: list[str] | None, *, default: Preset | None = None
) -> CompressionConfig:
    """Return the options of the preset or the file, and over them those of `--set`."""
    if preset is not None and config is not None:
        raise ConfigError(f"both --preset {preset} and --config {config} are given; name the preset in the file")
    given: Any = dict(map(option_from_text, others or ()))
    return starting_config(config, preset, default=default).with_options(**given)


def _screen() -> Console:
    # Without markup: file names and messages may contain brackets.
    return Console(stderr=True, markup=False)


def _read(files: list[str] | None, choice: Choice) -> Inputs:
    """Read the files, or standard input if there are none. Exit with code 1 if all inputs are skipped."""
    if not files and sys.stdin is not None and sys.stdin.isatty():
        complain("reading standard input; end it with Ctrl-D")
    inputs = read_inputs(files or [STDIN], choice)
    for skipped in inputs.skipped:
        complain(str(skipped))
    if inputs.skipped and not inputs.passages:
        raise typer.Exit(1)
    return inputs


def _end(inputs: Inputs) -> None:
    if inputs.skipped:
        raise typer.Exit(INCOMPLETE)


def _progress(screen: Console, passages: list[Passage]) -> AbstractContextManager[object]:
    size = sum(len(passage.text) for passage in passages)
    if not screen.is_terminal or size < LONG_WORK:
        return nullcontext()
    return screen.status(f"compressing {len(passages):,} passages, {size:,} characters")


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Turn this library's errors into a message and an exit code."""
    try:
        yield
    except CtxCompressError as error:
        complain(str(error))
        raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from error
