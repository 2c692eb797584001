"""The command `eval`, through a runner in this process."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress.apps.cli.app import app
from ctxcompress.apps.evaluation import Report

EVIDENCE = "The default timeout is 30 seconds."
TEXTS = [
    *(f"The garden of house {number} is open on Sundays. Dogs are welcome there." for number in range(9)),
    f"The pool opens ten connections. {EVIDENCE} Logs are kept for a week.",
]
ROW = {"query": "What is the default timeout?", "answers": ["30 seconds"], "evidence": [EVIDENCE], "passages": TEXTS}
PAGE = "# Pool\n\n## Limits\n\nThe pool opens ten connections at most, and then it waits.\n"


def evaluated(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, arguments)])


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(ROW | {"id": name}) + "\n" for name in "abc"))
    return path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pool.md").write_text(PAGE)
    return folder


def test_a_table_for_each_method_and_what_is_lost(questions: Path) -> None:
    result = evaluated(questions, "--budgets", "5,40,all", "--compare", "default, first", "--limit", 2)
    assert result.exit_code == 0, result.stderr
    for shown in (
        "2 questions, each with 10 passages",
        "answers",
        "precision",
        "against default",
        "all",
        "at 5: What is the default timeout?",
        f"lost: {EVIDENCE}",
    ):
        assert shown in result.stdout
    assert result.stderr == ""


def test_questions_from_headings_of_a_folder(docs: Path) -> None:
    result = evaluated("--docs", docs, "--questions-from-headings", 5, "--budgets", "50,all")
    assert result.exit_code == 0, result.stderr
    assert "1 question, each with 1 passage of " in result.stdout
    assert "Made from headings: 1 question. That is weaker" in result.stdout


def test_the_report_is_a_baseline_and_worse_is_exit_code_4(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    written = evaluated(questions, "--budgets", "20,all", "--json", out)
    assert (written.exit_code, f"wrote {out}" in written.stderr) == (0, True)
    assert Report.from_json(out.read_text()).budgets == (20, None)
    same = evaluated(questions, "--budgets", "20", "--baseline", out, "--limit", 2)
    assert (same.exit_code, same.stderr) == (0, "")
    assert "Nothing is sure to differ from the baseline (2 questions in common)." in same.stdout
    out.write_text(out.read_text().replace('"default"', '"first"'))  # as if `first` had been as good
    worse = evaluated(questions, "--budgets", "20,all", "--compare", "first", "--baseline", out)
    assert worse.exit_code == 4
    assert "WORSE than the baseline: first at 20: -100 points" in worse.stdout
    other = evaluated(questions, "--budgets", "30", "--compare", "first", "--baseline", out)
    assert (other.exit_code, "nothing to compare" in other.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give QUESTIONS, or --questions-from-headings N with --docs"),
        (["--questions-from-headings", "3"], 2, "without --docs"),
        (["QUESTIONS", "--budgets", "10,x"], 2, "--budgets has 'x'; give numbers"),
        (["QUESTIONS", "--compare", "best"], 2, "there is no method 'best'"),
        (["QUESTIONS", "--json", "QUESTIONS"], 2, "is an input, or in one"),
        (["QUESTIONS", "--docs", "DOCS", "--json", "DOCS/pool.md"], 2, "is an input, or in one"),
        (["QUESTIONS", "--json", "/no/such/folder/x.json"], 2, "there is no folder"),
        (["QUESTIONS", "--baseline", "QUESTIONS"], 2, "this is no report"),
        (["DOCS/pool.md"], 1, "which is no known form"),
        (["DOCS/none.csv"], 1, "cannot be read"),
        (["BARE"], 2, "have no passages; give a folder of them with --docs"),
        (["BARE", "--docs", "DOCS"], 1, "no question has answers or evidence"),
    ],
)
def test_what_cannot_be_done_is_said(
    questions: Path, docs: Path, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "bare.csv").write_text("query\nHow many connections?\n")
    before = questions.read_bytes()
    places = {"QUESTIONS": questions, "DOCS": docs, "BARE": tmp_path / "bare.csv"}
    for name, place in places.items():
        arguments = [argument.replace(name, str(place)) for argument in arguments]
    result = evaluated(*arguments)
    assert result.exit_code == code, result.stderr
    assert message in " ".join(result.stderr.split())
    assert questions.read_bytes() == before
    assert (docs / "pool.md").read_text() == PAGE
