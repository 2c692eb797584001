"""The questions that lose something, for an evaluation's page: what is lost beside what was kept."""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import zip_longest

from ctxcompress.apps.evaluation.evaluation_parts import tokens
from ctxcompress.apps.evaluation.evaluation_report import Asked, Report, Row
from ctxcompress.apps.evaluation.methods import method_named
from ctxcompress.apps.evaluation.questions import Question, Retrieve, passages_of
from ctxcompress.apps.xray.html import Html, element, plural
from ctxcompress.errors import ConfigError

__all__ = ["Xrays", "failures", "xrays"]

Xrays = Mapping[tuple[str, int], str]
"""The id of a question, and a budget -> the page of an x-ray."""
_MOST = 20
"""Questions that are shown for a budget, and x-rays of them: each is about 40 kB."""
_LONGEST = 8_000
"""Characters of a text."""
_ANSWER = {None: "", True: " An answer is still in the text.", False: " The text has no answer."}


def xrays(report: Report, questions: Sequence[Question], *, retrieve: Retrieve | None = None) -> Xrays:
    """Return the x-rays of questions that lose something with the first method: of 20 at most, those under the greatest
    budgets first. There are none of methods that are no name of this package's own.

    questions, retrieve: those that were evaluated. Raises what the method raises.
    """
    try:
        method = method_named(report.methods[0], report.encoding)
    except ConfigError:
        return {}
    numbers = {asked.id: number for number, asked in enumerate(report.questions)}
    found = {}
    for row in [row for budget in reversed(report.budgets) for row in _losing(report, budget)][:_MOST]:
        question = questions[numbers[row.question]]
        passages = passages_of(question, retrieve)
        if row.budget is not None and (page := method.xray(question.query, passages, row.budget)):
            found[row.question, row.budget] = page
    return found


def _losing(report: Report, budget: int | None) -> list[Row]:
    """Return the rows of the first method that lose something under a budget, those that lose most first."""
    held = {asked.id: asked.held for asked in report.questions}
    rows = [row for row in report.rows if row.lost and (row.method, row.budget) == (report.methods[0], budget)]
    return sorted(rows, key=lambda row: -len(row.lost) / held[row.question])


def failures(report: Report, xrays: Xrays) -> Iterator[Html]:
    """Yield for each budget the questions that lose something with the first method, those that lose most first."""
    questions = {asked.id: asked for asked in report.questions}
    lost = {(row.question, row.method, row.budget) for row in report.rows if row.lost}
    for place, budget in enumerate(report.budgets):
        rows = _losing(report, budget)
        cards = [_failure(row, questions[row.question], _others(report, row, lost), xrays) for row in rows[:_MOST]]
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


def _failure(row: Row, asked: Asked, others: str, xrays: Xrays) -> Html:
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
        *_framed(asked, xrays.get((row.question, row.budget or 0), "")),
    )


def _framed(asked: Asked, page: str) -> Iterator[Html]:
    """Yield the page of an x-ray, to be opened. A frame keeps its names and its style apart from those around it."""
    if page:
        frame = {"sandbox": "", "loading": "lazy", "title": f"X-ray: {_cut(asked.query)}", "srcdoc": page}
        yield element("details", {"class": "xray"}, element("summary", None, "X-ray"), element("iframe", frame))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
