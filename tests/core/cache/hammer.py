"""What one of several processes does with a cache: writes, reads and checks, until the time is over.

    python hammer.py FILE SECONDS SEED

Says how often it did, and fails on a wrong answer or a warning.
"""

import logging
import random
import sys
import time

from caches import PLAIN

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache, SqliteStore


def main(path, seconds, seed):
    logging.raiseExceptions = True
    logging.getLogger("ctxcompress").addHandler(_Fail())
    chance = random.Random(seed)
    cache = Cache(SqliteStore(path, max_bytes=200_000), max_bytes=0)
    plain = Compressor(CompressionConfig(max_tokens=20))
    cached = Compressor(CompressionConfig(max_tokens=20, cache=cache))
    end, rounds, hits = time.monotonic() + seconds, 0, 0
    while hits == 0 or time.monotonic() < end:
        key = str(chance.randrange(200))
        found = cache.get(key, PLAIN)
        if found not in (None, _value(key)):
            raise SystemExit(f"a wrong answer for {key}")
        hits += found is not None
        cache.put(key, _value(key), PLAIN)
        number = chance.randrange(50)
        items = [Passage("one", f"The timeout of server {number} is {number} seconds. It has no other limit.\n\n" * 5)]
        query = f"timeout of server {chance.randrange(3)}"
        if cached.compress(query, items) != plain.compress(query, items):
            raise SystemExit("a wrong compression")
        rounds += 1
    print(rounds, hits)


def _value(key):
    return key.encode() * 700


class _Fail(logging.Handler):
    def emit(self, record):
        print(record.getMessage(), file=sys.stderr)
        sys.stderr.flush()
        raise SystemExit("a warning")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
