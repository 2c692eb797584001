"""Answers of a web search, written for these tests, in the shapes that tools return.

`answers/kubernetes.json` and `answers/clouds.json` are in the shape of Tavily, five results of some 420 tokens each,
with what pages have around what they say: navigation, authors, advertising.
"""

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "answers"
KUBERNETES, CLOUDS = "What is Kubernetes?", "Compare the top 5 cloud providers for ML workloads"


def tavily(name: str = "kubernetes") -> dict[str, Any]:
    """What `TavilySearch` returns, and Tavily's own client."""
    return json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))


def tavily_list(name: str = "kubernetes") -> list[dict[str, Any]]:
    """What `TavilySearchResults` returns."""
    return [{key: result[key] for key in ("title", "url", "content", "score")} for result in tavily(name)["results"]]


def tavily_pages() -> dict[str, Any]:
    """With include_raw_content: the page in one key, a part of it in another."""
    answer = tavily()
    for result in answer["results"]:
        result["raw_content"] = result["content"]
        result["content"] = result["content"].split("\n\n")[1]
    return answer


def duckduckgo_list() -> list[dict[str, Any]]:
    """What `DuckDuckGoSearchResults(output_format="list")` returns."""
    return [
        {"snippet": " ".join(result["content"].split()), "title": result["title"], "link": result["url"]}
        for result in tavily()["results"]
    ]


def duckduckgo_text() -> str:
    """The same with output_format="string", its default."""
    return ", ".join(", ".join(f"{key}: {value}" for key, value in result.items()) for result in duckduckgo_list())


def duckduckgo_brackets() -> str:
    """The same as older releases write it."""
    return ", ".join(
        "[" + ", ".join(f"{key}: {value}" for key, value in result.items()) + "]" for result in duckduckgo_list()
    )


def duckduckgo_client() -> list[dict[str, Any]]:
    """What the client of DuckDuckGo returns."""
    return [
        {"title": result["title"], "href": result["url"], "body": result["content"]} for result in tavily()["results"]
    ]


def brave_text() -> str:
    """What `BraveSearch` returns."""
    return json.dumps(
        [
            {"title": result["title"], "link": result["url"], "snippet": result["content"]}
            for result in tavily()["results"]
        ]
    )


def brave() -> dict[str, Any]:
    """What Brave's service answers."""
    results = [
        {
            "title": result["title"],
            "url": result["url"],
            "description": result["content"].split("\n\n")[0],
            "extra_snippets": result["content"].split("\n\n")[1:],
            "profile": {"name": "a site", "img": None},
            "language": "en",
        }
        for result in tavily()["results"]
    ]
    return {"type": "search", "query": {"original": KUBERNETES}, "web": {"type": "search", "results": results}}


@dataclass
class ExaResult:
    """A result of the client of Exa."""

    url: str
    id: str
    title: str | None = None
    score: float | None = None
    published_date: str | None = None
    extras: dict[str, Any] | None = None
    text: str | None = None
    summary: str | None = None
    highlights: list[str] | None = None
    highlight_scores: list[float] | None = None


@dataclass
class ExaResponse:
    """What `ExaSearchResults` returns: the response of Exa's client."""

    results: list[ExaResult]
    resolved_search_type: str | None = "neural"
    cost_dollars: dict[str, float] = field(default_factory=lambda: {"total": 0.005})


def exa() -> ExaResponse:
    results = []
    for number, result in enumerate(tavily()["results"]):
        parts = result["content"].split("\n\n")
        scores = [0.9 - 0.1 * place for place in range(len(parts))]
        results.append(
            ExaResult(
                url=result["url"],
                id=f"id-{number}",
                title=result["title"],
                score=0.19 - 0.01 * number,  # low for all of them, as Exa's are
                extras={"links": ["https://a.example"]},
                highlights=parts,
                highlight_scores=scores,
            )
        )
    return ExaResponse(results)


SHAPES: dict[str, Any] = {
    "tavily": tavily(),
    "tavily-list": tavily_list(),
    "tavily-pages": tavily_pages(),
    "tavily-json": json.dumps(tavily(), ensure_ascii=False),
    "tavily-json-indented": json.dumps(tavily(), indent=2),
    "tavily-json-compact": json.dumps(tavily(), separators=(",", ":")),
    "duckduckgo-list": duckduckgo_list(),
    "duckduckgo-json": json.dumps(duckduckgo_list()),
    "duckduckgo-text": duckduckgo_text(),
    "duckduckgo-brackets": duckduckgo_brackets(),
    "duckduckgo-client": duckduckgo_client(),
    "brave-text": brave_text(),
    "brave": brave(),
    "exa": exa(),
    "exa-list": exa().results,
}


def shape(name: str) -> Any:
    return copy.deepcopy(SHAPES[name])
