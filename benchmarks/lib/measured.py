"""The line above a table that says when it was measured, of which commit and on what."""

import subprocess
from datetime import date
from pathlib import Path

__all__ = ["measured"]


def measured(what: str) -> str:
    """Return the line, without the commit where there is no checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"Measured on {date.today().isoformat()}{commit and f', commit {commit}'}: {what}."
