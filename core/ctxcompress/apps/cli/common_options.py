"""Options that several commands share, and how to read their values.

The options of a compression have the texts of their declarations; `--set` gives any other of them.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from ctxcompress.apps.prices import InputPrice
from ctxcompress.config.files import object_named
from ctxcompress.config.options import OPTIONS, CompressionConfig, Format, Options, Order, Preset, Tier, starting_config
from ctxcompress.errors import ConfigError

__all__ = [
    "AdaptiveOption",
    "CompressionOptions",
    "ConfigOption",
    "EncoderOption",
    "FilesArgument",
    "FormatOption",
    "MaxTokensOption",
    "PresetOption",
    "PriceOption",
    "QueryOption",
    "SetOption",
    "TierOption",
    "given_options",
    "price_of",
    "starting_options",
]

QueryOption = Annotated[str, typer.Option("--query", "-q", help="The question that the texts should answer.")]
FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Text, Markdown or code files, one passage each; .jsonl files, one passage per line; folders, whose files "
        "are read; - or none for standard input.",
    ),
]
PriceOption = Annotated[
    str | None, typer.Option(metavar="MODEL", help="Say what is saved, at the price of this language model's input.")
]


def price_of(model: str | None) -> InputPrice | None:
    """Return the price that --price names. Raises ConfigError for a model without one."""
    return None if model is None else InputPrice.of(model)


def whole_number_or_text(given: str) -> Any:
    """Return the number that was given; a text such as "auto" or "25%" as it is, for the options to check."""
    return int(given) if re.fullmatch(r"[+-]?\d{1,18}", given) else given


MaxTokensOption = Annotated[
    str | None, typer.Option(metavar="N", help=OPTIONS["max_tokens"].summary, parser=whole_number_or_text)
]
TierOption = Annotated[Tier | None, typer.Option(help=OPTIONS["tier"].summary)]
AdaptiveOption = Annotated[
    bool | None, typer.Option("--adaptive/--no-adaptive", help=OPTIONS["adaptive"].summary, show_default="no")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other option of CompressionConfig, as in TOML: top_n=5, order=relevance. Repeatable.",
    ),
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(metavar="NAME", help="The preset to start from, for a kind of retrieval: docs, code, web or page."),
]
ConfigOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="A TOML or JSON file to start from, with a table [compression].")
]
EncoderOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"{OPTIONS['encoder'].summary} Give words, a table of English words, or static, of the extra static.",
        show_default="none",
    ),
]
FormatOption = Annotated[
    Format | None, typer.Option(help=OPTIONS["format"].summary, show_default="plain: without a source")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionOptions:
    """The options of a compression that `compress` and `xray` have."""

    max_tokens: MaxTokensOption = None
    tier: TierOption = None
    must_keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A text to keep wherever it occurs, before anything else; or ids, dates, urls or code. Repeatable.",
        ),
    ] = None
    must_keep_regex: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="A regular expression for texts to keep before anything else. Repeatable."
        ),
    ] = None
    encoding: Annotated[str | None, typer.Option(help=OPTIONS["encoding"].summary, show_default="o200k_base")] = None
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help=OPTIONS["language"].summary, show_default="detected")
    ] = None
    preset: PresetOption = None
    config: ConfigOption = None
    encoder: EncoderOption = None
    format: FormatOption = None
    adaptive: AdaptiveOption = None
    min_score: Annotated[float | None, typer.Option(metavar="SCORE", help=OPTIONS["min_score"].summary)] = None
    top_n: Annotated[int | None, typer.Option(metavar="N", help=OPTIONS["top_n"].summary)] = None
    order: Annotated[Order | None, typer.Option(help=OPTIONS["order"].summary, show_default="source")] = None
    synonyms: Annotated[
        list[str] | None,
        typer.Option(
            "--synonym", metavar="WORD=OTHER,...", help="Words that mean the same: k8s=kubernetes. Repeatable."
        ),
    ] = None
    others: SetOption = None

    def start(self) -> CompressionConfig:
        """Return the options to start from."""
        return starting_options(self.preset, self.config, self.others)

    def given(self) -> Options:
        """Return the options over these, with one list of rules for `must_keep`."""
        rules = [*(self.must_keep or ()), *({"regex": pattern} for pattern in self.must_keep_regex or ())]
        options = asdict(self) | {"must_keep": rules}
        return given_options({name: value for name, value in options.items() if name not in _NO_OPTIONS})


_NO_OPTIONS = frozenset(("preset", "config", "others", "must_keep_regex"))


def given_options(options: dict[str, Any]) -> Options:
    """Return the options that were given, with the synonyms that texts give."""
    given: Any = {name: value for name, value in options.items() if value not in (None, [])}
    if "synonyms" in given:
        given["synonyms"] = _synonyms(given["synonyms"])
    return given  # type: ignore[no-any-return]


def starting_options(
    preset: Preset | None, config: str | None, others: list[str] | None, *, default: Preset | None = None
) -> CompressionConfig:
    """Return the options of the preset or the file, and over them those of `--set`."""
    if preset is not None and config is not None:
        raise ConfigError(f"both --preset {preset} and --config {config} are given; name the preset in the file")
    given: Any = dict(map(_option, others or ()))
    return starting_config(config, preset, default=default).with_options(**given)


def _option(text: str) -> tuple[str, object]:
    """Return the name and the value that `name=value` gives; a value that is not TOML is a string.

    Raises ConfigError where there is no equals sign, or no cache of that name.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} sets no option; give NAME=VALUE, such as top_n=5")
    try:
        given: object = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        given = value
    return name, object_named(name, given)


def _synonyms(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the synonyms that texts such as "k8s=kubernetes,kube" give. Raises ConfigError."""
    synonyms: dict[str, list[str]] = {}
    for text in texts:
        word, _, others = text.partition("=")
        names = [name.strip() for name in others.split(",") if name.strip()]
        if not word.strip() or not names:
            raise ConfigError(f"{text!r} gives no synonyms; give WORD=OTHER,..., such as k8s=kubernetes")
        synonyms.setdefault(word.strip(), []).extend(names)
    return synonyms
