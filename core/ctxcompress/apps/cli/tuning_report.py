"""The command `tune`: the curves of each option as tables or JSON, and the TOML file."""

import json
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.table import Table

from ctxcompress.apps.cli.report import complain, write_parts, write_text
from ctxcompress.apps.feedback import Curve, FeedbackLog, Tuning, tune, write_tuned
from ctxcompress.apps.feedback.feedback_file import is_feedback_file
from ctxcompress.errors import ConfigError

__all__ = ["run_tune"]

_WIDTH = 100


def run_tune(
    file: str, scope: str | None, keep: float, confidence: float, out: str | None, *, force: bool, as_json: bool
) -> None:
    """Fit the options to the feedback in a file, print the curves, and write the TOML file if `out` is given.

    Raises ConfigError for a wrong argument or too few records. Exits with code 1 if the TOML file cannot be written.
    """
    log = _opened(file, scope)
    tuning = tune(log.records(), keep=keep, confidence=confidence)
    if out is not None:
        _write(out, tuning, log.scope, force=force)
    if as_json:
        write_text(json.dumps({"schema": "ctxcompress-tuning/1", "scope": log.scope, **tuning.to_dict()}))
        return
    tables = (
        _table(curve) if curve.records else f"{curve.option}: no record says anything about it"
        for curve in tuning.curves
    )
    write_parts((*tables, *_summary(tuning)), _WIDTH)


def _opened(file: str, scope: str | None) -> FeedbackLog:
    try:
        is_log = is_feedback_file(Path(file))
    except OSError as error:
        raise ConfigError(f"{file!r} cannot be read ({error.strerror}); give the file of a FeedbackLog") from error
    if not is_log:
        raise ConfigError(f"{file!r} is no file that a FeedbackLog has written; give the path that you gave to it")
    scopes = FeedbackLog(file).scopes()
    if scope is None and len(scopes) == 1:
        scope = next(iter(scopes))
    if scope is None or scope not in scopes:
        known = ", ".join(f"{name!r} ({count} records)" for name, count in scopes.items()) or "no scope"
        given = "no --scope is given" if scope is None else f"there is no scope {scope!r}"
        raise ConfigError(f"{given}; the file has {known}")
    return FeedbackLog(file, scope=scope)


def _write(out: str, tuning: Tuning, scope: str, *, force: bool) -> None:
    try:
        written = write_tuned(out, tuning, scope=scope, today=datetime.now(UTC).date(), force=force)
    except OSError as error:
        complain(f"{out!r} cannot be written ({error.strerror})")
        raise typer.Exit(1) from error
    kept = "" if written.earlier is None else f"; the version before is now {written.earlier.name}"
    complain(f"wrote version {written.version} to {written.path}{kept}")


def _table(curve: Curve) -> Table:
    table = Table(title=f"{curve.option}: {curve.records} records", title_justify="left")
    for column in (curve.option, "evidence kept", "answers that keep all", "at least", "tokens", ""):
        table.add_column(column, justify="right")
    end = next((number for number, point in enumerate(curve.points, 1) if not point.evidence), len(curve.points))
    for point in curve.points[:end]:  # up to the first that keeps no evidence
        chosen = "<- chosen" if point == curve.chosen else ""
        shares = (f"{point.evidence:.3f}", f"{point.answers:.3f}", f"{point.bound:.3f}")
        table.add_row(f"{point.value:g}", *shares, f"{point.tokens:,.0f}", chosen)
    return table


def _summary(tuning: Tuning) -> list[str]:
    """Return the lines below the tables."""
    lines = []
    if tuning.whole_passages:
        lines.append(
            f"{tuning.whole_passages} of {tuning.pieces} pieces of evidence are whole passages, of which only the "
            "best segment must be kept. Record spans or answers where you can."
        )
    if tuning.missing:
        lines.append(
            f"In {tuning.missing} of the records the answer was missing from the context. Look at the retrieval before "
            "you lower anything."
        )
    if tuning.together is None:
        return [*lines, f"No value keeps {tuning.keep:g} of the answers: nothing is chosen."]
    options = ", ".join(f"{name} = {value:g}" for name, value in tuning.options.items())
    return [
        *lines,
        f"Together: {options}. {tuning.together.answers:.3f} of the answers keep all evidence (at least "
        f"{tuning.together.bound:.3f}), with {tuning.together.tokens:,.0f} tokens, {tuning.tokens_before:,.0f} before.",
    ]
