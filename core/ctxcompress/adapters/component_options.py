"""The options of a compression as fields of a framework's component, checked as the core checks them.

Only the adapters import it: pydantic comes with their frameworks.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from functools import cached_property
from operator import attrgetter, is_
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    WithJsonSchema,
    field_serializer,
    field_validator,
    model_validator,
)

from ctxcompress.adapters.option_fields import OptionFields
from ctxcompress.agents.framework_models import with_window
from ctxcompress.cache import Cache
from ctxcompress.config.checks import check_flag
from ctxcompress.config.options import OPTIONS, CompressionConfig, ConfigSource, Preset, starting_config
from ctxcompress.data.must_keep import Rule
from ctxcompress.errors import ConfigError

if TYPE_CHECKING:
    from ctxcompress.apps.feedback import FeedbackLog
else:
    FeedbackLog = object
    """Pydantic need not know the class, which takes time to import: `_check_feedback` checks it."""

__all__ = ["OPTIONS", "ComponentOptions", "ConfigSource", "Preset", "check_flag", "starting_config"]

_STARTS = ("preset", "config")
_MODELS = ("encoder", "llm")
_VALUES = attrgetter(*OPTIONS)
"""Options that take models of the framework. The component keeps them as they were given."""


class ComponentOptions(OptionFields):
    """The fields and the checks that the components of all frameworks have in common.

    A passage is what the framework retrieves: a document or a node.
    """

    # No values in messages: an embedding model may have an API key in it.
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, hide_input_in_errors=True, defer_build=True)

    preset: Preset | None = Field(
        default=None,
        description="The options to start from; options that are given replace those of the preset.",
    )
    start: ConfigSource | None = Field(
        default=None,
        alias="config",
        exclude=True,
        repr=False,
        description="The options to start from, given as `config=`: a CompressionConfig, or the path of a TOML or JSON "
        "file. Options that are given replace them. It is read once, so the field itself stays None.",
    )
    model: object | None = Field(
        default=None,
        exclude=True,
        description='The language model whose context window `max_tokens="25%"` is a share of. It is not called, and '
        "only read when the component is made.",
    )
    trace_to: str | PathLike[str] | None = Field(
        default=None,
        description="A folder for an HTML page about each call, which shows what became of every passage; see "
        "docs/xray.md. It keeps the last 100 pages, which hold the texts. A page that cannot be written is a warning.",
    )
    feedback: Annotated[FeedbackLog | None, WithJsonSchema({"type": "object"})] = Field(
        default=None,
        exclude=True,
        description="A log that remembers the numbers of each call, so that `record` can later say what was used; see "
        "docs/how-to/tuning.md. It stores no text. A call then takes about half as long again.",
    )

    @property
    def config(self) -> CompressionConfig:
        """The options as the core takes them, with `encoder` and `llm` as the core knows them.

        If an option got another value since, by assignment or in a copy, they are made and checked again.
        """
        return self._last_config.of(self, _VALUES(self))

    @cached_property
    def _last_config(self) -> "_LastConfig":
        return _LastConfig()

    def with_options(self, **options: Any) -> Self:
        """Return a copy with other values for some options, for a single call: `with_options(top_n=5)`.

        Raises ConfigError, a ValueError.
        """
        config = self.config.with_options(**self.of_core(options))
        models = {name: value for name, value in options.items() if name in _MODELS}
        return self.model_copy(update={**_without_models(config), **models})

    @classmethod
    def config_of(cls, options: Mapping[str, Any]) -> CompressionConfig:
        """Return options, of which `preset`, `config` and `model` may be some, as the core takes them.

        Raises ConfigError, for a share of a context window that is not known too.
        """
        given = with_window(options, cls._context_window)
        changes: Any = cls.of_core({name: value for name, value in given.items() if name not in _STARTS})
        config = starting_config(options.get("config"), options.get("preset")).with_options(**changes)
        _ = config.budget  # a share of a context window that is not known is refused
        from ctxcompress.agents.warm_up import warm_up  # takes time to import, and an import need not wait

        return warm_up(config)

    @classmethod
    def of_core(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with models and stores of the framework as those of the core."""
        made = {"encoder": cls._as_encoder, "llm": cls._as_language_model, "cache": cls._as_cache}
        return {name: made[name](value) if name in made else value for name, value in options.items()}

    @staticmethod
    def _as_encoder(encoder: object) -> Any:
        """Return the core's encoder for an embedding model of the framework; anything else as it is."""
        return encoder

    @staticmethod
    def _as_language_model(llm: object) -> Any:
        """Return the core's language model for a model of the framework; anything else as it is."""
        return llm

    @classmethod
    def _as_cache(cls, cache: object) -> Any:
        """Return a cache over a store of the framework; anything else as it is."""
        mapping = cls._as_mapping(cache)
        return cache if mapping is None else Cache(mapping)

    @staticmethod
    def _as_mapping(store: object) -> MutableMapping[str, bytes] | None:
        """Return a store of the framework as a mapping; None for anything else."""
        raise NotImplementedError

    @staticmethod
    def _context_window(model: object) -> int | None:
        """Return the most tokens that a model of the framework reads; None if it does not tell."""
        raise NotImplementedError

    @field_validator("must_keep", mode="after")
    @classmethod
    def _as_tuple(cls, must_keep: Sequence[object]) -> Sequence[object]:
        return tuple(must_keep)  # reading JSON makes a list of it

    @field_validator("synonyms", mode="after")
    @classmethod
    def _as_tuples(cls, synonyms: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        return {word: tuple(others) for word, others in synonyms.items()}

    @field_serializer("must_keep")
    def _written_rules(self, must_keep: Sequence[object]) -> list[object]:
        """Return the items as JSON has them. Reading a function back is refused: JSON has only its name."""
        rules = (rule for rule in must_keep if isinstance(rule, Rule))
        return [rule.written() or {"function": str(rule)} for rule in rules]

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, options: Any, validated: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(options, dict):
            return validated(options)
        options = cls._as_given(options)
        _check_feedback(options.get("feedback"))
        others = cls.model_fields.keys() - OPTIONS.keys() - {*_STARTS, "model"}
        # Before pydantic looks at the types: it would take "10" or True for a number of tokens. What is no field stays
        # in: the core refuses it, and names the closest option.
        config = cls.config_of({name: value for name, value in options.items() if name not in others})
        # A copy that is made of all fields has the empty `start` as well.
        read = {"config"} if options.get("start") is not None else {"config", "start"}
        given = {name: value for name, value in options.items() if name not in read}
        component = validated({"encoder": config.encoder, "llm": config.llm, **given, **_without_models(config)})
        component._last_config.keep(_VALUES(component), config)  # so the first call need not make it again
        return component

    @classmethod
    def _as_given(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a component, which its class may check, or read from their form in JSON."""
        return options


class _LastConfig:
    """The options that a component made last, so that a call with the same values need not check them again. A copy of
    the component has the same one; a pickled one begins without. Threads can share it."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: tuple[Sequence[object], CompressionConfig] | None = None

    def of(self, component: ComponentOptions, values: Sequence[object]) -> CompressionConfig:
        """Return the options with these values, in the order of `OPTIONS`."""
        made = self._made
        if made is not None and all(map(is_, made[0], values)):
            return made[1]
        config = component.config_of(dict(zip(OPTIONS, values, strict=True)))
        self.keep(values, config)
        return config

    def keep(self, values: Sequence[object], config: CompressionConfig) -> None:
        """Remember the options with these values."""
        self._made = values, config

    def __reduce__(self) -> tuple[type["_LastConfig"], tuple[()]]:
        return _LastConfig, ()


def _check_feedback(feedback: object) -> None:
    if feedback is None:
        return
    from ctxcompress.apps.feedback import FeedbackLog

    if not isinstance(feedback, FeedbackLog):
        raise ConfigError(f"feedback is a {type(feedback).__name__}; give a FeedbackLog of ctxcompress.apps.feedback")


def _without_models(config: CompressionConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in OPTIONS if name not in _MODELS}
