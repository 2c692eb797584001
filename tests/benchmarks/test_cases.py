"""Every published form gives the same kind of case, and a file that is not what it should be says what is wrong."""

import gzip
import json
from pathlib import Path
from types import ModuleType
from typing import Any

ORCHARD = ["Pella Orchard lies on a hill.", " It was planted in 1911 by Ida Moor.", " Geese guard it."]
MOOR = ["Ida Moor was a gardener.", " She was born in Tarnby."]


def hotpot_record(**changes: object) -> dict[str, Any]:
    record: dict[str, Any] = {
        "_id": "a1",
        "question": "Where was the planter of Pella Orchard born?",
        "answer": "Tarnby",
        "supporting_facts": [["Ida Moor", 1], ["Pella Orchard", 1]],
        "context": [["Pella Orchard", ORCHARD], ["Ida Moor", MOOR]],
    }
    return record | changes


def squad_file(paragraphs: list[tuple[str, list[dict[str, Any]]]]) -> dict[str, Any]:
    found = [{"context": context, "qas": qas} for context, qas in paragraphs]
    return {"version": "1.1", "data": [{"title": "Pella_Orchard", "paragraphs": found}]}


def asked(answer: str, start: int, **more: object) -> dict[str, Any]:
    return {"id": "q", "question": "When was it planted?", "answers": [{"text": answer, "answer_start": start}], **more}


def musique_record(**changes: object) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": "2hop__1",
        "question": "Where was the planter of Pella Orchard born?",
        "answer": "Tarnby",
        "answer_aliases": ["Tarnby village"],
        "answerable": True,
        "question_decomposition": [
            {"question": "Who planted it?", "answer": "Ida Moor", "paragraph_support_idx": 7},
            {"question": "Where was she born?", "answer": "tarnby", "paragraph_support_idx": 3},
        ],
        "paragraphs": [
            {"idx": 3, "title": "Ida Moor", "paragraph_text": "".join(MOOR), "is_supporting": True},
            {"idx": 5, "title": "Tarnby", "paragraph_text": "Tarnby has a harbour.", "is_supporting": False},
            {"idx": 7, "title": "Pella Orchard", "paragraph_text": "".join(ORCHARD), "is_supporting": True},
        ],
    }
    return record | changes


def marked_file(**changes: object) -> dict[str, Any]:
    case: dict[str, Any] = {"query": "who planted it?", "docs": ["b", "a"], "gold": [[1, 0, 5]], "answers": ["Ida"]}
    documents = {"a": {"title": "A", "text": "Ida M did."}, "b": {"title": "", "text": "Nobody knows."}}
    return {"set": "made up", "docs": documents, "cases": [case | changes]}


def write(path: Path, content: object) -> Path:
    """`content` in the way that the suffix of `path` says."""
    if path.suffix == ".jsonl":
        assert isinstance(content, list)
        path.write_text("\n".join(map(json.dumps, content)) + "\n", encoding="utf-8")
    else:
        raw = json.dumps(content).encode()
        path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
    return path


def evidence(case: Any) -> list[str]:
    return [case.documents[document].text[start:end] for document, start, end in case.gold]


# HotpotQA


def test_hotpot_documents_are_the_joined_sentences_and_the_evidence_those_marked(
    cases: ModuleType, tmp_path: Path
) -> None:
    (case,) = cases.read_cases(write(tmp_path / "h.json", [hotpot_record()]))
    assert case.query == "Where was the planter of Pella Orchard born?"
    assert case.answers == ("Tarnby",)
    assert [(d.title, d.text) for d in case.documents] == [
        ("Pella Orchard", "Pella Orchard lies on a hill. It was planted in 1911 by Ida Moor. Geese guard it."),
        ("Ida Moor", "Ida Moor was a gardener. She was born in Tarnby."),
    ]
    assert evidence(case) == ["It was planted in 1911 by Ida Moor.", "She was born in Tarnby."]


# SQuAD and XQuAD


def test_squad_evidence_is_the_sentence_with_the_answer(cases: ModuleType, tmp_path: Path) -> None:
    text = "".join(ORCHARD)
    path = write(
        tmp_path / "s.json", squad_file([("Hills are high.", []), (text, [asked("1911", text.index("1911"))])])
    )
    (case,) = cases.read_cases(path)
    assert case.query == "When was it planted?"
    assert case.answers == ("1911",)
    assert [(d.title, d.text) for d in case.documents] == [
        ("Pella Orchard", "Hills are high."),
        ("Pella Orchard", text),
    ]
    assert evidence(case) == ["It was planted in 1911 by Ida Moor."]
    assert case.gold[0].document == 1


# MuSiQue


def test_musique_evidence_is_the_sentence_with_the_answer_of_each_hop(cases: ModuleType, tmp_path: Path) -> None:
    (case,) = cases.read_cases(write(tmp_path / "m.jsonl", [musique_record()]))
    assert case.answers == ("Tarnby", "Tarnby village")
    assert [document.title for document in case.documents] == ["Ida Moor", "Tarnby", "Pella Orchard"]
    assert evidence(case) == ["She was born in Tarnby.", "It was planted in 1911 by Ida Moor."]
    assert [gold.document for gold in case.gold] == [0, 2]


# Marked cases


def test_marked_cases_are_taken_as_they_are(cases: ModuleType, tmp_path: Path) -> None:
    (case,) = cases.read_cases(write(tmp_path / "made_up.json.gz", marked_file()))
    assert case == cases.Case(
        query="who planted it?",
        documents=(cases.Document("", "Nobody knows."), cases.Document("A", "Ida M did.")),
        gold=(cases.Gold(1, 0, 5),),
        answers=("Ida",),
    )


def test_the_evaluation_cases_can_be_read(cases: ModuleType, cases_folder: Path) -> None:
    for path in cases_folder.glob("*.json.gz"):
        found = list(cases.read_cases(path, 20))
        assert len(found) == 20
        assert all(text.strip() == text != "" for case in found for text in evidence(case))
