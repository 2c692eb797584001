"""Search results with nothing but boilerplate, two of five in `answers/sourdough.json`, are dropped."""

import pytest
from langchain_core.documents import Document
from langchain_core.tools import tool
from search_shapes import tavily

from langchain_ctxcompress import CtxCompressor, compress_tool

QUERY = "How long does sourdough bread keep?"
AROUND = {"https://oven.example/posts/sourdough-keeping", "https://crumb.example/sourdough-shelf-life"}


def documents():
    return [
        Document(result["content"], metadata={"title": result["title"], "source": result["url"]})
        for result in tavily("sourdough")["results"]
    ]


def kept(query, **options):
    documents_ = CtxCompressor(**options).compress_documents(documents(), query)
    return {document.metadata["source"]: document.page_content for document in documents_}


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 60},
        {"max_tokens": 120},
        {"max_tokens": 220},
        {"max_tokens": 120, "adaptive": True},
        {"max_tokens": 120, "scorer": "bm25"},
    ],
)
def test_the_compressor_drops_results_that_say_nothing(options):
    found = kept(QUERY, **options)
    assert not found.keys() & AROUND
    assert "four to five days" in " ".join(found.values())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Who wrote this?", ["By Hanna Oberg, March 3, 2024", "by Tom Reyes"]),
        ("When was this page published?", ["March 3, 2024", "January 17, 2024"]),
        ("Which cookies does the site use?", ["cookies to remember your recipes", "cookies to show you bread"]),
        ("Who is Hanna Oberg?", ["By Hanna Oberg, March 3, 2024"]),
    ],
)
def test_the_compressor_keeps_what_is_asked_for(query, expected):
    text = "\n".join(kept(query, max_tokens=100).values())
    assert [part for part in expected if part not in text] == []


def test_what_fits_comes_back_whole():
    assert list(kept(QUERY, max_tokens=2_000).values()) == [document.page_content for document in documents()]


@tool
def web_search(query: str) -> dict:
    """Searches the web."""
    return tavily("sourdough")


@pytest.mark.parametrize(
    ("query", "around"), [(QUERY, set()), ("Who wrote this?", AROUND), ("Which cookies does the site use?", AROUND)]
)
def test_a_search_tool_drops_them_unless_asked(query, around):
    results = compress_tool(web_search, max_tokens=600).invoke({"query": query})["results"]
    assert {result["url"] for result in results} & AROUND == around
    assert len(results) >= 3
