"""The command `doctor`."""

import typer

from ctxcompress.apps.cli.report import write_text
from ctxcompress.apps.doctor import diagnosis, shown

__all__ = ["doctor_command"]


def doctor_command() -> None:
    """Say what this installation has, what is missing, and how to get it.

    Exit codes: 0 if a compression works, 1 if not.
    """
    findings = [*diagnosis()]
    write_text(shown(findings))
    if any(finding.is_broken for finding in findings):
        raise typer.Exit(1)
