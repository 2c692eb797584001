"""benchmarks/speed.py measures every way on the same cases, and a cache that knows only the passages."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

TEXT = "The pool has ten connections. Its timeout is 30 seconds. Logs are kept for a week in a folder. " * 8


@pytest.fixture(scope="module")
def speed(cases: ModuleType, baseline: ModuleType) -> ModuleType:
    return importlib.import_module("speed")


@pytest.fixture
def prepared(speed: ModuleType, cases: ModuleType) -> object:
    gold = (cases.Gold(0, 30, 56),)
    return speed.Prepared.of(cases.Case("what is the timeout?", (cases.Document("Pool", TEXT),), gold, ()), 30)


def test_each_way_is_measured_and_each_stage(
    speed: ModuleType, prepared: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = Path(importlib.import_module("llama_index.core").__file__ or "").parent / "_static" / "tiktoken_cache"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(carried))
    found = speed.measured([prepared], 30, 1)
    assert list(found) == ["core", "LangChain", "LlamaIndex", "warm", "rank_bm25", "limit"]
    assert all(0 < milliseconds < float("inf") for milliseconds in found.values())
    assert set(speed.by_stage([prepared], 30, 1)) == {"exact", "repeats", "segment", "score", "select"}


def test_the_evidence_in_each_output_is_counted_whatever_its_white_space(speed, prepared) -> None:
    found = speed.kept([prepared], 30)
    assert {name: of_way[1] for name, of_way in found.items()} == {"core": 0.0, "rank_bm25": 0.0}
    assert found["core"][0] == 1.0
    assert prepared.kept_in("Its timeout\nis 30  seconds.") == 1
    assert prepared.kept_in("Its timeout is 30 hours.") == 0
