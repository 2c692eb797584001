"""Each notebook runs offline, without an error or a warning, and was committed with what it shows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CELLS_OF = {path: json.loads(path.read_text(encoding="utf-8"))["cells"] for path in NOTEBOOKS}
LARGEST = 500_000

if not NOTEBOOKS:
    pytest.skip("the source distribution has no notebooks", allow_module_level=True)


@pytest.mark.slow(reason="a kernel is started for each")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path):
    # In a process of its own: its kernel is talked to over sockets, which are closed to tests.
    command = [sys.executable, "notebooks/run.py", "--check", str(path)]
    before = path.read_bytes()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_was_committed_as_it_ran(path):
    code = [cell for cell in CELLS_OF[path] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any(output["output_type"] == "display_data" for output in outputs)
    assert not any(output.get("name") == "stderr" or output["output_type"] == "error" for output in outputs)
    assert path.stat().st_size <= LARGEST


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_begins_with_how_to_install(path):
    assert "    pip install " in "".join(CELLS_OF[path][0]["source"])
