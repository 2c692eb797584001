"""The search tool `query_documents_compressed`, for every framework and for the server.

It starts from the preset "docs": results with low scores and duplicates are dropped, and the best sentences of the
others fill a budget for the whole answer. The text is in the format "compact".
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from ctxcompress.agents.arguments import Parameters, QueryArguments, object_schema
from ctxcompress.agents.warm_up import warm_up
from ctxcompress.compressor import Compressor, off_loop
from ctxcompress.config.options import CompressionConfig, ConfigSource, Options, Preset, starting_config
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression, KeptPassage, Reason, Span, Stats
from ctxcompress.errors import BudgetTooSmall, ConfigError
from ctxcompress.reduce.filters import known_scores, relative_scores

__all__ = ["DESCRIPTION", "MAX_TOKENS", "NAME", "OUTPUT_SCHEMA", "Answer", "QueryTool"]

NAME = "query_documents_compressed"
MAX_TOKENS = 1_000
"""The default budget of an answer."""

# A language model reads these texts.
DESCRIPTION = (
    "Search the documents. Returns the parts of the best results that answer the query, each under a line with its "
    "source, without weak results and duplicates. Give top_n for fewer results, lower min_score for weaker ones."
)
_NOTHING = "No results. Search again with other words."
_NO_ANSWER = "No result answers the query. Search again with other words, or with a lower min_score."
_NO_ROOM = "There are results, but nothing of them fits into so few tokens."

_SEPARATOR = "\n\n"
_LEFT_OUT = (Reason.SCORE, Reason.DUPLICATE, Reason.FILTER, Reason.LIMIT, Reason.EMPTY)
_SPARE = 10
"""Tokens by which the statistics may grow when less is kept."""
_MARKUP = ("json", "xml")
"""Formats that allow no text around them, because clients parse them as a whole."""


class Retrieval(NamedTuple):
    """What the search and the filters left out, before anything was compressed."""

    found_count: int
    after_limit_tokens: int

    @classmethod
    def of(cls, compression: Compression, total: int | None) -> Self:
        left = {part.index: part.original for part in compression.passages}
        left |= {drop.index: drop.passage for drop in compression.dropped if drop.reason not in _LEFT_OUT}
        tokens = compression.original.tokens({index: [Span(0, len(one.text))] for index, one in left.items()})
        return cls(compression.input_count if total is None else total, tokens)

    def summary(self, stats: Stats) -> str:
        """Return the statistics for the model to read."""
        found = f"- Found by the search: {self.found_count}, before compression: {stats.after_limit}"
        return f"{stats.summary()}\n{found} with {self.after_limit_tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the tool."""

    text: str
    """Everything that the model reads."""
    results: Sequence[Mapping[str, object]]
    """The chunks, in the form of OUTPUT_SCHEMA."""
    stats: Stats
    kept: Sequence[KeptPassage]
    """The same chunks with their passages as they were given."""
    retrieval: Retrieval

    def structured(self) -> dict[str, object]:
        """Return the answer in the form of OUTPUT_SCHEMA."""
        return {"results": [dict(result) for result in self.results], "compression_stats": self.compression_stats()}

    def compression_stats(self) -> dict[str, object]:
        """Return the results after each step, the tokens before and after, and the steps that were skipped."""
        skipped = [f"{stage.name} {stage.note}" for stage in self.stats.stages if stage.skipped]
        return {**self.retrieval._asdict(), **{name: getattr(self.stats, name) for name in _STATS}, "notes": skipped}


