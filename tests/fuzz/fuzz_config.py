"""Files of configuration, TOML and JSON: options, or an error of ours."""

import json
import tomllib

from fuzzing import read, spliced

from ctxcompress import CompressionConfig
from ctxcompress.config.files import options_of
from ctxcompress.config.options import OPTIONS
from ctxcompress.errors import CtxCompressError

mutate = spliced(
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
_KNOWN = ("preset", *OPTIONS)


def check(data: bytes) -> None:
    given = read(data)
    try:
        tables = json.loads(given.text) if given.choice % 4 == 0 else tomllib.loads(given.text)
    except (ValueError, RecursionError):
        return
    # A cache in a file or on a server would be made: what a file says of it has tests of its own.
    named = tables.get("compression") if isinstance(tables, dict) else None
    if not isinstance(tables, dict) or "path" in str(named) or "persistent" in str(named) or "both" in str(named):
        return
    try:
        options = options_of(tables, _KNOWN)
        options.pop("enabled", None)
        preset = options.pop("preset", None)
        config = CompressionConfig(**options) if preset is None else CompressionConfig.from_preset(preset, **options)
        assert config.budget >= 1
    except CtxCompressError:
        return
