"""The command `play`."""

import webbrowser
from typing import Annotated

import typer

from ctxcompress.apps.cli.inputs import Choice, usable_inputs
from ctxcompress.apps.cli.report import complain, write_text
from ctxcompress.errors import ConfigError

__all__ = ["play_command"]


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

    if bool(files) == (docs is not None):
        raise ConfigError("give either FILE, one or more, or --docs DIR")
    if docs is not None:
        source, name = found_in(FolderIndex(docs)), docs
    else:
        passages = usable_inputs(files or [], choice).passages
        source, name = (lambda _: passages), ", ".join(files or [])
    play(source, name, port=port, ready=ready)
