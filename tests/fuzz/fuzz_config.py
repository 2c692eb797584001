"""Files of configuration, TOML and JSON: options, or an error of ours."""

import atexit
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from fuzzing import HEAD, json_changed, spliced

from ctxcompress import CompressionConfig
from ctxcompress.config import files  # noqa: F401 - else it is imported too late to be watched
from ctxcompress.config.options import OPTIONS
from ctxcompress.errors import CtxCompressError

_toml = spliced(
    *(
        "[compression]\n",
        "[search]\n",
        "[compression.cache]\n",
        "[compression.llm]\n",
        "[compression.smartTruncation]\n",
    ),
    *(
        "enabled = false\n",
        "max_tokens = 5\n",
        'tier = "summary"\n',
        'preset = "docs"\n',
        "min_score = 0.3\n",
        "maxLength = 9\n",
    ),
    *(
        'must_keep = ["ids", "/a+/"]\n',
        'encoder = "words"\n',
        "dedup_enabled = true\n",
        'score_kind = "rank"\n',
        "top_n = 2\n",
    ),
    *(
        'kind = "memory"\n',
        "ttl = 5\n",
        "max_bytes = 9\n",
        '"a"',
        "[]",
        "{}",
        "-1",
        "nan",
        "true",
        " = ",
        "1979-05-27\n",
    ),
    *("language = 'en'\n", "synonyms = {a = ['b']}\n", "type_weights = {code = 2}\n", "metadata_map = {title = 't'}\n"),
    *(
        '{"compression": {"max_tokens": 5}}',
        '{"knowledge": {"engines": []}}',
        "llm = 'x'\n",
        "timeout = 1\n",
        "order = 'edges'\n",
    ),
)
_tables = json_changed(
    *("compression", "search", "knowledge", "engines", "options", "optimization", "enabled", "preset", *OPTIONS),
    *("smartTruncation", "metadataOnly", "llm", "scoreThreshold", "maxLength", "preserveStructure", "dedup_threshold"),
    *(
        "dedup_enabled",
        "ngram_dedup_enabled",
        "min_confidence",
        "kind",
        "memory",
        "ttl",
        "max_bytes",
        "docs",
        "summary",
    ),
    *("auto", "25%", "words", "static", "rank", "xml", "edges", "drop", "ids", "/a+/", "/(a", "code", "title", "en"),
)
_ELSEWHERE = (b"path", b"persistent", b"both", b"url", b"static", b"\\")
"""What makes a file, asks a server or loads a package has tests of its own."""
_FOLDER = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)


def mutate(data: bytes, size: int, seed: int) -> bytes:
    return (_tables if data[HEAD : HEAD + 1] == b"{" else _toml)(data, size, seed)


def check(data: bytes) -> None:
    text = data[HEAD:]
    if any(word in text for word in _ELSEWHERE):
        return
    path = _FOLDER / ("a.json" if text[:1] == b"{" else "a.toml")
    path.write_bytes(text)
    with suppress(CtxCompressError):
        assert CompressionConfig.from_file(path).budget >= 1
