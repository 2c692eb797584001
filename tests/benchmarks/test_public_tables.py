"""Tables by other people's data and rules, on invented cases in the form that each is published in."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

WORD = "heron "
PASSAGES = "Passage 1:\nThe Mole\nThe mole was built in 1881.\nPassage 2:\nThe Pier\nAda Lund drew the pier.\n"
ENGLISH = (
    "Answer the question based on the given passages.\n\nThe following are given passages.\n"
    + PASSAGES
    + "\n\nAnswer the question based on the given passages.\n\nQuestion: Who drew the pier?\nAnswer:"
)
CHINESE = (
    "阅读以下文字并用中文简短回答：\n\n码头建于一八八一年。\n\n现在请回答下面的问题。\n\n问题：码头建于何时？\n回答："
)


@pytest.fixture
def longbench(baseline: ModuleType) -> ModuleType:
    return importlib.import_module("public.longbench")


@pytest.fixture
def logdx(baseline: ModuleType) -> ModuleType:
    return importlib.import_module("public.logdx")


@pytest.fixture
def sentences(baseline: ModuleType) -> ModuleType:
    return importlib.import_module("public.sentences")


def _write_tasks(module: ModuleType, folder: Path, **entries: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    for task in (*module._ENGLISH, *module._CHINESE):
        file = {"0": entries[task]} if task in entries else {}
        (folder / f"MiniLongBench_{task}.json").write_text(json.dumps(file), encoding="utf-8")
    return folder


def test_a_prompt_of_longbench_is_taken_apart(longbench: ModuleType, tmp_path: Path) -> None:
    folder = _write_tasks(
        longbench,
        tmp_path / "tasks",
        hotpotqa={"origin_prompt": ENGLISH, "gold": ["The Ada Lund."]},
        multifieldqa_zh={"origin_prompt": CHINESE, "gold": ["一八八一年。"]},
    )
    english, chinese = longbench.cases(folder)
    assert english.query == "Who drew the pier?"
    assert [document.title for document in english.documents] == ["The Mole", "The Pier"]
    assert english.left("It was ADA LUND, they say.")
    assert not english.left("It was Ada Lundgren.")
    assert chinese.query == "码头建于何时？"
    assert chinese.left("建于一八 八一年")


@pytest.mark.parametrize("gold", ["no", "nobody"])
def test_a_question_whose_answer_no_text_can_lose_is_left_out(longbench: ModuleType, tmp_path: Path, gold: str) -> None:
    prompt = ENGLISH.replace("The mole was", "No, the mole was")
    folder = _write_tasks(longbench, tmp_path / "tasks", hotpotqa={"origin_prompt": prompt, "gold": [gold]})
    assert list(longbench.cases(folder)) == []


def test_the_middle_is_cut_out(longbench: ModuleType) -> None:
    count = longbench.count
    text = "begin " + 400 * WORD + "end"
    cut = longbench.middle_cut(text, 100)
    assert (cut[:6], cut[-3:]) == ("begin ", "end")
    assert 90 <= count(cut) <= 100


def test_a_critical_signal_is_left_with_its_value_another_form_or_its_file(logdx: ModuleType, tmp_path: Path) -> None:
    signals = [
        {"importance": "critical", "value": "error: no such bird"},
        {"importance": "critical", "value": "exit 2", "aliases": ["exited with 2"]},
        {"importance": "critical", "file": "src/heron.c", "line": 4},
        {"importance": "important", "value": "warning"},
    ]
    for name, has_log in (("heron-001", True), ("stork-002", False)):
        case = tmp_path / "cases" / "dev" / name
        case.mkdir(parents=True)
        (case / "ground_truth.json").write_text(json.dumps({"required_signals": signals}), encoding="utf-8")
        if has_log:
            (case / "raw.log").write_text("make\n", encoding="utf-8")
    (found,) = logdx.cases(tmp_path / "cases")
    assert found.left("\x1b[31merror: no \x1b[0msuch bird\nexited with 2\nsrc/heron.c:4") == 1
    assert found.left("exit 2") == pytest.approx(1 / 3)


def test_the_last_lines_that_fit_are_whole(logdx: ModuleType) -> None:
    log = "".join(f"{number}: {WORD}\n" for number in range(100))
    kept = logdx.last_lines(log, 30)
    assert log.endswith(kept)
    assert kept.splitlines()[0].endswith(WORD)
    assert 20 <= logdx.count(kept) <= 30


def test_sentences_are_those_of_the_published_set(sentences: ModuleType, tmp_path: Path) -> None:
    hotpot = tmp_path / "hotpot.json"
    context = [["Mole", ["The mole is old.", " Ada Lund drew it."]], ["Pier", ["The pier is new."]]]
    hotpot.write_text(
        json.dumps([{"question": "Who drew the mole?", "context": context, "supporting_facts": [["Mole", 1]]}]),
        encoding="utf-8",
    )
    (found,) = sentences.questions(hotpot)
    assert found.documents[0].text == "The mole is old. Ada Lund drew it."
    assert found.spans == [[(0, 16), (16, 34)], [(0, 16)]]
    assert found.needed == [[False, True], [False]]


def test_a_parquet_file_gives_the_same_questions(sentences: ModuleType, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    row = {
        "query": "who?",
        "texts": ["A. B."],
        "context_spans": [[[0, 2], [3, 5]]],
        "context_spans_relevance": [[0, 1]],
    }
    parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "nq.parquet")
    (found,) = sentences.questions(tmp_path / "nq.parquet")
    assert (found.query, found.spans, found.needed) == ("who?", [[(0, 2), (3, 5)]], [[False, True]])


def test_f2_weighs_recall_four_times(sentences: ModuleType) -> None:
    estimate = sentences.f_two(np.array([[2.0, 4.0, 2.0], [0.0, 0.0, 1.0]]))
    precision, recall = 1 / 2, 2 / 3
    assert estimate.mean == pytest.approx(5 * precision * recall / (4 * precision + recall))
    assert estimate.low <= estimate.mean <= estimate.high


def test_a_table_keeps_the_budget(
    logdx: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "cases" / "heron-001"
    case.mkdir(parents=True)
    (case / "raw.log").write_text(
        "".join(f"{n}: {WORD}\n" for n in range(3000)) + "error: no such bird\n", encoding="utf-8"
    )
    signals = [{"importance": "critical", "value": "error: no such bird"}]
    (case / "ground_truth.json").write_text(json.dumps({"required_signals": signals}), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["", "logdx", str(tmp_path)])
    importlib.import_module("public.command").main()
    shown = capsys.readouterr().out
    assert ": 1 logs." in shown
    assert "| ctxcompress | 1,000 | 1.000 [1.000, 1.000] |" in shown
    assert "1 of 1" not in shown
