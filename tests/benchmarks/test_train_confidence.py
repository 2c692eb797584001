"""The confidence is learned from questions in their own context and in others, and each entry keeps the evidence."""

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ctxcompress.score.features import CONFIDENCE

FACTS = {
    "Who repaired the ferry of Holm?": "The ferry of Holm was repaired by Ida Moor.",
    "When does the canteen serve lunch?": "The canteen serves lunch from noon on.",
    "How many towers has the castle?": "The castle has four towers and a moat.",
    "Which port does the proxy use?": "The proxy uses port 3128 by default.",
}
FILLER = " Geese are grey. It rained for days, and nobody came."


@pytest.fixture
def asked(cases: ModuleType) -> list[Any]:
    return [
        cases.Case(query, (cases.Document("", fact + FILLER),), (cases.Gold(0, 0, len(fact)),), ())
        for query, fact in FACTS.items()
    ]


def test_own_contexts_are_told_from_those_of_others(scripts: None, asked: list[Any]) -> None:
    pytest.importorskip("sklearn")
    module = importlib.import_module("train_confidence")
    found = module.contexts(asked)
    assert found.own.shape == (4, len(CONFIDENCE))
    assert found.of_others.shape == (8, len(CONFIDENCE))
    assert found.without_answer.shape == (0, len(CONFIDENCE))  # the only document has the answer
    model = module.learned([found])
    own, others = (model.predict_proba(rows)[:, 1] for rows in (found.own, found.of_others))
    assert own.min() > 0.5 > others.max()
    (row,) = (row for row in module.left_out({"nq": found, "faq": found}) if row[0] == "faq")
    assert row[:3] == ["faq", "manuals", "1.000"]


def test_every_entry_keeps_the_evidence_within_the_budget(scripts: None, asked: list[Any]) -> None:
    entries = importlib.import_module("entries")
    for name, entry in entries.ENTRIES.items():
        assert entries.measured(asked, 400, entry) == (1.0, 0), name


def test_what_is_pruned_is_counted(scripts: None, asked: list[Any]) -> None:
    pruning = importlib.import_module("lib.pruning")
    examples = [importlib.import_module("lib.examples").example(case) for case in asked]
    own = pruning.pruned(examples[0], examples[1])
    assert [part.found for part in own] == [1] * len(pruning.THRESHOLDS)
    assert own[0].left > own[0].of_others == 0
    rows = pruning.pruning({"made up": [(own, np.asarray(examples[0].needed))]}).splitlines()
    assert len(rows) == 2 + len(pruning.THRESHOLDS)
