"""The options as fields of a pydantic model. `make options` writes this from ctxcompress.config.options.

Only the adapters import it: pydantic comes with their frameworks.
"""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from ctxcompress.config.checks import OnEmpty, OnError, Order, ScoreKind, Scorer
from ctxcompress.config.options import OPTIONS
from ctxcompress.config.presets import Tier
from ctxcompress.data.results import Format
from ctxcompress.text.tokens import Encoding

__all__ = ["OptionFields"]


class OptionFields(BaseModel):
    """The options of CompressionConfig as fields, each with its description."""

    max_tokens: int | str | None = None
    """The budget of the final text in tokens. Without it, `tier` decides. "auto" fits the budget to the query, by its
    complexity and intent, and stops before it is full. "25%" is a share of `context_window`."""
    tier: Tier | None = None
    """The budget by name: "key_facts" (200 tokens), "summary" (1,000; the default), "detailed" (5,000) or "complete"
    (20,000). Give this or `max_tokens`."""
    context_window: int | None = None
    """The context window of the language model in tokens, for `max_tokens="25%"`. Give it without the tokens that the
    rest of the prompt takes; adapters take the whole of it from `model`."""
    must_keep: Sequence[object] = ()
    """What is kept before all else: texts, patterns, "ids", "dates", "urls", "code"; see docs/how-to/must-keep.md."""
    encoding: Encoding = Field(default="o200k_base", json_schema_extra={"type": "string"})
    """The tiktoken encoding that counts the tokens, or a function from a text to its tokens or their number."""
    separator: str = "\n\n"
    """The text between two passages. Only `format="plain"` uses it."""
    format: Format | str = "plain"
    """How the final text shows where each passage is from. "plain" does not; "compact", "verbose", "json" and "xml" add
    a number and the source, which count in the budget; "preview" has a line for each passage, with its id, headings and
    best sentence. Packages can add formats."""
    gap_markers: bool = True
    """Whether […] shows where text of a passage is left out. Source code and `max_length` have markers in any case."""
    order: Order = "source"
    """The order of the passages in the final text. "source" is the order of the input; "relevance" puts the best first;
    "edges" puts the best first and last. The text of one passage stays in its order."""
    keep_all_sources: bool = False
    """Whether every passage comes back, in its order, whatever the filters say. Each has at least its best segment, as
    far as the budget allows, or else an empty text; its place in the final text counts in the budget."""
    on_empty: OnEmpty = "keep_best"
    """What to do if `min_score` or `adaptive` would drop everything. "keep_best" keeps the best passage or segment,
    "original" keeps all, "drop" keeps none."""
    min_score: float | None = None
    """The score below which a passage is dropped; the best one has 1.0. Passages without a score are kept."""
    score_kind: ScoreKind = "similarity"
    """What the scores mean. "similarity": more is better; "absolute": so too, and limits are compared with it as it is;
    "distance": less is better, from 0; "rank": 1 is the best; "none": they mean nothing."""
    ngram_threshold: float | None = None
    """The share of word triples in common from which the worse of two passages is dropped, such as 0.7. It is the
    Jaccard index. Passages that differ in numbers, names, negations or code are kept."""
    similarity_threshold: float | None = None
    """The cosine similarity from which the worse of two passages is dropped, such as 0.85. Passages carry the
    embeddings, or `encoder` makes them. None drops none."""
    max_chunks_per_doc: int = 0
    """The most passages kept of one document: a doc_id, else a file path or address. 0 keeps all."""
    top_n: int | None = None
    """The most passages kept, the best ones. None keeps all."""
    metadata_only: bool | float = False
    """Whether a line with the path and what is defined replaces a passage with a low score. A number is the score below
    which it does, True is 0.4; it means what `min_score` means."""
    max_length: int | None = None
    """The most characters of a passage that are scored, at least 100. Of a longer one the head, the tail and what
    matters most in between remain: signatures of code, what the query asks for. None cuts no passage."""
    factual_length: int | None = None
    """The most characters kept of a passage where the query asks for a fact, at least 20. A fact is an identifier, a
    command or a version; the beginning of the passage is kept. None cuts no passage."""
    scorer: Scorer = "evidence"
    """What scores segments: "evidence" is a learned model, "bm25" counts words on two levels, as QATBE does.
    "rank_bm25" is BM25Okapi of the package rank-bm25, "rank_bm25l" its BM25L and "rank_bm25plus" its BM25Plus."""
    encoder: object | None = Field(default="words", json_schema_extra={"type": "object"})
    """The encoder that tells the scorer "evidence" how close texts are in meaning. "words" is a table of English words
    in this package, for English texts; others are in ctxcompress.encoders, such as `StaticVectors()`; adapters take an
    embedding model of their framework. None leaves it to words alone."""
    llm: object | None = Field(default=None, json_schema_extra={"type": "object"})
    """The language model that selects the segments, among the best ones. In adapters a chat model of their framework;
    `LLMSelector(model, ...)` says how it is asked. If it fails, the result is the one without it."""
    adaptive: bool | float = False
    """Whether to drop segments that are hardly needed, even if they fit. A number between 0 and 1 is how likely needed
    a segment must be, True is 0.012."""
    language: str | None = None
    """The language of the texts as an ISO 639-1 code, such as "en". None detects it."""
    synonyms: Mapping[str, Sequence[str]] = Field(default_factory=dict)
    """Words or phrases that mean the same, by one of them; each finds all the others. See TECHNICAL_SYNONYMS."""
    type_weights: Mapping[str, float] = Field(default_factory=dict)
    """A factor on the score of segments, by their kind. The kinds are "heading", "paragraph", "list_item", "table",
    "code", "quote", "metadata", "boilerplate", "turn", "log" and "record"; see QATBE_TYPE_WEIGHTS."""
    metadata_map: Mapping[str, str] = Field(default_factory=dict)
    """The metadata key that holds a passage's title, header_path, doc_id or file_path, where it is not a usual one.
    With "score", the key of the score of passages without one of their own, such as "relevance_score"."""
    cache: object | None = Field(default=None, json_schema_extra={"type": "object"})
    """A cache of ctxcompress.cache for what is found out about passages. It saves time and changes nothing else."""
    on_error: OnError = "raise"
    """What to do if something that was plugged in fails. "raise" raises PluginError; "without" gives the result without
    it; "original" does so, too, and where that cannot be, gives the passages as they came, whatever the budget. Of the
    last two, there is a warning, and `result.failures` says what failed."""
    timeout: float | None = None
    """The seconds that `encoder`, `llm` and `cache` may take in one compression, all together. What is late is left
    behind, and the result is the one without it, with a warning, whatever `on_error` is. None waits, for a language
    model 30 s."""
    telemetry: bool | object = Field(default=False, json_schema_extra={"type": "boolean"})
    """Whether OpenTelemetry is told of each compression, or an observer that is; see docs/how-to/metrics.md."""


for _name, _field in OptionFields.model_fields.items():  # pydantic would parse this file again for the docstrings
    _field.description = OPTIONS[_name].description
