"""The command line. It needs the extra `cli`; importing this package does not."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name, and exit.

    Exit codes: 0 on success, 1 if no input can be used, 2 for wrong usage, 3 if some inputs were skipped, 4 if
    an evaluation is worse than its baseline.
    """
    try:
        from ctxcompress.apps.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("pathspec", "rich", "typer"):
            raise
        if sys.argv[1:] == ["doctor"]:  # which says all that is missing
            from ctxcompress.apps.doctor import diagnosis, shown

            findings = [*diagnosis()]
            sys.stdout.write(shown(findings))
            sys.exit(any(finding.is_broken for finding in findings))
        sys.exit(f"ctxcompress: the command line needs {error.name}; install it with: pip install 'ctxcompress[cli]'")
    app(prog_name="ctxcompress")
