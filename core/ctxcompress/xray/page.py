"""The page that shows what became of every passage: one file without scripts, which gets nothing from elsewhere.

What is shown and hidden is said by style sheets (`:has()`), so that it works where scripts are forbidden. The policy of
the page allows its one style sheet, by its hash, and nothing else.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType

from ctxcompress.data.results import Compression, KeptPassage
from ctxcompress.data.stats import StageStats
from ctxcompress.xray.facts import MEANING, Facts, Step
from ctxcompress.xray.html import Html, element, figure, label, plural, with_codes
from ctxcompress.xray.passage_cards import clusters, clusters_of, filters, link, map_of, passages, scale

__all__ = ["brief", "final_text", "gauge", "page", "stages", "steps"]

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
    compression, tokens_in = facts.compression, facts.tokens_in
    most = max(tokens_in, compression.max_tokens, compression.tokens, *(step.after for step in found), 1)
    limit = compression.max_tokens / most
    yield _row(
        "came in",
        f"{len(facts.passages):,} passages",
        None,
        tokens_in,
        _bar(("left", 0.0, tokens_in / most), limit=limit),
    )
    tokens = tokens_in
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


_MOST = 16_000
"""Characters that are shown."""


def final_text(facts: Facts) -> Html:
    """The very text. What stands between the passages' texts is what a format or a frame puts there."""
    text = facts.compression.text
    more = len(text) - _MOST
    told = [element("bdi", {"class": "more"}, f"{more:,} more characters")] if more > 0 else []
    return element("div", {"class": "t final", "dir": "auto"}, *_linked(facts, text[:_MOST]), *told)


def _linked(facts: Facts, text: str) -> Iterator[Html]:
    place = 0
    for part in facts.compression.passages:
        start = text.find(part.text, place) if part.text else -1
        if start < 0:  # escaped or shown otherwise by its format, or too far behind
            continue
        yield element("span", {"class": "between"}, text[place:start])
        yield element("span", {"class": "to"}, link(part.index))
        place = start + len(part.text)
        yield element("span", {"class": "piece"}, part.text)
    yield element("span", {"class": "between"}, text[place:])


_EMPTY = "no question: what comes first is kept"


def page(facts: Facts) -> str:
    """The page. It can be written as UTF-8, and every character of it that is of a text is shown as a text."""
    style = files("ctxcompress.render").joinpath("xray.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("title", None, with_codes(f"X-ray: {facts.compression.query[:80]}")),
        Html(f"<style>{style}</style>"),
    )
    return f"<!DOCTYPE html>\n{element('html', {'lang': 'en'}, head, _body(facts))}\n"


def _body(facts: Facts) -> Html:
    compression = facts.compression
    copies = [_section("copies", "Copies side by side", *clusters(facts))] if clusters_of(facts) else []
    return element(
        "body",
        None,
        element("a", {"class": "skip", "href": "#passages"}, "to the passages"),
        element("header", {"class": "top"}, *_asked(compression.query), _numbers(facts), _told(facts)),
        element(
            "main",
            None,
            element(
                "div",
                {"class": "where"},
                _section("tokens", "Where the tokens went", steps(facts)),
                _section("stages", "Stages", stages(compression.stages)),
            ),
            _section("text", "The final text", _opened("as the reader gets it", final_text(facts))),
            _section("passages", "Passages", filters(facts), map_of(facts), scale(facts), *passages(facts)),
            *copies,
        ),
    )


def _asked(query: str) -> list[Html]:
    shown = element("h1", {"dir": "auto"}, query) if query.strip() else element("h1", {"class": "none"}, _EMPTY)
    return [element("p", {"class": "kicker"}, "ctxcompress x-ray"), shown]


def _numbers(facts: Facts) -> Html:
    compression, tokens_in = facts.compression, facts.tokens_in
    saved = f"{100 * (tokens_in - compression.tokens) / tokens_in:.1f} % saved" if tokens_in else ""
    lines = sum(part.metadata_only for part in compression.passages)
    also = f"{lines:,} of them as a line" if lines else ""
    boxes = (
        _number(f"{compression.tokens:,}", f"of {plural(tokens_in, 'token')}", saved),
        _number(f"{len(compression.passages):,}", f"of {plural(len(facts.passages), 'passage')}", also),
    )
    return element("div", {"class": "numbers"}, *boxes, gauge(compression.tokens, compression.max_tokens))


def _number(number: str, of: str, also: str) -> Html:
    return element("p", None, element("strong", None, number), " ", of, element("small", None, also))


def _told(facts: Facts) -> Html:
    """What the question is, and what was asked for."""
    rows = (
        part
        for name, value in (*facts.question, *facts.options)
        for part in (element("dt", None, name), element("dd", None, label(value, 300)))
    )
    return element("dl", None, *rows)


def _section(name: str, title: str, *inside: Html) -> Html:
    head = element("h2", {"id": f"{name}-title"}, title)
    return element("section", {"id": name, "aria-labelledby": f"{name}-title"}, head, *inside)


def _opened(summary: str, inside: Html) -> Html:
    return element("details", None, element("summary", None, summary), inside)


_MOST_PASSAGES = 12
"""Passages that are listed."""
_LONGEST = 280
"""Characters of each of them."""


def brief(compression: Compression) -> str:
    """The numbers, why what is missing is missing, and the beginnings of what is kept."""
    tokens_in = compression.original.tokens()
    saved = f", {100 * (tokens_in - compression.tokens) / tokens_in:.1f} % saved" if tokens_in else ""
    tokens = f"{compression.tokens:,} of {plural(tokens_in, 'token')}{saved} (budget {compression.max_tokens:,})"
    kept = f"{len(compression.passages):,} of {plural(compression.input_count, 'passage')}"
    rest = len(compression.passages) - _MOST_PASSAGES
    return element(
        "div",
        None,
        element("p", None, element("b", None, "ctxcompress"), " · ", label(compression.query, 200)),
        element("p", None, f"{kept} · {tokens}"),
        _reasons(compression),
        element(
            "details",
            None,
            element("summary", None, "What is kept"),
            element("ol", None, *map(_passage, compression.passages[:_MOST_PASSAGES])),
            *([element("p", None, f"and {plural(rest, 'passage')} more")] if rest > 0 else []),
        ),
        element("p", None, element("small", None, "All of it: ", element("code", None, "result.xray()"))),
    )


def _reasons(compression: Compression) -> Html:
    rows = []
    for reason in MEANING:
        of = [decision for decision in compression.dropped if decision.reason is reason]
        if of:
            characters = sum(end - start for decision in of for start, end in decision.spans)
            passages = plural(len({decision.index for decision in of}), "passage")
            cells = (reason.value, passages, plural(characters, "character"), MEANING[reason])
            rows.append(element("tr", None, *(element("td", None, cell) for cell in cells)))
    if not rows:
        return element("p", None, "Nothing is left out.")
    names = ("left out", "of", "in all", "why")
    head = element("thead", None, element("tr", None, *(element("th", None, name) for name in names)))
    return element("table", None, head, element("tbody", None, *rows))


def _passage(part: KeptPassage) -> Html:
    name = next(filter(None, (part.original.title, part.original.file_path, part.id)), "")
    told = f" · {plural(part.tokens, 'token')} · relevance {figure(part.relevance)}"
    text = part.text if len(part.text) <= _LONGEST else f"{part.text[:_LONGEST]}…"
    return element("li", None, element("b", None, label(name, 100)), told, element("blockquote", {"dir": "auto"}, text))
