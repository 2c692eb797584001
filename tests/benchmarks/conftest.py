"""The scripts of benchmarks/, which are no package: each is loaded from its file."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

_FOLDER = Path(__file__).parents[2] / "benchmarks"


def _load(name: str) -> ModuleType:
    if not _FOLDER.is_dir():
        pytest.skip("the source distribution has no benchmarks")
    spec = importlib.util.spec_from_file_location(name, _FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for the module of a class
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def scripts() -> Iterator[None]:
    """Lets the scripts find each other, as they do when one is run, and forgets them afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(_FOLDER))
    yield
    sys.path.remove(str(_FOLDER))
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) == str(_FOLDER / f"{name}.py"):
            del sys.modules[name]


@pytest.fixture(scope="session")
def cases(scripts: None) -> ModuleType:
    return _load("cases")


@pytest.fixture(scope="session")
def baseline(scripts: None) -> ModuleType:
    pytest.importorskip("rank_bm25")
    return _load("baseline")


@pytest.fixture(scope="session")
def plot_budget(cases: ModuleType, baseline: ModuleType) -> ModuleType:
    pytest.importorskip("matplotlib")
    return _load("plot_budget")


@pytest.fixture(scope="session")
def damaged_cache(scripts: None) -> ModuleType:
    return _load("damaged_cache")
