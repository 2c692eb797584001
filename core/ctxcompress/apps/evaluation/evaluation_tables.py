"""The tables of an evaluation's page, and how its numbers are written."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from ctxcompress.apps.evaluation.answering import AnswerSummary
from ctxcompress.apps.evaluation.evaluation_curves import COLOURS
from ctxcompress.apps.evaluation.evaluation_report import Report, Summary
from ctxcompress.apps.evaluation.intervals import Estimate
from ctxcompress.apps.xray.html import Html, element, label, line

__all__ = ["answer_numbers", "chance", "numbers", "percent", "table", "tokens"]

_Row = TypeVar("_Row", Summary, AnswerSummary)
_Measure = tuple[str, str, Callable[[_Row], str]]
"""What it is called, what it means, and how it is written."""
_Line = tuple[str, str, Sequence[str]]


def numbers(report: Report, rows: Sequence[Summary]) -> Html:
    """Return the table of a budget's texts, with a column for each method and a line for each measure that one has."""
    budget = rows[0].budget
    losing = Counter(each.method for each in report.failures if each.budget == budget)
    last = ("losing", "questions that lose what all passages have", [f"{losing[row.method]:,}" for row in rows])
    return _by_method(f"The texts, with {tokens(budget)}", rows, [*_lines(_OF_TEXTS, rows), last])


def answer_numbers(budget: int | None, rows: Sequence[AnswerSummary]) -> Html:
    """Return the same of a language model's answers from these texts."""
    title = f"Answers of a language model, with {tokens(budget)}"
    return _by_method(title, rows, _lines(_OF_ANSWERS if budget else _OF_ANSWERS[:2], rows))


def _lines(measures: Sequence[_Measure[_Row]], rows: Sequence[_Row]) -> list[_Line]:
    return [(name, meaning, [show(row) for row in rows]) for name, meaning, show in measures]


def _by_method(caption: str, rows: Sequence[Summary | AnswerSummary], lines: Sequence[_Line]) -> Html:
    methods = (
        element("th", {"scope": "col", "class": f"m{number % COLOURS}"}, label(row.method, 40))
        for number, row in enumerate(rows)
    )
    names = element("thead", None, element("tr", None, element("td"), *methods))
    return table(caption, names, [line(*each) for each in lines if any(each[-1])])


def table(caption: str, head: Html, rows: Sequence[Html]) -> Html:
    """Return a table that scrolls sideways where the page is narrow."""
    inside = element("table", None, element("caption", None, caption), head, element("tbody", None, *rows))
    return element("div", {"class": "wide"}, inside)


def with_interval(found: Estimate | None, write: Callable[[float], str]) -> Html:
    """Return a mean with its interval, if that is no point; nothing for None."""
    if found is None or found.low == found.high:
        return Html(write(found.mean) if found else "")
    return Html.of(
        (write(found.mean), element("small", None, f"{write(found.low).removesuffix(' %')} to {write(found.high)}"))
    )


def percent(share: float) -> str:
    """Format a share. It says 0 % or 100 % only of nothing and all."""
    digits = 1 if 0.0005 <= abs(share) < 0.005 or 0.995 <= share < 0.9995 else 0
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %".replace("-", "\u2212")


def points(difference: float) -> str:
    """Format a difference of shares in points of a hundred."""
    return f"{round(100 * difference) + 0.0:+.0f}".replace("-", "\u2212")


def chance(p_value: float) -> str:
    """Format a p-value."""
    return f"{p_value:.3f}" if p_value >= 0.001 else "< 0.001"


def tokens(budget: float | None) -> str:
    """Format a budget."""
    return "the whole context" if budget is None else f"{budget:,.0f} tokens"


_OF_TEXTS: Sequence[_Measure[Summary]] = (
    ("evidence", "the share that is whole in the text", lambda row: with_interval(row.evidence, percent)),
    ("answers", "the share of questions whose text has one", lambda row: with_interval(row.answer, percent)),
    ("precision", "the share of the text that is evidence", lambda row: with_interval(row.precision, percent)),
    ("tokens", "of the text", lambda row: with_interval(row.tokens, "{:,.0f}".format)),
    ("saved", "the share of all tokens that is left out", lambda row: percent(row.saved)),
    ("ms", "of CPU, without a cache", lambda row: with_interval(row.milliseconds, "{:.1f}".format)),
    ("against", "points kept more than the first method", lambda row: with_interval(row.difference, points)),
    ("over", "texts with more tokens than the budget", lambda row: f"{row.over:,}" if row.over else ""),
)
_OF_ANSWERS: Sequence[_Measure[AnswerSummary]] = (
    ("right", "the share of right answers", lambda row: with_interval(row.right, percent)),
    ("F1", "words in common with an accepted answer", lambda row: with_interval(row.f1, percent)),
    ("F1 against all", "points more than from the whole context", lambda row: with_interval(row.f1_difference, points)),
    ("gained", "right here, and wrong from the whole context", lambda row: f"{row.gained:,}"),
    ("lost", "wrong here, and right from the whole context", lambda row: f"{row.lost:,}"),
    ("p", "the chance of so unequal numbers if neither is likelier (McNemar)", lambda row: chance(row.p_value)),
)
