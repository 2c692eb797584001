"""The page for Prometheus of a server that runs as a program, read by Prometheus's own parser."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp_docs import ASKED, QUERY, ids_of, make_docs, request, served
from prometheus_client.parser import text_string_to_metric_families
from telemetry import Told
from typer.testing import CliRunner

from ctxcompress import CompressionConfig, CtxCompressError, compress
from ctxcompress.apps.cli.app import app
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp import serve
from ctxcompress.apps.mcp.metrics import ServerMetrics
from ctxcompress.cache import Cache

pytestmark = pytest.mark.usefixtures("loopback")
Samples = Callable[..., float]


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_docs(tmp_path_factory.mktemp("docs"))


@pytest.fixture(scope="module")
def port(docs: Path) -> Iterator[int]:
    with served(docs, "--metrics") as port:
        yield port


def samples(page: str) -> Samples:
    found = [sample for family in text_string_to_metric_families(page) for sample in family.samples]

    def value(name: str, **labels: str) -> float:
        [one] = [s.value for s in found if s.name == name and labels.items() <= s.labels.items()]
        return one

    return value


async def test_calls_savings_drops_times_and_the_index_are_on_the_page(port: int) -> None:
    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        for _ in range(3):
            found = await client.call_tool(QUERY, ASKED)
        await client.call_tool("expand_chunk", {"chunk_id": ids_of(found)[0]})
        assert (await client.call_tool(QUERY, {**ASKED, "top_n": 0})).is_error
        stats = found.structured_content["compression_stats"]
    status, kind, page = request(port, "GET", "/metrics")
    assert status == 200
    assert kind.startswith("text/plain; version=")
    value = samples(page)
    assert value("ctxcompress_calls_total", tool=QUERY, outcome="ok") == 3
    assert value("ctxcompress_calls_total", tool=QUERY, outcome="error") == 1
    assert value("ctxcompress_calls_total", tool="expand_chunk", outcome="ok") == 1
    assert value("ctxcompress_call_duration_seconds_count", tool=QUERY) == 4
    assert value("ctxcompress_call_duration_seconds_bucket", tool=QUERY, le="+Inf") == 4
    assert value("ctxcompress_input_tokens_total") >= 3 * stats["original_tokens"]
    saved = value("ctxcompress_input_tokens_total") - value("ctxcompress_output_tokens_total")
    assert 0 < value("ctxcompress_saved_tokens_total") <= saved + 100
    assert value("ctxcompress_dropped_passages_total", reason="duplicate") > 0
    assert value("ctxcompress_dropped_passages_total", reason="truncated") == 0
    assert value("ctxcompress_index_files") == 4
    assert value("ctxcompress_index_chunks") >= 4
    assert "timeout" not in page


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1"])
def test_another_host_is_refused(port: int, host: str) -> None:
    status, _, page = request(port, "GET", "/metrics", headers={"Host": host.format(port=port)})
    assert status == 421
    assert "ctxcompress_" not in page


def test_the_page_is_only_read(port: int) -> None:
    assert request(port, "POST", "/metrics")[0] == 405
    assert request(port, "HEAD", "/metrics")[0] == 200


def test_metrics_without_http_are_refused(docs: Path) -> None:
    ended = CliRunner().invoke(app, ["mcp", "--docs", str(docs), "--metrics"])
    assert ended.exit_code == 2
    assert "--metrics is given without --http; give both or neither" in ended.stderr
    with pytest.raises(CtxCompressError, match="metrics=True is given without a port"):
        serve(docs, metrics=True)


def test_a_missing_library_is_named_and_is_not_needed_without_the_page(docs: Path) -> None:
    start = "import sys; sys.modules['prometheus_client'] = None; from ctxcompress.apps.mcp import serve; "
    program = (
        f"{start}import ctxcompress.apps.mcp.server; print('imported'); serve({str(docs)!r}, port=0, metrics=True)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "pip install 'ctxcompress[mcp]'" in ended.stderr
    assert (ended.returncode, ended.stdout) == (1, "imported\n")


def test_lookups_in_the_cache_are_counted_and_another_observer_is_told(docs: Path) -> None:
    told = Told()
    metrics = ServerMetrics(FolderIndex(docs), told.telemetry)
    config = CompressionConfig(max_tokens=20, cache=Cache(), telemetry=metrics)
    for _ in range(2):
        compress("what is the default timeout?", ["The default timeout is 30 seconds. " * 9] * 3, config=config)
    value = samples(metrics.page().decode())
    assert value("ctxcompress_cache_lookups_total", result="hit") == 1
    assert value("ctxcompress_cache_lookups_total", result="miss") > 1
    assert len(told.spans) == 2
