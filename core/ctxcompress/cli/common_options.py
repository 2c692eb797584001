"""The options that commands have in common."""

from typing import Annotated

import typer

from ctxcompress.config.options import Format, Preset, Tier

__all__ = [
    "ConfigOption",
    "EncoderOption",
    "EncodingOption",
    "ExcludeOption",
    "FilesArgument",
    "FormatOption",
    "IncludeOption",
    "JsonlOption",
    "LanguageOption",
    "MaxTokensOption",
    "PresetOption",
    "QueryOption",
    "TierOption",
]

QueryOption = Annotated[str, typer.Option("--query", "-q", help="The question that the texts should answer.")]
FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Text, Markdown or code, one passage each; .jsonl, one passage a line; a folder, for those of its files; "
        "- or none: standard input.",
        show_default=False,
    ),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="Of folders, read the files that match instead of text, Markdown and code: '*.md', 'api/**'. Repeatable.",
        show_default=False,
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="Of folders, pass over the files and folders that match: 'tests/', '*.min.js'. Repeatable.",
        show_default=False,
    ),
]
JsonlOption = Annotated[
    bool,
    typer.Option("--jsonl", help="Read standard input and every file as .jsonl: a passage a line, a JSON object each."),
]
MaxTokensOption = Annotated[
    int | None, typer.Option(metavar="N", help="The output has at most N tokens.", show_default=False)
]
TierOption = Annotated[
    Tier | None,
    typer.Option(help="Or: at most 200, 1,000 (the default), 5,000 or 20,000 tokens.", show_default=False),
]
EncodingOption = Annotated[
    str | None, typer.Option(help="The tiktoken encoding that counts the tokens.", show_default="o200k_base")
]
LanguageOption = Annotated[
    str | None, typer.Option(metavar="CODE", help="Language of the texts, such as en.", show_default="detected")
]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        metavar="NAME",
        help="The options to start from, for a kind of retrieval: docs, code, web, page; or as it was published: "
        "docs_published, code_published, web_published, page_published.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Or: a TOML file with a table [compression].", show_default=False),
]
EncoderOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What compares meanings: static, English word vectors of the extra static.",
        show_default="none",
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(help="How the output shows where each text is from.", show_default="plain: it does not"),
]
