"""The commands that serve: `mcp` and `play`."""

import logging
import signal
import sys
import webbrowser
from typing import Annotated

import typer

from ctxcompress.apps.cli import common_options as common
from ctxcompress.apps.cli.inputs import Choice, usable_inputs
from ctxcompress.apps.cli.report import complain, write_text
from ctxcompress.config.options import Format
from ctxcompress.errors import ConfigError

__all__ = ["mcp_command", "play_command"]


def mcp_command(
    docs: Annotated[str, typer.Option(metavar="DIR", help="The folder whose text files are served.")],
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="Limit an answer to N tokens.", show_default="1000")
    ] = None,
    preset: common.PresetOption = None,
    config: common.ConfigOption = None,
    format: Annotated[
        Format | None, typer.Option(help="How an answer shows the source of each result.", show_default="compact")
    ] = None,
    encoder: common.EncoderOption = None,
    adaptive: common.AdaptiveOption = None,
    others: common.SetOption = None,
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
    from ctxcompress.apps.mcp import serve

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    if port is not None and not http:
        raise ConfigError(f"--port {port} is given without --http; give both or neither")
    if metrics and not http:
        raise ConfigError("--metrics is given without --http; give both or neither")
    number = (8_000 if port is None else port) if http else None
    if not http:
        # Ctrl-C ends the process at once: a thread waits for standard input, and no exception can wake it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    start = common.starting_options(preset, config, others, default="docs")
    serve(
        docs,
        config=start.with_options(**common.given_options({"adaptive": adaptive})),
        max_tokens=max_tokens,
        format=format,
        encoder=encoder,
        port=number,
        metrics=metrics,
        ready=lambda where: complain(f"serving {docs} on {where}"),
    )


def play_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="The texts: files, .jsonl files and folders, as compress reads them; - for standard input.",
        ),
    ] = None,
    docs: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A folder in which each question finds its passages, in place of FILE."),
    ] = None,
    *,
    choice: Choice,
    price: common.PriceOption = None,
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 picks a free one.")] = 8_765,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Try out questions and options on a page, and see at once what is kept.

    The page is served on 127.0.0.1 only, until Ctrl-C. Its address is printed. It exports the options as code.

    Exit codes: 130 when it is stopped, 1 if no input can be used, 2 for wrong usage.
    """
    from ctxcompress.apps.index import FolderIndex
    from ctxcompress.apps.playground import found_in, play

    def ready(address: str) -> None:
        complain(f"showing {name}; end it with Ctrl-C")
        write_text(address)
        if opens:
            webbrowser.open(address)

    money = common.price_of(price)
    if bool(files) == (docs is not None):
        raise ConfigError("give either FILE, one or more, or --docs DIR")
    if docs is not None:
        source, name = found_in(FolderIndex(docs)), docs
    else:
        passages = usable_inputs(files or [], choice).passages
        source, name = (lambda _: passages), ", ".join(files or [])
    play(source, name, port=port, price=money, ready=ready)
