"""Calls of the adapter for LangChain at a bounded rate: on threads, and on an event loop, with a cache."""

import asyncio
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from time import monotonic, perf_counter, sleep

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from ctxcompress.cache import Cache
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever
from lib.watched import Calls

AT_ONCE = 8
_CACHE_BYTES = 5_000_000
"""Few, so that the cache is full soon, and forgets during the load."""
_DOCUMENTS = 10
_RECENT = 20
"""Of so many last questions one is asked again, in every second call."""


def documents_for(query: str) -> list[Document]:
    """Return the documents that are found for a question, the same ones each time."""
    chance, name = random.Random(query), query.split()[-1]
    lines = (f"Server {chance.random()} keeps its logs for {chance.randrange(99)} days." for _ in range(300))
    texts = [" ".join(part) for part in zip(*[lines] * (300 // _DOCUMENTS), strict=True)]
    return [Document(f"{text}\n\n{_answer(name)}" if n == 3 else text) for n, text in enumerate(texts)]


def _answer(name: str) -> str:
    return f"The default timeout of client {name} is 30 seconds."


@dataclass(slots=True)
class Callers:
    """Eight callers of one compressor and one retriever, on threads and on an event loop in turns."""

    rate: float
    """Calls a second of all callers."""
    threads: Calls = field(default_factory=Calls)
    loop: Calls = field(default_factory=Calls)
    tasks: int = 0
    """Left on the event loop when all calls of a turn had ended."""
    _compressor: CtxCompressor = field(
        default_factory=lambda: CtxCompressor(max_tokens=300, cache=Cache(max_bytes=_CACHE_BYTES))
    )
    _numbers: Iterator[int] = field(default_factory=count)

    def work(self, seconds: float) -> None:
        """Call on threads for half of the time, and on an event loop for the other half."""
        until = monotonic() + seconds / 2
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self._on_thread, [until] * AT_ONCE))
        asyncio.run(self._on_loop(until + seconds / 2))

    def _on_thread(self, until: float) -> None:
        sleep(self._pause(until))
        while monotonic() < until:
            query = self._query()
            documents = documents_for(query)
            with _noted(self.threads, query) as note:
                note(self._compressor.compress_documents(documents, query))
            sleep(self._pause(until))

    async def _on_loop(self, until: float) -> None:
        retriever = CtxCompressRetriever(base_retriever=RunnableLambda(documents_for), compressor=self._compressor)

        async def call() -> None:
            await asyncio.sleep(self._pause(until))
            while monotonic() < until:
                query = self._query()
                with _noted(self.loop, query) as note:
                    note(await retriever.ainvoke(query))
                await asyncio.sleep(self._pause(until))

        await asyncio.gather(*(call() for _ in range(AT_ONCE)))
        self.tasks = len(asyncio.all_tasks() - {asyncio.current_task()})

    def _pause(self, until: float) -> float:
        return max(0.0, min(random.uniform(0, 2 * AT_ONCE / self.rate), until - monotonic()))

    def _query(self) -> str:
        number = next(self._numbers)
        return f"what is the default timeout of client {number - random.choice((0, random.randrange(_RECENT)))}"


@contextmanager
def _noted(calls: Calls, query: str) -> Iterator[Callable[[list[Document]], None]]:
    """Note the time and the result of a call, which the function that this yields is given, or the error."""
    begin = perf_counter()
    try:
        yield partial(_note, calls, query, begin)
    except Exception as error:  # noqa: BLE001 - whatever a good caller meets is a finding
        calls.failed[repr(error)[:200]] += 1


def _note(calls: Calls, query: str, begin: float, documents: list[Document]) -> None:
    calls.add(begin, any(_answer(query.split()[-1]) in document.page_content for document in documents))
