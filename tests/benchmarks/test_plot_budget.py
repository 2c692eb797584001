"""The numbers of the picture: what survives is counted whole, and each stretch of evidence weighs the same."""

import csv
import gzip
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FILLER = "The lighthouse keeper painted the door again and went home before it rained. "
EVIDENCE = "Ida Moor planted\n the first pear of the orchard."


def case(cases: ModuleType, query: str = "Who planted the first pear of the orchard?") -> Any:
    text = f"{FILLER * 15}{EVIDENCE} {FILLER * 15}"
    start = text.index(EVIDENCE)
    document = cases.Document("Orchard", text)
    return cases.Case(query, (document,), (cases.Gold(0, start, start + len(EVIDENCE)),), ("Ida Moor",))


def test_evidence_survives_whole_or_not_at_all(plot_budget: ModuleType, cases: ModuleType) -> None:
    outcome = plot_budget.measure(case(cases), [3, 40, 2000])
    assert outcome.gold == 1
    assert outcome.kept[0].tolist() == [0, 1, 1]
    assert outcome.kept.shape == outcome.tokens.shape == (len(plot_budget.METHODS), 3)
    assert (outcome.tokens <= np.array([3, 40, 2000])).all()
    assert outcome.tokens[0, 2] == outcome.input_tokens


@pytest.mark.parametrize("count", [1, 3, 5])
def test_the_picture_and_the_numbers_come_from_the_command(
    plot_budget: ModuleType, cases: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    found = case(cases)
    text = found.documents[0].text
    asked = {"query": found.query, "docs": ["a"], "gold": [list(found.gold[0])]}
    content = {"docs": {"a": {"title": "", "text": text}}, "cases": [asked] * 2}
    for number in range(count):
        (tmp_path / f"set{number}.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
    output = tmp_path / "new" / "picture.svg"
    monkeypatch.setattr("sys.argv", ["plot", str(tmp_path), "-o", str(output), "--budgets", "40", "20", "--limit", "1"])
    monkeypatch.setattr(plot_budget, "Pool", InOneProcess)
    plot_budget.main()
    assert "</svg>" in output.read_text(encoding="utf-8")
    rows = list(csv.DictReader(output.with_suffix(".csv").open(encoding="utf-8")))
    assert len(rows) == count * 2 * 2
    assert {(row["set"], row["cases"]) for row in rows} == {(f"set{number}", "1") for number in range(count)}
    assert [row["budget"] for row in rows[:2]] == ["20", "40"]
    assert float(rows[1]["evidence"]) == 1


class InOneProcess:
    """In place of a pool: nothing that a test does takes long enough to start processes for it."""

    def __init__(self, processes: int) -> None:
        self.processes = processes

    def __enter__(self) -> "InOneProcess":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def map(self, function: Any, items: Any, chunksize: int) -> list[Any]:
        return list(map(function, items))
