"""The oracle names the evidence that it reads, and the table says what is kept of it."""

import importlib
from types import ModuleType

import pytest
from language_models import ANSWER, QUERY, page

from ctxcompress.language_model import Prompt


@pytest.fixture
def llm_breadth(scripts: None) -> ModuleType:
    pytest.importorskip("sklearn")
    return importlib.import_module("llm_breadth")


def test_the_oracle_names_the_segments_that_have_most_evidence_first(llm_breadth: ModuleType) -> None:
    prompt = Prompt("", "[1] Some text.\n[2] of it.\n[3] The evidence\n    is here, too.\n[4] a\n")
    oracle = llm_breadth.Oracle(["evidence is here", "It is a part of it."])
    assert oracle.complete(prompt).text == "3, 2"
    assert llm_breadth.Oracle(["elsewhere"]).complete(prompt).text == "none"


def test_the_cells_are_shares_and_means(llm_breadth: ModuleType, cases: ModuleType) -> None:
    start = page().text.index(ANSWER)
    gold = cases.Gold(0, start, start + len(ANSWER))
    case = cases.Case(QUERY, (cases.Document("Towns", page().text),), (gold,), ())
    kept, read, tokens = llm_breadth.cells([case], 60, 3)
    assert (kept, int(tokens)) == ("1.000", 13)
    assert int(read) > 300
    assert llm_breadth.cells([case], 60, None)[1] == "0"
