"""The command as a program of its own: streams, pipes, locales and exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "ctxcompress.apps.cli")
TEXT = "Caf\u00e9, \u4e2d\u6587, \U0001f680."
posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell and devices")


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], input=stdin, capture_output=True, env=os.environ | environment, timeout=120
    )


def shell(script: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [
            "bash",
            "-c",
            f"set -o pipefail; ctxcompress() {{ '{sys.executable}' -m ctxcompress.apps.cli \"$@\"; }}; {script}",
        ],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONUTF8": "1"}]
)
def test_text_goes_through_as_utf_8_in_every_locale(locale: dict[str, str]) -> None:
    result = run("compress", "-q", "caf\u00e9", stdin=TEXT.encode(), **locale)
    assert (result.returncode, result.stdout, result.stderr) == (0, TEXT.encode() + b"\n", b"")


def test_the_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    assert run("compress", "-q", "x", "-", str(tmp_path / "none"), stdin=b"text").returncode == 3


@posix
def test_a_reader_that_wants_no_more_is_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("a line of text\n" * 100_000)
    result = shell(f"ctxcompress compress -q line --max-tokens 1000000 '{file}' | head -n 1")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"a line of text\n", b"")


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_reported() -> None:
    result = shell("echo text | ctxcompress compress -q text > /dev/full")
    assert result.returncode == 1
    assert result.stderr.startswith(b"ctxcompress: standard output cannot be written")
    assert result.stderr.count(b"\n") == 1


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&- < /dev/null"])
def test_a_closed_stream_is_reported(closed: str) -> None:
    result = shell(f"ctxcompress compress -q text {closed}")
    assert result.returncode in (0, 1)
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("typer", ["--version"], "ctxcompress[cli]"),
        ("rich", ["--version"], "ctxcompress[cli]"),
        ("pathspec", ["--version"], "ctxcompress[cli]"),
        ("langchain_core", ["demo"], "ctxcompress[langchain]"),
    ],
)
def test_without_an_extra_its_name_is_said(missing: str, arguments: list[str], extra: str) -> None:
    program = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {missing!r}: raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from ctxcompress.apps.cli import main\n"
        "main()\n"
    )
    result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert result.returncode == 1
    assert extra in result.stderr
    assert "Traceback" not in result.stderr


@posix
def test_a_document_controls_no_terminal():
    import pty

    ours, theirs = pty.openpty()
    text = "The timeout is \x1b[31m30\x1b]0;name\x07 s.\x9b2J\tSo."
    subprocess.run([*COMMAND, "compress", "-q", "timeout"], input=text.encode(), stdout=theirs, check=True, timeout=120)
    os.close(theirs)
    shown = os.read(ours, 1_000).decode()
    assert shown.rstrip() == "The timeout is \u241b[31m30\u241b]0;name\u2407 s.\u24212J\tSo."
