"""What the command `eval` says besides its tables: a promised budget, answers of a model, and money."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcompress.apps.cli.app import app

EVIDENCE = "The default timeout is 30 seconds."
TEXTS = [
    *(f"The garden of house {number} is open on Sundays. Dogs are welcome there." for number in range(9)),
    f"The pool opens ten connections. {EVIDENCE} Logs are kept for a week.",
]
ROW = {"query": "What is the default timeout?", "answers": ["30 seconds"], "evidence": [EVIDENCE], "passages": TEXTS}
MODEL = """
asked = []
def reader(prompt):
    asked.append(prompt)
    return "30 seconds" if "30 seconds" in prompt else "unknown"
def strict(prompt):
    return "wrong"
def citing(prompt):
    return "It is said so [10]."
def failing(prompt):
    raise ConnectionError("no network")
"""


def evaluated(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, arguments)])


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = (ROW | {"id": str(number), "query": f"What is the default timeout, {number}?"} for number in range(25))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "models_to_ask.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    return path


def test_a_budget_is_promised_and_written(questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "settings.toml"
    result = evaluated(questions, "--budgets", "5,40,all", "--max-loss", 0.1, "--settings", out)
    assert result.exit_code == 0, result.stderr
    assert "The least budget that loses at most 10% of the evidence" in result.stdout
    assert "with 90% confidence: 40" in " ".join(result.stdout.split())
    assert tomllib.loads(out.read_text())["compression"] == {"max_tokens": 40}


def test_a_probability_is_promised_at_the_greatest_budget(questions: Path) -> None:
    compared = ("--compare", "default,adaptive:0.99,adaptive:0.01")
    result = evaluated(questions, "--budgets", "40,60,all", "--max-loss", 0.1, *compared)
    assert result.exit_code == 0, result.stderr
    said = "With a budget of 60 tokens, the greatest adaptive that does is 0.99; 0.0% lost."
    assert said in " ".join(result.stdout.split())
    refused = evaluated(questions, "--compare", "adaptive:much")
    assert "adaptive is 'much'; give a probability, such as adaptive:0.05" in refused.stderr


def test_with_too_few_questions_the_tables_are_shown_all_the_same(questions: Path) -> None:
    result = evaluated(questions, "--budgets", "40,all", "--max-loss", 0.01)
    assert result.exit_code == 0
    assert "evidence" in result.stdout
    assert "No budget can be promised: there are 25 questions, and 230 are needed" in " ".join(result.stdout.split())


def test_a_model_answers_and_is_graded(questions: Path, tmp_path: Path) -> None:
    common = (questions, "--limit", 3, "--budgets", "5,40,all", "--llm", "models_to_ask:reader")
    result = evaluated(*common, "--answers", tmp_path / "answers.sqlite")
    assert result.exit_code == 0, result.stderr
    [short, *_] = [line for line in result.stdout.split("answers of the model")[1].splitlines() if "default" in line]
    assert [cell.strip() for cell in short.split("│")] == ["default", "5", "0%", "0%", "-100", "0", "3", "0.25"]
    import models_to_ask  # type: ignore[import-not-found]

    asked = len(models_to_ask.asked)
    assert evaluated(*common, "--answers", tmp_path / "answers.sqlite").stdout.split("answers of")[1]
    assert len(models_to_ask.asked) == asked
    assert "100%" not in evaluated(*common, "--judge", "models_to_ask:strict").stdout.split("model")[1].split("F1")[0]


def test_without_answers_it_is_measured_against_what_a_model_cites(questions: Path) -> None:
    bare = {name: ROW[name] for name in ("query", "passages")}
    questions.write_text(json.dumps(bare))
    common = (questions, "--budgets", "40,all", "--llm")
    result = evaluated(*common, "models_to_ask:citing")
    assert result.exit_code == 0, result.stderr
    assert "Evidence is what an answer cites: 1 question. That is weaker" in result.stdout
    assert "answers of the model" not in result.stdout
    assert evaluated(*common, "models_to_ask:strict").exit_code == 1  # it cites nothing


def test_a_model_that_fails_is_one_line(questions: Path, tmp_path: Path) -> None:
    common = (questions, "--limit", 1, "--budgets", "40,all", "--llm", "models_to_ask:failing")
    for more, remedy in (
        ((), "with --answers FILE"),
        (("--answers", tmp_path / "a.sqlite"), "what was answered is in"),
    ):
        result = evaluated(*common, *more)
        assert result.exit_code == 1
        assert "failed (ConnectionError: no network); call it alone" in result.stderr
        assert remedy in result.stderr


def test_money_has_a_table(questions: Path) -> None:
    result = evaluated(questions, "--limit", 2, "--budgets", "40,all", "--price", "gpt-5-mini")
    assert "dollars for the input of 1,000 calls of gpt-5-mini" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--settings", "x.toml"], "--settings is given without --max-loss"),
        (["--judge", "a:b"], "--judge is given without --llm"),
        (["--llm", "no_such_module:model"], "'no_such_module:model' is no MODULE:NAME"),
        (["--llm", "json"], "'json' is no MODULE:NAME"),
        (["--price", "gtp"], "there is no price for the model 'gtp'"),
    ],
)
def test_what_cannot_be_done_is_said(questions: Path, arguments: list[str], message: str) -> None:
    result = evaluated(questions, "--limit", 1, "--budgets", "5,all", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_an_input_is_never_replaced(questions: Path) -> None:
    before = questions.read_bytes()
    result = evaluated(questions, "--max-loss", 0.1, "--settings", questions)
    assert result.exit_code == 2
    assert "is an input" in result.stderr
    assert questions.read_bytes() == before
