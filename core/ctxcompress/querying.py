"""The tool `query_documents_compressed`, whatever framework it is a tool of: its arguments, and what it answers.

Search results go through the preset "docs": a threshold on their scores, copies left out, two chunks a document, and
the best sentences of what is left in a budget that holds for all of the answer. The text is in the format "compact".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from ctxcompress.config import CompressionConfig, Options
from ctxcompress.errors import ConfigError
from ctxcompress.passages import Passage
from ctxcompress.pipeline import Compressor
from ctxcompress.reduce.scores import known_scores, relative_scores
from ctxcompress.threads import off_loop
from ctxcompress.types import Compression, KeptPassage, Stats

__all__ = [
    "DESCRIPTION",
    "INPUT_SCHEMA",
    "MAX_TOKENS",
    "NAME",
    "OUTPUT_SCHEMA",
    "PARAMETERS",
    "QUERY",
    "Answer",
    "Parameter",
    "QueryArguments",
    "answer",
    "answer_off_loop",
    "refusal",
    "tool_config",
]

NAME = "query_documents_compressed"
MAX_TOKENS = 2_000
"""Of an answer, where nothing else is said."""

# What follows is read by a language model.
DESCRIPTION = (
    "Search the documents. Returns what of the best results answers the query, each under a line that says where it is "
    "from, without weak results and without repetitions. Raise top_n for more results, lower min_score for weaker ones."
)
_NOTHING = "No results. Search again with other words, or with a lower min_score."
_NO_ROOM = "There are results, but nothing of them fits into so few tokens."


class Parameter(NamedTuple):
    """An argument besides the query."""

    kind: str
    """Of JSON Schema: "integer", "number" or "boolean"."""
    default: float
    least: float | None
    most: float | None
    description: str


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "top_n": Parameter("integer", 5, 1, 100, "How many results at most."),
        "min_score": Parameter(
            "number", 0.3, 0.0, 1.0, "The score below which results are left out; the best one has 1.0."
        ),
        "similarity_threshold": Parameter(
            "number", 0.85, 0.5, 1.0, "The cosine similarity from which one of two results is left out as a copy."
        ),
        "show_stats": Parameter("boolean", False, None, None, "Whether to say how many results each step left."),
    }
)
QUERY = "What to look for: a question or keywords."
_SEPARATOR = "\n\n"
_SPARE = 10
"""Tokens by which statistics may be longer when less is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryArguments:
    """The arguments of a call. Raises ConfigError with the value, the limit and the remedy."""

    query: str
    top_n: int = 5
    min_score: float = 0.3
    similarity_threshold: float = 0.85
    show_stats: bool = False

    def __post_init__(self) -> None:
        for argument in fields(self):
            if wrong := refusal(argument.name, getattr(self, argument.name)):
                raise ConfigError(wrong)
        object.__setattr__(self, "top_n", int(self.top_n))  # JSON writes 5 as 5.0, too

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From what a client or a model sent."""
        for name in given:
            if wrong := refusal(name, given[name]):
                raise ConfigError(wrong)
        return cls(**{"query": None, **given})


def refusal(name: str, value: object) -> str:
    """What is wrong with an argument of this name; empty where nothing is."""
    if name == "query":
        is_text = isinstance(value, str) and bool(value.strip())
        return "" if is_text else f"query is {_shown(value)}; give a question or keywords, as a string"
    parameter = PARAMETERS.get(name)
    if parameter is None:
        close = get_close_matches(name, (known := ("query", *PARAMETERS)), n=1)
        hint = f"did you mean {close[0]}?" if close else f"the arguments are {', '.join(known)}"
        return f"there is no argument {_shown(name)}; {hint}"
    if parameter.kind == "boolean":
        return "" if isinstance(value, bool) else f"{name} is {_shown(value)}; give true or false"
    if _is_within(value, parameter):
        return ""
    number = "a whole number" if parameter.kind == "integer" else "a number"
    return f"{name} is {_shown(value)}; give {number} from {parameter.least} to {parameter.most}"


def _is_within(value: object, parameter: Parameter) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if parameter.least is None or parameter.most is None or not parameter.least <= value <= parameter.most:
        return False
    return parameter.kind == "number" or value == int(value)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 100 else f"{shown[:100]}..."


@dataclass(frozen=True, slots=True)
class Answer:
    """What the tool answers."""

    text: str
    """What the model reads."""
    results: Sequence[Mapping[str, object]]
    """The chunks, as OUTPUT_SCHEMA has them."""
    stats: Stats
    kept: Sequence[KeptPassage]
    """The same chunks with the passages that they are of, as these came."""

    def structured(self) -> dict[str, object]:
        """As OUTPUT_SCHEMA has it."""
        return {"results": [dict(result) for result in self.results], "compression_stats": self.compression_stats()}

    def compression_stats(self) -> dict[str, object]:
        """How many results each step left, the tokens before and after, and what was left undone."""
        left_undone = [f"{stage.name} {stage.note}" for stage in self.stats.stages if stage.note.startswith("skipped")]
        return {**{name: getattr(self.stats, name) for name in _STATS}, "notes": left_undone}


def tool_config(max_tokens: int | None = None, **options: Any) -> CompressionConfig:
    """The preset "docs" with a budget of `max_tokens`, 2,000 if neither this nor `tier` is given, and other options
    in place of its own.

    Raises ConfigError; for an option that each call says itself, too.
    """
    for name in ("top_n", "min_score", "similarity_threshold"):
        if name in options:
            raise ConfigError(f"{name} is given; it is an argument of each call, so leave it out")
    if max_tokens is None and options.get("tier") is None:
        max_tokens = MAX_TOKENS
    return CompressionConfig.from_preset("docs", **{"max_tokens": max_tokens, **options, "min_score": None})


def answer(asked: QueryArguments, passages: Sequence[Passage], config: CompressionConfig, *, lead: str = "") -> Answer:
    """What of `passages` answers the query, in at most as many tokens as `config` says, statistics included.

    Where there is no room for the statistics they are only in `stats`. lead: an answer in words that comes first;
    of a long one what fits into half of the budget.
    """
    compressor = Compressor(config).fitted(asked.query)
    if lead:
        half = max(compressor.config.budget // 2, 1)
        lead = compressor.compress(asked.query, [lead], max_tokens=half, mode="extract").text
    compression, text = _composed(asked, _with_relative_scores(passages, config), compressor, lead)
    kept = tuple(replace(part, original=passages[part.index]) for part in compression.passages)
    return Answer(text, tuple(map(_result, compression.passages)), compression.stats, kept)


async def answer_off_loop(
    asked: QueryArguments, passages: Sequence[Passage], config: CompressionConfig, *, lead: str = ""
) -> Answer:
    """The same, on another thread; an encoder that can be awaited is, on this event loop."""
    return await off_loop(config, lambda config: answer(asked, passages, config, lead=lead))


def _composed(
    asked: QueryArguments, passages: Sequence[Passage], compressor: Compressor, lead: str
) -> tuple[Compression, str]:
    """What is kept, and the text around it; the statistics, then the lead, stay out where they leave no room."""
    budget = compressor.config.budget
    for before, with_stats in dict.fromkeys(((lead, asked.show_stats), (lead, False), ("", False))):
        room = budget
        while room > 0:
            compression = _compressed(asked, passages, compressor, room)
            summary = compression.stats.summary() if with_stats else ""
            text = _SEPARATOR.join(
                filter(None, (before, compression.text or (_NO_ROOM if passages else _NOTHING), summary))
            )
            excess = compressor.count(text) - budget
            if excess <= 0:
                return compression, text
            room -= excess + _SPARE
    compression = _compressed(asked, passages, compressor, budget)
    return compression, compression.text


def _compressed(
    asked: QueryArguments, passages: Sequence[Passage], compressor: Compressor, max_tokens: int
) -> Compression:
    options: Options = {
        "max_tokens": max_tokens,
        "top_n": asked.top_n,
        "min_score": asked.min_score,
        "similarity_threshold": asked.similarity_threshold,
        "score_kind": "similarity",
        "score_key": None,
        "normalize_scores": True,
        "mode": "extract",
        "format": "compact",
        "separator": "\n\n",
    }
    return compressor.compress(asked.query, passages, **options)


def _with_relative_scores(passages: Sequence[Passage], config: CompressionConfig) -> list[Passage]:
    """With scores from 0 to 1, the best being 1.0, whatever the retriever's scores mean."""
    scores = relative_scores(known_scores(passages, config.score_kind), config.score_kind)
    return [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]


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


