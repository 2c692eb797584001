"""The soak of the server over HTTP, for seconds instead of minutes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow(reason="it is a soak")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_good_clients_are_answered_beside_bad_ones() -> None:
    command = [sys.executable, "benchmarks/mcp_soak.py", "--minutes", "0.05", "--bad", "20", "--good", "2"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    ((answered, failed),) = re.findall(r"\| beside 20 bad clients \| ([\d,]+) \| (\d+) \|", ended.stdout)
    assert (int(answered) > 0, int(failed)) == (True, 0)
    assert "The server said: ''" in ended.stdout
