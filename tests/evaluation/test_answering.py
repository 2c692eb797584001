"""Answers of language models from each text of a report, judged and compared in pairs."""

import asyncio
from collections.abc import Callable
from itertools import product

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from llama_index.core.llms import MockLLM

from ctxcompress.apps.evaluation import Question, Report, aanswer, answer, evaluate
from ctxcompress.apps.evaluation.answering import f1, mcnemar
from ctxcompress.errors import ConfigError

PAGES = ["The pool opens ten connections. The default timeout is 30 seconds.", "The garden is open on Sundays."]
QUESTIONS = [
    Question("What is the default timeout?", answers=["30 seconds", "half a minute"], passages=PAGES),
    Question("When is the garden open?", answers=["Sundays"], passages=PAGES),
    Question("Who is there?", evidence=["The pool opens ten connections."], passages=PAGES),
]


@pytest.fixture(scope="module")
def report() -> Report:
    return evaluate(QUESTIONS, budgets=[9, None])


def reading(prompt: str) -> str:
    """Answer as a reader does that finds what is in the context."""
    found = [text for text in ("30 seconds", "Sundays") if text in prompt.split("Question:")[0]]
    wanted = "30 seconds" if "timeout" in prompt.split("Question:")[1] else "Sundays"
    return wanted if wanted in found else "unknown"


def counted(ask: Callable[[str], str]) -> tuple[Callable[[str], str], list[str]]:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return ask(prompt)

    return model, prompts


def test_questions_with_answers_are_answered_from_each_text(report: Report) -> None:
    rows = answer(report, reading).rows
    ids = [report.questions[place].id for place in (0, 1)]
    assert {(row.question, row.budget) for row in rows} == {*product(ids, (9, None))}
    assert all((row.answer, row.f1, row.right) in {("30 seconds", 1.0, True), ("Sundays", 1.0, True)} for row in rows)


def test_what_is_lost_and_gained_is_counted_against_the_whole_context(report: Report) -> None:
    def forgetful(prompt: str) -> str:
        is_whole = all(page in prompt for page in PAGES)
        return "unknown" if is_whole == ("garden" in prompt.split("Question:")[1]) else reading(prompt)

    short, whole = answer(report, forgetful).summary()
    assert (short.budget, short.gained, short.lost, short.p_value) == (9, 1, 1, 1.0)
    assert (whole.budget, whole.gained, whole.lost, whole.f1_difference.mean) == (None, 0, 0, 0.0)
    assert short.right.mean == whole.right.mean == 0.5


def test_a_prompt_is_asked_once_and_an_answer_is_stored(report: Report) -> None:
    model, prompts = counted(reading)
    store: dict[str, bytes] = {}
    first = answer(report, model, store=store)
    assert len(prompts) == len(set(prompts)) == len(store)
    assert answer(report, model, store=store) == first
    assert len(prompts) == len(store)


def test_a_run_that_failed_goes_on_where_it_ended(report: Report) -> None:
    store: dict[str, bytes] = {}

    def failing(prompt: str) -> str:
        if len(store) == 2:
            raise ConnectionError("gone")
        return reading(prompt)

    with pytest.raises(ConnectionError):
        answer(report, failing, store=store, at_once=1)
    failing_after, prompts = counted(reading)
    failing_after.__qualname__ = failing.__qualname__
    assert answer(report, failing_after, store=store).rows == answer(report, reading).rows
    assert len(prompts) == 2


def test_a_judge_grades_what_is_said_in_other_words(report: Report) -> None:
    def judge(prompt: str) -> str:
        return "Right." if "Answer: thirty s" in prompt else "wrong"

    rows = answer(report, lambda _: "thirty s", judge=judge).rows
    assert all(row.right and row.f1 == 0.0 for row in rows)


def test_so_many_are_asked_at_once(report: Report) -> None:
    now, most = 0, 0

    async def model(prompt: str) -> str:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0)
        now -= 1
        return reading(prompt)

    told: list[tuple[int, int]] = []
    asyncio.run(aanswer(report, model, at_once=2, progress=lambda *numbers: told.append(numbers)))
    assert most == 2
    assert sorted(told) == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_models_of_both_frameworks_answer(report: Report) -> None:
    chat = GenericFakeChatModel(messages=iter([AIMessage("Sundays")] * 4))
    assert {row.answer for row in answer(report, chat).rows} == {"Sundays"}
    # LlamaIndex's MockLLM says the prompt, or the beginning of it.
    assert {row.answer for row in answer(report, MockLLM(max_tokens=2)).rows} == {"text text"}


def test_only_models_are_asked(report: Report) -> None:
    with pytest.raises(ConfigError, match="a int cannot answer; give a chat model"):
        answer(report, 3)


def test_answers_and_the_whole_context_are_needed(report: Report) -> None:
    with pytest.raises(ConfigError, match="no question of the report has an answer"):
        answer(evaluate(QUESTIONS[2:], budgets=[9, None]), reading)
    with pytest.raises(ConfigError, match="evaluate with None, the whole context, too"):
        answer(evaluate(QUESTIONS, budgets=[9]), reading)


@pytest.mark.parametrize(
    ("said", "accepted", "expected"),
    [
        ("The 30 seconds.", ["30 seconds"], 1.0),
        ("after 30 seconds", ["30 seconds", "half a minute"], 0.8),
        ("unknown", ["30 seconds"], 0.0),
        ("三十秒钟", ["三十秒"], 6 / 7),
        ("", ["30"], 0.0),
    ],
)
def test_f1_is_that_of_squad(said: str, accepted: list[str], expected: float) -> None:
    assert f1(said, accepted) == pytest.approx(expected)


@pytest.mark.parametrize("pair", [(0, 0), (0, 5), (3, 9), (20, 8), (400, 330), (1_500, 1_400)])
def test_mcnemar_is_the_two_sided_binomial_test(pair: tuple[int, int]) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(min(pair), sum(pair)).pvalue if sum(pair) else 1.0
    assert mcnemar(*pair) == pytest.approx(expected)
    assert mcnemar(*reversed(pair)) == mcnemar(*pair)
