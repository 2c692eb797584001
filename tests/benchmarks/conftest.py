"""The commands of benchmarks/, which is no package: they find `lib` beside them, as they do when one is run."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

_FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="session")
def scripts() -> Iterator[None]:
    """Let tests import the commands, and forget these afterwards."""
    if not _FOLDER.is_dir():
        pytest.skip("the source distribution has no benchmarks")
    before = set(sys.modules)
    sys.path.insert(0, str(_FOLDER))
    yield
    sys.path.remove(str(_FOLDER))
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(_FOLDER)):
            del sys.modules[name]


@pytest.fixture(scope="session")
def cases(scripts: None) -> ModuleType:
    return importlib.import_module("lib.cases")


@pytest.fixture(scope="session")
def baseline(scripts: None) -> ModuleType:
    pytest.importorskip("rank_bm25")
    return importlib.import_module("lib.baseline")


@pytest.fixture(scope="session")
def ablate(cases: ModuleType) -> ModuleType:
    return importlib.import_module("ablate")


@pytest.fixture(scope="session")
def damaged_cache(scripts: None) -> ModuleType:
    return importlib.import_module("damaged_cache")
