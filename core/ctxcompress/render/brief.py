"""What notebooks show of a compression: a part of a page that reads well where style sheets are taken away."""

from ctxcompress.render.facts import MEANING
from ctxcompress.render.html import Html, element, figure, label, plural
from ctxcompress.types import Compression, KeptPassage

__all__ = ["brief"]

_MOST = 12
"""Passages that are listed."""
_LONGEST = 280
"""Characters of each of them."""


def brief(compression: Compression) -> str:
    """The numbers, why what is missing is missing, and the beginnings of what is kept."""
    came = compression.original.tokens()
    saved = f", {100 * (came - compression.tokens) / came:.1f} % saved" if came else ""
    tokens = f"{compression.tokens:,} of {plural(came, 'token')}{saved} (budget {compression.max_tokens:,})"
    kept = f"{len(compression.passages):,} of {plural(compression.input_count, 'passage')}"
    rest = len(compression.passages) - _MOST
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
            element("ol", None, *map(_passage, compression.passages[:_MOST])),
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
