"""Probabilities are compared with what was evidence: in bins, and by their errors."""

import importlib
from types import ModuleType

import numpy as np
import pytest

FOUND = {
    "nq": np.array([[0.5, 0.75, 1], [0.5, 0.25, 0]]),
    "kv": np.array([[0.5, 1.0, 1], [0.5, 0.0, 0], [0.5, 0.0, 0], [0.5, 0.0, 0]]),
}
"""Of two segments and of four the probability by words, that of the default, and whether it is evidence."""


@pytest.fixture
def script(scripts: None) -> ModuleType:
    pytest.importorskip("sklearn")
    return importlib.import_module("reliability")


def test_a_bin_shows_what_was_predicted_and_how_often_it_was_so_each_set_weighing_the_same(script: ModuleType) -> None:
    assert script.reliability(FOUND).splitlines()[2:] == [
        "| 0 to 0.001 | 3 | 0.0000 | 0.0000 |",
        "| 0.2 to 0.4 | 1 | 0.2500 | 0.0000 |",
        "| 0.6 to 0.8 | 1 | 0.7500 | 1.0000 |",
        "| 0.8 to 1 | 1 | 1.0000 | 1.0000 |",
    ]


def test_errors_are_compared_with_those_of_who_only_knows_how_frequent_evidence_is(script: ModuleType) -> None:
    assert script.brier(FOUND).splitlines()[2:] == [
        "| data | 0.0000 | 1.00 | 1.00 |",
        "| encyclopedia | 0.0625 | 0.75 | 1.00 |",
        "| all | 0.0312 | 0.87 | 1.00 |",
        "| all, by words alone | 0.2500 | −0.07 | 1.33 |",
    ]
