"""Examples that descriptions of context compression give, with data of our own, through both adapters alike.

The tests of each adapter have the features one by one. Here a row is a situation with its figures: options as they are
written in code or in a file, what a retriever found, and what must come out.
"""

import pytest
from both_frameworks import Chunk, Framework, both
from published_settings import PUBLISHED

from ctxcompress import Compressor
from ctxcompress.config.options import TIERS

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
@pytest.mark.parametrize("tier", TIERS)
def test_a_page_of_ten_thousand_tokens_in_each_tier(framework: Framework, tier: str) -> None:
    page = "\n\n".join(_sentence(_PLACES[n % 8], n) for n in range(500)) + "\n\nThe spare key hangs in cabinet 7411."
    assert 9_000 < count(page) < 12_000
    (text,), _ = framework.compressed([Chunk(page, "page.md", 0.5)], "Where is the spare key?", {"tier": tier})
    assert count(text) <= TIERS[tier]
    assert "The spare key hangs in cabinet 7411." in text
    assert tier != "complete" or text == page


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
    filler = "\n\n".join(f"## Chapter {n}\n\n{_sentence(_PLACES[n % 8], n)}" for n in range(400))
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
