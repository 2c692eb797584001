"""The X-ray page: one HTML file without scripts that loads nothing, and the brief version for notebooks.

The style sheet shows and hides passages (with `:has()`), so the page works where scripts are forbidden. Its content
security policy allows this one style sheet, by its hash, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType

from ctxcompress.apps.xray.facts import MEANING, Facts, Step
from ctxcompress.apps.xray.html import Html, document, element, head, label, line, plural, rest, saved, section
from ctxcompress.apps.xray.html import facts as pairs
from ctxcompress.apps.xray.passage_cards import clusters, clusters_of, filters, link, map_of, passages, scale
from ctxcompress.data.results import Compression, Decision, KeptPassage
from ctxcompress.data.stats import StageStats

__all__ = ["brief", "cards", "final_text", "kept_passages", "number", "numbers", "page", "reasons", "style_sheet"]

_COUNTED: Mapping[str, str] = MappingProxyType(
    {
        "segment": "passages to segments",
        "score": "segments, with a score",
        "select": "segments, to texts",
        "llm": "segments",
    }
)
"""Stage -> what its counts are; those of other stages are passages."""
_LEGEND = Html.of(
    part
    for name, meaning in (("left", "left"), ("gone", "dropped"), ("budget", "the budget"))
    for part in (element("i", {"class": f"key {name}"}), meaning)
)
"""The legend of the bars."""
_SCROLLED: Mapping[str, str] = MappingProxyType({"tabindex": "0", "role": "region", "aria-labelledby": "text-title"})
"""The attributes of a text that the keyboard has to scroll."""
_MOST = 16_000
"""Characters of the final text on the page."""
_MOST_PASSAGES = 12
"""Passages in the brief version."""
_LONGEST = 280
"""Characters of each of them."""
_EMPTY = "no query: the first passages are kept"


def page(facts: Facts) -> str:
    """Return the page. It can be encoded in UTF-8, and no text in it can act as markup."""
    return document(f"X-ray: {facts.compression.query[:80]}", style_sheet(), *_body(facts))


def cards(facts: Facts) -> Html:
    """Return all passages, with what is above them: the choice of those to show, the map and the legend."""
    return Html.of((filters(facts), map_of(facts), scale(facts), *passages(facts)))


def style_sheet() -> str:
    """Return the style sheet of the page."""
    return files("ctxcompress.apps.xray").joinpath("xray.css").read_text(encoding="utf-8")


def _body(facts: Facts) -> Iterator[Html]:
    compression = facts.compression
    duplicates = [section("copies", "Duplicates side by side", *clusters(facts))] if clusters_of(facts) else []
    yield element("a", {"class": "skip", "href": "#passages"}, "to the passages")
    query, kicker = compression.query, element("p", {"class": "kicker"}, "ctxcompress x-ray")
    shown = element("h1", {"dir": "auto"}, query) if query.strip() else element("h1", {"class": "none"}, _EMPTY)
    yield element("header", {"class": "top"}, kicker, shown, numbers(facts))
    yield element(
        "main",
        None,
        section("text", "The final text, as the language model gets it", final_text(facts, _SCROLLED)),
        element(
            "div",
            {"class": "where"},
            section("tokens", "Where the tokens went", steps(facts)),
            section("stages", "Stages", stages(compression.stages)),
        ),
        section("about", "Question and options", pairs((*facts.question, *facts.options), 300)),
        section("passages", "Passages", cards(facts)),
        *duplicates,
    )


def numbers(facts: Facts, *others: Html) -> Html:
    """Return the tokens and passages before and after, others made by `number`, and how full the budget is."""
    compression, tokens_in = facts.compression, facts.tokens_in
    lines = sum(part.metadata_only for part in compression.passages)
    also = f"{lines:,} of them as a line" if lines else ""
    boxes = (
        number(f"{compression.tokens:,}", f"of {plural(tokens_in, 'token')}", saved(tokens_in, compression.tokens)),
        number(f"{len(compression.passages):,}", f"of {plural(len(facts.passages), 'passage')}", also),
        *others,
    )
    return element("div", {"class": "numbers"}, *boxes, gauge(compression.tokens, compression.max_tokens))


def number(figure: str, of: str, also: str) -> Html:
    """Return a figure in large print with what it counts."""
    return element("p", None, element("strong", None, figure), " ", of, element("small", None, also))


def gauge(tokens: int, most: int) -> Html:
    """Return a bar that shows how full the budget is."""
    share = min(tokens / most, 1.0)
    bar = _bar(("left", 0.0, share))
    caption = f"{tokens:,} of {most:,} tokens of the budget, {100 * share:.0f} %"
    return element("div", {"class": "gauge"}, bar, element("p", None, caption))


def steps(facts: Facts) -> Html:
    """Return a table of the tokens that are left after each reason."""
    found = facts.steps()
    names = head("what", "change", "left", _LEGEND)
    return element("table", {"class": "fall"}, names, element("tbody", None, *_rows(facts, found)))


def _rows(facts: Facts, found: Sequence[Step]) -> Iterator[Html]:
    compression, tokens_in = facts.compression, facts.tokens_in
    most = max(tokens_in, compression.max_tokens, compression.tokens, *(step.after for step in found), 1)
    limit = compression.max_tokens / most
    bar = _bar(("left", 0.0, tokens_in / most), limit=limit)
    yield _row("input", f"{len(facts.passages):,} passages", None, tokens_in, bar)
    tokens = tokens_in
    for reason, before, after in found:
        kept, gone = ("left", 0.0, min(after, before) / most), ("gone", after / most, (before - after) / most)
        yield _row(reason.value, MEANING[reason], after - before, after, _bar(kept, gone, limit=limit))
        tokens = after
    if tokens != compression.tokens:
        bar = _bar(("left", 0.0, compression.tokens / most), limit=limit)
        meaning = "White space at the ends, markers, lines, headers."
        yield _row("as it is shown", meaning, compression.tokens - tokens, compression.tokens, bar)


def _row(name: str, meaning: str, change: int | None, left: int, bar: Html) -> Html:
    changed = "" if change is None else f"{change:+,}".replace("-", "\u2212")
    return line(name, meaning, (changed, f"{left:,}"), element("td", {"class": "b"}, bar))


def stages(found: Sequence[StageStats]) -> Html:
    """Return a table of the counts before and after each stage."""
    names = head("stage", "in \u2192 out", "ms")
    return element("table", {"class": "stages"}, names, element("tbody", None, *map(_stage, found)))


def _stage(stage: StageStats) -> Html:
    counts = dict.fromkeys((stage.items_in, stage.items_out))
    changed = " \u2192 ".join(f"{count:,}" for count in counts)
    return element(
        "tr",
        None,
        element("th", {"scope": "row"}, stage.name, " ", element("small", None, stage.note)),
        element("td", {"class": "n"}, changed, " ", element("small", None, _COUNTED.get(stage.name, "passages"))),
        element("td", {"class": "n"}, f"{stage.milliseconds:.1f}"),
    )


def _bar(*pieces: tuple[str, float, float], limit: float | None = None) -> Html:
    """Return a bar. pieces: (class, start, length), as shares of the whole."""
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


def final_text(facts: Facts, attributes: Mapping[str, str] = MappingProxyType({})) -> Html:
    """Return the final text with links to the passages. Text between passages comes from the format.

    attributes: what else its element has.
    """
    text = facts.compression.text
    inside = (*_linked(facts, text[:_MOST]), *rest(len(text) - _MOST))
    return element("div", {"class": "t final", "dir": "auto", **attributes}, *inside)


def _linked(facts: Facts, text: str) -> Iterator[Html]:
    place = 0
    for part in facts.compression.passages:
        start = text.find(part.text, place) if part.text else -1
        if start < 0:  # changed by its format, or beyond the shown part
            continue
        yield element("span", {"class": "between"}, text[place:start])
        yield element("span", {"class": "to"}, link(part.index))
        place = start + len(part.text)
        yield element("span", {"class": "piece"}, part.text)
    yield element("span", {"class": "between"}, text[place:])


def brief(compression: Compression) -> str:
    """Return the brief version: the counts, the drop reasons, and the beginnings of the kept passages."""
    tokens_in = compression.original.tokens()
    share = f", {saved(tokens_in, compression.tokens)}" if tokens_in else ""
    tokens = f"{compression.tokens:,} of {plural(tokens_in, 'token')}{share} (budget {compression.max_tokens:,})"
    kept = f"{len(compression.passages):,} of {plural(compression.input_count, 'passage')}"
    return element(
        "div",
        None,
        element("p", None, element("b", None, "ctxcompress"), " · ", label(compression.query, 200)),
        element("p", None, f"{kept} · {tokens}"),
        reasons(compression.dropped),
        element("details", None, element("summary", None, "What is kept"), *kept_passages(compression)),
        element("p", None, element("small", None, "All of it: ", element("code", None, "result.xray()"))),
    )


def kept_passages(compression: Compression) -> list[Html]:
    """Return a list of the beginnings of the kept passages, and how many more there are."""
    more = len(compression.passages) - _MOST_PASSAGES
    shown = element("ol", None, *map(_passage, compression.passages[:_MOST_PASSAGES]))
    return [shown, *([element("p", None, f"and {plural(more, 'passage')} more")] if more > 0 else [])]


def reasons(dropped: Sequence[Decision]) -> Html:
    """Return a table of what was dropped for each reason."""
    rows = []
    for reason in MEANING:
        of = [decision for decision in dropped if decision.reason is reason]
        if of:
            characters = sum(end - start for decision in of for start, end in decision.spans)
            passages = plural(len({decision.index for decision in of}), "passage")
            cells = (reason.value, passages, plural(characters, "character"), MEANING[reason])
            rows.append(element("tr", None, *(element("td", None, cell) for cell in cells)))
    if not rows:
        return element("p", None, "Nothing is dropped.")
    names = ("dropped", "of", "in all", "why")
    first = element("thead", None, element("tr", None, *(element("th", None, name) for name in names)))
    return element("table", None, first, element("tbody", None, *rows))


def _passage(part: KeptPassage) -> Html:
    name = next(filter(None, (part.original.title, part.original.file_path, part.id)), "")
    figures = f" · {plural(part.tokens, 'token')} · relevance {part.relevance:.3g}"
    text = part.text if len(part.text) <= _LONGEST else f"{part.text[:_LONGEST]}…"
    return element(
        "li", None, element("b", None, label(name, 100)), figures, element("blockquote", {"dir": "auto"}, text)
    )
