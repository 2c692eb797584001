"""The server as a program, over its standard input and output."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_docs import ASKED, COMMAND, ENVIRONMENT, QUERY, ids_of, make_docs, text_of
from typer.testing import CliRunner

from ctxcompress import Compressor
from ctxcompress.apps.cli.app import app


def parameters(docs: Path, *more: str) -> StdioServerParameters:
    program, *arguments = COMMAND
    return StdioServerParameters(
        command=program, args=[*arguments, "--docs", str(docs), *more], env=ENVIRONMENT, cwd=docs.parent
    )


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, timeout=120)


def message(method: str, number: int | None = None, **params: object) -> bytes:
    numbered = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **numbered, "method": method, "params": params}).encode() + b"\n"


HELLO = message(
    "initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"}
) + message("notifications/initialized")


async def test_a_client_lists_calls_and_sees_changes_within_the_limit_of_the_command(tmp_path: Path) -> None:
    docs = make_docs(tmp_path)
    async with Client(parameters(docs, "--max-tokens", "60")) as client:
        assert client.server_info.name == "ctxcompress"
        assert [tool.name for tool in (await client.list_tools()).tools] == [QUERY, "expand_chunk"]
        (name, *_) = ids_of(await client.call_tool(QUERY, ASKED))
        assert "30 seconds" in text_of(await client.call_tool("expand_chunk", {"chunk_id": name}))
        assert (await client.call_tool(QUERY, {**ASKED, "top_n": 101})).is_error
        limited = text_of(await client.call_tool(QUERY, {**ASKED, "min_score": 0, "top_n": 100}))
        assert Compressor().count(limited) <= 60
        (docs / "new.md").write_text("A zeppelin is an airship.")
        assert ids_of(await client.call_tool(QUERY, {"query": "zeppelin"})) == ["new.md#L1-L1"]


def test_it_ends_when_the_client_goes_in_the_middle_of_a_call(tmp_path: Path) -> None:
    docs = make_docs(tmp_path)
    for number in range(60):
        (docs / f"{number}.md").write_text("# Title\n\nSome words about the timeout. " * 300)
    calls = b"".join(message("tools/call", n, name=QUERY, arguments=ASKED) for n in range(1, 20))
    ended = run("--docs", str(docs), stdin=HELLO + calls)
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr


def test_what_is_no_message_does_not_end_it(tmp_path: Path) -> None:
    ended = run("--docs", str(make_docs(tmp_path)), stdin=b"nonsense\n\xff\xfe\n" + HELLO)
    assert ended.returncode == 0
    (answer,) = (answer for answer in map(json.loads, ended.stdout.splitlines()) if answer.get("id") == 0)
    assert answer["result"]["serverInfo"]["name"] == "ctxcompress"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_it_can_be_interrupted_while_it_waits(tmp_path: Path) -> None:
    arguments = [*COMMAND, "--docs", str(make_docs(tmp_path))]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(HELLO)
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) != 0


@pytest.mark.parametrize("name", ["mcp", "uvicorn"])
def test_a_missing_extra_is_named(name: str, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.modules[{name!r}] = None; "
        "from ctxcompress.apps.mcp import serve; assert 'mcp.server' not in sys.modules; "
        f"serve({str(tmp_path)!r})"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    said = (
        f"MissingExtra: the server needs the extra mcp ({name} is missing or too old); "
        "run: pip install 'ctxcompress[mcp]'"
    )
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--docs", "nowhere"], "'nowhere' cannot be opened"),
        (["--docs", ".", "--max-tokens", "0"], "max_tokens is 0; it must be at least 1"),
        (["--docs", ".", "--port", "80"], "--port 80 is given without --http"),
        (["--docs", ".", "--http", "--port", "70000"], "port is 70000"),
    ],
)
@pytest.mark.usefixtures("loopback")
def test_wrong_usage_is_told_on_standard_error(arguments: list[str], said: str) -> None:
    ended = CliRunner().invoke(app, ["mcp", *arguments])
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
