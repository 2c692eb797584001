"""Puts a steady load on the MCP server over HTTP and on the adapter for LangChain, and measures whether they hold out.

    python benchmarks/load.py [--minutes 60] [--rate 4] [--good 48] [--bad 16] [--megabytes 1000]

The server has good clients, of the official SDK in both generations of the protocol, and beside them clients that are
slow, broken or hostile. In another process, callers of `compress_documents` on 8 threads and of a retriever's `ainvoke`
on an event loop take turns, with one cache. Both processes have a limit of address space. After a tenth of the time to
warm up, 10 to 60 seconds, each is asked sixty times what it has of the machine. Everything is on 127.0.0.1. Needs
Linux, and the extra `dev`. The exit code is 1 if a good call failed, a request without an end was waited for, memory in
the last quarter is more than 5 % above that in the second, or threads, open files or tasks of event loops grew.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from lib.markdown_blocks import table
from lib.mcp_clients import ANSWER, LATEST, Attack, ask_all
from lib.watched import Calls, Usage, Watched, limit_memory, obey, task_counter

PAGES = 300
SAMPLES = 60
QUARTER = SAMPLES // 4
REST = 12.0
"""Seconds in which connections end when nobody calls: the server ends the idle ones after 5, the slow ones after 10."""
NOTHING = Usage(0.0, 0, 0, 0)
GROWTH = 1.05
_CALLS = ("calls", "answered", "a second", "failed", "p50 ms", "p95 ms", "p99 ms", "max ms")
_USAGE = ("process", "when", "MB", "threads", "open files", "tasks")


def write_docs(folder: Path, answer: str) -> None:
    (folder / "client.md").write_text(f"# Client\n\n## Timeouts\n\n{answer}\n", encoding="utf-8")
    for number in range(PAGES):
        text = f"# Page {number}\n\n" + f"Server {number} keeps its logs for a week, and has a timeout. " * 100
        (folder / f"page{number}.md").write_text(text, encoding="utf-8")


def be_server(options: argparse.Namespace) -> None:
    """Serve a folder, and say what this takes."""
    from ctxcompress.apps.mcp import serve

    def ready(address: str) -> None:
        print(f'"{address}"', flush=True)
        Thread(target=until_told, daemon=True).start()

    def until_told() -> None:
        obey(lambda _: {}, tasks)
        os.kill(os.getpid(), signal.SIGTERM)

    limit_memory(options.megabytes)
    tasks = task_counter()
    logging.basicConfig(level=logging.WARNING)
    with TemporaryDirectory() as folder:
        write_docs(Path(folder), ANSWER)
        serve(folder, port=0, ready=ready)


def be_langchain(options: argparse.Namespace) -> None:
    """Compress for callers of LangChain's interfaces."""
    limit_memory(options.megabytes)
    from lib.langchain_calls import Callers

    callers = Callers(options.rate)

    def work(seconds: float) -> Mapping[str, Any]:
        callers.threads, callers.loop = Calls(), Calls()
        callers.work(seconds)
        return {"threads": callers.threads.said(), "loop": callers.loop.said()}

    obey(work, lambda: callers.tasks)


def be_bad(options: argparse.Namespace) -> None:
    """Be the clients that are slow, broken or hostile."""

    def work(seconds: float) -> Mapping[str, Any]:
        attack = Attack()
        asyncio.run(attack.all_attack(options.address, options.bad, options.rate, seconds))
        return {"tries": attack.tries, "refused": attack.refused, "longest": attack.longest}

    obey(work)


ROLES = {"server": be_server, "langchain": be_langchain, "bad": be_bad}


@dataclass(slots=True)
class Seen:
    """What a process had of the machine: before the load and after it, when nobody calls, and during it."""

    name: str
    before: Usage
    during: list[Usage] = field(default_factory=list)
    after: Usage = NOTHING

    def quarter(self, number: int) -> Usage:
        """Return the mean of the memory, and the most of the others, in a quarter of the time."""
        part = self.during[number * QUARTER :][:QUARTER]
        most = (max(column) for column in zip(*part, strict=True))
        return Usage(*most)._replace(megabytes=mean(usage.megabytes for usage in part))

    def rows(self) -> Iterator[list[str]]:
        moments = {
            "before": self.before,
            **{f"quarter {n + 1}": self.quarter(n) for n in range(4)},
            "after": self.after,
        }
        return ([self.name, when, *(f"{value:,.0f}" for value in usage)] for when, usage in moments.items())

    def growth(self) -> Iterator[str]:
        second, last = self.quarter(1).megabytes, self.quarter(3).megabytes
        if last > GROWTH * second:
            yield f"{self.name}: memory grew from {second:.1f} MB to {last:.1f} MB"
        for name in ("threads", "files", "tasks"):
            before, after = getattr(self.before, name), getattr(self.after, name)
            if after > before:
                yield f"{self.name}: {name} grew from {before} to {after}"


