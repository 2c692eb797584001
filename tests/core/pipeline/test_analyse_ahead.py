"""Passages that are analysed before the first query: the cache has them, and the results are the same."""

from pathlib import Path

import pytest

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.errors import ConfigError, InputError

PASSAGES = [
    {
        "text": f"# Pool {number}\n\nThe pool opens ten connections. Its timeout is {number} seconds.\n\n- It logs.\n"
        * 3,
        "title": f"Pool {number}",
        "doc_id": f"doc {number}",
    }
    for number in range(8)
]
QUERY = "what is the timeout of pool 3?"


@pytest.mark.parametrize("form", ["memory", "disk"])
def test_a_query_finds_the_analysis_of_its_passages(form: str, tmp_path: Path) -> None:
    cache = Cache() if form == "memory" else Cache(SqliteStore(tmp_path / "cache.sqlite"))
    Compressor(CompressionConfig(cache=cache)).analyse(PASSAGES)
    before = cache.stats()
    assert before.entries == len(PASSAGES)
    if form == "disk":  # another process opens the file anew
        cache = Cache(SqliteStore(tmp_path / "cache.sqlite"))
    result = Compressor(CompressionConfig(max_tokens=40, cache=cache)).compress(QUERY, PASSAGES[:5])
    assert result == compress(QUERY, PASSAGES[:5], max_tokens=40)
    assert result.cache is not None
    assert result.cache.hits == 5


def test_what_cannot_be_analysed_is_refused() -> None:
    with pytest.raises(ConfigError, match="cache is None"):
        Compressor().analyse(PASSAGES)
    with pytest.raises(InputError):
        Compressor(CompressionConfig(cache=Cache())).analyse([7])  # type: ignore[list-item]
