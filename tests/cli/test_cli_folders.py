"""Folders as inputs of the commands: which of their files are read, in which order, and what is said of the others."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress.apps.cli.app import app

TEXT = "The default timeout is 30 seconds."
NO_TEXT = "ctxcompress: files in 'docs' that are no text are not read: 1 .png\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compress", "-q", "What is the default timeout?", *arguments])


def read(*arguments: str) -> list[str]:
    """The names of what is read."""
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr.replace(NO_TEXT, "")) == (0, "")
    return [passage["id"] for passage in json.loads(result.stdout)["passages"]]


@pytest.fixture(autouse=True)
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = (
        *("docs/b.md", "docs/B/c.txt", "docs/a [1] b.rst", "docs/api/v1/x.py", "docs/settings.cfg", "docs/image.png"),
        *("docs/.git/config.md", "docs/.hidden.md", "docs/node_modules/p/readme.md", "docs/venv/lib/x.py"),
    )
    for number, name in enumerate(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{number}. {TEXT}")
    (tmp_path / "docs/image.png").write_bytes(b"\x89PNG\0")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


def test_text_files_are_read_in_the_order_of_their_paths() -> None:
    assert read("docs") == ["docs/B/c.txt", "docs/a [1] b.rst", "docs/api/v1/x.py", "docs/b.md", "docs/settings.cfg"]
    assert read("docs/api", "docs/B/") == ["docs/api/v1/x.py", "docs/B/c.txt"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["--include", "*.cfg"], ["docs/settings.cfg"]),
        (["--include", "*.md", "--include", "*.rst"], ["docs/a [1] b.rst", "docs/b.md"]),
        (["--include", "api/**/*.py"], ["docs/api/v1/x.py"]),
        (["--include", "/*", "--exclude", "*.png"], ["docs/B/c.txt", "docs/a [1] b.rst", "docs/api/v1/x.py",
                                                     "docs/b.md", "docs/settings.cfg"]),
        (["--include", "[ab].md"], ["docs/b.md"]),
        (["--include", "*", "--exclude", "*.png", "--exclude", "B/"], ["docs/a [1] b.rst", "docs/api/v1/x.py",
                                                                      "docs/b.md", "docs/settings.cfg"]),
        (["--exclude", "api"], ["docs/B/c.txt", "docs/a [1] b.rst", "docs/b.md", "docs/settings.cfg"]),
        (["--exclude", "*", "--exclude", "!b.md"], ["docs/b.md"]),
    ],
)  # fmt: skip
def test_files_are_chosen_by_patterns(patterns: list[str], expected: list[str]) -> None:
    assert read("docs", *patterns) == expected


@pytest.mark.parametrize("pattern", ["[", "!", "", "# a comment"])
@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_what_is_no_pattern_is_refused(option: str, pattern: str) -> None:
    result = run("docs", option, pattern)
    assert result.exit_code == 2
    assert f"{option} is {pattern!r}, which is not a pattern" in result.stderr


def test_what_cannot_be_read_is_skipped_and_named(docs: Path) -> None:
    (docs / "latin.txt").write_bytes(b"caf\xe9")
    (docs / "binary.txt").write_bytes(b"a\0b")
    (docs / "line\nbreak.md").write_text(TEXT)
    result = run("docs")
    assert result.exit_code == 3
    assert "seconds" in result.stdout
    assert result.stderr.splitlines() == [
        "ctxcompress: 'docs/binary.txt' is skipped: it is not text",
        "ctxcompress: 'docs/latin.txt' is skipped: it is not UTF-8 (byte 0xe9 at offset 3); convert it, for example "
        "with: iconv -f ENCODING -t UTF-8",
        "ctxcompress: 'docs/line\\nbreak.md' is skipped: its name cannot be shown; rename it",
        NO_TEXT.rstrip(),
    ]


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_links_are_followed_where_they_are_named(docs: Path) -> None:
    (docs.parent / "link").symlink_to(docs / "api")
    (docs / "link").symlink_to(docs.parent)
    assert read("link") == ["link/v1/x.py"]
    assert not any("link" in name for name in read("docs"))


def test_a_folder_without_a_text_is_told(docs: Path) -> None:
    (docs / "empty").mkdir()
    result = run("docs/empty")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'docs/empty' is skipped: no file in it was chosen; name files, or choose some with" in result.stderr
    assert run("docs/empty", "docs/b.md").exit_code == 3
