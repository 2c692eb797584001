"""The command line. Needs the extra `cli`; importing this package does not."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments say, and exit.

    Exit codes: 0 for success, 1 for inputs that cannot be used, 2 for wrong usage, 3 for a result without some inputs.
    """
    try:
        from ctxcompress.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("pathspec", "rich", "typer"):
            raise
        sys.exit(f"ctxcompress: the command line needs {error.name}; install it with: pip install 'ctxcompress[cli]'")
    app(prog_name="ctxcompress")
