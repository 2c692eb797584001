"""The comparison with other compressors: the pipe to an adapter, its environment, the behaviours and the tables."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.apps.evaluation import Question
from ctxcompress.apps.evaluation.methods import method_named
from ctxcompress.cache import SqliteStore

ROOT = Path(__file__).parents[2]
ADAPTER = """
import os

REQUIREMENTS = ()

def _start():
    def compress(case):
        print("a line that is no answer")
        os.write(1, b"nor is this")
        if case["query"] == "end":
            os._exit(0)
        if case["query"] == "change":
            case["texts"].clear()
        return case["titled"][case["budget"]]
    return compress

WAYS = {"fake": _start}
"""


@pytest.fixture
def environments(scripts: None) -> ModuleType:
    return importlib.import_module("rivals.environments")


@pytest.fixture
def comparison(scripts: None) -> ModuleType:
    for package in ("rank_bm25", "sklearn", "wordllama"):
        pytest.importorskip(package)
    return importlib.import_module("rivals.comparison")


@pytest.fixture
def fake(tmp_path: Path, environments: ModuleType) -> Any:
    adapter = tmp_path / "fake.py"
    adapter.write_text(ADAPTER)
    (way,) = environments.ways_of(adapter)
    return way


def test_an_adapter_answers_in_a_process_of_its_own(environments: ModuleType, fake: Any, tmp_path: Path) -> None:
    with environments.Running(fake, environments.interpreter(fake, tmp_path)) as running:
        found = running.compress("who?", ["one", "tw\ud83do"], budget=1, titles=["", "second"])
        assert (found.text, found.error, found.unchanged) == ("second\ntw\ud83do", "", True)
        assert found.milliseconds >= 0
        assert running.megabytes() is None or running.megabytes() > 1
        changed = running.compress("change", ["one"], budget=0)
        assert (changed.text, changed.unchanged) == ("one", False)
        assert running.compress("who?", [], budget=3).error.startswith("IndexError: ")
        with pytest.raises(RuntimeError, match="ended without an answer"):
            running.compress("end", [], budget=0)


def test_each_adapter_pins_what_it_measures_and_needs_nothing_to_be_read(environments: ModuleType) -> None:
    ways = environments.ways_of(*environments.ADAPTERS, *environments.WITH_MODEL)
    assert {way.adapter.stem for way in ways} == {*environments.ADAPTERS, *environments.WITH_MODEL}
    for way in ways:
        assert bool(way.version) == (way.adapter.stem != "ctxcompress")


def test_an_environment_is_made_once_and_never_with_torch(
    environments: ModuleType, fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[Any]] = []

    def run(command: list[Any], check: bool) -> None:
        calls.append(command)
        (tmp_path / "all" / "fake").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(subprocess, "run", run)
    pinned = fake._replace(requirements=("fake==1.0", "other"))
    assert pinned.version == "1.0"
    for _ in range(2):
        python = environments.interpreter(pinned, tmp_path / "all")
    assert python == tmp_path / "all" / "fake" / "bin" / "python"
    assert [command[:3] for command in calls] == [[sys.executable, "-m", "venv"], [python, "-m", "pip"]]
    constraint, *requirements = calls[1][-3:]
    assert (constraint.read_text(), requirements) == ("torch==0\n", ["fake==1.0", "other"])


def test_ctxcompress_behaves(comparison: ModuleType) -> None:
    behaviours = importlib.import_module("rivals.behaviours")

    def compress(query: str, texts: list[str], budget: int) -> Any:
        config = CompressionConfig(max_tokens=budget, encoding="cl100k_base")
        return comparison.Answer(Compressor(config).compress(query, texts).text)

    found = {of.name: behaviours.behaves(of, compress) for of in behaviours.BEHAVIOURS}
    assert {name for name, answer in found.items() if answer != "yes"} == set()


def test_a_behaviour_holds_only_within_the_budget(comparison: ModuleType) -> None:
    behaviours = importlib.import_module("rivals.behaviours")
    behaviour = behaviours.Behaviour("any", lambda seen: bool(seen.text), ["a"], budget=2)
    answers = {"a": "yes", "": "no", "a b c d": "no"}
    for text, expected in answers.items():
        assert behaviours.behaves(behaviour, lambda *_, text=text: comparison.Answer(text)) == expected
    assert behaviours.behaves(behaviour, lambda *_: comparison.Answer(error="ValueError: no")) == "error"


def test_what_is_left_of_a_case(comparison: ModuleType, cases: ModuleType) -> None:
    texts = ["It opened in  1901.\nIt closed.", "Ann Lee built it."]
    case = cases.Case(
        "who?",
        tuple(cases.Document("", text) for text in texts),
        (cases.Gold(0, 0, 19), cases.Gold(1, 0, 17)),
        ("ann lee", "Bob", "yes"),
    )
    asked = comparison.Asked.of(case, 6)
    kept = comparison.outcome(asked, comparison.Answer("It opened in 1901. It closed."))
    assert (kept.kept, kept.pieces, kept.answered, kept.tokens > kept.budget) == (1, 2, False, True)
    assert comparison.outcome(asked, comparison.Answer("ANN LEE")).answered


def test_a_difference_has_an_interval(comparison: ModuleType) -> None:
    tables = importlib.import_module("rivals.tables")
    one, other = ({"set": np.array([[1.0, 1.0]] * kept + [[0.0, 1.0]] * (10 - kept))} for kept in (9, 5))
    low, middle, high = tables.difference(one, other, ["set"])
    assert middle == pytest.approx(0.4)
    assert 0 < low < middle < high < 1
    assert tables.difference(one, one, ["set"]) == (0, 0, 0)
    kept, lost = (tables.Outcome(kept, 1, None, 9, 10, 1.0, "") for kept in (1, 0))
    figures = {
        name: tables.Figures("1", {"set": [kept] * of + [lost] * (10 - of)}) for name, of in (("other", 5), ("one", 9))
    }
    assert "| .900* | .900 | +.400 [" in tables.evidence_table(figures)


def test_answers_are_compared_in_pairs(comparison: ModuleType, tmp_path: Path) -> None:
    answers = importlib.import_module("rival_answers")
    right = Question(
        "Who built it?", ["Ann Lee"], ["Ann Lee built it."], [Passage("0", "It stands. Ann Lee built it.")]
    )
    other = Question("When?", ["1901"], ["In 1901."], [Passage("0", "In 1901.")])
    methods = [method_named(name, "cl100k_base") for name in ("default", "first")]
    store = SqliteStore(tmp_path / "answers.sqlite")
    rows = [*answers.read(Path("any.json"), [right, other], methods, lambda prompt: "Ann Lee", store)]
    table = answers.table_of(answers.by_way({"any": rows}))
    assert [row.split(" | ")[0] for row in table.splitlines()[2:]] == [
        "| default",
        "| the whole context",
        "| the evidence alone",
        "| first",
    ]
    assert table.splitlines()[0].startswith("|  | any (2) | mean | difference [95 %] | right | ")
    assert table.splitlines()[3].endswith("| .500 | .500 | +.000 [+.000, +.000] | .500 | 0 | 0 | 1.00 |")


def test_the_command_fills_the_page(comparison: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "comparison.md"
    page.write_text((ROOT / "docs" / "comparison.md").read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, "benchmarks/rivals", "notebooks/data/hotpot_form.json", "--only", "ctxcompress"]
    subprocess.run([*command, "--environments", tmp_path, "--docs", page], check=True, cwd=ROOT, timeout=300)
    assert ": 7 cases in 1 sets." in page.read_text(encoding="utf-8")
