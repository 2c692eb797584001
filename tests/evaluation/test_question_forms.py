"""Questions are read from files in the forms that sets are published in; what cannot be read is said."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ctxcompress import compress
from ctxcompress.apps.evaluation import Question, questions_from_headings, read_questions
from ctxcompress.errors import InputError

QUERY, ANSWER = "When was the tower built?", "1889"
EVIDENCE = "The tower was built in 1889."
TEXT = f"Paris has many sights. {EVIDENCE} It is high."
OTHER = "London has a bridge over its river. It opens for ships."

ROW = {"query": QUERY, "answers": [ANSWER], "evidence": [EVIDENCE], "passages": [TEXT, {"id": "b", "text": OTHER}]}
SQUAD_ASKED = {"id": "q1", "question": QUERY, "answers": [{"text": ANSWER, "answer_start": TEXT.index(ANSWER)}]}
IMPOSSIBLE = {"id": "q2", "question": "Who sold it?", "answers": [], "is_impossible": True}
PARAGRAPHS = [{"context": OTHER, "qas": []}, {"context": TEXT, "qas": [IMPOSSIBLE, SQUAD_ASKED]}]
SQUAD = {"version": "v2.0", "data": [{"title": "The_tower", "paragraphs": PARAGRAPHS}]}
SENTENCES = ["Paris has many sights. ", EVIDENCE, " It is high."]
HOTPOT = {
    "_id": "h1",
    "question": QUERY,
    "answer": ANSWER,
    "supporting_facts": [["Tower", 1]],
    "context": [["Tower", SENTENCES], ["Bridge", [OTHER]]],
}
HOTPOT_ON_THE_HUB = HOTPOT | {
    "supporting_facts": {"title": ["Tower"], "sent_id": [1]},
    "context": {"title": ["Tower", "Bridge"], "sentences": [SENTENCES, [OTHER]]},
}
MUSIQUE = {
    "id": "m1",
    "question": QUERY,
    "answer": ANSWER,
    "answer_aliases": ["in 1889"],
    "answerable": True,
    "question_decomposition": [{"id": 1, "question": "?", "answer": ANSWER, "paragraph_support_idx": 1}],
    "paragraphs": [
        {"idx": 0, "title": "Bridge", "paragraph_text": OTHER, "is_supporting": False},
        {"idx": 1, "title": "Tower", "paragraph_text": TEXT, "is_supporting": True},
    ],
}
OPEN_QUESTION = {
    "question": QUERY,
    "answers": [ANSWER],
    "ctxs": [
        {"id": "7", "title": "Bridge", "text": OTHER, "score": "1.05", "hasanswer": False, "isgold": False},
        {"title": "Tower", "text": TEXT, "hasanswer": True, "isgold": True},
    ],
}
RAGAS = {"user_input": QUERY, "retrieved_contexts": [TEXT, OTHER], "reference_contexts": [TEXT], "reference": ANSWER}
LABELLED = {"examples": [{"query": QUERY, "reference_contexts": [TEXT], "reference_answer": ANSWER, "query_by": None}]}
EMBEDDING_QA = {"queries": {"q1": QUERY}, "corpus": {"d1": TEXT, "d2": OTHER}, "relevant_docs": {"q1": ["d1"]}}
MARKED = {
    "docs": {"a": {"title": "Tower", "text": TEXT}, "b": {"title": "Bridge", "text": OTHER}},
    "cases": [{"query": QUERY, "docs": ["b", "a"], "gold": [[1, 23, 51]], "answers": [ANSWER]}],
}


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    raw = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def lines(*rows: object) -> str:
    return "\n".join(map(json.dumps, rows)) + "\n"


def judged(path: Path) -> Question:
    (question,) = read_questions(path)
    assert question.query == QUERY
    return question


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", lines(ROW)),
        ("rows.json", [ROW]),
        ("rows.csv", f"query;answer;evidence;context\n{QUERY};{ANSWER};{EVIDENCE};{TEXT}\n"),
        ("other_names.jsonl", lines({"question": QUERY, "answer": ANSWER, "evidence": EVIDENCE, "context": TEXT})),
        ("squad.json", SQUAD),
        ("hotpot.json", [HOTPOT]),
        ("hub.jsonl", lines(HOTPOT_ON_THE_HUB)),
        ("musique.jsonl", lines(MUSIQUE, MUSIQUE | {"answerable": False})),
        ("marked.json.gz", MARKED),
    ],
)  # fmt: skip
def test_a_form_gives_the_evidence_the_answer_and_the_passages(tmp_path: Path, name: str, content: Any) -> None:
    question = judged(written(tmp_path, name, content))
    assert [text.strip() for text in question.evidence] == [EVIDENCE]
    assert question.answers[0] == ANSWER
    assert question.passages is not None
    assert TEXT in [passage.text for passage in question.passages]


def test_ragas_in_jsonl_and_in_csv_as_it_writes_lists(tmp_path: Path) -> None:
    path = tmp_path / "ragas.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([RAGAS.keys(), RAGAS.values()])  # a list is written as Python shows it
    for question in (judged(path), judged(written(tmp_path, "ragas.jsonl", lines(RAGAS)))):
        assert (question.documents, question.answers) == ((TEXT,), (ANSWER,))
        assert [passage.text for passage in question.passages or ()] == [TEXT, OTHER]


def test_natural_questions_as_open_questions_with_what_a_retriever_found(tmp_path: Path) -> None:
    question = judged(written(tmp_path, "nq-open.jsonl.gz", lines(OPEN_QUESTION)))
    assert question.answers == (ANSWER,)
    assert [(found.title, found.text) for found in question.passages or ()] == [("Bridge", OTHER), ("Tower", TEXT)]


def test_the_data_sets_of_llamaindex(tmp_path: Path) -> None:
    labelled = judged(written(tmp_path, "labelled.json", LABELLED))
    assert (labelled.documents, labelled.answers, labelled.passages) == ((TEXT,), (ANSWER,), None)
    pairs = judged(written(tmp_path, "pairs.json", EMBEDDING_QA))
    assert (pairs.id, pairs.documents) == ("q1", (TEXT,))
    assert [passage.text for passage in pairs.passages or ()] == [TEXT]  # of the corpus, by its words


def test_a_folder_of_beir(tmp_path: Path) -> None:
    documents = [{"_id": f"d{number}", "title": "T", "text": text} for number, text in enumerate((TEXT, OTHER))]
    written(tmp_path, "corpus.jsonl", lines(*documents))
    written(tmp_path, "queries.jsonl", lines({"_id": "q1", "text": QUERY}, {"_id": "q2", "text": "not judged"}))
    (tmp_path / "qrels").mkdir()
    written(tmp_path / "qrels", "test.tsv", "query-id\tcorpus-id\tscore\nq1\td0\t1\nq1\td1\t0\n")
    written(tmp_path / "qrels", "dev.tsv", "query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    question = judged(tmp_path)
    assert (question.id, question.documents) == ("q1", (f"T\n\n{TEXT}",))
    assert question.passages


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.jsonl", lines(ROW, {"answer": "x"}), "no.jsonl, line 2 has no 'query', only answer"),
        ("no.jsonl", lines(ROW, ROW | {"evidence": [{"part": 1}]}), "line 2: evidence[0] has no 'text'"),
        ("no.jsonl", lines(ROW | {"query": " "}), "no.jsonl: query is ' '"),
        ("no.jsonl", '{"query": "x"}\n{"query"\n', "line 2 is not JSON (Expecting ':' delimiter"),
        ("no.csv", "query,evidence\nx,y\n,z\n", "row 2 has no 'query', only evidence"),
        ("no.json", {"cats": 1}, "no.json has cats, which is no known form"),
        ("no.json", {"data": [{"title": "x"}]}, "no.json: data[0] has no 'paragraphs', only title"),
        ("no.json", MARKED | {"cases": [{**MARKED["cases"][0], "gold": [[5, 0, 1]]}]}, "outside of the documents"),
        ("no.json", [HOTPOT | {"supporting_facts": [["Moon", 0]]}], "no document 'Moon'; give the distractor"),
        ("no.json", [MUSIQUE | {"paragraphs": [1]}], "no.json[0]: paragraphs[0] is a int, and must be a dict"),
        ("no.json", EMBEDDING_QA | {"queries": {}}, "has no query or document 'q1'"),
        ("no.json", [], "no.json has no questions"),
        ("no.json", b"\x89PNG\xff", "no.json is not text in UTF-8"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, content: object, message: str) -> None:
    """With the place, and what could be there."""
    with pytest.raises(InputError) as raised:
        read_questions(written(tmp_path, name, content))
    for said in (message, '{"query": "...", "answers": ["..."]}', "ctxcompress eval --help"):
        assert said in str(raised.value)


PAGE = """# Guide

