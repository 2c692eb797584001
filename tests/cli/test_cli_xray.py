"""The command `xray`."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress.apps.cli.app import app

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


@pytest.mark.parametrize("given", ["a.md", "./a.md", ".", "linked.md", "a.jsonl"])
def test_an_input_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text(TEXT)
    Path("a.jsonl").write_text('{"text": "a", "id": "1"}\n')
    Path("linked.md").symlink_to("a.md")
    output = "a.jsonl" if given == "a.jsonl" else str(tmp_path / "a.md")
    result = run(given, "-o", output)
    assert result.exit_code == 2
    assert f"'{output}' is an input, too; give another file for the output, or --exclude it" in result.stderr
    assert Path("a.md").read_text() == TEXT
    assert Path("a.jsonl").read_text() == '{"text": "a", "id": "1"}\n'


def test_without_a_text_no_page_is_written(tmp_path: Path) -> None:
    result = run("-o", str(tmp_path / "page.html"), stdin=" \n")
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "there is no text in the input" in result.stderr


def test_by_default_it_goes_into_a_new_file_whose_path_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = [run(stdin=TEXT).stdout for _ in range(2)]
    pages = [Path(line.removesuffix("\n")) for line in printed]
    assert sorted(pages) == sorted(tmp_path.iterdir())
    assert len(set(pages)) == 2
    for page in pages:
        assert page.name.startswith("ctxcompress-xray-")
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_where_nothing_can_be_written_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("rights hold for others than this user")
    result = run(stdin=TEXT)
    assert result.exit_code == 1
    assert "give another place with --output" in result.stderr


def test_options_are_those_of_compress(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[compression]\nscorer = "bm25"\n')
    shown = run(
        "--config", str(config), "--format", "compact", "--encoding", "cl100k_base", "-o", "-", stdin=TEXT
    ).stdout
    assert all(part in shown for part in ("bm25", "compact, source order", "cl100k_base"))
    assert run("--max-tokens", "0", stdin=TEXT).exit_code == 2
