"""The x-ray of a run: one page about all that an agent, a chain or a program had compressed, step by step."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import starmap

from ctxcompress.apps.xray.html import Html, document, element, label, plural, saved
from ctxcompress.apps.xray.page import kept_passages, number, reasons, style_sheet
from ctxcompress.data.results import Compression
from ctxcompress.data.stats import Observation, Report

__all__ = ["RunXray"]

_MOST_CHARACTERS = 16_000
"""Of the kept search results of a step."""


class RunXray:
    """Is told of each compression, and makes one page of all.

        run = RunXray()
        agent = create_agent(..., middleware=[CtxCompressMiddleware(max_tokens=1000, telemetry=run)])
        ...
        Path("run.html").write_text(run.page(), encoding="utf-8")

    It is an observer for the option `telemetry` of whatever the run uses: compressors, retrievers, postprocessors,
    middleware, tools, builders, search results. Threads can share it. It holds the texts of the last `most` steps.
    """

    def __init__(self, *, most: int = 200) -> None:
        self._steps: deque[tuple[int, Observation]] = deque(maxlen=most)
        self._count = 0

    @contextmanager
    def observe(self) -> Iterator[Report]:
        """Yield the function that is told what one compression did."""
        yield self._add

    def _add(self, found: Observation) -> None:
        self._count += 1
        self._steps.append((self._count, found))

    def page(self, title: str = "What the run compressed") -> str:
        """Return the page: one HTML file without scripts that loads nothing, as `Compression.xray` does.

        **It contains the texts of the documents.**
        """
        steps = [*self._steps]
        head = (element("p", {"class": "kicker"}, "ctxcompress x-ray of a run"), element("h1", {"dir": "auto"}, title))
        top = element("header", {"class": "top"}, *head, _numbers(self._count, [found for _, found in steps]))
        return document(title, style_sheet(), top, element("main", None, *starmap(_card, steps)))


def _numbers(count: int, steps: Sequence[Observation]) -> Html:
    before = sum(step.original_tokens for step in steps)
    after = sum(step.compressed_tokens for step in steps)
    earlier = f"the last {len(steps):,} are shown" if count > len(steps) else ""
    seconds = sum(step.duration for step in steps)
    return element(
        "div",
        {"class": "numbers"},
        number(f"{after:,}", f"of {plural(before, 'token')}", saved(before, after)),
        number(f"{count:,}", "step" if count == 1 else "steps", earlier),
        number(f"{1e3 * seconds:,.0f}", "milliseconds", ""),
    )


def _card(place: int, found: Observation) -> Html:
    share = saved(found.original_tokens, found.compressed_tokens)
    budget = "" if found.max_tokens is None else f" (budget {found.max_tokens:,})"
    tokens = f"{found.compressed_tokens:,} of {plural(found.original_tokens, 'token')}"
    tokens = ", ".join(filter(None, (tokens, share)))
    kept = f"{found.kept:,} of {plural(found.passages, 'passage')} · {tokens}{budget} · {1e3 * found.duration:,.1f} ms"
    kind = "" if isinstance(found.result, Compression) else "search results: "
    query = getattr(found.result, "query", "").strip()
    head = element("h2", None, f"{place}. {kind}", label(query or "no query", 200))
    return element(
        "article",
        {"class": "p"},
        element("header", None, head, element("p", None, kept)),
        element("div", {"class": "words"}, reasons(getattr(found.result, "dropped", ()))),
        element("details", {"open": ""}, element("summary", None, "What is kept"), *_kept(found.result)),
    )


def _kept(result: object) -> list[Html]:
    """Return what was kept of passages, or of search results."""
    if isinstance(result, Compression):
        return kept_passages(result)
    results = json.dumps(getattr(result, "results", None), ensure_ascii=False, indent=1, default=str)
    return [element("div", {"class": "t code", "dir": "auto"}, results[:_MOST_CHARACTERS])]
