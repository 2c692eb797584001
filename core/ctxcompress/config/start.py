"""Where the options of a component or a command start: at the defaults, at a preset, or at a configuration."""

from os import PathLike, fspath

from ctxcompress.config.options import CompressionConfig, Preset
from ctxcompress.errors import ConfigError

__all__ = ["ConfigSource", "starting_config"]

ConfigSource = CompressionConfig | str | PathLike[str]
"""Options, or the path of a TOML or JSON file that has them."""
_DEFAULTS = CompressionConfig()


def starting_config(
    config: ConfigSource | None, preset: Preset | None, *, default: Preset | None = None
) -> CompressionConfig:
    """Return the options of `config` or of `preset`; if neither is given, those of the default preset.

    Options that a caller gives besides replace them. Raises ConfigError if both are given, for a file that cannot be
    read or has a wrong option, and MissingExtra.
    """
    if config is None:
        name = preset or default
        return _DEFAULTS if name is None else CompressionConfig.from_preset(name)
    if preset is not None:
        remedy = "put the preset into it: CompressionConfig.from_preset(...), or preset = ... in the file"
        raise ConfigError(f"both preset={preset!r} and config are given; {remedy}")
    return config if isinstance(config, CompressionConfig) else _from_file(config)


def _from_file(path: str | PathLike[str]) -> CompressionConfig:
    if not isinstance(path, str | PathLike):
        raise ConfigError(f"config is a {type(path).__name__}; give a CompressionConfig or the path of a file")
    try:
        return CompressionConfig.from_file(path)
    except OSError as error:
        raise ConfigError(f"{fspath(path)} cannot be read ({error.strerror}); give a TOML or JSON file") from error
