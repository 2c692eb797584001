"""Records that differ from the rest: in logs as JSON, severities count, and repeated records count once."""

import json

import pytest

from ctxcompress import compress


def _log(number: int) -> list[dict[str, str]]:
    records = [{"level": "INFO", "msg": f"request {n} served in {n % 80} ms"} for n in range(number)]
    for n in range(3, number, 10):
        records[n] = {"level": "WARN", "msg": f"slow query took {n + 900} ms on table orders"}
    records[number // 2] = {"level": "ERROR", "msg": "checkout failed for customer 8812: gateway timeout"}
    return records


@pytest.mark.parametrize("written", ["\n".join(map(json.dumps, _log(300))), json.dumps(_log(300))])
@pytest.mark.parametrize("max_tokens", [100, 400, 1_000])
@pytest.mark.parametrize(
    "query", ["what went wrong last night?", "which errors occurred?", "checkout failed for customer 8812"]
)
def test_the_error_of_a_log_in_json_comes_before_its_many_warnings(written, max_tokens, query):
    assert "checkout failed" in compress(query, [written], max_tokens=max_tokens).text
