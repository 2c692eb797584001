"""Examples of agents that descriptions of context compression give, with data of our own, through both adapters.

They are searches, tools, contexts of several searches, and what is known from earlier ones: see
test_published_examples.py for passages.
"""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from both_frameworks import Chunk, Framework, both
from research_questions import AGAIN, ASKED, OTHER

from ctxcompress import Compressor
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.apps.research import ResearchCache
from ctxcompress.apps.search import SearchLimits

count = Compressor().count

SPLIT = {
    "What is a drydock?": 1,
    "Kelp vs eelgrass": 2,
    "Explain mooring lines and anchor chains": 2,
    "Compare Alpha vs Beta vs Gamma for production harbours": 4,
    "Compare the top 5 ferry companies by price, speed and comfort": 4,
}
"""A question, and the most searches that it is worth."""


@both
@pytest.mark.parametrize("question", SPLIT)
def test_a_question_is_searched_for_as_often_as_it_is_complex(framework: Framework, question: str) -> None:
    asked: list[str] = []

    def find(query: str) -> list[Chunk]:
        asked.append(query)
        return [Chunk(f"This was found for {query}.", f"{query}.md")]

    texts = framework.decomposed(find, question)
    assert len(set(asked)) == len(asked)
    parts = [query for query in asked if query != question]
    assert len(parts or asked) <= SPLIT[question]
    assert (len(parts) > 1) == (SPLIT[question] > 1)
    assert len(set(texts)) == len(asked)


LIMITS = {
    "What is a drydock?": (3, 300),
    "Which harbours are deep and which are cheap and which are near?": (4, 400),
    "What is the latest research, and an analysis of it? Which trends are there? How do they compare, and why?": (
        5,
        500,
    ),
}


def _results(*scores: float, content: str | None = None) -> dict[str, object]:
    filler = " ".join(f"Advertisement {n} is about cruises to the islands in spring." for n in range(30))
    return {
        "results": [
            {
                "title": f"Page {n}",
                "url": f"https://docks.example/{n}",
                "content": f"{filler} Harbours such as harbour {n} are deep. {filler}" if content is None else content,
                "score": score,
            }
            for n, score in enumerate(scores)
        ]
    }


@both
@pytest.mark.parametrize("question", LIMITS)
def test_results_and_their_characters_are_limited_by_the_question(framework: Framework, question: str) -> None:
    results, characters = LIMITS[question]
    found = framework.searched(_results(*[0.9] * 8), question, {"search_limits": SearchLimits()})["results"]
    assert len(found) <= results
    assert all(0 < len(each["content"]) <= characters for each in found)
    assert all(each["content"].startswith(("Advertisement", "Harbours")) for each in found)
    assert all(re.search(r"\w[.…]$", each["content"]) for each in found)  # whole words, and whole sentences


@both
def test_weak_results_are_left_out_but_not_all_of_them(framework: Framework) -> None:
    limits = {"search_limits": SearchLimits(max_results=5)}
    question = "Which harbours are deep?"
    some = framework.searched(_results(0.9, 0.31, 0.29, 0.1), question, limits)["results"]
    assert [each["title"] for each in some] == ["Page 0", "Page 1"]
    weak = framework.searched(_results(0.29, 0.2, 0.1), question, limits)["results"]
    assert [each["title"] for each in weak] == ["Page 0", "Page 1", "Page 2"]


def _index() -> list[Chunk]:
    """40 chunks of 8 pages, from good to bad."""
    return [
        Chunk(
            f"Berth {n} has {n + 3} bollards, and berth {n} is leased by tenant {n % 7}.",
            f"berths-{n % 8}.md",
            1 - n / 41,
        )
        for n in range(40)
    ]


@both
def test_the_schema_of_the_search_tool(framework: Framework) -> None:
    schema, _ = framework.query_tool(lambda _: _index(), {})
    assert schema["name"] == "query_documents_compressed"
    assert "duplicates" in schema["description"]
    arguments = schema["parameters"]["properties"]
    assert schema["parameters"]["required"] == ["query"]
    written = json.dumps(arguments)
    for name, low, high in (("top_n", 1, 100), ("min_score", 0, 1), ("similarity_threshold", 0.5, 1)):
        (limits,) = [kind for kind in arguments[name].get("anyOf", [arguments[name]]) if "minimum" in kind]
        assert (limits["minimum"], limits["maximum"]) == (low, high), written


@both
def test_a_call_of_the_search_tool_sets_its_own_limits(framework: Framework) -> None:
    _, ask = framework.query_tool(lambda _: _index(), {"max_tokens": 5_000})
    query = "How many bollards does a berth have?"
    assert ask(query=query, top_n=5).count("bollards") == 5
    strict = ask(query=query, top_n=100, min_score=0.9, similarity_threshold=0.9, show_stats=True)
    assert strict.count("bollards") == 5
    assert "- Original results: 40\n" in strict
    assert re.search(r"^- After score filter \(.*0\.9.*\): 5$", strict, re.MULTILINE)
    assert re.search(r"^- Clusters merged: \d+$", strict, re.MULTILINE)
    everything = ask(query=query, top_n=100, min_score=0.0, similarity_threshold=1.0)
    assert everything.count("bollards") == 40


@both
def test_previews_are_opened_one_by_one(framework: Framework) -> None:
    chunks = [Chunk(f"Chapter {n} is about piers. It was written in {1900 + n}. {'Waves. ' * 80}") for n in range(5)]
    search, expand = framework.preview_tools(lambda _: chunks)
    lines = search(query="In which year was chapter 3 written?").splitlines()
    assert len(lines) == 5
    for line in lines:
        chunk, score = re.findall(r"^\[(.+?)\] \((\d\.\d\d)\) ", line)[0]
        assert 0 <= float(score) <= 1
        assert expand(chunk_id=chunk) == chunks[int(chunk.rpartition("-")[2])].text
    saved = 1 - count("\n".join(lines)) / sum(count(chunk.text) for chunk in chunks)
    assert saved > 0.7


@both
def test_a_context_grows_within_its_budget_search_by_search(framework: Framework) -> None:
    searches = [(_index()[n : n + 20], f"bollards of berth {n + 1}") for n in (0, 5, 20)]
    shown, left = framework.built(searches, {"max_tokens": 300})
    assert all(later.startswith(earlier) for earlier, later in pairwise(shown))
    assert count(shown[-1]) == 300 - left <= 300
    assert len(set(shown[-1].split("\n\n"))) == len(shown[-1].split("\n\n"))  # nothing is there twice


@both
def test_a_question_close_to_an_earlier_one_is_not_searched_for_again(framework: Framework) -> None:
    asked: list[str] = []

    def find(query: str) -> list[Chunk]:
        asked.append(query)
        return _index()[:3]

    ask = framework.researched(find, ResearchCache())
    assert ask(ASKED) == ask(AGAIN) == [chunk.text for chunk in _index()[:3]]
    ask(OTHER)
    assert asked == [ASKED, OTHER]


@both
def test_what_answers_used_is_recorded_for_each_scope(framework: Framework, tmp_path: Path) -> None:
    docs, code = (FeedbackLog(tmp_path / "feedback.sqlite", scope=scope) for scope in ("docs", "code"))
    answer = _index()[2].text
    assert framework.recorded(_index()[:5], "How many bollards does berth 2 have?", docs, answer) == 1
    assert len(docs.records()) == 1
    assert not code.records()
