"""Clients of the MCP server over HTTP on this machine: good ones of the official SDK, and bad ones that are slow,
broken or hostile."""

import asyncio
import json
import random
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import mean
from time import monotonic, perf_counter

from mcp import Client

from lib.watched import Calls

HOST = "127.0.0.1"
TOOL = "query_documents_compressed"
ASKED = {"query": "what is the default timeout of the client?"}
ANSWER = "The default timeout of the client is 30 seconds."
TIMES = (1, 1, 10)
"""Calls of a connection."""
PATIENCE = 30.0
"""Seconds that a bad client waits for the server to end the connection."""
LATEST = 15.0
"""Seconds after which the server must have ended a request that is not complete: 10, and what a busy machine takes."""
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": TOOL, "arguments": ASKED}}
NO_CALLS = (
    *(b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 50_000, b"9" * 5_000, b'{"jsonrpc": "2.0", "id": 1}'),
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm", "arguments": {}}}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "expand_chunk", "arguments": 5}}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "no/such", "params": []}',
)


@dataclass(frozen=True, slots=True)
class Bad:
    """A client that does one wrong thing on a connection."""

    port: int
    random: random.Random
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def head(self, *lines: str, host: str = "", path: str = "/mcp") -> bytes:
        first = (f"POST {path} HTTP/1.1", f"Host: {host or HOST}:{self.port}", "Content-Type: application/json")
        return "\r\n".join((*first, "Accept: application/json, text/event-stream", *lines, "", "")).encode()

    def call(self, body: bytes | None = None, **other: str) -> bytes:
        body = json.dumps(CALL).encode() if body is None else body
        return self.head(f"Content-Length: {len(body)}", **other) + body

    async def wait(self) -> None:
        """Until the server ends the connection."""
        while await self.reader.read(65_536):
            pass

    async def drip(self, part: bytes) -> None:
        """A part now and then, until the server ends the connection."""
        ended = asyncio.create_task(self.wait())
        try:
            while not ended.done():
                self.writer.write(part)
                await self.writer.drain()
                await asyncio.wait([ended], timeout=self.random.uniform(0.1, 1.0))
        finally:
            ended.cancel()

    async def flood(self, part: bytes, times: int) -> None:
        for _ in range(times):
            self.writer.write(part)
            await self.writer.drain()
        await self.wait()

    async def says_nothing(self) -> None:
        await self.wait()

    async def slow_headers(self) -> None:
        self.writer.write(b"POST /mcp HTTP/1.1\r\n")
        await self.drip(b"X-Header: a\r\n")

    async def half_headers(self) -> None:
        request = self.call()
        self.writer.write(request[: self.random.randrange(request.index(b"\r\n\r\n"))])
        await self.wait()

    async def half_body(self) -> None:
        self.writer.write(self.call()[:-20])
        await self.wait()

    async def slow_body(self) -> None:
        self.writer.write(self.head("Transfer-Encoding: chunked"))
        await self.drip(b"1\r\n \r\n")

    async def huge_headers(self) -> None:
        self.writer.write(b"POST /mcp HTTP/1.1\r\n")
        await self.flood(b"X-Header: " + b"a" * 10_000 + b"\r\n", 100)

    async def huge_body(self) -> None:
        self.writer.write(self.head("Content-Length: 50000000"))
        await self.flood(bytes(100_000), 500)

    async def huge_chunks(self) -> None:
        self.writer.write(self.head("Transfer-Encoding: chunked"))
        await self.flood(b"186a0\r\n" + b"a" * 100_000 + b"\r\n", 500)

    async def wrong_type(self) -> None:
        self.writer.write(self.call().replace(b"application/json\r\n", b"image/png\r\n", 1))
        await self.reader.readline()

    async def garbage(self) -> None:
        self.writer.write(self.random.randbytes(self.random.randrange(1, 5_000)))
        self.writer.write_eof()
        await self.wait()

    async def wrong_message(self) -> None:
        self.writer.write(self.call(self.random.choice(NO_CALLS)))
        await self.reader.readline()

    async def strange_host(self) -> None:
        self.writer.write(self.call(host="evil.example"))
        await self.reader.readline()

    async def other_page(self) -> None:
        self.writer.write(self.call(path=f"/{self.random.random()}"))
        await self.reader.readline()

    async def listens(self) -> None:
        self.writer.write(self.call(b"").replace(b"POST", b"GET", 1))
        await self.wait()

    async def goes_before_the_answer(self) -> None:
        self.writer.write(self.call())
        await self.writer.drain()

    async def goes_in_the_answer(self) -> None:
        self.writer.write(self.call())
        await self.reader.readexactly(20)
        resets = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, resets)

    async def takes_no_answer(self) -> None:
        transport = self.writer.transport
        transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(5):
            self.writer.write(self.call())
        await asyncio.sleep(LATEST)


