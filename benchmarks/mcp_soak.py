"""Runs slow and broken MCP clients beside good ones over HTTP, and measures how the good ones are answered.

    python benchmarks/mcp_soak.py [--minutes 1] [--bad 200] [--good 4] [--seed 0]

The server is the command with its own limits, in a process of its own; the bad clients have another process. The good
clients are those of the official SDK, in both generations of the protocol. They run alone for a tenth of the time
first. Everything is on 127.0.0.1. Needs Linux. The exit code is 1 if a good request failed, or if the server waited
for a request that never ends.
"""

import argparse
import asyncio
import json
import logging
import random
import socket
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter

import httpx2
from mcp import Client, MCPError

HOST = "127.0.0.1"
TOOL = "query_documents_compressed"
ASKED = {"query": "what is the default timeout of the client?"}
ANSWER = "The default timeout of the client is 30 seconds."
PAGES = 300
PATIENCE = 30.0
"""Seconds that a bad client waits for the server to end the connection."""
LATEST = 15.0
"""Seconds after which the server must have ended a request that is not complete: 10, and what a busy machine takes."""
MOST = 1_000_000
"""Rounds of a client, whatever the clock says."""
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

    async def attack(self, port: int, seed: str) -> None:
        chance = random.Random(seed)
        for _ in range(MOST):
            kind = chance.choice(KINDS)
            begin = monotonic()
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await asyncio.wait_for(self.once(kind, port, chance), PATIENCE)
            if kind in ENDLESS:
                self.longest = max(self.longest, monotonic() - begin)
            await asyncio.sleep(chance.uniform(0, 0.2))

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

    async def all_attack(self, port: int, count: int, seed: int, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for number in range(count):
                    group.create_task(self.attack(port, f"{seed}-{number}"))


@dataclass(slots=True)
class Good:
    """What the good clients saw."""

    milliseconds: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)

    async def ask(self, url: str, seed: str, until: float) -> None:
        chance = random.Random(seed)
        for _ in range(MOST):
            if monotonic() > until:
                return
            try:
                async with Client(url, mode=chance.choice(("auto", "legacy"))) as client:
                    for _ in range(chance.choice((1, 1, 20))):
                        await self.once(client)
                        await asyncio.sleep(chance.uniform(0, 0.2))
            except (OSError, MCPError, httpx2.HTTPError, ExceptionGroup) as error:
                self.failed[repr(error)[:200]] += 1

    async def once(self, client: Client) -> None:
        begin = perf_counter()
        result = await client.call_tool(TOOL, ASKED)
        self.milliseconds.append(1e3 * (perf_counter() - begin))
        if ANSWER not in str(result.content):
            self.failed["wrong answer"] += 1

    async def all_ask(self, url: str, count: int, seed: int, seconds: float) -> None:
        until = monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(self.ask(url, f"{seed}-{number}", until))

    def row(self, name: str) -> str:
        cuts = quantiles(self.milliseconds, n=100) if len(self.milliseconds) > 1 else [0.0] * 99
        times = " | ".join(
            f"{value:,.0f}" for value in (cuts[49], cuts[94], cuts[98], max(self.milliseconds, default=0))
        )
        return f"| {name} | {len(self.milliseconds):,} | {self.failed.total():,} | {times} |"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has of the machine."""

    megabytes: float
    files: int
    threads: int

    @classmethod
    def of(cls, process: int) -> "Usage":
        folder = Path(f"/proc/{process}")
        said = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return cls(int(said["VmRSS"].split()[0]) / 1024, len([*(folder / "fd").iterdir()]), int(said["Threads"]))

    def row(self, name: str) -> str:
        return f"| {name} | {self.megabytes:,.0f} | {self.files:,} | {self.threads:,} |"


def write_docs(folder: Path) -> None:
    (folder / "client.md").write_text(f"# Client\n\n## Timeouts\n\n{ANSWER}\n", encoding="utf-8")
    for number in range(PAGES):
        text = f"# Page {number}\n\n" + f"Server {number} keeps its logs for a week, and has a timeout. " * 100
        (folder / f"page{number}.md").write_text(text, encoding="utf-8")


async def settled(process: int, files: int) -> Usage:
    """What the server has once its connections have ended; at the latest after PATIENCE."""
    until = monotonic() + PATIENCE
    while (usage := Usage.of(process)).files > files and monotonic() < until:
        await asyncio.sleep(0.5)
    return usage


async def soak(server: int, port: int, arguments: argparse.Namespace) -> bool:
    url, seconds = f"http://{HOST}:{port}/mcp", 60 * arguments.minutes
    warm, quiet, attacked = Good(), Good(), Good()
    idle = Usage.of(server).files
    await warm.all_ask(url, arguments.good, arguments.seed, min(5.0, seconds / 10))
    begin = await settled(server, idle)
    await quiet.all_ask(url, arguments.good, arguments.seed, seconds / 10)
    command = [sys.executable, __file__, "--attack", str(port), "--bad", str(arguments.bad)]
    command += ["--minutes", str(arguments.minutes), "--seed", str(arguments.seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attacker:
        asking = asyncio.create_task(attacked.all_ask(url, arguments.good, arguments.seed, seconds))
        seen = [begin]
        while not asking.done():
            seen.append(Usage.of(server))
            await asyncio.wait([asking], timeout=1.0)
        said, _ = await asyncio.to_thread(attacker.communicate)
    did = json.loads(said)
    end = await settled(server, begin.files)
    most = Usage(*(max(getattr(usage, name) for usage in seen) for name in Usage.__slots__))
    print(
        "| good requests | answered | failed | p50 ms | p95 ms | p99 ms | max ms |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    print(quiet.row("alone"), attacked.row(f"beside {arguments.bad} bad clients"), sep="\n")
    print("\n| server | MB | open files | threads |\n|---|---:|---:|---:|")
    print(begin.row("at the beginning"), most.row("at most"), end.row("at the end"), sep="\n")
    print(f"\n{sum(did['tries'].values()):,} bad connections ({did['refused']:,} not made): {did['tries']}")
    print(f"A request without an end was waited for at most {did['longest']:.1f} s. Failures: {dict(attacked.failed)}")
    return not (quiet.failed or attacked.failed) and did["longest"] < LATEST


def main(arguments: argparse.Namespace) -> int:
    logging.disable()  # what the clients say of connections that the server ends
    if arguments.attack:
        attack = Attack()
        asyncio.run(attack.all_attack(arguments.attack, arguments.bad, arguments.seed, 60 * arguments.minutes))
        print(json.dumps({"tries": attack.tries, "refused": attack.refused, "longest": attack.longest}))
        return 0
    with TemporaryDirectory() as folder:
        write_docs(Path(folder))
        command = [sys.executable, "-m", "ctxcompress.apps.cli", "mcp", "--docs", folder, "--http", "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr
                said = server.stderr.readline()
                port = int(said.rpartition(":")[2].removesuffix("/mcp\n"))
                return 0 if asyncio.run(soak(server.pid, port, arguments)) else 1
            finally:
                server.terminate()
                print(f"The server said: {server.communicate()[1][-2_000:]!r}")


def parsed(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--bad", type=int, default=200, help="bad clients at one time")
    parser.add_argument("--good", type=int, default=4, help="good clients at one time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--attack", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main(parsed(sys.argv[1:])))
