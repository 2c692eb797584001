"""The questions that lose something, for an evaluation's page: what is lost beside what was kept."""

from collections.abc import Iterator, Set
from itertools import zip_longest

from ctxcompress.apps.evaluation.evaluation_report import Asked, Report, Row
from ctxcompress.apps.evaluation.evaluation_tables import tokens
from ctxcompress.apps.xray.html import Html, element, plural

__all__ = ["failures"]

_MOST = 20
"""Questions that are shown for a budget."""
_LONGEST = 8_000
"""Characters of a text."""
_ANSWER = {None: "", True: " An answer is still in the text.", False: " The text has no answer."}


def failures(report: Report) -> Iterator[Html]:
    """Yield for each budget the questions that lose something with the first method, those that lose most first."""
    questions = {asked.id: asked for asked in report.questions}
    lost = {(row.question, row.method, row.budget) for row in report.rows if row.lost}
    for place, budget in enumerate(report.budgets):
        rows = [row for row in report.rows if row.lost and (row.method, row.budget) == (report.methods[0], budget)]
        rows.sort(key=lambda row: -len(row.lost) / questions[row.question].held)
        cards = [_failure(row, questions[row.question], _others(report, row, lost)) for row in rows[:_MOST]]
        if len(rows) > _MOST:
            cards.append(element("p", {"class": "note"}, f"And {len(rows) - _MOST:,} more, which the report has."))
        many = f"{len(rows):,} of {plural(report.judged, 'question')}" if rows else "nothing"
        title = element("h3", None, f"With {tokens(budget)}: {many}")
        yield element("div", {"class": "failures", "data-stop": str(place)}, title, *cards)


def _others(report: Report, row: Row, lost: Set[tuple[str, str, int | None]]) -> str:
    """Say which other methods lose something of the question under the same budget."""
    others = [name for name in report.methods if name != row.method]
    losing = [name for name in others if (row.question, name, row.budget) in lost]
    return f" Other methods that lose something: {', '.join(losing) or 'none'}." if others else ""


def _failure(row: Row, asked: Asked, others: str) -> Html:
    lost = [
        part
        for piece, why in zip_longest(row.lost, row.why, fillvalue="")
        for part in (
            element("blockquote", {"class": "t", "dir": "auto"}, _cut(piece.strip())),
            *([element("p", {"class": "note"}, why)] if why else []),
        )
    ]
    kept = element("div", {"class": "t", "dir": "auto"}, _cut(row.text))
    sides = (
        element("div", {"class": "side"}, element("p", None, "Lost"), *lost),
        element("details", {"class": "side"}, element("summary", None, f"Kept: {plural(row.tokens, 'token')}"), kept),
    )
    said = f"Lost: {len(row.lost):,} of {plural(asked.held, 'piece')}.{_ANSWER[row.answer]}{others}"
    return element(
        "article",
        {"class": "p"},
        element("h4", {"dir": "auto"}, _cut(asked.query)),
        element("p", None, said),
        element("div", {"class": "sides"}, *sides),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
