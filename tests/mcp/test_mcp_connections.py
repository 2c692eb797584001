"""Clients over HTTP that are slow, broken or many: each connection ends, and others are served meanwhile."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp import Client
from mcp_docs import ASKED, QUERY, make_docs, reading_is_held_up, text_of
from starlette.types import Receive, Scope, Send

from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.loopback import Limits, bounded_protocol
from ctxcompress.apps.mcp.server import http_server, make_server

pytestmark = pytest.mark.usefixtures("loopback")
SOON = 60
"""Seconds after which a test gives up; nothing here takes one."""
SHORT = Limits(request_seconds=0.1)
HEAD = (
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\n"
)
CALL = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": QUERY, "arguments": ASKED}}
).encode()
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
def index(tmp_path: Path) -> FolderIndex:
    return FolderIndex(make_docs(tmp_path))


Serve = Callable[[Limits], Awaitable[int]]


@pytest.fixture
async def serve(index: FolderIndex) -> AsyncIterator[Serve]:
    """Starts a server with these limits; gives its port."""
    async with AsyncExitStack() as servers:

        async def start(limits: Limits) -> int:
            def make(port: int) -> uvicorn.Server:
                return http_server(make_server(index, QueryTool.of(top_n=5)), port, limits)

            return await servers.enter_async_context(running(make))

        yield start


@asynccontextmanager
async def running(make: Callable[[int], uvicorn.Server]) -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        server = make(port)
        ended = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield port
        finally:
            server.should_exit = True
            await ended


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def everything(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server closes the connection."""
    came = b""
    async with asyncio.timeout(SOON):
        try:
            while more := await reader.read(65_536):
                came += more
        except ConnectionResetError:
            pass  # closed while the client was still sending
    return came


def request(port: int, body: bytes = CALL, *more: str) -> bytes:
    head = "".join([HEAD.format(port=port), *(f"{line}\r\n" for line in more)])
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "POST /mcp HTTP/1.1\r\nContent-Le",
        HEAD,
        HEAD + 'Content-Length: 1000\r\n\r\n{"jsonrpc"',
        HEAD + 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"jso\r\n',
        HEAD + "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n",
    ],
)
async def test_a_request_that_is_not_completed_is_given_up(serve: Serve, sent: str) -> None:
    port = await serve(SHORT)
    async with connection(port) as (reader, writer):
        writer.write(sent.replace("{port}", str(port)).encode())
        assert b"HTTP/1.1 408 Request Timeout\r\n" in await everything(reader)


async def test_a_byte_now_and_then_wins_no_time(serve: Serve) -> None:
    port = await serve(Limits(request_seconds=0.1, header_bytes=10**9))
    async with connection(port) as (reader, writer), asyncio.timeout(SOON):
        answer = asyncio.create_task(everything(reader))
        writer.write(b"POST /mcp HTTP/1.1\r\nHeader: ")
        while not answer.done():
            writer.write(b"a")
            await asyncio.sleep(0)
        assert b"200" not in await answer


async def test_an_idle_connection_is_closed(serve: Serve) -> None:
    port = await serve(Limits(idle_seconds=0))
    async with connection(port) as (reader, writer):
        writer.write(request(port))
        assert b"30 seconds" in await everything(reader)


@pytest.mark.parametrize("how", ["Content-Length: {}", "Transfer-Encoding: chunked"])
async def test_a_body_that_is_too_large_is_refused(serve: Serve, how: str) -> None:
    port = await serve(Limits(body_bytes=1_000))
    async with connection(port) as (reader, writer):
        writer.write(f"{HEAD.format(port=port)}{how.format(1_001)}\r\n\r\n".encode())
        writer.write(b"3e9\r\n" + b"a" * 1_001 + b"\r\n" if "chunked" in how else b"")
        assert (await reader.readline()).startswith(b"HTTP/1.1 413")
    async with connection(port) as (reader, writer):
        writer.write(request(port, CALL.ljust(1_000)))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD"])
async def test_no_stream_without_a_request_is_kept_open(serve: Serve, method: str) -> None:
    port = await serve(Limits())
    async with connection(port) as (reader, writer):
        writer.write(request(port, b"", "Connection: close").replace(b"POST", method.encode()))
        answer = await everything(reader)
        assert answer.startswith(b"HTTP/1.1 405")
        assert b"\r\nallow: POST\r\n" in answer


async def test_the_one_that_waits_longest_makes_room_for_another(serve: Serve) -> None:
    port = await serve(Limits(connections=3))
    async with AsyncExitStack() as stack:
        waiting = [await stack.enter_async_context(connection(port)) for _ in range(3)]
        reader, writer = await stack.enter_async_context(connection(port))
        writer.write(request(port))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        assert await everything(waiting[0][0]) == b""
        for reader, writer in waiting[1:]:
            writer.write(request(port))
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")


async def test_where_all_are_being_answered_one_more_is_refused(serve: Serve, index: FolderIndex) -> None:
    port = await serve(Limits(connections=3))
    async with AsyncExitStack() as stack:
        with reading_is_held_up():  # as if another search was reading a large folder
            answered = [await stack.enter_async_context(connection(port)) for _ in range(3)]
            for _, writer in answered:
                writer.write(request(port))
            for reader, _ in answered:
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")  # the answer is under way
            reader, _ = await stack.enter_async_context(connection(port))
            assert (await everything(reader)).startswith(b"HTTP/1.1 503")
        for reader, _ in answered:
            assert b"30 seconds" in await reader.readuntil(b"30 seconds")


async def test_an_answer_that_nobody_takes_is_given_up() -> None:
    ended = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(1_000):
            await send({"type": "http.response.body", "body": bytes(100_000), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        ended.set()

    def make(_: int) -> uvicorn.Server:
        protocol = bounded_protocol(Limits(answer_seconds=0.1))
        return uvicorn.Server(uvicorn.Config(app, http=protocol, lifespan="off", log_config=None))

    async with running(make) as port, connection(port) as (_, writer):
        writer.transport.pause_reading()
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(SOON):
            await ended.wait()


async def test_a_good_client_is_served_beside_three_hundred_slow_ones(serve: Serve) -> None:
    port = await serve(Limits())
    async with AsyncExitStack() as stack:
        for number in range(300):
            _, writer = await stack.enter_async_context(connection(port))
            writer.write(request(port)[: 7 * number])
        async with asyncio.timeout(SOON), Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert "30 seconds" in text_of(await client.call_tool(QUERY, ASKED))


async def test_what_strangers_send_fills_no_log(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    port = await serve(SHORT)
    garbage = (b"\0\xff\r\n\r\n", b"GET / HTTP/9\r\n\r\n", request(port, b"no JSON"), request(port, b"[1]"))
    with caplog.at_level(logging.WARNING):
        stranger = request(port).replace(b"127.0.0.1", b"evil.example")
        for sent in (*garbage, stranger, request(port)[:-10], request(port)[:50], b""):
            async with connection(port) as (reader, writer):
                writer.write(sent)
                writer.write_eof()
                await reader.readline()
    assert caplog.records == []
