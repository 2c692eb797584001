"""The command `batch` as a process of its own, also one that ends in the middle."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "ctxcompress.cli", "batch", "--max-tokens", "20")
COUNT = 1_200


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def row(number: int) -> str:
    passages = [f"Pool {number} opens {place} connections. Its timeout is {place} seconds." for place in range(8)]
    return json.dumps({"id": number, "query": f"timeout of pool {number}?", "passages": passages})


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join("torn" if number % 100 == 7 else row(number) for number in range(COUNT)))
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
        wrong = run(*arguments)
        assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert run(source, tmp_path / "no folder" / "out.jsonl").returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_second_run_goes_on_where_the_first_one_was_ended(rows: Path, ending: int) -> None:
    whole, stopped = rows.with_name("whole.jsonl"), rows.with_name("stopped.jsonl")
    assert run(rows, whole, "--workers", "1").returncode == 3
    first = subprocess.Popen(
        [*COMMAND, str(rows), str(stopped), "--workers", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while first.poll() is None and not (stopped.exists() and stopped.stat().st_size):
        time.sleep(0.01)
    if ending == signal.SIGINT:  # as a terminal does: to all processes
        os.killpg(first.pid, ending)
    else:
        first.send_signal(ending)
    _, complaint = first.communicate(timeout=60)
    if ending == signal.SIGINT:
        assert (first.returncode, complaint.count("\n")) == (130, 1)
    done = len(stopped.read_bytes().splitlines())
    assert 0 < done < COUNT - 15
    again = run(rows, stopped, "--workers", "2", "--json")
    assert again.returncode == 3
    assert stopped.read_bytes() == whole.read_bytes()
    errors = [path.with_name(f"{path.name}.errors.jsonl").read_bytes() for path in (whole, stopped)]
    assert errors[0] == errors[1]
    assert json.loads(again.stdout)["rows"] == COUNT
    assert json.loads(again.stdout)["rows_of_this_run"] < COUNT


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_no_process_is_left_when_the_command_is_killed(rows: Path) -> None:
    output = rows.with_name("out.jsonl")
    first = subprocess.Popen([*COMMAND, str(rows), str(output), "--workers", "2"], start_new_session=True)
    while not (output.exists() and output.stat().st_size):
        time.sleep(0.01)
    first.kill()
    first.wait()
    for _ in range(1_000):
        if not _group(first.pid):
            return
        time.sleep(0.01)
    raise AssertionError(_group(first.pid))


def _group(number: int) -> list[str]:
    """The living processes of a group."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(group) == number and state != "Z":
            found.append(folder.name)
    return found
