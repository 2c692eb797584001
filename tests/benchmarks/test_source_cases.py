"""Cases are made from the comments of functions."""

import gzip
import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

PYTHON = '''\
import os


def size(path):
    """Return how many bytes the file at a path has.

    It must exist.
    """
    found = os.stat(path)
    if not found:
        raise ValueError(f"there is nothing at {path}, so it has no size")
    return found.st_size
'''
SCRIPT = """\
/**
 * Tells how many bytes the file at a path has. It must exist.
 */
function size(path) {
  const found = fs.statSync(path);
  if (!found) {
    throw new Error(`there is nothing at ${path}, so it has no size`);
  }
  return found.size;
}
"""


@pytest.fixture
def source_cases(scripts: None) -> ModuleType:
    pytest.importorskip("rank_bm25")
    return importlib.import_module("source_cases")


@pytest.mark.parametrize(("text", "name"), [(PYTHON, "a.py"), (SCRIPT, "a.js")])
def test_the_comment_is_asked_for_and_taken_out(source_cases: ModuleType, text: str, name: str) -> None:
    ((question, left),) = source_cases.questions(text, name)
    assert question.text.endswith("how many bytes the file at a path has")
    assert "It must exist" not in left
    function = left[question.start : question.end]
    assert function.startswith(("def size", "function size"))
    assert function.endswith(("found.st_size", "}"))


def test_the_benchmarks_can_read_what_is_made(source_cases: ModuleType, cases: ModuleType, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text(PYTHON.replace("bytes", f"bytes{number}") * 6)
    made = tmp_path / "made.json.gz"
    made.write_bytes(gzip.compress(json.dumps(source_cases.cases(tmp_path, "py", 5, 0)).encode()))
    found = list(cases.read_cases(made))
    assert len(found) == 5
    for case in found:
        (gold,) = case.gold
        assert case.documents[gold.document].text[gold.start :].startswith("def size")
        assert 2 <= len(case.documents) <= 20
