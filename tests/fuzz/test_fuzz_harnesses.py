"""The harnesses pass on the inputs that they begin with."""

import importlib

import pytest
from fuzzing import CORPUS

INPUTS = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_input_passes(path):
    importlib.import_module(f"fuzz_{path.parent.name}").check(path.read_bytes())
    assert importlib.import_module(f"fuzz_{path.parent.name}").mutate


def test_each_harness_has_inputs():
    assert {path.parent.name for path in INPUTS} == {path.stem[5:] for path in CORPUS.parent.glob("fuzz_*.py")}
