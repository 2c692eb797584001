"""Caches of every kind, and texts to compress with them."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache, QdrantStore, SqliteStore

MAKERS: dict[str, Callable[[Path], Cache]] = {
    "memory": lambda _: Cache(),
    "mapping": lambda _: Cache({}, max_bytes=0),
    "sqlite": lambda folder: Cache(SqliteStore(folder / "cache.sqlite"), max_bytes=0),
    "qdrant": lambda _: Cache(QdrantStore(QdrantClient(":memory:"), collection="remembered"), max_bytes=0),
    "both": lambda folder: Cache(SqliteStore(folder / "both.sqlite")),
}


class Plain:
    """A form of bytes as they are."""

    def encode(self, value: bytes, /) -> bytes:
        return value

    def decode(self, data: bytes, /) -> bytes:
        return data

    def estimated_size(self, value: bytes, /) -> int:
        return len(value)


PLAIN = Plain()

PAGE = """# Client

The client talks to the server. It opens a pool of ten connections when it is made.

## Timeouts

The default timeout is 30 seconds. Set `timeout=0` to wait forever. Never do the following:

- set a timeout below the server's own
- share a client between event loops

| option | default |
|---|---|
| timeout | 30 s |
| retries | 3 |

## Retries

A request is sent again after a timeout, at most three times. The default wait doubles each time.
"""


SOURCE = (
    'import time\n\n\nclass Client:\n    def timeout(self, seconds):\n        """Sets the default timeout."""\n'
    + ("        if seconds < 1:\n            raise ValueError(seconds)\n        self.seconds = seconds\n" * 4)
    + "\n    def retry(self):\n        for attempt in range(3):\n            self.request(attempt)\n"
)


def passages() -> list[Passage]:
    """Markdown, German, Chinese, and source code with a function that is too long for small budgets."""
    second = "Zeitüberschreitungen gelten auch hier. The default timeout of the proxy is a minute.\n\n" * 4
    return [
        Passage("one", PAGE, title="Client"),
        Passage("two", second),
        Passage("three", "连接超时为三十秒。默认重试三次。" * 9),
        Passage("four", SOURCE, file_path="client.py"),
    ]


QUESTIONS = ("what is the default timeout?", "how often is a request sent again?", "重试几次？", "nothing of this", "")


def compressed_with(cache: Cache | None) -> Compression:
    return Compressor(CompressionConfig(max_tokens=60, cache=cache)).compress(QUESTIONS[0], passages())


EXPECTED = compressed_with(None)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
