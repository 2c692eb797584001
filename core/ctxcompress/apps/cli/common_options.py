"""Options that several commands share, and how to read their values.

The options of a compression have the texts of their declarations; `--set` gives any other of them.
"""

import re
import tomllib
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import typer

from ctxcompress.apps.prices import InputPrice
from ctxcompress.config.files import object_named
from ctxcompress.config.options import OPTIONS, CompressionConfig, Format, Options, Order, Preset, Tier, starting_config
from ctxcompress.errors import ConfigError

__all__ = [
    "AdaptiveOption",
    "AddressOption",
    "BatchInputsArgument",
    "BatchOutputArgument",
    "ConfigOption",
    "EncoderOption",
    "EncodingOption",
    "EngineOption",
    "ExcludeOption",
    "FilesArgument",
    "FormatOption",
    "IncludeOption",
    "JsonlOption",
    "LanguageOption",
    "MaxTokensOption",
    "MinScoreOption",
    "MustKeepOption",
    "MustKeepRegexOption",
    "OrderOption",
    "PassagesFieldOption",
    "PresetOption",
    "PriceOption",
    "QueryFieldOption",
    "QueryOption",
    "SetOption",
    "SynonymOption",
    "TierOption",
    "TopNOption",
    "WorkersOption",
    "given_options",
    "keep_rules",
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
        show_default=False,
    ),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="In folders, read the files that match, such as '*.md' or 'api/**', instead of all text. Repeatable.",
        show_default=False,
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="In folders, skip the files and folders that match, such as 'tests/' or '*.csv'. Repeatable.",
        show_default=False,
    ),
]
JsonlOption = Annotated[
    bool,
    typer.Option(
        "--jsonl", help="Read standard input and every file as .jsonl: one JSON object per line, a passage each."
    ),
]


PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="MODEL",
        help="Say what is saved, at the price of this language model's input.",
        show_default=False,
    ),
]


def price_of(model: str | None) -> InputPrice | None:
    """Return the price that --price names. Raises ConfigError for a model without one."""
    return None if model is None else InputPrice.of(model)


def whole_number_or_text(given: str) -> Any:
    """Return the number that was given; a text such as "auto" or "25%" as it is, for the options to check."""
    return int(given) if re.fullmatch(r"[+-]?\d{1,18}", given) else given


MaxTokensOption = Annotated[
    str | None,
    typer.Option(metavar="N", help=OPTIONS["max_tokens"].summary, show_default=False, parser=whole_number_or_text),
]
MustKeepOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A text to keep wherever it occurs, before anything else; or ids, dates, urls or code. Repeatable.",
        show_default=False,
    ),
]
MustKeepRegexOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="A regular expression for texts to keep before anything else. Repeatable.",
        show_default=False,
    ),
]
TierOption = Annotated[Tier | None, typer.Option(help=OPTIONS["tier"].summary, show_default=False)]
EncodingOption = Annotated[str | None, typer.Option(help=OPTIONS["encoding"].summary, show_default="o200k_base")]
LanguageOption = Annotated[
    str | None, typer.Option(metavar="CODE", help=OPTIONS["language"].summary, show_default="detected")
]
AdaptiveOption = Annotated[
    bool | None, typer.Option("--adaptive/--no-adaptive", help=OPTIONS["adaptive"].summary, show_default="no")
]
MinScoreOption = Annotated[
    float | None, typer.Option(metavar="SCORE", help=OPTIONS["min_score"].summary, show_default=False)
]
TopNOption = Annotated[int | None, typer.Option(metavar="N", help=OPTIONS["top_n"].summary, show_default=False)]
OrderOption = Annotated[Order | None, typer.Option(help=OPTIONS["order"].summary, show_default="source")]
SynonymOption = Annotated[
    list[str] | None,
    typer.Option(
        "--synonym",
        metavar="WORD=OTHER,...",
        help="Words that mean the same: k8s=kubernetes. Repeatable.",
        show_default=False,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other option of CompressionConfig, as in TOML: top_n=5, order=relevance. Repeatable.",
        show_default=False,
    ),
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        metavar="NAME",
        help="The preset to start from, for a kind of retrieval: docs, code, web or page.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A TOML or JSON file to start from, with a table [compression].", show_default=False
    ),
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
BatchInputsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="IN...",
        help="The .jsonl or .parquet files of the rows: paths, folders or globs.",
        show_default=False,
    ),
]
BatchOutputArgument = Annotated[
    str,
    typer.Argument(
        metavar="OUT",
        help="The result: a .jsonl file, or with the ending .parquet a folder of Parquet files.",
        show_default=False,
    ),
]
QueryFieldOption = Annotated[str, typer.Option(metavar="NAME", help="The column of the query.")]
PassagesFieldOption = Annotated[str, typer.Option(metavar="NAME", help="The column of the passages.")]
WorkersOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="The number of processes, or of Ray's actors.", show_default="one for each core"),
]
EngineOption = Annotated[
    Literal["local", "ray"], typer.Option(help="Work on this machine, or on a cluster of Ray (extra ray).")
]
AddressOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The cluster for --engine ray.", show_default="a cluster on this machine"),
]


def keep_rules(texts: list[str] | None, patterns: list[str] | None) -> list[object]:
    """Return the rules of `must_keep` for the texts and the regular expressions that were given."""
    return [*(texts or ()), *({"regex": pattern} for pattern in patterns or ())]


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
