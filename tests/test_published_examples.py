"""Examples that descriptions of context compression give, with data of our own, through both adapters alike.

The tests of each adapter have the features one by one. Here a row is a situation with its figures: options as they are
written in code or in a file, what a retriever found, and what must come out.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from both_frameworks import Chunk, Framework, both
from published_settings import PUBLISHED

from ctxcompress import Compressor
from ctxcompress.apps.search import SearchLimits

count = Compressor().count

_PLACES = ("harbour", "museum", "station", "library", "market", "garden", "theatre", "castle")


def _sentence(place: str, number: int) -> str:
    return f"The {place} number {number} opens at {number % 12 + 1} o'clock and has {number + 3} doors to the street."


def _index() -> list[Chunk]:
    """A documentation index with many weak results: 40 of 8 pages, half of them below 0.3, and four copies."""
    found = [
        Chunk(_sentence(_PLACES[n % 8], n), f"{_PLACES[n % 8]}.md", 0.9 - 0.03 * n if n < 20 else 0.29 - 0.01 * (n % 5))
        for n in range(40)
    ]
    return [*found[:20], *(Chunk(found[n].text, f"copy-{n}.md", 0.5) for n in range(4)), *found[20:]]


@both
def test_an_index_with_many_weak_results_and_copies(framework: Framework) -> None:
    query = "When does the harbour open?"
    texts, _ = framework.compressed(_index(), query, {"config": PUBLISHED["docs"], "max_tokens": 20_000})
    assert len(texts) == len(set(texts)) == 16  # 20 above the threshold, of them two of each of the eight pages
    switched_off = {"config": PUBLISHED["docs"], "max_tokens": 20_000, "min_score": None, "max_chunks_per_doc": 0}
    everything = {**switched_off, "ngram_threshold": None, "similarity_threshold": None}
    texts, _ = framework.compressed(_index(), query, everything)
    assert texts == [chunk.text for chunk in _index()]


@both
@pytest.mark.parametrize("written", ["toml", "json", "legacy"])
def test_the_same_options_from_a_file(framework: Framework, written: str, tmp_path: Path) -> None:
    file = tmp_path / f"options.{'json' if written == 'json' else 'toml'}"
    options: dict[str, Any] = {"min_score": 0.3, "max_chunks_per_doc": 2, "similarity_threshold": 0.85}
    if written == "json":
        file.write_text(json.dumps({"compression": {**options, "cache": "memory"}}), encoding="utf-8")
    else:
        block = "\n".join(f"{name} = {value}" for name, value in options.items())
        more = '\n[compression.cache]\nkind = "memory"\n' if written == "legacy" else '\ncache = "memory"\n'
        file.write_text(f"[compression]\n{block}{more}", encoding="utf-8")
        assert tomllib.loads(file.read_text(encoding="utf-8"))
    query = "When does the harbour open?"
    from_file = framework.compressed(_index(), query, {"config": file})
    assert from_file == framework.compressed(_index(), query, options)


HEADERS = {
    "compact": "[1] guide/start.md § Setup > Pool (0.92)",
    "verbose": "**Result 1** (Score: 0.9234)\nFile: guide/start.md\nSection: Setup > Pool",
}


@both
@pytest.mark.parametrize("shape", HEADERS)
def test_the_source_above_each_result(framework: Framework, shape: str) -> None:
    chunk = Chunk("The pool opens ten connections.", "guide/start.md", 0.9234, "Setup > Pool")
    _, shown = framework.compressed([chunk], "How many connections?", {"format": shape})
    assert shown.startswith(f"{HEADERS[shape]}\n")
    assert shown.endswith("The pool opens ten connections.")


_FUNCTION = "openHarbour(id: string): Gate | null\n" + " ".join(_sentence("gate", n) for n in range(12))


@both
def test_a_name_gets_the_beginning_and_a_reason_gets_everything(framework: Framework) -> None:
    options = {"factual_length": 200, "max_tokens": 5_000}
    chunk = Chunk(_FUNCTION, "harbour.md", 0.8)
    (short,), _ = framework.compressed([chunk], "openHarbour function", options)
    (whole,), _ = framework.compressed([chunk], "why does openHarbour return a gate?", options)
    assert len(short) <= 200 < len(whole)
    assert short.startswith("openHarbour(id: string): Gate | null")
    assert whole == _FUNCTION


def _source(functions: int) -> str:
    bodies = "\n".join(f"    total += weigh({n})  # crate {n}" for n in range(6))
    return "\n\n".join(f"def load_{n}(total: int) -> int:\n{bodies}\n    return total" for n in range(functions))


@both
def test_long_source_is_truncated_by_its_structure_and_weak_source_is_a_line(framework: Framework) -> None:
    chunks = [Chunk(_source(20), "src/load.py", 0.8), Chunk(_source(3), "src/other.py", 0.2)]
    options = {"config": PUBLISHED["code"], "max_tokens": 5_000}
    texts, _ = framework.compressed(chunks, "how is the total computed?", options)
    assert 1_000 < len(texts[0]) <= 2_000 < len(chunks[0].text)
    assert "def load_0(total: int) -> int:" in texts[0]
    assert "def load_19(total: int) -> int:" in texts[0]
    assert "src/other.py" in texts[1]
    assert len(texts[1]) < 150


TIERS = {"key_facts": 200, "summary": 1_000, "detailed": 5_000, "complete": 20_000}


@both
@pytest.mark.parametrize("tier", TIERS)
def test_a_page_of_ten_thousand_tokens_in_each_tier(framework: Framework, tier: str) -> None:
    page = "\n\n".join(_sentence(_PLACES[n % 8], n) for n in range(500)) + "\n\nThe spare key hangs in cabinet 7411."
    assert 9_000 < count(page) < 12_000
    (text,), _ = framework.compressed([Chunk(page, "page.md", 0.5)], "Where is the spare key?", {"tier": tier})
    assert count(text) <= TIERS[tier]
    assert "The spare key hangs in cabinet 7411." in text
    assert tier != "complete" or text == page


SEARCHES = {
    "What is a drydock?": 3,
    "A floating drydock vs a graving dock": 4,
    "Compare floating drydocks and graving docks in detail: cost vs speed, and the latest trends in repair": 5,
}


@both
@pytest.mark.parametrize("query", SEARCHES)
def test_a_search_gets_as_many_results_as_the_question_is_complex(framework: Framework, query: str) -> None:
    filler = " ".join(f"Advertisement {n} is about cruises to the islands in spring." for n in range(60))
    results = [
        {
            "title": f"Drydock {n}",
            "url": f"https://docks.example/{n}",
            "content": f"{filler} A drydock of type {n} is a basin that is flooded and drained. {filler}",
            "score": 0.95 - 0.05 * n if n < 7 else 0.1,
        }
        for n in range(9)
    ]
    found = framework.searched({"query": query, "results": results}, query, {"search_limits": SearchLimits()})
    assert len(found["results"]) == SEARCHES[query]
    for number, result in enumerate(found["results"]):
        assert {**result, "content": ""} == {**results[number], "content": ""}
        assert f"A drydock of type {number} is a basin" in result["content"]
        assert len(result["content"]) <= 500
    saved = 1 - count(json.dumps(found)) / count(json.dumps(results))
    assert saved > 0.9
