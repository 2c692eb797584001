"""Which boilerplate of a page a query asks for, and how that changes the scores of segments."""

import numpy as np
import pytest

from ctxcompress import compress
from ctxcompress.data.passages import Kind
from ctxcompress.query.terms import query_terms
from ctxcompress.score.boilerplate_relevance import surroundings
from ctxcompress.segment.segments import segment
from ctxcompress.text.words import Terms

PAGE = (
    "- [Home](/)\n- [Contact](/contact)\n\nBy Jane Doe, March 3, 2024\n\nWe use cookies to improve your visit.\n\n"
    "The gateway waits for ninety seconds.\n\n- one\n- two\n\n© 2024 Larch. All rights reserved.\n"
)


def asked(query):
    segments = segment(PAGE)
    texts = [PAGE[part.start : part.end] for part in segments]
    terms = Terms("en")
    left = surroundings(query, segments, texts, query_terms(query, language="en", terms=terms), terms, {}).unasked
    boilerplate = [number for number, part in enumerate(segments) if part.kind is Kind.BOILERPLATE]
    return [texts[number].strip() for number in boilerplate if number not in left]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("How long does the gateway wait?", []),
        ("", []),
        ("Who wrote this?", ["By Jane Doe, March 3, 2024"]),
        ("when was this article published", ["By Jane Doe, March 3, 2024"]),
        ("Wer ist der Autor?", ["By Jane Doe, March 3, 2024"]),
        ("Jane Doe", ["By Jane Doe, March 3, 2024"]),
        ("What are the cookies for?", ["We use cookies to improve your visit."]),
        ("copyright of the page", ["© 2024 Larch.", "All rights reserved."]),
        ("Is there a contact page, or a home page?", []),
    ],
)
def test_what_a_question_asks_for(query, expected):
    found = asked(query)
    assert [text for text in expected if text not in " ".join(found)] == []
    assert bool(found) == bool(expected)


def test_a_text_without_notices_is_not_looked_at():
    assert surroundings("q", segment("Text. More text."), [], {}, Terms("en"), {}) == ([], [])


def weighed(query, page=PAGE, under=()):
    segments = segment(page)
    texts = [page[part.start : part.end] for part in segments]
    terms = Terms("en")
    wanted = query_terms(query, language="en", terms=terms)
    scores = np.full(len(segments), 0.5)
    surroundings(query, segments, texts, wanted, terms, dict(under)).damp(scores)
    return {text.strip(): float(score) for text, score in zip(texts, scores, strict=True)}


def test_what_is_not_asked_for_is_worth_next_to_nothing():
    scores = weighed("How long does the gateway wait?")
    assert scores["By Jane Doe, March 3, 2024"] < 0.001
    assert scores["The gateway waits for ninety seconds."] == 0.5


@pytest.mark.parametrize(
    ("query", "is_best"),
    [("Who wrote this?", True), ("Who is the author?", True), ("Who wrote the song about the gateway?", False)],
)
def test_a_question_about_the_page_itself_finds_what_has_none_of_its_words(query, is_best):
    page = PAGE.replace("The gateway", "The gateway and this article")
    scores = weighed(query, page)
    assert scores["By Jane Doe, March 3, 2024"] == 0.5
    found = surroundings(query, segment(page), [page[p.start : p.end] for p in segment(page)], {}, Terms("en"), {})
    assert bool(found.wanted) == is_best


def test_a_heading_with_nothing_else_under_it_is_boilerplate():
    page = "# Title\n\nBy Jane Doe, March 3, 2024\n\n# Timeouts\n\nHome | Docs | Blog\n\nNinety seconds.\n"
    kinds = [part.kind for part in segment(page)]
    assert kinds[:2] == [Kind.HEADING, Kind.BOILERPLATE]
    scores = weighed("timeout", page, {0: range(1, 2), 2: range(3, 5)})
    assert scores["# Title"] < 0.001
    assert scores["# Timeouts"] == 0.5


REFERENCE = """# HTTP

### `request.abort()`

<!-- YAML
added: v0.3.8
changes:
  - version: v13.0
    description: How to abort an http request in node is fixed.
-->

Marks the request as aborting. The socket is destroyed.

[abort an http request in node]: http.md#requestabort
"""


@pytest.mark.parametrize("budget", range(8, 60, 4))
def test_comments_and_definitions_of_links_come_after_all_text(budget):
    found = compress("how do I abort an http request in node?", [REFERENCE], max_tokens=budget).text
    assert "Marks the request" in found
    assert not any(part in found for part in ("added:", "-->", "fixed", "http.md"))


def test_a_question_for_the_version_asks_for_the_comment_that_has_it():
    assert "v0.3.8" in compress("in which version was request.abort added?", [REFERENCE], max_tokens=60).text


def test_who_wrote_a_page_is_found_in_what_stands_before_it():
    text = "---\ntitle: Rivers\nauthor: Jane Doe\n---\n\n" + "The river runs by the town. Mills stand there.\n\n" * 9
    assert "Jane Doe" in compress("who wrote this page?", [text], max_tokens=40).text
    assert "Jane Doe" not in compress("where do mills stand?", [text], max_tokens=40).text
