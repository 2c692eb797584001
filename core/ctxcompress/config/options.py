"""The options of a compression. Each is declared once, here: name, type, default, description and check.

Everything else follows from the declaration: the keywords of calls, the fields of the adapters, the reference page, the
texts of the command line and of the search tool's arguments. After a change, run `make options`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from types import MappingProxyType
from typing import Any, Unpack

from ctxcompress.cache.cache import Cache
from ctxcompress.config import checks
from ctxcompress.config.budgets import NO_LIMIT, TIERS, Tier, budget_of, check_budget, with_one_budget
from ctxcompress.config.checks import Mode, OnEmpty, Order, ScoreKind, Scorer
from ctxcompress.config.declaration import Option, option
from ctxcompress.config.keywords import Options
from ctxcompress.config.presets import PRESETS, QATBE_TYPE_WEIGHTS, Preset
from ctxcompress.data.must_keep import MustKeep, read_rules
from ctxcompress.data.observer import Observer
from ctxcompress.data.results import Format
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.errors import ConfigError
from ctxcompress.language_model import LanguageModel, LLMSelector
from ctxcompress.text.tokens import Encoding

__all__ = [
    "OPTIONS",
    "QATBE_TYPE_WEIGHTS",
    "TIERS",
    "CompressionConfig",
    "Encoding",
    "Format",
    "Mode",
    "OnEmpty",
    "Option",
    "Options",
    "Order",
    "Preset",
    "ScoreKind",
    "Scorer",
    "Tier",
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
        'its complexity and intent, and stops before it is full. "25%" is a share of the rest of `context_window`.',
    )
    tier: Tier | None = option(
        None,
        'The budget by name: "key_facts" (200 tokens), "summary" (1,000; the default), "detailed" (5,000) or '
        '"complete" (20,000). Give this or `max_tokens`.',
    )
    context_window: int | None = option(
        None,
        'The context window of the language model in tokens, for `max_tokens="25%"`. Adapters take it from `model`.',
        checks.or_none(checks.whole_number(1, "or None if it is not known")),
    )
    reserved_tokens: int = option(
        0, "The tokens of `context_window` that the rest of the prompt takes.", checks.whole_number(0, "or omit it")
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
    separator: str = option(
        "\n\n", 'The text between two passages. Only `format="plain"` uses it.', checks.string("\n\n")
    )
    format: Format = option(
        "plain",
        'How the final text shows where each passage is from. "plain" does not; "compact", "verbose", "json" and '
        '"xml" add a number and the source, which count in the budget.',
        checks.one_of(Format),
    )
    mode: Mode = option(
        "extract",
        'What is kept of a passage. "extract" keeps what answers the query; "preview" keeps the best sentence, and '
        "the final text has one line for each passage, with its id and headings.",
        checks.one_of(Mode),
    )
    order: Order = option(
        "source",
        'The order of the passages in the final text. "source" is the order of the input; "relevance" puts the '
        'best first; "edges" puts the best first and last. The text of one passage stays in its order.',
        checks.one_of(Order),
    )
    gap_markers: bool = option(
        True,
        "Whether `[…]` shows where sentences of a paragraph or lines of a log were dropped. What is missing inside a "
        "sentence or in source code is always marked. Markers count in the budget.",
        checks.flag,
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
        'What the scores mean. "similarity": more is better; "distance": less is better, from 0; "rank": 1 is the '
        'best; "none": they mean nothing.',
        checks.one_of(ScoreKind),
    )
    score_key: str | None = option(
        None,
        'The metadata key that holds the score, for passages without one of their own, such as "relevance_score".',
        checks.or_none(checks.string("relevance_score")),
    )
    normalize_scores: bool = option(
        True,
        "Whether `min_score` is relative to the best score of the retrieval. Otherwise scores are compared as they "
        "are, and `min_score` is the greatest distance or rank.",
        checks.flag,
    )
    exact_dedup: bool | None = option(
        None,
        "Whether text that stands in several passages is kept once: passages, paragraphs, overlaps of chunks. None "
        "does it where the passages do not fit as they are, or where near-duplicates are dropped.",
        checks.or_none(checks.flag),
        off=False,
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
    keep_particulars: bool = option(
        True,
        "Whether similar passages are no duplicates if they differ in numbers, names, negations or code.",
        checks.flag,
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
    metadata_only: bool = option(
        False,
        "Whether a line with the path and what is defined replaces a passage that scores below `score_threshold`.",
        checks.flag,
        off=False,
    )
    score_threshold: float = option(
        0.4, "The score below which `metadata_only` replaces a passage. It means what `min_score` means."
    )
    max_length: int | None = option(
        None,
        "The most characters of a passage that are scored, at least 100. Of a longer one the head, the tail and "
        "the most important parts in between remain. None cuts no passage.",
        checks.or_none(checks.whole_number(100, "or None to cut no passage")),
        off=None,
    )
    preserve_structure: bool = option(
        True,
        "Whether `max_length` keeps signatures of code, and of prose what the query asks for, or cuts out the middle.",
        checks.flag,
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
    encoder: Encoder | Comparer | None = option(
        None,
        'The encoder that tells the scorer "evidence" how close texts are in meaning. One of ctxcompress.encoders, '
        "such as `StaticVectors()`; adapters take an embedding model of their framework.",
    )
    llm: LanguageModel | LLMSelector | None = option(
        None,
        "The language model that selects the segments, among the best ones. In adapters a chat model of their "
        "framework; `LLMSelector(model, ...)` says how it is asked. If it fails, the result is the one without it.",
        checks.language_model,
    )
    adaptive: bool = option(False, "Whether to drop segments that are hardly needed, even if they fit.", checks.flag)
    min_probability: float = option(
        0.012, "How likely needed a segment must be for `adaptive` to keep it, between 0 and 1.", checks.probability
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
        "The metadata key that holds a passage's title, header_path, doc_id or file_path, where it is not a usual one.",
        checks.field_keys,
    )
    cache: Cache | None = option(
        None,
        "A cache of ctxcompress.cache for what is found out about passages. It saves time and changes nothing else.",
        checks.cache_store,
    )
    telemetry: bool | Observer = option(
        False,
        "Whether OpenTelemetry is told of each compression, or an observer that is; see docs/how-to/metrics.md.",
        checks.observer,
    )

    def __post_init__(self) -> None:
        check_budget(self.max_tokens, self.tier)
        for name, declared in OPTIONS.items():
            value = getattr(self, name)
            if value is not declared.default:  # most are the default, which needs no check
                object.__setattr__(self, name, declared.check(name, value))
        checks.check_format(self.format, self.mode, self.separator)
        kind, relative = self.score_kind, self.normalize_scores
        checks.check_scores(self.min_score, self.score_threshold, kind, relative=relative, used=self.metadata_only)
        checks.check_evidence_only(self.scorer, self.encoder, self.adaptive or self.max_tokens == "auto")

    @classmethod
    def from_preset(cls, preset: Preset, **options: Unpack[Options]) -> "CompressionConfig":
        """Return the options of a preset, such as "docs", with other values for some; see `PRESETS`.

        Raises ConfigError, for an unknown option with the closest one there is.
        """
        checks.one_of(Preset)("preset", preset)
        given: Any = PRESETS[preset]
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
        return budget_of(self.max_tokens, self.tier, self.context_window, self.reserved_tokens)

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
        changes: Any = with_one_budget(options)
        return replace(self, **changes)

    def without_filters(self) -> "CompressionConfig":
        """Return the options without those that drop or cut passages before the budget decides."""
        off: Any = {name: declared.off for name, declared in OPTIONS.items() if declared.is_filter}
        return self.with_options(**off)

    def switched_off(self) -> "CompressionConfig":
        """Return the options with which every text passes as it is: without filters, and within any budget."""
        passing: Any = {"mode": "extract", "order": "source", "adaptive": False, "cache": None}
        return self.without_filters().with_options(max_tokens=NO_LIMIT, **passing)

    def without_limits(self) -> "CompressionConfig":
        """Return the options without filters that compare scores, for passages of several retrievals together."""
        return self.with_options(
            min_score=None, score_kind="none", max_chunks_per_doc=0, top_n=None, metadata_only=False
        )

    def for_expansion(self, max_tokens: int) -> "CompressionConfig":
        """Return the options for showing more of one passage: plain text, and as much of it as `max_tokens` hold."""
        plain = self.without_filters()
        return plain.with_options(max_tokens=max_tokens, mode="extract", format="plain", adaptive=False, llm=None)


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {declared.name: declared.metadata["option"] for declared in fields(CompressionConfig)}
)
"""The declarations of all options, by name."""
