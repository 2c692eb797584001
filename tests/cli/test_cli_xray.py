"""The command `xray`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress import Passage, compress
from ctxcompress.cli.app import app

QUESTION = "What is the default timeout?"
TEXT = "# Timeouts\n\nThe default timeout is 30 seconds.\n"


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["xray", "-q", QUESTION, *arguments], input=stdin)


def test_the_page_goes_into_the_file(tmp_path: Path) -> None:
    source, page = tmp_path / "a.md", tmp_path / "page.html"
    source.write_text(TEXT, encoding="utf-8")
    page.write_text("what was there before")
    result = run(str(source), "-o", str(page), "--max-tokens", "12")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    shown = page.read_text(encoding="utf-8")
    assert shown.startswith("<!DOCTYPE html>")
    assert "The default timeout is 30 seconds." in shown
    assert "of 12 tokens of the budget" in shown


def test_without_a_file_it_goes_to_standard_output() -> None:
    result = run(stdin=TEXT)
    passages = [Passage("-", TEXT)]
    head = compress(QUESTION, passages).xray().partition("<main>")[0].partition("<dl>")[0]
    assert result.stdout.startswith(head)
    assert result.stdout.endswith("</html>\n")


@pytest.mark.parametrize("name", ["no/such/folder/page.html", "."])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    result = run("-o", str(tmp_path / name), stdin=TEXT)
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
    assert str(tmp_path) in result.stderr


def test_options_are_those_of_compress(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[compression]\nscorer = "bm25"\n')
    shown = run("--config", str(config), "--format", "compact", "--encoding", "cl100k_base", stdin=TEXT).stdout
    assert all(part in shown for part in ("bm25", "compact, extract", "cl100k_base"))
    assert run("--max-tokens", "0", stdin=TEXT).exit_code == 2
