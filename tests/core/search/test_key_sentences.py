"""Of pages that begin and end with notices what they say is kept: two results of `answers/gateway.json` are such. Two
results of `answers/sourdough.json` are nothing else, and are dropped."""

import pytest
from search_shapes import tavily

from ctxcompress import compress, compress_search_results
from ctxcompress.apps.search.result_limits import boilerplate_only
from ctxcompress.apps.search.shapes import Record
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.results import Reason

GATEWAY = "What is the default idle timeout of the Larch gateway?"
NOTICES = (
    "Skip to content",
    "Home |",
    "Home >",
    "By Mara Lindqvist",
    "Tomas Berg",
    "cookies",
    "Cookie settings",
    "Accept all",
    "Share this",
    "Related posts",
    "retry policy",
    "newsletter",
    "All rights reserved",
    "Follow us",
    "Previous",
    "Tags:",
    "Leave a comment",
)


def answers():
    return tavily("gateway")["results"]


def passages():
    return [{"text": result["content"], "title": result["title"]} for result in answers()]


def notices_in(text):
    return [notice for notice in NOTICES if notice in text]


@pytest.mark.parametrize("complexity", ["simple", "moderate", "complex"])
def test_no_result_is_a_notice_where_there_is_text(complexity):
    results = compress_search_results(answers(), GATEWAY, complexity=complexity).results
    assert len(results) >= 3
    assert [notices_in(result["content"]) for result in results] == [[]] * len(results)
    assert "ninety seconds" in results[0]["content"]
    assert "ninety seconds" in results[1]["content"]


@pytest.mark.parametrize("budget", [90, 110])
def test_text_comes_before_notices_in_a_budget(budget):
    text = compress(GATEWAY, passages(), max_tokens=budget).text
    assert notices_in(text) == []
    assert "ninety seconds" in text
    assert "its default is 90" in text


def test_notices_are_kept_where_there_is_nothing_else():
    text = "Skip to content\nHome | Docs | Blog\nBy Mara Lindqvist, March 3, 2024 · 5 min read\nCookie settings " * 3
    assert compress(GATEWAY, [text], max_tokens=20).text
    (result,) = compress_search_results([{"url": "https://a.example", "content": text}], GATEWAY).results
    assert result["content"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("How do I subscribe to the newsletter?", "Subscribe to our newsletter"),
        ("When was the post on tuning Larch published?", "Published January 17, 2024"),
        ("Who is Mara Lindqvist?", "By Mara Lindqvist"),
        ("What are cookies used for?", "We use cookies to improve"),
    ],
)
def test_a_notice_that_is_asked_for_is_kept(query, expected):
    assert expected in compress(query, passages(), max_tokens=80).text


@pytest.mark.parametrize("query", ["Who wrote this?", "Who is the author?", "When was this post published?"])
def test_the_byline_of_a_page(query):
    assert "By Mara Lindqvist, March 3, 2024" in compress(query, passages()[:1], max_tokens=80).text


def test_a_weight_of_their_own_can_be_given():
    text = compress(GATEWAY, passages(), max_tokens=60, type_weights={"boilerplate": 1.0}).text
    assert notices_in(text)


BREAD = "How long does sourdough bread keep?"
AROUND = [0, 2]
"""The places of the results that say nothing."""


@pytest.mark.parametrize("complexity", ["simple", "moderate", "complex"])
def test_results_that_say_nothing_are_dropped(complexity):
    found = compress_search_results(tavily("sourdough"), BREAD, complexity=complexity)
    urls = [result["url"] for result in tavily("sourdough")["results"]]
    assert [result["url"] for result in found.results["results"]] == [urls[1], urls[3], urls[4]]
    assert [(of.index, of.reason) for of in found.dropped if of.index in AROUND] == [
        (place, Reason.BUDGET) for place in AROUND
    ]


@pytest.mark.parametrize("query", ["Who wrote this?", "Which cookies does the site use?", "Is there a cookie policy?"])
def test_results_that_are_asked_for_stay(query):
    found = compress_search_results(tavily("sourdough"), query, complexity="complex")
    assert found.compressed_count == 5


@pytest.mark.parametrize("others", [[], [{"url": "https://a.example", "content": " "}]])
def test_results_that_say_nothing_stay_where_there_is_no_other(others):
    results = [tavily("sourdough")["results"][place] for place in AROUND] + others
    assert {result["url"] for result in results[:2]} <= {
        result["url"] for result in compress_search_results(results, BREAD).results
    }


@pytest.mark.parametrize(
    ("content", "title", "is_hollow"),
    [
        ("Home | Docs | Contact\nTimeouts\nBy Jane Doe, March 3, 2024", "Timeouts | Larch", True),
        ("Home | Docs | Contact\nTimeouts\nBy Jane Doe, March 3, 2024", None, False),
        ("Home | Docs | Contact\nThe default is ninety seconds.", "Timeouts", False),
        ("Home | Docs | Contact\n" * 200, "Timeouts", False),
        ("Timeouts", "Timeouts", False),
        ("", "Timeouts", False),
    ],
)
def test_what_says_nothing(content, title, is_hollow):
    record = Record({"url": "https://a.example", "content": content, "title": title})
    assert boilerplate_only("What is the default?", [record], CompressionConfig()) == [0] * is_hollow


def test_in_a_budget_boilerplate_is_unlikely():
    result = compress(GATEWAY, passages(), max_tokens=150)
    assert notices_in(result.text) == []
    dropped = {
        decision.passage.text[start:end].strip()
        for decision in result.dropped
        if decision.reason is Reason.UNLIKELY
        for start, end in decision.spans
    }
    assert any("Skip to content" in text for text in dropped)


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(
    "text", ["Skip to content\n\n# Title\n\nBy Jane Doe, March 3, 2024\nHome | Docs | Blog\n", "Cookie settings\n"]
)
def test_boilerplate_alone_is_not_lost(text, adaptive):
    assert compress("What is the timeout?", [text * 5], max_tokens=8, adaptive=adaptive).text