This is about the pool.

## Limits

The pool opens ten connections at most, and then waits.

## List

These are the limits of the other pools that there are:
"""


def test_headings_become_questions(tmp_path: Path) -> None:
    written(tmp_path, "guide.md", PAGE)
    (question,) = questions_from_headings(tmp_path)
    assert question.query == "Guide: Limits"
    assert question.evidence == ("The pool opens ten connections at most, and then waits.",)
    assert question.made
    for number in range(9):
        written(tmp_path, f"page{number}.md", PAGE.replace("Guide", f"Guide {number}"))
    assert questions_from_headings(tmp_path, 5, seed=1) == questions_from_headings(tmp_path, 5, seed=1)
    assert questions_from_headings(tmp_path, 5, seed=1) != questions_from_headings(tmp_path, 5, seed=2)


def test_the_evidence_of_a_page_has_no_tags_as_results_have_none(tmp_path: Path) -> None:
    opening = "The pool opens ten connections at most, and then waits."
    page = f"<html><body><h2>Limits</h2><p>{opening} It is <b>fair</b>.</p></body></html>"
    written(tmp_path, "guide.html", page)
    (question,) = questions_from_headings(tmp_path)
    assert question.evidence == (opening,)
    assert opening in compress("limits?", [page + "<p>Other text is here, too.</p>" * 9], max_tokens=20).text


def test_a_heading_without_a_word_is_no_question(tmp_path: Path) -> None:
    written(tmp_path, "script.md", "#\n\nThe script makes a folder of its own for each of them.\n")
    written(tmp_path, "guide.md", PAGE)
    assert [question.query for question in questions_from_headings(tmp_path)] == ["Guide: Limits"]


@pytest.mark.parametrize("wrong", [{"query": ""}, {"query": "x", "evidence": "y"}, {"query": "x", "answers": [1]}])
def test_a_wrong_question_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="give"):
        Question(**wrong)
