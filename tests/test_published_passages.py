"""More examples that descriptions of context compression give, with data of our own, through both adapters: which
passages are kept and dropped, and which statistics there are. See test_published_examples.py."""

import json
from pathlib import Path
from typing import Any

import pytest
from both_frameworks import Chunk, Framework, both
from published_settings import PUBLISHED

from ctxcompress import Compressor
from ctxcompress.cache import Cache, SqliteStore

count = Compressor().count

_PLACES = ("harbour", "museum", "station", "library", "market", "garden", "theatre", "castle")


def _page(place: str, number: int) -> str:
    return f"The {place} number {number} opens at {number % 12 + 1} o'clock and has {number + 3} doors to the street."


def _found(number: int) -> list[Chunk]:
    """Chunks of eight pages, the last third of them weak, and two copies."""
    chunks = [
        Chunk(_page(_PLACES[n % 8], n), f"{_PLACES[n % 8]}.md", 0.9 if n < number * 2 // 3 else 0.1)
        for n in range(number)
    ]
    return [*chunks, *(Chunk(chunks[n].text, f"copy-{n}.md", 0.8) for n in range(2))]


@both
@pytest.mark.parametrize(("chunks", "characters"), [(5, 750), (5, 1_500), (10, 750), (10, 1_500), (25, 750)])
def test_what_a_search_returns_fits_whatever_its_size(framework: Framework, chunks: int, characters: int) -> None:
    found = [
        Chunk(" ".join(_page(place, n) for place in _PLACES * 3)[:characters].rpartition(" ")[0], f"{n}.md", 1 - n / 30)
        for n in range(chunks)
    ]
    texts, _ = framework.compressed(found, "When does the museum number 3 open?", {"max_tokens": 500})
    assert count("\n\n".join(texts)) <= 500 < count("\n\n".join(chunk.text for chunk in found))
    assert "The museum number 3 opens at 4 o'clock" in "".join(texts)


@both
def test_the_numbers_of_a_call(framework: Framework) -> None:
    options = {"config": PUBLISHED["docs"], "max_tokens": 20_000}
    stats = framework.stats(_found(47), "When does the harbour open?", options)
    counts = ("original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged", "kept_count")
    assert [stats[name] for name in counts] == [49, 33, 31, 16, 2, 16]
    assert stats["tokens_saved"] == stats["original_tokens"] - stats["compressed_tokens"] > 0
    share = 100 * stats["tokens_saved"] / stats["original_tokens"]
    assert stats["savings_percent"] == pytest.approx(share, abs=0.01)
    assert 50 < share < 80
    json.dumps(stats)


SEARCH_TABLES = {
    "on": (
        "[search]\nmin_confidence = 0.3\nmax_chunks_per_doc = 2\ndedup_enabled = true\ndedup_threshold = 0.85\n"
        "ngram_dedup_enabled = true\nngram_dedup_threshold = 0.7\n",
        {"min_score": 0.3, "max_chunks_per_doc": 2, "similarity_threshold": 0.85, "ngram_threshold": 0.7},
    ),
    "off": (
        "[search]\nmin_confidence = 0.0\nmax_chunks_per_doc = 0\ndedup_enabled = false\n",
        {"min_score": 0.0, "max_chunks_per_doc": 0, "similarity_threshold": None},
    ),
}


@both
@pytest.mark.parametrize("table", SEARCH_TABLES)
def test_the_table_of_a_documentation_search(framework: Framework, table: str, tmp_path: Path) -> None:
    text, options = SEARCH_TABLES[table]
    file = tmp_path / "search.toml"
    file.write_text(text, encoding="utf-8")
    query = "When does the harbour open?"
    assert framework.compressed(_found(30), query, {"config": file}) == framework.compressed(_found(30), query, options)
    texts, _ = framework.compressed(_found(30), query, {"config": file})
    assert (len(texts) < 30) == (table == "on")


def _code(functions: int) -> str:
    """Source in TypeScript whose functions have long bodies."""
    body = "\n".join(f"  total += weigh(crates[{n}]); // crate {n}" for n in range(9))
    parts = [
        "/** Loads crates onto ships. */",
        "export interface Crate { weight: number }",
        *(
            f"export function load{n}(crates: Crate[]): number {{\n  let total = 0;\n{body}\n  return total;\n}}"
            for n in range(functions)
        ),
        "export class Crane { lift(crate: Crate): void {} }",
    ]
    return "\n\n".join(parts)


@both
@pytest.mark.parametrize("is_on", [True, False])
def test_the_nested_table_of_a_code_search(framework: Framework, is_on: bool, tmp_path: Path) -> None:
    file = tmp_path / "kb.config.json"
    table = {
        "enabled": True,
        "cache": "memory",
        "smartTruncation": {"enabled": is_on, "maxLength": 2_000, "preserveStructure": True},
        "metadataOnly": {"enabled": is_on, "scoreThreshold": 0.4},
        "llm": {"enabled": False},
    }
    engine = {"options": {"search": {"optimization": {"compression": table}}}}
    file.write_text(json.dumps({"knowledge": {"engines": [engine]}}), encoding="utf-8")
    chunks = [Chunk(_code(12), "src/load.ts", 0.9), Chunk(_code(2), "src/old.ts", 0.3)]
    options = {"config": file, "max_tokens": 20_000}
    (strong, weak), _ = framework.compressed(chunks, "how is the total computed?", options)
    if not is_on:
        assert [strong, weak] == [chunk.text for chunk in chunks]
        return
    assert len(strong) <= 2_000 < len(chunks[0].text)
    assert strong.startswith("/** Loads crates onto ships. */")
    assert strong.rstrip().endswith("}")
    for line in ("export interface Crate", "export class Crane", "export function load0", "// ..."):
        assert line in strong
    assert "src/old.ts" in weak
    assert "load1" in weak
    assert len(weak) < 200


@both
@pytest.mark.parametrize("kind", ["memory", "disk", "both"])
def test_the_second_call_comes_from_the_cache(framework: Framework, kind: str, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "cache.sqlite")
    cache: Any = {"memory": Cache(), "disk": Cache(store, max_bytes=0), "both": Cache(store)}[kind]
    options = {"max_tokens": 100, "cache": cache}
    first, second = (framework.stats(_found(20), "When does the harbour open?", options) for _ in range(2))
    assert first["cache_misses"] > 0
    assert second["cache_hits"] > 0
    assert second["cache_misses"] == 0
    assert first["compressed_tokens"] == second["compressed_tokens"]


_KINDS = """# Locks

> Old sailors say that every lock has its own song.

Tags: locks, canals, updated 2019

The chamber of a lock is filled within eight minutes.

- A lock keeper lives beside each lock.
- Boats wait for the green light.

| lock | height of fall |
|---|---|
| Eastgate | 4.2 metres |

```python
def fill(chamber):
    return chamber.open_sluice(speed=3)
```
"""


@both
def test_a_page_of_all_kinds_of_segments(framework: Framework) -> None:
    filler = "\n\n".join(f"## Chapter {n}\n\n{_page(_PLACES[n % 8], n)}" for n in range(400))
    page = f"{filler}\n\n{_KINDS}"
    assert 9_000 < count(page) < 15_000
    wanted = {
        "height of fall of the lock Eastgate": "| Eastgate | 4.2 metres |",
        "sluice speed when a chamber is filled, in code": "return chamber.open_sluice(speed=3)",
        "How long does it take to fill the chamber of a lock?": "within eight minutes",
        "Where does a lock keeper live?": "A lock keeper lives beside each lock.",
    }
    for query, answer in wanted.items():
        (text,), _ = framework.compressed([Chunk(page)], query, {"preset": "page", "max_tokens": 1_000})
        assert answer in text, query
        assert count(text) <= 1_000
        lines = [line for line in text.splitlines() if len(line) > 5 and line in page.splitlines()]
        assert sorted(lines, key=page.splitlines().index) == lines  # the order of the page


@both
@pytest.mark.parametrize("kind", ["code", "paragraph"])
def test_the_weight_of_a_kind_decides_between_equals(framework: Framework, kind: str) -> None:
    prose = "Mooring needs a rope, two bollards and somebody on the pier who knows how to tie the knot well enough."
    code = "```python\nmooring(rope, bollards, pier, knot, somebody, enough)\nmooring.tie(rope, knot)\n```"
    page = f"{prose}\n\n{code}\n\nThe weather was good, and nobody came.\n"
    options = {"scorer": "bm25", "type_weights": {kind: 9.0}, "max_tokens": 40}
    (text,), _ = framework.compressed([Chunk(page)], "mooring rope", options)
    assert (("mooring.tie" in text), ("Mooring needs" in text)) == (kind == "code", kind == "paragraph")


@both
@pytest.mark.parametrize("query", ["How do I moor a vessel?", "How do I moor a ship?"])
def test_synonyms_find_what_is_called_otherwise(framework: Framework, query: str) -> None:
    page = " ".join(_page("gate", n) for n in range(20)) + " A ship is tied to two bollards. A cart is not."
    options = {"scorer": "bm25", "synonyms": {"vessel": ["ship"]}, "max_tokens": 20}
    (text,), _ = framework.compressed([Chunk(page)], query, options)
    assert "A ship is tied to two bollards." in text
