"""Search results keep what `must_keep` names, beyond all their limits."""

import json
import re

import pytest

from ctxcompress import CompressionConfig, compress_search_results
from ctxcompress.errors import BudgetTooSmall

FILLER = " ".join(f"Ship number {n} came into the harbour late." for n in range(60))


def _results(count=8):
    results = [
        {"url": f"https://{n}.example", "content": f"The default timeout is {n} seconds. {FILLER}", "score": 1 - n / 10}
        for n in range(count)
    ]
    results[-1] |= {"content": f"{FILLER} The account is INV-77. {FILLER}", "score": 0.01}
    return results


def _compressed(must_keep, results=None, **options):
    config = CompressionConfig(must_keep=must_keep)
    return compress_search_results(results or _results(), "default timeout", config=config, **options)


def test_a_result_over_every_limit_is_kept_with_its_sentence():
    found = _compressed([re.compile(r"INV-\d+")], max_results=2, max_sentences=1, max_characters=100)
    assert [result["url"] for result in found.results] == [f"https://{n}.example" for n in (0, 1, 7)]
    assert "The account is INV-77." in found.results[-1]["content"]
    assert len(found.results[-1]["content"]) <= 100


@pytest.mark.parametrize("max_tokens", [60, 90, 150, 400])
def test_within_a_budget_other_results_go_first(max_tokens):
    found = _compressed(["INV-77", "harbour late"], _results(4), max_tokens=max_tokens) if max_tokens > 100 else None
    found = found or _compressed(["INV-77"], max_tokens=max_tokens)
    assert found.compressed_tokens <= max_tokens
    assert "INV-77" in json.dumps(found.results)


def test_a_budget_that_cannot_hold_them_is_an_error_with_the_tokens():
    with pytest.raises(BudgetTooSmall, match="in 1 results, which take") as raised:
        _compressed(["INV-77"], max_tokens=20)
    assert _compressed(["INV-77"], max_tokens=raised.value.tokens).compressed_tokens == raised.value.tokens
