"""A report for the page: hostile texts, three methods, and budgets under which they lose something."""

import re
from collections.abc import Sequence

from ctxcompress import Passage
from ctxcompress.apps.evaluation import Answers, Guarantee, Question, Report, answer, evaluate, guaranteed_budget

EVIL = '</script></style><script>alert(1)</script><img src=x onerror=alert(2)>\u202e &amp; "it\'s"'
GARDENS = [f"The garden of house {place} is open on Sundays. Dogs are welcome." for place in range(8)]


class Last:
    name = f"last{EVIL}"

    def __call__(self, query: str, passages: Sequence[Passage], max_tokens: int) -> str:
        return passages[-1].text if len(query) % 3 else passages[0].text


def question(number: int) -> Question:
    fact = f"The timeout of pool {number} is {30 + number} seconds {EVIL}."
    return Question(
        f"What is the timeout of pool {number}{'?' * (number % 3)} {EVIL}",
        answers=[f"{30 + number} seconds"],
        evidence=[fact, "Never retrieved."] if number == 0 else [fact],
        passages=[Passage(text, text) for text in (*GARDENS, f"Pools wait. {fact} They end.")],
        made=number == 1,
    )


def example() -> tuple[Report, Answers, Guarantee]:
    """A report, the answers of a model, and a promised budget."""
    methods = ("default", Last(), "first")
    report = evaluate(map(question, range(30)), budgets=(15, 30, 60, 120, None), methods=methods)
    answers = answer(report, lambda prompt: (*re.findall(r"is (\d+ seconds)", prompt), EVIL)[0])
    return report, answers, guaranteed_budget(report.losses("default"), report.budgets, max_loss=0.2)
