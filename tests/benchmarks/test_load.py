"""The load on the server over HTTP and on the adapter for LangChain, for seconds instead of an hour."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow(reason="it is a load")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_good_callers_are_answered_beside_bad_ones() -> None:
    command = [sys.executable, "benchmarks/load.py", "--minutes", "0.1", "--rate", "20", "--bad", "20", "--good", "8"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout + ended.stderr
    rows = re.findall(r"\| (?:MCP|LangChain), [^|]* \| ([\d,]+) \| [\d.]+ \| (\d+) \|", ended.stdout)
    assert [(int(answered) > 0, int(failed)) for answered, failed in rows] == [(True, 0)] * 3