ENDLESS = (Bad.says_nothing, Bad.slow_headers, Bad.half_headers, Bad.half_body, Bad.slow_body)
KINDS: tuple[Callable[[Bad], Awaitable[None]], ...] = (
    *ENDLESS,
    *(Bad.huge_headers, Bad.huge_body, Bad.huge_chunks, Bad.wrong_type, Bad.garbage, Bad.wrong_message),
    *(Bad.strange_host, Bad.other_page, Bad.listens, Bad.goes_before_the_answer, Bad.goes_in_the_answer),
    Bad.takes_no_answer,
)


@dataclass(slots=True)
class Attack:
    """What the bad clients did."""

    tries: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    """Connections that could not be made."""
    longest: float = 0.0
    """Seconds that a request without an end was waited for."""

    async def attack(self, port: int, rate: float, seed: str) -> None:
        chance = random.Random(seed)
        while True:
            await asyncio.sleep(chance.uniform(0, 2 / rate))
            kind = chance.choice(KINDS)
            begin = monotonic()
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await asyncio.wait_for(self.once(kind, port, chance), PATIENCE)
            if kind in ENDLESS:
                self.longest = max(self.longest, monotonic() - begin)

    async def once(self, kind: Callable[[Bad], Awaitable[None]], port: int, chance: random.Random) -> None:
        self.tries[kind.__name__] += 1
        try:
            reader, writer = await asyncio.open_connection(HOST, port)
        except OSError:
            self.refused += 1
            return
        try:
            await kind(Bad(port, chance, reader, writer))
        finally:
            writer.close()

    async def all_attack(self, address: str, clients: int, rate: float, seconds: float) -> None:
        """Attack for so many seconds. rate: connections a second of all clients, at most."""
        port = int(address.rpartition(":")[2].partition("/")[0])
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for number in range(clients):
                    group.create_task(self.attack(port, rate / clients, f"{seconds}-{number}"))


async def ask_all(url: str, clients: int, rate: float, seconds: float, calls: Calls) -> None:
    """Ask for so many seconds. rate: calls a second of all clients."""
    until = monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(_ask(url, clients / rate, f"{seconds}-{number}", until, calls))


async def _ask(url: str, pause: float, seed: str, until: float, calls: Calls) -> None:
    """Connect for some calls at a time, in both generations of the protocol. pause: the mean seconds of a call."""
    chance = random.Random(seed)
    begin = monotonic() + chance.uniform(0, pause * mean(TIMES))
    while begin < until:
        await asyncio.sleep(begin - monotonic())
        times = chance.choice(TIMES)
        begin += pause * times * chance.uniform(0.5, 1.5)
        try:
            async with Client(url, mode=chance.choice(("auto", "legacy"))) as client:
                for _ in range(times):
                    await _once(client, calls)
                    await asyncio.sleep(chance.uniform(0, 2))
        except Exception as error:  # noqa: BLE001 (whatever a good client meets is a finding)
            calls.failed[repr(error)[:200]] += 1


async def _once(client: Client, calls: Calls) -> None:
    begin = perf_counter()
    result = await client.call_tool(TOOL, ASKED)
    calls.add(begin, ANSWER in str(result.content))
