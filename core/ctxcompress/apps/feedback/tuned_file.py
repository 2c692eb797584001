"""The TOML file that holds tuned options, with where they come from. Earlier versions are kept beside it."""

import json
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path

from ctxcompress.apps.feedback.tuning import Curve, Tuning
from ctxcompress.errors import ConfigError
from ctxcompress.version import __version__

__all__ = ["TunedFile", "write_tuned"]


@dataclass(frozen=True, slots=True)
class TunedFile:
    """A file that was written."""

    path: Path
    version: int
    """1 for the first file of this path, and one more each time."""
    earlier: Path | None
    """Where the version before is now; None if there was none."""


def write_tuned(
    path: str | PathLike[str], tuning: Tuning, *, scope: str, today: date, force: bool = False
) -> TunedFile:
    """Write the chosen options as TOML, for `CompressionConfig.from_toml`, with comments that say where they come from.

    today: the date that the file gives. force: whether to replace an existing file, which is renamed to end in
    ".v1.toml", ".v2.toml" and so on.

    Raises ConfigError if no value was chosen, if the file exists and `force` is not set, or if it is not a tuned
    file, and OSError if it cannot be written.
    """
    if not tuning.options:
        raise ConfigError(f"no value keeps {tuning.keep:g} of the answers; record more feedback, or lower keep")
    file = Path(path)
    before = _version(file)
    if before and not force:
        raise ConfigError(
            f"{file.name} exists; --force (force=True) replaces it, and keeps it as {_earlier(file, before).name}"
        )
    earlier = _earlier(file, before) if before else None
    text = "\n".join(_lines(tuning, scope, today, before + 1)) + "\n"
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_text(text, encoding="utf-8")
    if earlier is not None:
        earlier.unlink(missing_ok=True)
        os.link(file, earlier)
    fresh.replace(file)
    return TunedFile(file, before + 1, earlier)


def _earlier(file: Path, version: int) -> Path:
    return file.with_name(f"{file.stem}.v{version}{file.suffix}")


def _version(file: Path) -> int:
    """Return the version of the file; 0 if there is none."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return 0
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name} exists and is not TOML ({error}); give another path") from error
    found = tables.get("tuning")
    version = found.get("version") if isinstance(found, dict) else None
    if not isinstance(version, int) or version < 1:
        raise ConfigError(f"{file.name} exists and was not written by a tuning; give another path")
    return version


def _lines(tuning: Tuning, scope: str, today: date, version: int) -> Iterator[str]:
    yield f"# Tuned by ctxcompress {__version__} on {today.isoformat()}, from {tuning.records} records."
    yield f"# Wanted: {tuning.keep:g} of the answers keep all evidence they used; confidence {tuning.confidence:g}."
    if tuning.together is not None:
        yield (
            f"# Of these records, {tuning.together.answers:.3f} keep it (at least {tuning.together.bound:.3f}), with "
            f"{tuning.together.tokens:,.0f} tokens on average, {tuning.tokens_before:,.0f} before."
        )
    if tuning.missing:
        yield f"# In {tuning.missing} records the answer was missing from the context."
    yield from ("", "[compression]")
    for curve in tuning.curves:
        yield from _option_lines(curve)
    yield from ("", "[tuning]", f"version = {version}", f"date = {today.isoformat()}")
    yield f"scope = {json.dumps(scope, ensure_ascii=False)}"
    yield from (f"records = {tuning.records}", f"keep = {tuning.keep}", f"confidence = {tuning.confidence}")


def _option_lines(curve: Curve) -> Iterator[str]:
    if curve.chosen is None:
        reason = "no value keeps enough, or saves more" if curve.records else "no record says anything about it"
        yield f"# {curve.option} is not set: {reason}."
        return
    chosen = curve.chosen
    yield f"# {chosen.answers:.3f} of {curve.records} (at least {chosen.bound:.3f}), {chosen.tokens:,.0f} tokens:"
    yield f"{curve.option} = {chosen.value}"