@dataclass(frozen=True, slots=True)
class QueryTool:
    """The tool with its options and arguments. Threads can share it."""

    config: CompressionConfig
    parameters: Parameters
    """The arguments of a call, with the options as their defaults."""

    @classmethod
    def of(cls, config: ConfigSource | None = None, *, preset: Preset | None = None, **options: Any) -> Self:
        """Make the tool. config, preset: the options to start from, by default the preset "docs".

        The default budget is 1,000 tokens, which decides how many results there are. The default format is
        "compact". Raises ConfigError.
        """
        start = starting_config(config, preset, default="docs")
        defaults: Options = {"separator": "\n\n"}
        if not start.max_tokens and not start.tier:
            defaults["max_tokens"] = MAX_TOKENS
        if start.format in ("plain", "preview"):
            defaults["format"] = "compact"
        if options.get("score_kind") == "none":
            defaults["min_score"] = None
        config = start.with_options(**defaults).with_options(**options)
        _ = config.budget  # a share of a context window that is not known is refused
        if config.min_score is not None and config.score_kind == "absolute":
            raise ConfigError(
                f'min_score is {config.min_score:g} with score_kind="absolute"; a call says it relative to the best '
                'score: give a number from 0 to 1 and score_kind="similarity", or min_score=None'
            )
        return cls(warm_up(config), Parameters(config))

    def answer(
        self,
        asked: QueryArguments,
        passages: Sequence[Passage],
        *,
        lead: str = "",
        total: int | None = None,
    ) -> Answer:
        """Return the parts of `passages` that answer the query, within the budget, statistics included.

        If there is no room for the statistics, or the format is "json" or "xml", they are only in `stats`. lead: an
        answer in words that comes first, cut to half of the budget. total: the number of all results, of which a search
        that ranks well found these the best.
        """
        compressor = Compressor(self._options(asked)).resolve_auto_budget(asked.query)
        if lead:
            half = max(compressor.config.budget // 2, 1)
            lead = Compressor(compressor.config.with_options(must_keep=())).expand(asked.query, Passage("", lead), half)
        with compressor.observed():
            kind = self.config.score_kind
            scores = relative_scores(known_scores(passages, kind), kind)  # from 0 to 1, whatever they are
            given = [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]
            compression, text = _composed(asked, given, compressor, lead, total)
        kept = tuple(replace(part, original=passages[part.index]) for part in compression.passages)
        results, retrieval = tuple(map(_result, compression.passages)), Retrieval.of(compression, total)
        return Answer(text, results, compression.stats, kept, retrieval)

    async def answer_off_loop(self, asked: QueryArguments, passages: Sequence[Passage], *, lead: str = "") -> Answer:
        """Do the same on another thread. An encoder that can be awaited is awaited on this event loop."""
        return await off_loop(
            self.config, lambda config: QueryTool(config, self.parameters).answer(asked, passages, lead=lead)
        )

    def _options(self, asked: QueryArguments) -> CompressionConfig:
        """Return the options of one call, for passages with relative scores."""
        given: Any = {**asked.options, "score_kind": "similarity", "metadata_map": {}}
        config = self.config.with_options(**given)
        return config if asked.filters else config.without_filters()


def _composed(
    asked: QueryArguments,
    passages: Sequence[Passage],
    compressor: Compressor,
    lead: str,
    total: int | None,
) -> tuple[Compression, str]:
    """Return the compression and the whole text. Without room, first the statistics and then the lead are dropped."""
    budget, form = compressor.config.budget, compressor.config.format
    ranked = None if total is None else [1.0 if passage.score is None else passage.score for passage in passages]
    ways = (("", False),) if form in _MARKUP else ((lead, asked.show_stats), (lead, False), ("", False))
    for before, with_stats in dict.fromkeys(ways):
        room = budget
        while room > 0:
            try:
                compression = compressor.compress_part(asked.query, passages, ranked=ranked, max_tokens=room)
            except BudgetTooSmall:  # what must be kept comes before the statistics and the lead
                break
            summary = Retrieval.of(compression, total).summary(compression.stats) if with_stats else ""
            text = _SEPARATOR.join(filter(None, (before, _body(compression, form), summary)))
            excess = compressor.count(text) - budget
            if excess <= 0:
                return compression, text
            room -= excess + _SPARE
    compression = compressor.compress_part(asked.query, passages, ranked=ranked)
    texts = (_body(compression, form), "" if compression.text else _why_nothing(compression).partition(".")[0])
    return compression, next((text for text in texts if compressor.count(text) <= budget), compression.text)


def _body(compression: Compression, format: str) -> str:
    """Return the text of the results, or say in words that there are none."""
    if any(part.text.strip() for part in compression.passages):
        return compression.text
    nothing = _why_nothing(compression)
    if format == "json" and compression.text:
        return f'{compression.text.removesuffix("}")},"note":{json.dumps(nothing)}}}'
    if format == "xml" and compression.text:
        return f"<documents>\n<note>{nothing}</note>\n</documents>"
    return nothing


def _why_nothing(compression: Compression) -> str:
    reasons = {decision.reason for decision in compression.dropped}
    if reasons <= {Reason.EMPTY}:
        return _NOTHING
    return _NO_ROOM if Reason.BUDGET in reasons else _NO_ANSWER


def _result(kept: KeptPassage) -> Mapping[str, object]:
    passage = kept.original
    return {
        "chunk_id": passage.id,
        "doc_id": passage.doc_id or passage.file_path or "",
        "score": None if passage.score is None else round(passage.score, 4),
        "header_path": " > ".join(passage.header_path or ()),
        "file_path": passage.file_path or "",
        "content": kept.text,
    }


_RESULT = {
    "chunk_id": {"type": "string", "description": "Unique; expand_chunk takes it."},
    "doc_id": {"type": "string", "description": "The document that the chunk is of."},
    "score": {
        "type": ["number", "null"],
        "minimum": 0,
        "maximum": 1,
        "description": "Relative to the best result, which has 1.0; null where it is not known.",
    },
    "header_path": {"type": "string", "description": "The headings above it, as in Configuration > Authentication."},
    "file_path": {"type": "string", "description": "Where the document is."},
    "content": {"type": "string", "description": "What of the chunk answers the query, word for word."},
}
_RETRIEVAL = MappingProxyType(
    {
        "found_count": "Results that the search has; the best of them were read.",
        "after_limit_tokens": "Tokens of the results that score, duplicates and limits left to be compressed.",
    }
)
_STATS = MappingProxyType(
    {
        "original_count": "Results that were read.",
        "after_threshold": "Of these, the ones with at least min_score.",
        "after_dedup": "Of these, the ones that are no duplicates.",
        "after_limit": "Of these, the ones within top_n and the limit of a document.",
        "clusters_merged": "Duplicates that were dropped.",
        "kept_count": "Results of which something is in the answer.",
        "original_tokens": "Tokens of the results that were read.",
        "compressed_tokens": "Tokens of what is kept.",
    }
)

OUTPUT_SCHEMA: Mapping[str, object] = MappingProxyType(
    object_schema(
        {
            "results": {"type": "array", "items": object_schema(_RESULT, tuple(_RESULT))},
            "compression_stats": object_schema(
                {
                    **{
                        name: {"type": "integer", "minimum": 0, "description": description}
                        for name, description in (*_RETRIEVAL.items(), *_STATS.items())
                    },
                    "notes": {"type": "array", "items": {"type": "string"}, "description": "What was left undone."},
                },
                (*_RETRIEVAL, *_STATS, "notes"),
            ),
        },
        ("results", "compression_stats"),
    )
)
"""JSON Schema of `Answer.structured`."""
