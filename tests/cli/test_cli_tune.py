"""The command `tune`, through a runner in this process."""

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.apps.cli.app import app
from ctxcompress.apps.feedback import FeedbackLog

QUESTION = "What is the default timeout?"
ANSWER = "The default timeout is 30 seconds."
PAGES = [f"The pool has ten connections. {ANSWER} Logs are kept for a week.", *["The garden is open on Sundays. "] * 9]


def tune(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["tune", *map(str, arguments)])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("feedback") / "feedback.sqlite"
    log, result = (
        FeedbackLog(path, scope="shop"),
        Compressor(CompressionConfig(max_tokens=60)).compress(QUESTION, PAGES),
    )
    for _ in range(30):
        log.record(result, used=result.cite(ANSWER))
    log.record(result, used=[result.passages[0]], missing=True)
    return path


def test_it_shows_the_curves_and_what_is_chosen_and_leaves_the_feedback_as_it_is(file: Path) -> None:
    before = file.read_bytes()
    result = tune(file, "--keep", 0.9)
    assert result.exit_code == 0, result.stderr
    assert "max_tokens: 31 records" in result.stdout
    assert "<- chosen" in result.stdout
    assert "Together: " in result.stdout
    assert "1 of 31 pieces of evidence are whole passages" in result.stdout
    assert "In 1 of the records the answer was missing" in result.stdout
    assert (file.read_bytes(), list(file.parent.iterdir())) == (before, [file])


def test_it_writes_a_file_that_loads_and_keeps_the_one_before(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned.toml"
    first = tune(file, "--keep", 0.9, "--out", out)
    assert first.exit_code == 0
    assert f"wrote version 1 to {out}" in first.stderr
    CompressionConfig.from_toml(out)
    again = tune(file, "--keep", 0.9, "--out", out)
    assert again.exit_code == 2
    assert "tuned.toml exists" in again.stderr
    forced = tune(file, "--keep", 0.9, "--out", out, "--force")
    assert "the version before is now tuned.v1.toml" in forced.stderr
    assert tomllib.loads(out.read_text())["tuning"]["version"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there are 31 records with used evidence, and 149 are needed"),
        (["--scope", "other"], "there is no scope 'other'; the file has 'shop' (31 records)"),
        (["--keep", "1.5"], "keep is 1.5; give a share"),
        (["--keep", "0.9", "--out", "/no/such/folder/tuned.toml"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(file: Path, arguments: list[str], message: str) -> None:
    result = tune(file, *arguments)
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize("content", [b"", b"notes of mine\n" * 300, b"SQLite format 3\0" + bytes(500), "database"])
def test_a_file_of_something_else_stays_as_it_is(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "notes.txt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE notes (text TEXT)")
    path.chmod(0o644)
    before = (path.read_bytes(), path.stat().st_mode)
    result = tune(path, "--out", tmp_path / "tuned.toml")
    assert result.exit_code == 2
    assert f"'{path}' is no file that a FeedbackLog has written; give the path" in result.stderr
    assert (path.read_bytes(), path.stat().st_mode) == before
    assert list(tmp_path.iterdir()) == [path]
