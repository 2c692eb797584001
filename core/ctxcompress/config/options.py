"""The options of a compression. Each is declared once, here: name, type, default, description and check.

Everything else follows from the declaration: the keywords of calls, the fields of the adapters, the reference page, the
texts of the command line and of the search tool's arguments. After a change, run `make options`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, Unpack

from ctxcompress.cache.cache import Cache
from ctxcompress.config import checks, presets
from ctxcompress.config.checks import OnEmpty, OnError, Option, Order, ScoreKind, Scorer, option
from ctxcompress.config.keywords import Options
from ctxcompress.config.presets import QATBE_TYPE_WEIGHTS, TIERS, Preset, Tier
from ctxcompress.data.must_keep import MustKeep, read_rules
from ctxcompress.data.results import Format
from ctxcompress.data.stats import Observer
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.errors import ConfigError
from ctxcompress.language_model import LanguageModel, LLMSelector
from ctxcompress.text.tokens import Encoding

__all__ = [
    "OPTIONS",
    "QATBE_TYPE_WEIGHTS",
    "TIERS",
    "CompressionConfig",
    "ConfigSource",
    "Format",
    "Options",
    "Order",
    "Preset",
    "ScoreKind",
    "Tier",
    "starting_config",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionConfig:
    """The options of a compression. Raises ConfigError for a value that cannot work.

    Filters drop or cut passages in the order in which they are listed here. The budget then decides about the rest.
    """

    # The final text:
    max_tokens: int | str | None = option(
        None,
        'The budget of the final text in tokens. Without it, `tier` decides. "auto" fits the budget to the query, by '
        'its complexity and intent, and stops before it is full. "25%" is a share of `context_window`.',
    )
    tier: Tier | None = option(
        None,
        'The budget by name: "key_facts" (200 tokens), "summary" (1,000; the default), "detailed" (5,000) or '
        '"complete" (20,000). Give this or `max_tokens`.',
    )
    context_window: int | None = option(
        None,
        'The context window of the language model in tokens, for `max_tokens="25%"`. Give it without the tokens that '
        "the rest of the prompt takes; adapters take the whole of it from `model`.",
        checks.or_none(checks.whole_number(1, "or None if it is not known")),
    )
    must_keep: Sequence[MustKeep] = option(
        (),
        'What is kept before all else: texts, patterns, "ids", "dates", "urls", "code"; see docs/how-to/must-keep.md.',
        read_rules,
    )
    encoding: Encoding = option(
        "o200k_base",
        "The tiktoken encoding that counts the tokens, or a function from a text to its tokens or their number.",
        checks.token_encoding,
    )
    separator: str = option("\n\n", 'The text between two passages. Only `format="plain"` uses it.', checks.separator)
    format: Format | str = option(
        "plain",
        'How the final text shows where each passage is from. "plain" does not; "compact", "verbose", "json" and '
        '"xml" add a number and the source, which count in the budget; "preview" has a line for each passage, with its '
        "id, headings and best sentence. Packages can add formats.",
        checks.format_name,
    )
    gap_markers: bool = option(
        True,
        "Whether […] shows where text of a passage is left out. Source code and `max_length` have markers in any case.",
        checks.check_flag,
    )
    order: Order = option(
        "source",
        'The order of the passages in the final text. "source" is the order of the input; "relevance" puts the '
        'best first; "edges" puts the best first and last. The text of one passage stays in its order.',
        checks.one_of(Order),
    )
    keep_all_sources: bool = option(
        False,
        "Whether every passage comes back, in its order, whatever the filters say. Each has at least its best segment, "
        "as far as the budget allows, or else an empty text; its place in the final text counts in the budget.",
        checks.check_flag,
    )
    on_empty: OnEmpty = option(
        "keep_best",
        'What to do if `min_score` or `adaptive` would drop everything. "keep_best" keeps the best passage or '
        'segment, "original" keeps all, "drop" keeps none.',
        checks.one_of(OnEmpty),
    )

    # Filters:
    min_score: float | None = option(
        None,
        "The score below which a passage is dropped; the best one has 1.0. Passages without a score are kept.",
        off=None,
        tool_limits=(0.0, 1.0),
    )
    score_kind: ScoreKind = option(
        "similarity",
        'What the scores mean. "similarity": more is better; "absolute": so too, and limits are compared with it as it '
        'is; "distance": less is better, from 0; "rank": 1 is the best; "none": they mean nothing.',
        checks.one_of(ScoreKind),
    )
    ngram_threshold: float | None = option(
        None,
        "The share of word triples in common from which the worse of two passages is dropped, such as 0.7. It is "
        "the Jaccard index. Passages that differ in numbers, names, negations or code are kept.",
        checks.similarity,
        off=None,
        tool_limits=(0.1, 1.0),
    )
    similarity_threshold: float | None = option(
        None,
        "The cosine similarity from which the worse of two passages is dropped, such as 0.85. Passages carry the "
        "embeddings, or `encoder` makes them. None drops none.",
        checks.similarity,
        off=None,
        tool_limits=(0.5, 1.0),
    )
    max_chunks_per_doc: int = option(
        0,
        "The most passages kept of one document: a doc_id, else a file path or address. 0 keeps all.",
        checks.whole_number(0, "where 0 keeps all"),
        off=0,
    )
    top_n: int | None = option(
        None,
        "The most passages kept, the best ones. None keeps all.",
        checks.or_none(checks.whole_number(1, "or None to keep all")),
        off=None,
        tool_limits=(1, 100),
    )
    metadata_only: bool | float = option(
        False,
        "Whether a line with the path and what is defined replaces a passage with a low score. A number is the score "
        "below which it does, True is 0.4; it means what `min_score` means.",
        checks.switch(0.4, checks.anything),
        off=False,
    )
    max_length: int | None = option(
        None,
        "The most characters of a passage that are scored, at least 100. Of a longer one the head, the tail and "
        "what matters most in between remain: signatures of code, what the query asks for. None cuts no passage.",
        checks.or_none(checks.whole_number(100, "or None to cut no passage")),
        off=None,
    )
    factual_length: int | None = option(
        None,
        "The most characters kept of a passage where the query asks for a fact, at least 20. A fact is an "
        "identifier, a command or a version; the beginning of the passage is kept. None cuts no passage.",
        checks.or_none(checks.whole_number(20, "or None to cut no passage")),
        off=None,
    )

    # Selection within the budget:
    scorer: Scorer = option(
        "evidence",
        'What scores segments: "evidence" is a learned model, "bm25" counts words on two levels, as QATBE does. '
        '"rank_bm25" is BM25Okapi of the package rank-bm25, "rank_bm25l" its BM25L and "rank_bm25plus" its BM25Plus.',
        checks.one_of(Scorer),
    )
    encoder: Encoder | Comparer | str | None = option(
        "words",
        'The encoder that tells the scorer "evidence" how close texts are in meaning. "words" is a table of English '
        "words in this package, for English texts; others are in ctxcompress.encoders, such as `StaticVectors()`; "
        "adapters take an embedding model of their framework. None leaves it to words alone.",
        checks.encoder,
    )
    llm: LanguageModel | LLMSelector | None = option(
        None,
        "The language model that selects the segments, among the best ones. In adapters a chat model of their "
        "framework; `LLMSelector(model, ...)` says how it is asked. If it fails, the result is the one without it.",
        checks.language_model,
    )
    adaptive: bool | float = option(
        False,
        "Whether to drop segments that are hardly needed, even if they fit. A number between 0 and 1 is how likely "
        "needed a segment must be, True is 0.012.",
        checks.switch(0.012, checks.probability),
    )
    language: str | None = option(
        None, 'The language of the texts as an ISO 639-1 code, such as "en". None detects it.', checks.language_code
    )
    synonyms: Mapping[str, Sequence[str]] = option(
        {},
        "Words or phrases that mean the same, by one of them; each finds all the others. See TECHNICAL_SYNONYMS.",
        checks.synonym_lists,
    )
    type_weights: Mapping[str, float] = option(
        {},
        'A factor on the score of segments, by their kind. The kinds are "heading", "paragraph", "list_item", '
        '"table", "code", "quote", "metadata", "boilerplate", "turn", "log" and "record"; see QATBE_TYPE_WEIGHTS.',
        checks.kind_weights,
    )
    metadata_map: Mapping[str, str] = option(
        {},
        "The metadata key that holds a passage's title, header_path, doc_id or file_path, where it is not a usual one. "
        'With "score", the key of the score of passages without one of their own, such as "relevance_score".',
        checks.field_keys,
    )
    cache: Cache | None = option(
        None,
        "A cache of ctxcompress.cache for what is found out about passages. It saves time and changes nothing else.",
        checks.cache_store,
    )
    on_error: OnError = option(
        "raise",
        'What to do if something that was plugged in fails. "raise" raises PluginError; "without" gives the result '
        'without it; "original" does so, too, and where that cannot be, gives the passages as they came, whatever the '
        "budget. Of the last two, there is a warning, and `result.failures` says what failed.",
        checks.one_of(OnError),
    )
    timeout: float | None = option(
        None,
        "The seconds that `encoder`, `llm` and `cache` may take in one compression, all together. What is late is left "
        "behind, and the result is the one without it, with a warning, whatever `on_error` is. None waits, for a "
        "language model 30 s.",
        checks.seconds,
    )
    telemetry: bool | Observer = option(
        False,
        "Whether OpenTelemetry is told of each compression, or an observer that is; see docs/how-to/metrics.md.",
        checks.observer,
    )

    def __post_init__(self) -> None:
        presets.check_budget(self.max_tokens, self.tier)
        for name, declared in OPTIONS.items():
            value = getattr(self, name)
            if value is not declared.default:  # most are the default, which needs no check
                object.__setattr__(self, name, declared.check(name, value))
        checks.check_format(self.format, self.separator)
        checks.check_sources(self.keep_all_sources, self.format, self.order)
        checks.check_scores(self.min_score, self.metadata_only, self.score_kind)
        checks.check_evidence_only(self.scorer, self.own_encoder, self.adaptive or self.max_tokens == "auto")

    @classmethod
    def from_preset(cls, preset: Preset, **options: Unpack[Options]) -> "CompressionConfig":
        """Return the options of a preset, such as "docs", with other values for some; see `PRESETS`.

        Raises ConfigError, for an unknown option with the closest one there is.
        """
        checks.one_of(Preset)("preset", preset)
        given: Any = presets.PRESETS[preset]
        return cls(**given).with_options(**options)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> "CompressionConfig":
        """Return the options of a TOML file, or of a JSON file whose name ends in ".json".

        docs/how-to/configuration.md says what a file can hold. Raises ConfigError for an unknown key or a file that
        cannot be parsed, MissingExtra if the encoder or cache that it names is not installed, and OSError.
        """
        from ctxcompress.config.files import read_options  # its parsers take time to import

        options = read_options(path, ["preset", *OPTIONS])
        is_on, preset = options.pop("enabled", True), options.pop("preset", None)
        config = cls(**options) if preset is None else cls.from_preset(preset, **options)
        return config if is_on else config.switched_off()

    from_toml = from_file

    @property
    def budget(self) -> int:
        """The budget in tokens; for "auto" the most that it can be. Raises ConfigError: see `budget_of`."""
        return presets.budget_of(self.max_tokens, self.tier, self.context_window)

    @property
    def own_encoder(self) -> Encoder | Comparer | None:
        """The encoder that was given; None for the table of words, which only scores."""
        return None if isinstance(self.encoder, str) else self.encoder

    def with_options(self, **options: Unpack[Options]) -> "CompressionConfig":
        """Return the options with other values for some; this very object if there are none.

        A given `max_tokens` or `tier` replaces the previous budget, whichever of the two that was. Raises ConfigError.
        """
        for name in options:
            if name not in OPTIONS:
                hint = checks.closest(name, OPTIONS, f"the options are {', '.join(OPTIONS)}")
                raise ConfigError(f"there is no option {name!r}; {hint}")
        if not options:
            return self
        changes: Any = presets.with_one_budget(options)
        return replace(self, **changes)

    def without_filters(self) -> "CompressionConfig":
        """Return the options without those that drop or cut passages before the budget decides."""
        off: Any = {name: declared.off for name, declared in OPTIONS.items() if declared.is_filter}
        return self.with_options(**off)

    def switched_off(self) -> "CompressionConfig":
        """Return the options with which every text passes as it is: without filters, and within any budget."""
        plain = "plain" if self.format == "preview" else self.format
        passing: Any = {"format": plain, "order": "source", "adaptive": False, "cache": None}
        return self.without_filters().with_options(max_tokens=presets.NO_LIMIT, **passing)

    def for_expansion(self, max_tokens: int) -> "CompressionConfig":
        """Return the options for showing more of one passage: plain text, and as much of it as `max_tokens` hold."""
        plain = self.without_filters()
        return plain.with_options(max_tokens=max_tokens, format="plain", adaptive=False, llm=None)


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {declared.name: declared.metadata["option"] for declared in fields(CompressionConfig)}
)
"""The declarations of all options, by name."""

ConfigSource = CompressionConfig | str | PathLike[str]
"""Options, or the path of a TOML or JSON file that has them."""


def starting_config(
    config: ConfigSource | None, preset: Preset | None, *, default: Preset | None = None
) -> CompressionConfig:
    """Return the options of `config` or of `preset`; if neither is given, those of the default preset.

    Options that a caller gives besides replace them. Raises ConfigError if both are given, for a file that cannot be
    read or has a wrong option, and MissingExtra.
    """
    if config is None:
        return CompressionConfig.from_preset(name) if (name := preset or default) else CompressionConfig()
    if preset is not None:
        remedy = "put the preset into it: CompressionConfig.from_preset(...), or preset = ... in the file"
        raise ConfigError(f"both preset={preset!r} and config are given; {remedy}")
    if isinstance(config, CompressionConfig):
        return config
    if not isinstance(config, str | PathLike):
        raise ConfigError(f"config is a {type(config).__name__}; give a CompressionConfig or the path of a file")
    try:
        return CompressionConfig.from_file(config)
    except OSError as error:
        raise ConfigError(f"{fspath(config)} cannot be read ({error.strerror}); give a TOML or JSON file") from error
