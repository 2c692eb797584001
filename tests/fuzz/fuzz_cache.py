"""Damaged entries of a cache: the result is as without it. Decoders refuse by the errors that they declare."""

from contextlib import suppress

from fuzzing import HEAD, json_changed, read

from ctxcompress import compress
from ctxcompress.cache.cache import Cache, seal, unseal
from ctxcompress.pipeline.call_cache import AS_JSON, TextCodec

mutate = json_changed("paragraph", "code", "heading", "budget", "threshold", "x", "duplicate", "[…]", "function")
TEXTS = ["The timeout is 30 s. It is set once. " * 5, "def f(x):\n    return x\n" * 9, '{"a": [1, 2, {"b": "c"}]}']
ENTRIES: dict[str, bytes] = {}
RESULT = compress("timeout", TEXTS, max_tokens=20, cache=Cache(ENTRIES, max_bytes=0))
_REFUSED = (ValueError, TypeError, LookupError, RecursionError)


def check(data: bytes) -> None:
    given, content = read(data), data[HEAD:]
    for codec in (TextCodec(given.text), AS_JSON):
        with suppress(*_REFUSED):
            codec.encode(codec.decode(content))
    damaged = {key: _damaged(value, content, given.budget * 7 + given.choice) for key, value in ENTRIES.items()}
    damaged |= {key: seal("another key", content) for key in list(damaged)[: given.choice % 3]}
    for key, value in damaged.items():
        with suppress(ValueError):
            assert unseal(key, value) == unseal(key, ENTRIES[key])
    again = compress("timeout", TEXTS, max_tokens=20, cache=Cache(damaged, max_bytes=0))
    assert again == RESULT


def _damaged(value: bytes, content: bytes, place: int) -> bytes:
    """Return an entry with other bytes in one place."""
    place %= len(value) + 1
    return value[:place] + content[:20] + value[place + len(content) % 21 :]
