"""The options of a compression as fields of a framework's component, checked as the core checks them.

Only the adapters import it: pydantic comes with their frameworks.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

from pydantic import ConfigDict, Field, field_serializer, field_validator, model_validator

from ctxcompress.config.options import OPTIONS, CompressionConfig, Preset
from ctxcompress.data.must_keep import Rule
from ctxcompress.tools.option_fields import OptionFields

__all__ = ["ComponentOptions", "Preset"]

_DEFAULT = CompressionConfig()


class ComponentOptions(OptionFields):
    """The fields and the checks that the components of all frameworks have in common.

    A passage is what the framework retrieves: a document or a node.
    """

    # No values in messages: an embedding model may have an API key in it.
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, hide_input_in_errors=True)

    preset: Preset | None = None
    """The options to start from; options that are given replace those of the preset."""
    model: object | None = Field(default=None, exclude=True)
    """The language model whose context window `max_tokens="25%"` is a share of. It is not called, and only read when
    the component is made."""
    trace_to: str | PathLike[str] | None = None
    """A folder for an HTML page about each call, which shows what became of every passage; see docs/xray.md. It keeps
    the last 100 pages, which hold the texts. A page that cannot be written is a warning in the log."""

    @property
    def config(self) -> CompressionConfig:
        """The options as the core takes them, with `encoder` as an encoder of the core.

        Made anew each time, so that an option that was assigned or copied with another value counts, and is checked.
        """
        return self.config_of({name: getattr(self, name) for name in OPTIONS})

    def with_options(self, **options: Any) -> Self:
        """Return a copy with other values for some options, for a single call: `with_options(top_n=5)`.

        Raises ConfigError, a ValueError.
        """
        given: Any = {**options, **({"encoder": self._as_encoder(options["encoder"])} if "encoder" in options else {})}
        return self.model_copy(update={**_without_encoder(self.config.with_options(**given)), **_encoder_in(options)})

    @classmethod
    def config_of(cls, options: Mapping[str, Any]) -> CompressionConfig:
        """Return options, of which `preset` and `model` may be some, as the core takes them.

        Raises ConfigError, for a share of a context window that is not known too.
        """
        given: Any = {name: value for name, value in options.items() if name not in ("preset", "model")}
        preset, model = options.get("preset"), options.get("model")
        if model is not None and given.get("context_window") is None:
            given["context_window"] = cls._context_window(model)
        start = _DEFAULT if preset is None else CompressionConfig.from_preset(preset)
        config = start.with_options(**{**given, "encoder": cls._as_encoder(given.get("encoder"))})
        _ = config.budget  # a share of a context window that is not known is refused
        return config

    @staticmethod
    def _as_encoder(encoder: object) -> Any:
        """Return the core's encoder for an embedding model of the framework; anything else as it is."""
        return encoder

    @staticmethod
    def _context_window(model: object) -> int | None:
        """Return the most tokens that a model of the framework reads; None if it does not tell."""
        raise NotImplementedError

    @field_validator("must_keep", mode="after")
    @classmethod
    def _as_tuple(cls, must_keep: Sequence[object]) -> Sequence[object]:
        return tuple(must_keep)  # reading JSON makes a list of it

    @field_serializer("must_keep")
    def _written_rules(self, must_keep: Sequence[object]) -> list[object]:
        """Return the items as JSON has them. Reading a function back is refused: JSON has only its name."""
        rules = (rule for rule in must_keep if isinstance(rule, Rule))
        return [rule.written() or {"function": getattr(rule, "name", type(rule).__name__)} for rule in rules]

    @model_validator(mode="before")
    @classmethod
    def _checked(cls, options: Any) -> Any:
        # Before pydantic looks at the types: it would take "10" or True for a number of tokens.
        return cls._with_defaults(options) if isinstance(options, dict) else options

    @classmethod
    def _with_defaults(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Return `options` with values for all, as the core makes them of the preset and of what is given."""
        others = cls.model_fields.keys() - OPTIONS.keys() - {"preset", "model"}
        # What is no field stays in: the core refuses it, and names the closest option.
        config = cls.config_of({name: value for name, value in options.items() if name not in others})
        return {**options, **_without_encoder(config)}


def _without_encoder(config: CompressionConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in OPTIONS if name != "encoder"}


def _encoder_in(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name == "encoder"}