@dataclass(slots=True)
class Load:
    """The processes of a load, and what their callers saw."""

    server: Watched
    langchain: Watched
    bad: Watched
    address: str
    options: argparse.Namespace
    calls: dict[str, Calls] = field(default_factory=lambda: {name: Calls() for name in ("mcp", "threads", "loop")})

    async def begun(self) -> list[Seen]:
        """Warm up, and return what the processes have then."""
        seconds = min(60.0, max(10.0, 6 * self.options.minutes))
        warm = self.ask(seconds, Calls())
        _, _, said = await asyncio.gather(warm, self.bad.work(seconds), self.langchain.work(seconds))
        return [Seen("MCP server", await self.rested()), Seen("LangChain", said["usage"])]

    async def bear(self, server: Seen, langchain: Seen) -> dict[str, Any]:
        """Load both, note what they have meanwhile and at the end, and return what the bad clients did."""
        seconds = 60 * self.options.minutes
        asking, attacking = self.ask(seconds, self.calls["mcp"]), self.bad.work(seconds)
        _, did, _ = await asyncio.gather(asking, attacking, self.watch(seconds / SAMPLES, server, langchain))
        server.after = await self.rested()
        langchain.after = langchain.during[-1]
        return did

    async def rested(self) -> Usage:
        """Return what the server has once connections have ended."""
        await asyncio.sleep(REST)
        usage: Usage = (await self.server.work())["usage"]
        return usage

    def ask(self, seconds: float, calls: Calls) -> Coroutine[Any, Any, None]:
        return ask_all(self.address, self.options.good, self.options.rate, seconds, calls)

    async def watch(self, turn: float, server: Seen, langchain: Seen) -> None:
        for number in range(SAMPLES):
            said = await self.langchain.work(turn)
            langchain.during.append(said["usage"])
            server.during.append((await self.server.work())["usage"])
            for name in ("threads", "loop"):
                self.calls[name].extend(**said[name])
            print(f"{(number + 1) * turn:.0f} s: {server.during[-1]}, {langchain.during[-1]}", flush=True)

    def tables(self, seen: Sequence[Seen]) -> Iterator[str]:
        names = (f"MCP, {self.options.good} good clients", "LangChain, 8 threads", "LangChain, an event loop")
        parts = zip(names, self.calls.values(), (1, 0.5, 0.5), strict=True)
        seconds = 60 * self.options.minutes
        yield table(_CALLS, [calls.row(name, part * seconds) for name, calls, part in parts])
        yield table(_USAGE, [row for each in seen for row in each.rows()])


async def run(options: argparse.Namespace) -> list[str]:
    """Run all processes, print what was seen, and return what is wrong."""
    given = [f"--{name}={getattr(options, name)}" for name in ("rate", "bad", "megabytes")]
    async with AsyncExitStack() as stack:

        async def start(role: str, *more: str) -> Watched:
            return await stack.enter_async_context(Watched.started(__file__, f"--role={role}", *given, *more))

        server = await start("server")
        address = await server.hear()
        load = Load(server, await start("langchain"), await start("bad", f"--address={address}"), address, options)
        seen = await load.begun()
        did = await load.bear(*seen)
    print("", *load.tables(seen), sep="\n\n", end="\n\n")
    print(f"{sum(did['tries'].values()):,} bad connections ({did['refused']:,} not made): {did['tries']}")
    print(f"A request without an end was waited for at most {did['longest']:.1f} s.")
    wrong = [f"{name}: {calls.failed}" for name, calls in load.calls.items() if calls.failed.total()]
    late = ["the server waited for a request without an end"] if did["longest"] > LATEST else []
    return [*wrong, *late, *(growth for each in seen for growth in each.growth())]


def parsed(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=4.0, help="calls a second, of each way, and of bad connections")
    parser.add_argument("--good", type=int, default=48, help="good clients at one time")
    parser.add_argument("--bad", type=int, default=16, help="bad clients at one time")
    parser.add_argument("--megabytes", type=int, default=1000, help="address space of a process")
    parser.add_argument("--role", choices=ROLES, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    return parser.parse_args(given)


def main(options: argparse.Namespace) -> int:
    if options.role:
        ROLES[options.role](options)
        return 0
    logging.disable()  # what the clients say of connections that the server ends
    wrong = asyncio.run(run(options))
    print(*(wrong or ["All is well."]), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(parsed(sys.argv[1:])))
