"""The command `batch` as a process of its own, also one that ends in the middle."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ctxcompress.apps.cli.app import app

COMMAND = (sys.executable, "-m", "ctxcompress.apps.cli", "batch", "--max-tokens", "20")
COUNT = 600
LATER = 40


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def row(number: int) -> str:
    passages = [f"Pool {number} opens {place} connections. Its timeout is {place} seconds." for place in range(8)]
    return json.dumps({"id": number, "query": f"timeout of pool {number}?", "passages": passages})


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of a file, and beside it what becomes of them in one run: whole.jsonl."""
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("\n".join("torn" if number % 100 == 7 else row(number) for number in range(COUNT)))
    later = path.with_name("later.jsonl")
    os.mkfifo(later)  # so that a run cannot end before it is ended, however late that is
    with fed(later):
        assert run(path, later, path.with_name("whole.jsonl"), "--workers", "1").returncode == 3
    return path


def test_statistics_and_exit_codes(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text(row(1) + "\n")
    done = run(source, tmp_path / "out.jsonl", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    numbers = json.loads(done.stdout)
    assert (numbers["rows"], numbers["errors"], numbers["rows_of_this_run"]) == (1, 0, 1)
    assert numbers["tokens_saved"] == numbers["original_tokens"] - numbers["tokens"] > 0
    source.write_text(row(1) + "\ntorn\n")
    failed = run(source, tmp_path / "out.jsonl", "--overwrite")
    assert (failed.returncode, failed.stdout) == (3, "")
    assert "tokens saved" in failed.stderr
    assert "rows that failed: 1; " in failed.stderr
    for arguments in ([tmp_path / "none.jsonl", "out.jsonl"], [source, tmp_path / "out.jsonl", "--address", "x"]):
        wrong = CliRunner().invoke(app, ["batch", *map(str, arguments)])
        assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)
    assert CliRunner().invoke(app, ["batch", str(source), str(tmp_path / "no folder" / "out.jsonl")]).exit_code == 1


@pytest.mark.skipif(os.name != "posix", reason="needs signals and pipes")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_second_run_goes_on_where_the_first_one_was_ended(rows: Path, ending: int) -> None:
    if signal.getsignal(ending) is signal.SIG_IGN:
        pytest.skip("what a shell begins in the background ignores interrupts")
    names = "whole.jsonl", f"stopped-{ending}.jsonl", "later.jsonl"
    whole, stopped, later = (rows.with_name(name) for name in names)
    command = [*COMMAND, str(rows), str(later), str(stopped), "--workers", "2"]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    pipe = opened_by(first, later)
    if ending == signal.SIGINT:  # as a terminal does: to all processes
        os.killpg(first.pid, ending)
    else:
        first.send_signal(ending)
    os.close(pipe)  # a signal that comes just before the process waits for a row would not end that
    _, complaint = first.communicate(timeout=60)
    if ending == signal.SIGINT:
        assert (first.returncode, complaint.count("\n")) == (130, 1), complaint
    done = len(stopped.read_bytes().splitlines())
    assert 0 < done < COUNT - 15
    with fed(later):
        again = run(rows, later, stopped, "--workers", "2", "--json")
    assert again.returncode == 3
    assert stopped.read_bytes() == whole.read_bytes()
    errors = [path.with_name(f"{path.name}.errors.jsonl").read_bytes() for path in (whole, stopped)]
    assert errors[0] == errors[1]
    assert json.loads(again.stdout)["rows"] == COUNT + LATER
    assert json.loads(again.stdout)["rows_of_this_run"] < COUNT


@contextmanager
def fed(pipe: Path) -> Iterator[None]:
    """Write the later rows into a pipe as soon as somebody reads it."""
    text = "".join(f"{row(COUNT + number)}\n" for number in range(LATER))
    writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    yield
    writer.join(timeout=60)
    assert not writer.is_alive()


def opened_by(process: subprocess.Popen[str], pipe: Path) -> int:
    """Wait until a process opens a pipe to read it, which stays without a row, and return its other end."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or process.poll() is not None:
                raise
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.01)
