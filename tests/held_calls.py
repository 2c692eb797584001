"""Calls that are cancelled in the midst of their work, and what is done afterwards."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ctxcompress.pipeline import pipeline

QUERY = "what is the default timeout?"
TEXTS = [f"The timeout of server {number} is {number} seconds. It is kept in its file.\n\n" * 5 for number in range(40)]
_STAGES = ("reduce_passages", "score_segments", "select_segments", "present")


class Held:
    """Counts words as a tokenizer, and holds up whoever asks until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Semaphore(0), threading.Event()
        self.counted = 0

    def __call__(self, text: str) -> int:
        self.hold_up()
        self.counted += 1
        return len(text.split())

    def hold_up(self) -> None:
        if not self.go.is_set():
            self.begun.release()
            assert self.go.wait(60)


def stages_of(monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    """Notes which stages are begun from now on."""
    begun: list[str] = []

    def noting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **options: Any) -> Any:
            begun.append(name)
            return work(*arguments, **options)

        return noted

    for name in _STAGES:
        monkeypatch.setattr(pipeline, name, noting(name, getattr(pipeline, name)))
    return begun


async def cancel_in_the_midst(held: Held, calls: Iterable[Awaitable[Any]], *, workers: int = 2) -> None:
    """Cancels all calls when as many as there are threads are held up, lets these go, and waits for the threads."""
    loop, others = asyncio.get_running_loop(), ThreadPoolExecutor(1)
    loop.set_default_executor(ThreadPoolExecutor(workers))
    tasks = [asyncio.ensure_future(call) for call in calls]
    for _ in range(min(workers, len(tasks))):
        assert await loop.run_in_executor(others, held.begun.acquire, True, 60)
    for task in tasks:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in found} == {asyncio.CancelledError}
    held.go.set()
    await loop.shutdown_default_executor()
