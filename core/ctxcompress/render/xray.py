"""The page that shows what became of every passage: one file without scripts, which gets nothing from elsewhere.

What is shown and hidden is said by style sheets (`:has()`), so that it works where scripts are forbidden. The policy of
the page allows its one style sheet, by its hash, and nothing else.
"""

import base64
import hashlib
from importlib.resources import files

from ctxcompress.render.copies import clusters, clusters_of
from ctxcompress.render.facts import Facts
from ctxcompress.render.final import final_text
from ctxcompress.render.html import Html, element, label, plural, with_codes
from ctxcompress.render.passages import filters, map_of, passages, scale
from ctxcompress.render.waterfall import gauge, stages, steps

__all__ = ["page"]

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
    compression, came = facts.compression, facts.came
    saved = f"{100 * (came - compression.tokens) / came:.1f} % saved" if came else ""
    lines = sum(part.metadata_only for part in compression.passages)
    also = f"{lines:,} of them as a line" if lines else ""
    boxes = (
        _number(f"{compression.tokens:,}", f"of {plural(came, 'token')}", saved),
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
