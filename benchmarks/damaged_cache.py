"""Damages cache files at random and compresses with each: no error, and the same results as without a cache.

    python benchmarks/damaged_cache.py [seed] [count]

The files come from a cache that was closed, with entries on several levels of pages, and from a process that was
killed, with a write-ahead log. Each file is damaged in one to three ways, before it is opened or while it is open. If
nothing of a cache is left in a file, it may be refused.
"""

import logging
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic
from traceback import extract_tb

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.cache.cache import MAGIC
from ctxcompress.errors import ConfigError

PAGE = 4096
BUDGET = 30
QUESTIONS = ("what is the default timeout?", "how often is a request sent again?", "timeout of the proxy")
PASSAGES = [
    Passage(
        "one", "# Client\n\nIt opens ten connections.\n\n## Timeouts\n\nThe default timeout is 30 seconds.\n\n" * 3
    ),
    Passage("two", "The timeout of the proxy is a minute. A request is sent again at most three times.\n\n" * 5),
    Passage(
        "three", "class Client:\n    def timeout(self, seconds):\n        self.seconds = seconds\n" * 4, title="a.py"
    ),
]


class Number:
    """A form of whole numbers that are as long as they say."""

    def encode(self, value: int, /) -> bytes:
        return value.to_bytes(4, "big") * (1 + value % 500)

    def decode(self, data: bytes, /) -> int:
        return int.from_bytes(data[:4], "big")

    def estimated_size(self, _: int, /) -> int:
        return 100


NUMBER = Number()


def _cache(path: Path) -> Cache:
    return Cache(SqliteStore(path), max_bytes=0)


def _key(number: int) -> str:
    """As keys of texts are."""
    return f"text:{sha256(b'%d' % number).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one damaged file. error: where something was raised."""

    ways: tuple[str, ...]
    seconds: float
    error: str = ""
    is_refused: bool = False
    """Whether it was taken for something else, because nothing of a cache was left in it."""
    wrong: int = 0
    is_new: bool = False
    """Whether the file was set aside."""
    works: bool = True
    """Whether an entry that is written afterwards is found."""


