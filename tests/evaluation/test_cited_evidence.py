"""Questions that nobody has marked are measured by what an answer over all passages cites."""

import pytest

from ctxcompress import Passage
from ctxcompress.apps.evaluation import Question, Report, evaluate, respond
from ctxcompress.apps.evaluation.citations import cited
from ctxcompress.errors import InputError

POOL = "The pool opens ten connections. The default timeout is 30 seconds."
GARDEN = "The garden is open on Sundays."
PASSAGES = [Passage("0", GARDEN), Passage("1", ""), Passage("2", POOL)]


@pytest.mark.parametrize(
    ("response", "evidence", "documents"),
    [
        ("It waits a while [3].", (), (POOL,)),
        ("See [1, 3].", (), (GARDEN, POOL)),
        ('Its "default timeout is 30 seconds" [3].', ("default timeout is 30 seconds",), ()),
        ("The garden is open on Sundays.", (GARDEN,), ()),
        ("30 seconds", ("30 seconds",), ()),
        ("unknown", (), ()),
        ("It waits [2], or [9].", (), ()),
        ("", (), ()),
    ],
)
def test_what_an_answer_cites_is_looked_for(
    response: str, evidence: tuple[str, ...], documents: tuple[str, ...]
) -> None:
    found = cited(Question("How long?", response=response), PASSAGES)
    assert (found.evidence, found.documents) == (evidence, documents)


def test_marked_evidence_stays_alone() -> None:
    marked = Question("How long?", evidence=[GARDEN], response="It waits [3].")
    assert cited(marked, PASSAGES) is marked


def test_a_model_is_asked_about_unmarked_questions_only() -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return "It waits [3]."

    questions = [
        Question("How long?"),
        Question("How many?", answers=["ten"]),
        Question("When?", response="On Sundays [1]."),
    ]
    told: list[tuple[int, int]] = []
    found = respond(questions, model, retrieve=lambda _: PASSAGES, progress=lambda *done: told.append(done))
    assert [each.response for each in found] == ["It waits [3].", "", "On Sundays [1]."]
    assert told == [(1, 1)]
    (prompt,) = prompts
    assert f"[1] {GARDEN}\n\n[2] \n\n[3] {POOL}\n\nQuestion: How long?" in prompt
    report = evaluate(found, budgets=[9, None], retrieve=lambda _: PASSAGES)
    assert (report.cited, report.judged, [asked.pieces for asked in report.questions]) == (2, 3, [1, 1, 1])
    assert Report.from_json(report.to_json()).cited == 2
    with pytest.raises(InputError, match="'How long\\?' has no passages"):
        respond(questions, model)
