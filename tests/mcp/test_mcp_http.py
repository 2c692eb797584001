"""The server as a program, over streamable HTTP on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from mcp_docs import ASKED, QUERY, ids_of, make_docs, request, served, text_of
from typer.testing import CliRunner

from ctxcompress.apps.cli.app import app

pytestmark = pytest.mark.usefixtures("loopback")
TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_docs(tmp_path_factory.mktemp("docs"))


@pytest.fixture(scope="module")
def port(docs: Path) -> Iterator[int]:
    """Of one server for all tests: to start it takes longer than most of them."""
    with served(docs) as port:
        yield port


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


def body(method: str = "tools/call") -> bytes:
    params = {"name": QUERY, "arguments": ASKED}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def post(port: int, **headers: str) -> tuple[int, str]:
    status, _, answer = request(port, "POST", "/mcp", body(), {**TYPES, **headers})
    return status, answer


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_lists_calls_and_sees_changes(port: int, docs: Path, mode: str) -> None:
    async with Client(url(port), mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [QUERY, "expand_chunk"]
        (name, *_) = ids_of(await client.call_tool(QUERY, ASKED))
        assert "30 seconds" in text_of(await client.call_tool("expand_chunk", {"chunk_id": name}))
        assert (await client.call_tool("expand_chunk", {"chunk_id": "../secret.md"})).is_error
        (docs / f"{mode}.md").write_text(f"A zeppelin that is {mode} is an airship.")
        assert ids_of(await client.call_tool(QUERY, {"query": f"zeppelin {mode}"}))[0] == f"{mode}.md#L1-L1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1"]
)
def test_another_host_is_refused(port: int, host: str) -> None:
    status, answer = post(port, Host=host.format(port=port))
    assert status == 421
    assert "timeout" not in answer


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://localhost:1", "file://"]
)
def test_another_origin_is_refused(port: int, origin: str) -> None:
    status, answer = post(port, Origin=origin)
    assert status == 403
    assert "timeout" not in answer


def test_this_host_and_origin_are_served(port: int) -> None:
    for headers in ({}, {"Host": f"localhost:{port}"}, {"Origin": f"http://localhost:{port}"}):
        status, answer = post(port, **headers)
        assert status == 200
        assert "30 seconds" in answer


def test_it_listens_on_this_machine_alone(port: int) -> None:
    # /proc/net/tcp has addresses as hexadecimal numbers, the lowest byte first; 0A is listening.
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("needs /proc")
    listening = [line.split()[1] for line in table.read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert [address for address in listening if address.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_without_the_flag_there_is_no_page_of_metrics(port: int) -> None:
    assert request(port, "GET", "/metrics")[0] == 405


def test_a_port_that_is_taken_is_refused(port: int, docs: Path) -> None:
    ended = CliRunner().invoke(app, ["mcp", "--docs", str(docs), "--http", "--port", str(port)])
    assert ended.exit_code == 2
    assert f"port is {port} (Address already in use); give a free port" in ended.stderr
