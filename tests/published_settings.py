"""The settings as they were published: the recipes of docs/how-to/published-settings.md."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from ctxcompress import CompressionConfig
from ctxcompress.config.options import Preset

_PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "published-settings.md"


def _recipes() -> Iterator[tuple[Preset, CompressionConfig]]:
    for text in re.findall(r"```toml\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL):
        options = tomllib.loads(text)["compression"]
        preset = options.pop("preset")
        yield preset, CompressionConfig.from_preset(preset, **options)


PUBLISHED = dict(_recipes())
"""The preset that a recipe starts from -> its options."""


def changed(config: CompressionConfig) -> dict[str, object]:
    """Return the options that are not the defaults."""
    default = CompressionConfig()
    names = [option.name for option in fields(config)]
    return {name: getattr(config, name) for name in names if getattr(config, name) != getattr(default, name)}