def _schema_of(parameter: Parameter) -> dict[str, object]:
    limits = {} if parameter.least is None else {"minimum": parameter.least, "maximum": parameter.most}
    return {
        "type": parameter.kind,
        "description": parameter.description,
        "default": parameter.default,
        **limits,
    }


def _object(properties: Mapping[str, object], required: Sequence[str]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


INPUT_SCHEMA: Mapping[str, object] = MappingProxyType(
    _object(
        {
            "query": {"type": "string", "description": QUERY, "minLength": 1},
            **{name: _schema_of(parameter) for name, parameter in PARAMETERS.items()},
        },
        ["query"],
    )
)
"""JSON Schema of the arguments."""

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
_STATS = MappingProxyType(
    {
        "original_count": "Results that were found.",
        "after_threshold": "Of these, the ones with at least min_score.",
        "after_dedup": "Of these, the ones that are no copies.",
        "after_limit": "Of these, the ones within top_n and the limit of a document.",
        "clusters_merged": "Copies that were left out.",
        "kept_count": "Results of which something is in the answer.",
        "original_tokens": "Tokens of the results that were found.",
        "compressed_tokens": "Tokens of what is kept.",
    }
)

OUTPUT_SCHEMA: Mapping[str, object] = MappingProxyType(
    _object(
        {
            "results": {"type": "array", "items": _object(_RESULT, tuple(_RESULT))},
            "compression_stats": _object(
                {
                    **{
                        name: {"type": "integer", "minimum": 0, "description": description}
                        for name, description in _STATS.items()
                    },
                    "notes": {"type": "array", "items": {"type": "string"}, "description": "What was left undone."},
                },
                (*_STATS, "notes"),
            ),
        },
        ("results", "compression_stats"),
    )
)
"""JSON Schema of `Answer.structured`."""
