"""Options for the components of both frameworks, as an object and as files."""

import json
from pathlib import Path

from ctxcompress import CompressionConfig
from ctxcompress.cache import Cache

CONFIG = CompressionConfig(max_tokens=123, adaptive=True, synonyms={"k8s": ["kubernetes"]}, cache=Cache())
FORMS = ("object", "toml", "json")


def config_as(form: str, folder: Path) -> CompressionConfig | Path | str:
    """Return the options in one of the forms that `config=` takes."""
    if form == "object":
        return CONFIG
    path = folder / f"ctxcompress.{form}"
    table = {"max_tokens": 123, "adaptive": True, "synonyms": {"k8s": ["kubernetes"]}, "cache": "memory"}
    toml = '[compression]\nmax_tokens = 123\nadaptive = true\nsynonyms = { k8s = ["kubernetes"] }\ncache = "memory"'
    path.write_text(toml if form == "toml" else json.dumps({"compression": table}))
    return path if form == "toml" else str(path)
