"""Damaged entries of a cache: the result is as without it. Decoders refuse by the errors that they declare."""

from contextlib import suppress

from fuzzing import HEAD, json_changed, read

from ctxcompress import compress
from ctxcompress.cache.cache import Cache, seal, unseal
from ctxcompress.pipeline.call_cache import AS_JSON, TextCodec

mutate = json_changed(
    "paragraph", "code", "heading", "budget", "threshold", "x", "duplicate", "[…]", "function", "object"
)
TEXTS = ["The timeout is 30 s. It is set once. " * 5, "def f(x):\n    return x\n" * 9, '{"a": [1, 2, {"b": "c"}]}']
_REFUSED = (ValueError, TypeError, LookupError, RecursionError)


class _Store(dict[str, bytes]):
    """Gives the same bytes for every key. What is written is lost."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def get(self, key: str, _: object = None) -> bytes | None:  # type: ignore[override]
        return self._content

    def __setitem__(self, key: str, value: bytes) -> None:
        assert unseal(key, value)


def check(data: bytes) -> None:
    given, content = read(data), data[HEAD:]
    plain = compress("timeout", TEXTS, max_tokens=20)
    for key in ("outcome:1", given.query):
        with suppress(ValueError):
            assert unseal(key, content) == content[24:]
    for codec in (TextCodec(given.text), AS_JSON):
        with suppress(*_REFUSED):
            codec.decode(content)
    damaged = Cache(_Store(seal("another key", content) if given.choice % 2 else content), max_bytes=0)
    assert compress("timeout", TEXTS, max_tokens=20, cache=damaged).text == plain.text
