"""Loads what calls need before the first one: the vocabulary of the tokenizer, the table of words, the weights, and
the regular expressions of the usual formats. It compresses a few lines of each, so that no list has to name all that.
"""

from contextlib import suppress
from contextvars import Context
from functools import cache
from typing import Any

from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Passage
from ctxcompress.text.tokens import is_carried

__all__ = ["warm_up"]

_QUERY = "What is the default timeout, and who changed it in May 2024?"
_TEXTS = {
    "Client": """# Client

## Timeouts

The default timeout of [the client](client.md) is 30 seconds. On 2 May 2024 Ann Lee changed it; see `Client.timeout`.
Others wait "for ever", e.g. the pool.

- A retry waits twice as long.
- The fifth one raises `TimeoutError`, version 1.2.

| name | default |
| --- | ---: |
| timeout | 30 s |

```python
client = Client(timeout=30)
```
""",
    "client.py": '''import socket


class Client:
    """A client."""

    def __init__(self, timeout: int = 30) -> None:
        self.timeout = timeout  # in seconds
''',
    "client.json": '{"client": {"timeout": 30, "hosts": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}}',
    "client.log": """2024-05-02 10:00:00 INFO client: connected
2024-05-02 10:00:30 ERROR client: the timeout is over
2024-05-02 10:00:31 INFO client: closed
""",
    "Meeting": """Ann: What is the timeout of the client?
Bob: It is 30 seconds.
Ann: I changed it in May.
""",
    "History": "The client was written in 2020. It had no timeout then. Many complained, and Ann changed it.",
}


def warm_up(config: CompressionConfig) -> CompressionConfig:
    """Load what calls with these options need, the first time in this process, and return the options.

    Nothing is downloaded, and no model or cache of the options is used.
    """
    encoding = config.encoding if is_carried(config.encoding) else len
    encoder = config.encoder if isinstance(config.encoder, str) else None
    _practise(encoding, encoder, config.scorer, config.language)
    return config


@cache
def _practise(encoding: Any, encoder: Any, scorer: Any, language: str | None) -> None:
    config = CompressionConfig(max_tokens=100, encoding=encoding, encoder=encoder, scorer=scorer, language=language)
    passages = [Passage(name, text, file_path=name) for name, text in _TEXTS.items()]
    # An extra that is missing, or a filter of another package that fails, is a matter of the call. In a context of its
    # own nobody who listens to the compressions around it hears of this one.
    with suppress(Exception):
        Context().run(Compressor(config).compress, _QUERY, passages)
