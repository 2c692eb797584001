"""What limits on search results keep, as `benchmarks/search_limits.py` measures it."""

import importlib
from types import ModuleType

import pytest

OTHERS = [
    "The museum opens at nine on Sundays.",
    "Bananas ripen faster in a paper bag.",
    "A goalkeeper may use her hands.",
]
ANSWER = "The default timeout of the client is 30 seconds."


@pytest.fixture
def search_limits(scripts: None) -> ModuleType:
    return importlib.import_module("search_limits")


def test_each_way_is_within_its_limits_and_adaptive_finds_the_last_result(
    search_limits: ModuleType, cases: ModuleType
) -> None:
    documents = tuple(cases.Document(f"Page {n}", text) for n, text in enumerate([*OTHERS, ANSWER]))
    gold = (cases.Gold(3, 0, len(ANSWER)),)
    case = cases.Case("what is the default timeout of the client?", documents, gold, ("30 seconds",))
    found = {name: search_limits.results_of(case, way) for name, way in search_limits.WAYS.items()}
    kept = {name: search_limits.kept(case, results) for name, results in found.items()}
    plain, adaptive, _, limited, both = [len(results) for results in found.values()]
    assert plain == 4 > adaptive
    assert limited == 3 > both
    assert list(kept.values()) == [1, 1, 1, 0, 1]
