"""Where the tokens and the passages went, stage by stage and reason by reason."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ctxcompress.render.facts import MEANING, Facts, Step
from ctxcompress.render.html import Html, element
from ctxcompress.stats import StageStats

__all__ = ["gauge", "stages", "steps"]

_COUNTED: Mapping[str, str] = MappingProxyType(
    {"segment": "passages to segments", "score": "segments, with a score", "select": "segments, to texts"}
)
"""What goes into a stage and what comes out; of the others passages."""


_KEY = Html.of(
    part
    for name, told in (("left", "left"), ("gone", "taken away"), ("budget", "the budget"))
    for part in (element("i", {"class": f"key {name}"}), told)
)
"""What the colours of the bars mean."""


def gauge(tokens: int, most: int) -> Html:
    """How full the budget is."""
    share = min(tokens / most, 1.0)
    bar = _bar(("left", 0.0, share))
    told = f"{tokens:,} of {most:,} tokens of the budget, {100 * share:.0f} %"
    return element("div", {"class": "gauge"}, bar, element("p", None, told))


def steps(facts: Facts) -> Html:
    """The tokens that are left after each reason."""
    found = facts.steps()
    head = _head("what", "change", "left", _KEY)
    return element("table", {"class": "fall"}, head, element("tbody", None, *_rows(facts, found)))


def _rows(facts: Facts, found: Sequence[Step]) -> Iterator[Html]:
    compression, came = facts.compression, facts.came
    most = max(came, compression.max_tokens, compression.tokens, *(step.after for step in found), 1)
    limit = compression.max_tokens / most
    yield _row(
        "came in", f"{len(facts.passages):,} passages", None, came, _bar(("left", 0.0, came / most), limit=limit)
    )
    tokens = came
    for reason, before, after in found:
        kept, gone = ("left", 0.0, min(after, before) / most), ("gone", after / most, (before - after) / most)
        yield _row(reason.value, MEANING[reason], after - before, after, _bar(kept, gone, limit=limit))
        tokens = after
    if tokens != compression.tokens:
        bar = _bar(("left", 0.0, compression.tokens / most), limit=limit)
        told = "White space at the ends, markers, lines, headers."
        yield _row("as it is shown", told, compression.tokens - tokens, compression.tokens, bar)


def _row(name: str, told: str, change: int | None, left: int, bar: Html) -> Html:
    return element(
        "tr",
        None,
        element("th", {"scope": "row"}, name, element("small", None, told)),
        element("td", {"class": "n"}, "" if change is None else f"{change:+,}".replace("-", "\u2212")),
        element("td", {"class": "n"}, f"{left:,}"),
        element("td", {"class": "b"}, bar),
    )


def stages(found: Sequence[StageStats]) -> Html:
    """What went into each stage, and what came out of it."""
    head = _head("stage", "in \u2192 out", "ms")
    return element("table", {"class": "stages"}, head, element("tbody", None, *map(_stage, found)))


def _stage(stage: StageStats) -> Html:
    changed = (
        f"{stage.items_in:,} \u2192 {stage.items_out:,}" if stage.items_in != stage.items_out else f"{stage.items_in:,}"
    )
    return element(
        "tr",
        None,
        element("th", {"scope": "row"}, stage.name, " ", element("small", None, stage.note)),
        element("td", {"class": "n"}, changed, " ", element("small", None, _COUNTED.get(stage.name, "passages"))),
        element("td", {"class": "n"}, f"{stage.milliseconds:.1f}"),
    )


def _head(*names: str) -> Html:
    return element("thead", None, element("tr", None, *(element("th", {"scope": "col"}, name) for name in names)))


def _bar(*pieces: tuple[str, float, float], limit: float | None = None) -> Html:
    """pieces: (class, where it begins, how long it is), as shares of the whole. The numbers stand beside it."""
    rects = [
        element("rect", {"class": name, "x": _percent(start), "width": _percent(max(length, 0.0)), "height": "100%"})
        for name, start, length in pieces
    ]
    if limit is not None:
        place = _percent(limit)
        rects.append(element("line", {"class": "limit", "x1": place, "x2": place, "y1": "-4", "y2": "16"}))
    return element("svg", {"class": "bar", "width": "100%", "height": "12", "aria-hidden": "true"}, *rects)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