def _bits(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 200)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _one_bit(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _truncated(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _zeros(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(-(-len(data) // PAGE)) * PAGE
    data[start : start + PAGE] = bytes(len(data[start : start + PAGE]))


def _garbage(data: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(data))
    block = data[start : start + chance.randrange(1, 3 * PAGE)]
    data[start : start + len(block)] = chance.randbytes(len(block))


def _header(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 9)):
        data[chance.randrange(min(100, len(data)))] = chance.randrange(256)


def _beginning(data: bytearray, chance: random.Random) -> None:
    """Of a page: its kind, how many rows, where they are."""
    start = chance.randrange(-(-len(data) // PAGE)) * PAGE
    for place in range(start, min(start + 16, len(data))):
        if chance.random() < 0.3:
            data[place] = chance.randrange(256)


def _page_twice(data: bytearray, chance: random.Random) -> None:
    """One page in the place of another, so that there are two ways to it, or one that goes round."""
    pages = max(len(data) // PAGE, 1)
    source, target = (PAGE * chance.randrange(pages) for _ in range(2))
    data[target : target + PAGE] = data[source : source + PAGE]


def _longer(data: bytearray, chance: random.Random) -> None:
    data += chance.randbytes(chance.randrange(1, 3 * PAGE))


def _nothing(data: bytearray, _: random.Random) -> None:
    data.clear()


BYTES: Sequence[Callable[[bytearray, random.Random], None]] = (
    *(_bits, _one_bit, _truncated, _zeros, _garbage, _header, _beginning, _page_twice, _longer, _nothing),
)
ROWS = (
    "UPDATE ctxcache SET data = substr(data, 1, 7 * rowid % length(data))",
    "UPDATE ctxcache SET data = data || x'00' WHERE rowid % 2",
    "UPDATE ctxcache SET data = 'text'",
    "UPDATE ctxcache SET data = zeroblob(200000) WHERE rowid % 5 = 0",
    "UPDATE ctxcache SET data = (SELECT data FROM ctxcache ORDER BY key LIMIT 1)",
    "UPDATE ctxcache SET id = 9223372036854775807 WHERE id = 1",
    "UPDATE ctxcache SET key = CAST(x'fffe' AS TEXT) WHERE id = (SELECT min(id) FROM ctxcache)",
    "ALTER TABLE ctxcache RENAME COLUMN data TO value",
    "DROP TABLE ctxcache",
    "PRAGMA application_id = 7",
    "PRAGMA user_version = 7",
)


def material(folder: Path) -> tuple[list[Path], list[Compression]]:
    """Two caches, one closed and one of a killed process, and the answers without any."""
    plain = Compressor(CompressionConfig(max_tokens=BUDGET))
    closed, killed = folder / "closed", folder / "killed"
    for path in (closed, killed):
        path.mkdir()
        cache = _cache(path / "cache")
        for number in range(400 if path is closed else 20):
            cache.put(_key(number), number, NUMBER)
        for question in QUESTIONS:
            Compressor(CompressionConfig(max_tokens=BUDGET, cache=cache)).compress(question, PASSAGES)
        if path is killed:  # as it is left, before the log is written into the file
            shutil.copytree(path, folder / "left")
        cache.store.close()
    return [closed, folder / "left"], [plain.compress(question, PASSAGES) for question in QUESTIONS]


def outcome(seed: str, folder: Path, sources: Sequence[Path], expected: Sequence[Compression]) -> Outcome:
    """Of one file that is damaged in ways that the seed says."""
    chance = random.Random(seed)
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(chance.choice(sources), work)
    path = work / "cache"
    ways: list[str] = []
    begin = monotonic()
    wrong, error, works, is_refused = 0, "", False, False
    is_open = chance.random() < 0.2
    try:
        cache = _cache(path) if is_open else None
        ways.extend(_damaged(path, chance, is_open=is_open) for _ in range(chance.choice((1, 1, 2, 3))))
        cache = cache or _cache(path)
        wrong += _wrong(cache, expected)
        cache.store.close()
        cache = _cache(path)
        wrong += _wrong(cache, expected)
        cache.put(_key(8), 8, NUMBER)
        works = cache.get(_key(8), NUMBER) == 8
        cache.store.close()
    except ConfigError as refused:
        left = b"".join(file.read_bytes() for file in work.iterdir())
        is_refused = works = "it contains something else" in str(refused) and MAGIC not in left
        error = "" if is_refused else str(refused)
    except Exception as found:  # noqa: BLE001 - whatever it is, is what is looked for
        error = f"{type(found).__name__} in {extract_tb(found.__traceback__)[-1].name}: {str(found)[-120:]}"
    seconds = monotonic() - begin
    return Outcome(tuple(ways), seconds, error, is_refused, wrong, (work / "cache.damaged").exists(), works)


def _damaged(path: Path, chance: random.Random, *, is_open: bool) -> str:
    """What was done to the file, or to one beside it. Not to the index of the log while it is open: it is mapped into
    memory, which nobody can read without a crash of the process where it is cut off."""
    files = [path, *(path.with_name(f"cache{ending}") for ending in (("-wal",) if is_open else ("-wal", "-shm")))]
    target = chance.choice([path, path, path, *(file for file in files if file.exists())])
    if target is path and chance.random() < 0.25:
        statement = chance.choice(ROWS)
        # It may not be possible any more, after another damage.
        with (
            suppress(sqlite3.Error, UnicodeDecodeError),
            closing(sqlite3.connect(path, timeout=0.1)) as connection,
            connection,
        ):
            connection.execute(statement)
        return "rows"
    if not target.exists():
        return "gone"
    way = chance.choice(BYTES)
    data = bytearray(target.read_bytes())
    if data:
        way(data, chance)
        target.write_bytes(data)
    return f"{way.__name__.strip('_')}{target.name.removeprefix('cache')}"


def _wrong(cache: Cache, expected: Sequence[Compression]) -> int:
    """How many answers are not what they are without a cache, and entries not what was written."""
    cached = Compressor(CompressionConfig(max_tokens=BUDGET, cache=cache))
    answers = [cached.compress(question, PASSAGES) for question in QUESTIONS]
    numbers = [cache.get(_key(number), NUMBER) for number in range(0, 400, 40)]
    return sum(answer != right for answer, right in zip(answers, expected, strict=True)) + sum(
        number not in (None, right) for number, right in zip(numbers, range(0, 400, 40), strict=True)
    )


def _count(found: Sequence[Outcome], name: str) -> int:
    return sum(bool(getattr(one, name)) for one in found)


def main(seed: int, count: int) -> int:
    logging.getLogger("ctxcompress").addHandler(logging.NullHandler())
    logging.getLogger("ctxcompress").propagate = False
    ways: Counter[str] = Counter()
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources, expected = material(folder)
        for number in range(count):
            one = outcome(f"{seed}:{number}", folder, sources, expected)
            found.append(one)
            ways.update(one.ways)
            if one.error or one.wrong or not one.works:
                print(f"{seed}:{number} {' '.join(one.ways)}: {one.error or f'{one.wrong} wrong, works: {one.works}'}")
    failed = [one for one in found if one.error or one.wrong or not one.works]
    slowest = max(one.seconds for one in found)
    print(
        f"{count:,} damaged files: {_count(found, 'error')} raised, {_count(found, 'wrong')} had a wrong answer, ",
        end="",
    )
    print(f"{count - _count(found, 'works')} did not work afterwards; {_count(found, 'is_refused')} were refused")
    print(f"{_count(found, 'is_new'):,} were set aside; the slowest took {slowest:.2f} s")
    print(", ".join(f"{way} {times:,}" for way, times in ways.most_common()))
    return bool(failed)


if __name__ == "__main__":
    first, second = [*map(int, sys.argv[1:3]), *(1, 1000)[len(sys.argv[1:3]) :]]
    sys.exit(main(first, second))
