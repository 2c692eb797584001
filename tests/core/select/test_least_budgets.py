"""The least budget of each segment, from one order of choices."""

import pytest

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.apps.feedback.call_sheet import least_budgets
from ctxcompress.pipeline.scoring import ScoredCall, listening
from ctxcompress.select.layout import counts_of
from ctxcompress.select.selection import select

BUDGETS = (100, 200, 400, 800, 1600)
TOTAL = 5000
TEXTS = [
    f"# Part {part}\n\nThe {thing} of {owner} number {part} is kept {place}. It has room for {part * 7 + 3} entries, "
    f"and {owner} empties it every {part + 2} days.\n\nBefore that, do this:\n\n- Stop the {thing}.\n"
    f"- Tell {owner} that part {part} rests {place}.\n- Start it again after {part + 5} minutes.\n"
    for part, (thing, owner, place) in enumerate(
        (thing, owner, place)
        for thing in ("cache", "queue", "index", "log")
        for owner in ("the server", "a client", "the scheduler")
        for place in ("on disk", "in memory", "at another site")
    )
]


@pytest.fixture(scope="module")
def call() -> ScoredCall:
    with listening() as listener:
        Compressor(CompressionConfig(max_tokens=500)).compress(
            "Where does the cache of the server live, and how large is it?", TEXTS
        )
    assert listener.last is not None
    return listener.last


@pytest.fixture(scope="module")
def least(call) -> list[int]:
    counts = counts_of(call.analysis.table.texts, call.count)
    return least_budgets(call.analysis.structure, call.scored.worth, call.layout, counts, BUDGETS, TOTAL)


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_selection_with_the_budget_keeps_these_segments(call, least, budget):
    table = call.analysis.table
    kept = select(call.analysis.structure, call.scored.worth, call.layout, budget).spans
    told = [number for number, most in enumerate(least) if most <= budget]
    wrong = [
        number
        for number in told
        for segment in [table.segments[number]]
        if not any(
            start <= segment.start and segment.start + len(table.texts[number].rstrip()) <= end
            for start, end in kept.get(table.document[number], ())
        )
    ]
    assert told
    assert len(wrong) <= 0.02 * len(told)


@pytest.mark.parametrize("budget", BUDGETS)
def test_they_fill_the_budget_and_no_more(call, least, budget):
    counts = counts_of(call.analysis.table.texts, call.count)
    tokens = sum(count for count, most in zip(counts, least, strict=True) if most <= budget)
    assert 0.5 * budget < tokens <= budget
