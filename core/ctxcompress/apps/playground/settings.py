"""The settings of the page: what can be chosen, and what was chosen, as code and as a configuration file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, get_args

from ctxcompress.config.checks import closest
from ctxcompress.config.options import OPTIONS, CompressionConfig, Format, Options, Preset
from ctxcompress.encoders import encoder_named
from ctxcompress.errors import ConfigError, InputError, MissingExtra
from ctxcompress.plugins import plugin_names

__all__ = ["FORMATS", "PRESETS", "Settings", "encoders"]

PRESETS: tuple[Preset, ...] = get_args(Preset)
FORMATS = (*get_args(Format), *plugin_names("ctxcompress.renderers"))

_CORE = """\
from ctxcompress import CompressionConfig, Compressor

config = {call}
result = Compressor(config).compress(question, passages)
print(result.text)
"""
_LANGCHAIN = """\
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

compressor = {call}
retriever = CtxCompressRetriever(base_retriever=your_retriever, compressor=compressor)
documents = retriever.invoke(question)
"""
_LLAMAINDEX = """\
from llamaindex_ctxcompress import CtxCompressPostprocessor

postprocessor = {call}
engine = index.as_query_engine(node_postprocessors=[postprocessor])
response = engine.query(question)
"""
_TOML = """\
# ctxcompress.toml, for config="ctxcompress.toml" or --config ctxcompress.toml
[compression]
{lines}
"""


@cache
def encoders() -> tuple[str, ...]:
    """Return the names of the encoders that can be made here. Each is made once, and shared with the compressions."""
    return tuple(name for name in plugin_names("ctxcompress.encoders") if _can_be_made(name))


def _can_be_made(name: str) -> bool:
    try:
        encoder_named(name)
    except MissingExtra:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was chosen on the page. None stands for the default."""

    query: str = ""
    preset: Preset | None = None
    max_tokens: int | None = None
    encoder: str | None = None
    adaptive: bool | None = None
    format: str | None = None

    @classmethod
    def read(cls, given: object) -> "Settings":
        """Return the settings of a request. Raises InputError or ConfigError if they are none."""
        if not isinstance(given, Mapping):
            raise InputError(f"the request is a {type(given).__name__}; make it an object of settings")
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                hint = closest(name, known, f"the settings are {', '.join(known)}")
                raise ConfigError(f"there is no setting {name!r}; {hint}")
        settings = cls(**given)
        if not isinstance(settings.query, str):
            raise InputError(f"query is a {type(settings.query).__name__}; give a string")
        if settings.encoder not in (None, *encoders()):
            raise ConfigError(f"encoder is {settings.encoder!r}; give one of {', '.join(encoders())}")
        return settings

    @property
    def options(self) -> Options:
        """The options that differ from the defaults."""
        given: Any = {
            name: value
            for name in ("max_tokens", "encoder", "adaptive", "format")
            if (value := getattr(self, name)) is not None and value != OPTIONS[name].default
        }
        return given  # type: ignore[no-any-return]

    @property
    def config(self) -> CompressionConfig:
        """The options of the compression. Raises ConfigError."""
        if self.preset is None:
            return CompressionConfig(**self.options)
        return CompressionConfig.from_preset(self.preset, **self.options)

    def exports(self) -> dict[str, str]:
        """Return the settings as code for each framework and as a configuration file, by the names on the page."""
        options = {name: json.dumps(value) for name, value in self.options.items()}
        shown = {name: options[name] if isinstance(value, str) else repr(value) for name, value in self.options.items()}
        code = [f"{name}={value}" for name, value in shown.items()]
        preset = [] if self.preset is None else [json.dumps(self.preset)]
        keywords = [f"preset={name}" for name in preset] + code
        made = "CompressionConfig.from_preset" if preset else "CompressionConfig"
        lines = [f"preset = {name}" for name in preset] + [f"{name} = {value}" for name, value in options.items()]
        return {
            "python": _CORE.format(call=_call(made, preset + code)),
            "langchain": _LANGCHAIN.format(call=_call("CtxCompressor", keywords)),
            "llamaindex": _LLAMAINDEX.format(call=_call("CtxCompressPostprocessor", keywords)),
            "toml": _TOML.format(lines="\n".join(lines)),
        }


def _call(name: str, arguments: list[str]) -> str:
    """Return a call with one argument a line."""
    lines = "".join(f"\n    {argument}," for argument in arguments)
    return f"{name}({lines}\n)" if lines else f"{name}()"
