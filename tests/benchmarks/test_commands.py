"""Each command of benchmarks/ can be imported: what it takes from the package and from `lib` is there."""

import importlib
from pathlib import Path

import pytest

COMMANDS = sorted(path.stem for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_finds_what_it_imports(scripts: None, name: str) -> None:
    for package in ("rank_bm25", "sklearn", "matplotlib"):
        pytest.importorskip(package)
    assert importlib.import_module(name).__doc__
