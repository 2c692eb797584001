"""The parts of an evaluation's page that show numbers: tables, and curves of what methods keep by budget."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from ctxcompress.apps.evaluation.answering import AnswerSummary
from ctxcompress.apps.evaluation.evaluation_report import Report, Summary
from ctxcompress.apps.evaluation.intervals import Estimate
from ctxcompress.apps.xray.html import Html, element, label, line, with_codes

__all__ = ["COLOURS", "Curves", "answer_numbers", "chance", "curves", "numbers", "percent", "places", "table", "tokens"]

Curves = Mapping[str, Sequence[Estimate]]
"""Method -> what it keeps under each budget."""

COLOURS = 6
"""Of the style sheet. The curves of further methods are dashed."""
_TOP, _HEIGHT, _BELOW = 12, 260, 32
"""Pixels: above the curves, of them, and below for the budgets."""
_LINE = 19
"""Pixels between two names at least."""
_APART = 13.0
"""Percent of the width between two written budgets at least."""
_LONGEST = 12
"""Characters of a name beside its curve."""


def places(budgets: Sequence[int | None]) -> list[float]:
    """Return where each budget stands, in percent of the width: by its logarithm; all passages one step further."""
    at = [math.log(budget) for budget in budgets if budget is not None]
    if None in budgets:
        step = (at[-1] - at[0]) / (len(at) - 1) if len(at) > 1 else 1.0
        at.append(at[-1] + step if at else 0.0)
    width = at[-1] - at[0]
    return [100 * (each - at[0]) / width if width else 50.0 for each in at]


def curves(budgets: Sequence[int | None], kept: Curves, meaning: str, marked: float) -> Html:
    """Return the curves with the bands of their intervals. Each has its name at its left end, where they differ most.

    meaning: what the image shows, for those who do not see it. marked: the place of a line across the curves.
    """
    across = places(budgets)
    stretched = {"viewBox": "0 0 100 100", "preserveAspectRatio": "none", "width": "100%"}
    shapes = [shape for number, found in enumerate(kept.values()) for shape in _shapes(number, across, found)]
    dots = [dot for number, found in enumerate(kept.values()) for dot in _dots(number, across, found)]
    plot = element(
        "svg",
        {"class": "plot", "id": "plot", "width": "100%", "height": str(_TOP + _HEIGHT + _BELOW)},
        *(_line("grid", "0", "100%", *[_down(quarter / 4)] * 2) for quarter in range(5)),
        *_budgets(budgets, across),
        element("svg", {**stretched, "y": str(_TOP), "height": str(_HEIGHT)}, *reversed(shapes)),
        _line("mark", f"{marked:.2f}%", f"{marked:.2f}%", _TOP, _TOP + _HEIGHT, id="mark"),
        *reversed(dots),
    )
    attributes = {"class": "curves", "role": "img", "aria-label": meaning}
    return element("div", attributes, _names(kept), plot, _shares())


def _shapes(number: int, across: Sequence[float], found: Sequence[Estimate]) -> Iterator[Html]:
    """Yield a curve and its band, in percent of width and height."""
    mean, low, high = ([*zip(across, shares, strict=True)] for shares in zip(*found, strict=True))
    again = " again" if number >= COLOURS else ""
    yield element("polyline", {"class": f"curve m{number % COLOURS}{again}", "points": _points(mean)})
    yield element("polygon", {"class": f"band m{number % COLOURS}", "points": _points([*high, *reversed(low)])})


def _points(found: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{place:.2f},{100 * (1 - share):.2f}" for place, share in found)


def _dots(number: int, across: Sequence[float], found: Sequence[Estimate]) -> Iterator[Html]:
    for place, each in zip(across, found, strict=True):
        at = {"cx": f"{place:.2f}%", "cy": f"{_down(each.mean):.1f}", "r": "4"}
        yield element("circle", {"class": f"dot m{number % COLOURS}", **at})


def _down(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)


def _line(kind: str, start: str, end: str, top: float, bottom: float, **others: str) -> Html:
    place = {"x1": start, "x2": end, "y1": f"{top:.1f}", "y2": f"{bottom:.1f}"}
    return element("line", {"class": kind, **place, **others})


def _budgets(budgets: Sequence[int | None], across: Sequence[float]) -> Iterator[Html]:
    """Yield the budgets below the curves, but for those that have no room."""
    last = -_APART
    for budget, place in zip(budgets, across, strict=True):
        if place - last >= _APART:
            last = place
            at = {"class": "tick", "x": f"{place:.2f}%", "y": str(_TOP + _HEIGHT + 22)}
            yield element("text", at, _short(budget))


def _short(budget: int | None) -> str:
    """Format a budget for little space: "500", "2k", "all"."""
    if budget is None:
        return "all"
    return f"{budget // 1_000:,}k" if budget % 1_000 == 0 else f"{budget:,}"


def _names(kept: Curves) -> Html:
    """Return the names with what is kept at the left end, each at its curve or just below the name above it."""
    ends = sorted((_down(found[0].mean), number, name) for number, (name, found) in enumerate(kept.items()))
    parts = []
    for (down, number, name), height in zip(ends, _spread([down for down, *_ in ends]), strict=True):
        written = with_codes(name)
        written = written if len(written) <= _LONGEST else f"{written[: _LONGEST - 1]}…"
        at = {"class": f"name m{number % COLOURS}", "x": "90%", "y": f"{height + 4.5:.1f}"}
        parts.append(element("text", at, f"{written} {100 * kept[name][0].mean:.0f} %"))
        parts.append(_line(f"lead m{number % COLOURS}", "92%", "99%", height, down))
    return element("svg", {"class": "names", "height": str(_TOP + _HEIGHT + _BELOW)}, *parts)


def _spread(heights: Sequence[float]) -> list[float]:
    """Return ascending heights, moved down until there is a line between each two, and up until all have room."""
    spread: list[float] = []
    for height in heights:
        spread.append(max(height, spread[-1] + _LINE) if spread else height)
    lowest = float(_TOP + _HEIGHT)
    for place in reversed(range(len(spread))):
        spread[place] = lowest = min(spread[place], lowest)
        lowest -= _LINE
    return spread


def _shares() -> Html:
    parts = (
        element("text", {"class": "tick", "x": "14", "y": f"{_down(quarter / 4) + 4:.1f}"}, f"{25 * quarter} %")
        for quarter in range(5)
    )
    return element("svg", {"class": "shares", "height": str(_TOP + _HEIGHT + _BELOW)}, *parts)


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
