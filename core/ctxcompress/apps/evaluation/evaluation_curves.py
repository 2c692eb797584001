"""Curves of what methods keep by budget, as an image that stretches with the page: places across are percentages."""

import math
from collections.abc import Iterator, Mapping, Sequence

from ctxcompress.apps.evaluation.intervals import Estimate
from ctxcompress.apps.xray.html import Html, element, with_codes

__all__ = ["COLOURS", "Curves", "curves", "places"]

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
        *_grid(),
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


def _grid() -> Iterator[Html]:
    for quarter in range(5):
        yield _line("grid", "0", "100%", _down(quarter / 4), _down(quarter / 4))


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
