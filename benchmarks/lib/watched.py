"""Processes that work when they are told to, and say what came of it and what they have of the machine. Needs Linux."""

import asyncio
import json
import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np


@dataclass(slots=True)
class Calls:
    """What good callers saw."""

    milliseconds: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, begin: float, is_right: bool) -> None:
        """Note an answer to a call that began at this time of `perf_counter`."""
        self.milliseconds.append(1e3 * (perf_counter() - begin))
        self.failed["wrong answer"] += not is_right

    def said(self) -> dict[str, Any]:
        return {"milliseconds": self.milliseconds, "failed": self.failed}

    def extend(self, milliseconds: Sequence[float], failed: Mapping[str, int]) -> None:
        self.milliseconds.extend(milliseconds)
        self.failed.update(failed)

    def row(self, name: str, seconds: float) -> list[str]:
        cuts = np.percentile(self.milliseconds or [0.0], (50, 95, 99, 100))
        count = len(self.milliseconds)
        return [
            name,
            f"{count:,}",
            f"{count / seconds:.1f}",
            f"{self.failed.total():,}",
            *(f"{cut:,.0f}" for cut in cuts),
        ]


class Usage(NamedTuple):
    """What a process has of the machine."""

    megabytes: float
    """Resident."""
    threads: int
    files: int
    tasks: int
    """Of event loops, which have not ended."""

    @classmethod
    def of_this(cls, tasks: int) -> "Usage":
        folder = Path("/proc/self")
        said = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        megabytes = round(int(said["VmRSS"].split()[0]) / 1024, 1)
        return cls(megabytes, int(said["Threads"]), len([*(folder / "fd").iterdir()]), tasks)


def limit_memory(megabytes: int) -> None:
    """Let this process have no more address space than that: what it asks for in addition is a MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)


def task_counter() -> Callable[[], int]:
    """Return a function that any thread can ask for the number of tasks of the event loop that the main thread runs."""
    counts = SimpleQueue[int]()  # its `put` may interrupt anything

    def count() -> int:
        os.kill(os.getpid(), signal.SIGUSR1)
        return counts.get()

    signal.signal(signal.SIGUSR1, lambda *_: counts.put(len(asyncio.all_tasks())))
    return count


def obey(work: Callable[[float], Mapping[str, Any]], tasks: Callable[[], int] = int) -> None:
    """Read numbers of seconds from standard input, and write what came of the work of each. tasks: counts those."""
    for line in sys.stdin:
        did = dict(work(float(line)))
        sleep(0.1)  # a thread that was joined is there for a moment more
        print(json.dumps({**did, "usage": Usage.of_this(tasks())}), flush=True)


@dataclass(frozen=True, slots=True)
class Watched:
    """A process of a command that obeys."""

    process: asyncio.subprocess.Process

    @classmethod
    @asynccontextmanager
    async def started(cls, *command: str) -> AsyncIterator["Watched"]:
        """Start the command; it ends when its standard input does."""
        pipes = dict.fromkeys(("stdin", "stdout"), asyncio.subprocess.PIPE)
        process = await asyncio.create_subprocess_exec(sys.executable, *command, limit=2**24, **pipes)
        try:
            yield cls(process)
        finally:
            process.stdin.close()
            await process.wait()

    async def hear(self) -> Any:
        """Return what it says next."""
        return json.loads(await self.process.stdout.readline())

    async def work(self, seconds: float = 0.0) -> dict[str, Any]:
        """Let it work for so long, and return what it says."""
        self.process.stdin.write(f"{seconds}\n".encode())
        answer = await self.hear()
        return {**answer, "usage": Usage(*answer["usage"])}
