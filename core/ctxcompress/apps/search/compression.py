"""Compression of search results: fewer results, and of each only its key sentences.

The rules and limits are those of "Query Complexity & Result Compression" (Context Engine Series, part 2), with three
differences: duplicates within a page are removed, the best-scored results are kept if there are too many, and the
scorer chooses the sentences instead of a word count.

results -> score threshold -> no boilerplate -> no duplicates -> with `adaptive`, only those that may be needed
        -> as many of the best as the query needs -> key sentences -> the shape of the input
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, Unpack

from ctxcompress.apps.search.key_sentences import KeySentences
from ctxcompress.apps.search.result_limits import (
    Drop,
    Limits,
    SearchOptions,
    best_first,
    complexity_of,
    find_drops,
    have_no_scores,
)
from ctxcompress.apps.search.shapes import ParsedResults, Record, TextKey, read_shape, shown_to_model
from ctxcompress.config.checks import check_count
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.must_keep import Finds
from ctxcompress.data.passages import Span, inverse
from ctxcompress.data.results import Decision, Reason, drop_counts
from ctxcompress.data.stats import Observation, observed, observer_of
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError, warn
from ctxcompress.query.complexity import Complexity
from ctxcompress.text.tokens import TokenCounter

__all__ = ["SearchCompression", "compress_search_results"]

Results = TypeVar("Results")

_FEWEST_CHARACTERS = 40
"""The last remaining result is not shortened below this."""


@dataclass(frozen=True, slots=True)
class SearchCompression(Generic[Results]):
    """Compressed search results. Tokens are counted in the text that a language model reads."""

    results: Results
    """The kept results, in the shape of the input."""
    query: str
    """What was asked; empty if nothing was."""
    is_evident: bool
    """Whether the shape shows that the input is search results or fetched pages: they are under a key such as
    "results", or have a score, a snippet, a content or highlights. Other lists of objects with an address and a
    description may be something else."""
    complexity: Complexity
    original_count: int
    compressed_count: int
    original_tokens: int
    compressed_tokens: int
    dropped: tuple[Decision, ...] = field(repr=False)
    """Every dropped character of the results' texts, with the reason. `index` is the position of the result in the
    input, `passage.metadata["key"]` the key of the text. A dropped result without text has no spans.

    DUPLICATE: another result of the same page contains the text. SCORE, LIMIT and UNLIKELY: the result is dropped.
    BUDGET: other sentences answer better, the result is boilerplate only, or `max_tokens` is full."""

    @property
    def tokens_saved(self) -> int:
        return self.original_tokens - self.compressed_tokens

    @property
    def savings_percent(self) -> float:
        """Percentage of the original tokens that was saved, with one decimal."""
        return round(100 * self.tokens_saved / self.original_tokens, 1) if self.original_tokens else 0.0


def compress_search_results(
    results: Results,
    query: str | None,
    *,
    complexity: str | None = None,
    max_tokens: int | None = None,
    config: CompressionConfig | None = None,
    **limits: Unpack[SearchOptions],
) -> SearchCompression[Results]:
    """Return the parts of search results that best answer `query`, in the shape of the input.

    results: the output of a search tool: Tavily's answer, a list of results, a single result, Exa's response, the
    output of LangChain's tools for Tavily, DuckDuckGo, Brave and Exa, or JSON text of any of these; see docs/search.md.
    The input never changes, and the output shares no mutable object with it. All keys without a text, such as the
    score, keep their values, and so does a text of which everything is kept.
    complexity: "simple", "moderate" or "complex": up to 3, 4 or 5 results of 300, 400 or 500 characters each. None
    detects it from the query; without a query it is "complex".
    max_tokens: the most tokens of the results as a language model reads them. Texts are shortened first, then results
    are dropped: those with the lowest scores, or if no result has a score, those that answer the query least. With
    None, only the other limits hold.
    config: the options that count tokens (`encoding`), score sentences (`scorer`, `encoder`, `language`, `synonyms`,
    `type_weights`), drop what the query hardly needs (`adaptive`, `on_empty`), and say what is kept
    of results beyond all limits (`must_keep`, where a passage has the address of its result, or its position, as its
    id), and `telemetry`. All other options are ignored.
    limits: `max_results`, `max_characters` (of all texts of a result together) and `max_sentences` (3) replace the
    limits of the complexity. `min_score` is the score below which a result is dropped (0.3; None for no threshold).
    Results without a usable score are kept, and if all scores are below the threshold, all results are kept.

    If two results have the same page as their address and one contains the whole text of the other, the other is
    dropped. Of equal texts the best-scored one is kept, or the first. Different parts of a page are all kept. Sentences
    stay in order and verbatim, with the heading or table header they need. A sentence that is too long is cut between
    words and ends in "...".

    Tokens are always counted in the whole text: the input text, or for a structure the JSON that frameworks send to the
    model (`json.dumps(results, ensure_ascii=False)`), or `str(results)` if it cannot be written as JSON.

    Raises InputError if `results` has none of these shapes or `query` is not a string, ConfigError on an invalid value
    or if everything around the results already takes more than `max_tokens`, BudgetTooSmall if what `must_keep` names
    does not fit, PatternTimeout, TokenizerUnavailable.
    """
    if query is not None and not isinstance(query, str):
        raise InputError(f"query is a {type(query).__name__}; give a string, or None for no query")
    level = complexity_of(complexity, query)
    checked = Limits.of(level, limits)
    if max_tokens is not None:
        check_count("max_tokens", max_tokens, 1, "or None for no limit on the whole")
    config, parsed = config or CompressionConfig(), read_shape(results)
    if parsed is None:
        raise InputError(
            f"results is a {type(results).__name__} that holds no search results; each result needs an address ('url', "
            "'link' or 'href') and a text ('content', 'snippet', ...). Use compress() for plain text"
        )
    with observed(observer_of(config.telemetry)) as report:
        found = _compressed(results, parsed, query or "", level, max_tokens, config, checked)
        report(
            lambda: Observation(
                passages=found.original_count,
                kept=found.compressed_count,
                original_tokens=found.original_tokens,
                compressed_tokens=found.compressed_tokens,
                max_tokens=max_tokens,
                dropped=drop_counts(found.dropped),
                result=found,
            )
        )
    return found


def _compressed(
    results: Results,
    parsed: ParsedResults,
    query: str,
    level: Complexity,
    max_tokens: int | None,
    config: CompressionConfig,
    limits: Limits,
) -> SearchCompression[Results]:
    count = TokenCounter(config.encoding)
    required = _required(parsed.records, config)
    drops = find_drops(parsed.records, limits, required)
    compressor = _ResultCompressor(results, parsed, drops, limits, required, count, max_tokens)
    try:
        kept = compressor.compress(query, config)
    except RecursionError as error:
        raise InputError("results are nested too deeply to be copied; remove what is not a search result") from error
    return SearchCompression(
        results=kept.results,
        query=query,
        is_evident=parsed.is_evident,
        complexity=level,
        original_count=len(parsed.records),
        compressed_count=len(kept.positions),
        original_tokens=count(shown_to_model(results)),
        compressed_tokens=kept.tokens,
        dropped=tuple(compressor.decisions(kept)),
    )


@dataclass(frozen=True, slots=True)
class _KeptResults:
    """The results that are kept, shortened."""

    results: Any
    positions: Sequence[int]
    spans: Mapping[tuple[int, TextKey], Sequence[Span]]
    """The kept spans of each text, by the position of its result and its key."""
    tokens: int
    drops: Mapping[int, Drop] = field(default_factory=dict)
    """The positions of the results that are dropped because of what their texts say."""


@dataclass(frozen=True, slots=True)
class _ResultCompressor:
    """Compresses parsed results without those that are dropped as a whole."""

    results: object
    parsed: ParsedResults
    drops: Mapping[int, Drop]
    limits: Limits
    required: Collection[int]
    """The positions of the results that have what `must_keep` names."""
    count: TokenCounter
    max_tokens: int | None

    def compress(self, query: str, config: CompressionConfig) -> _KeptResults:
        """Keep as many of the best results as fit, each as long as the limits allow."""
        records = self.parsed.records
        positions = best_first(records, [n for n in range(len(records)) if n not in self.drops])
        judged = positions if config.adaptive else self._within_limit(positions)
        shortener = KeySentences(query, {n: records[n] for n in judged}, config)
        unlikely = shortener.unlikely(judged, config)
        drops = {n: Drop(Reason.UNLIKELY) for n in unlikely if n not in self.required}
        wanted = [n for n in positions if n not in drops]
        if config.adaptive and have_no_scores(records, wanted):
            wanted.sort(key=lambda n: -shortener.worth(n))
        within = self._within_limit(wanted)
        drops |= {n: Drop(Reason.LIMIT) for n in wanted if n not in within}
        return replace(self._fitting(within, shortener), drops=drops)

    def _within_limit(self, positions: Sequence[int]) -> list[int]:
        """Return the first results, as many as the limit allows, and those that must be kept."""
        most = self.limits.max_results
        return [n for place, n in enumerate(positions) if place < most or n in self.required]

    def _fitting(self, positions: list[int], shortener: KeySentences) -> _KeptResults:
        """Keep as many of the results as fit: those with the best scores, or without scores those that answer best."""
        if have_no_scores(self.parsed.records, positions):
            positions.sort(key=lambda n: -shortener.worth(n))
        positions.sort(key=lambda n: n not in self.required)

        def attempt(number: int, characters: int) -> _KeptResults:
            return self._shorten(sorted(positions[:number]), shortener, characters)

        def fits(kept: _KeptResults) -> bool:
            return self.max_tokens is None or kept.tokens <= self.max_tokens

        lengths = (self.limits.max_characters, max(1, self.limits.max_characters // 2))
        most = len(positions)
        if self.max_tokens is not None:
            # The first number of results, from two on, that is too many even at the shorter length.
            most = bisect_left(range(2, most + 1), True, key=lambda number: not fits(attempt(number, lengths[-1]))) + 1
        fewest = max(len(self.required), 1)
        for number in range(max(min(most, len(positions)), len(self.required)), fewest - 1, -1):
            attempts = (attempt(number, n) for n in (lengths if number > fewest else _lengths_of_last(lengths[0])))
            if fitting := next(filter(fits, attempts), None):
                return fitting
        if self.required:
            tokens = attempt(len(self.required), _FEWEST_CHARACTERS).tokens
            raise BudgetTooSmall(
                f"must_keep names something in {len(self.required)} results, which take {tokens} tokens even when they "
                f"are shortened, but max_tokens is {self.max_tokens}; give at least {tokens} tokens, or narrower "
                "patterns",
                tokens,
            )
        return self._keep_none(warns=bool(positions))

    def decisions(self, kept: _KeptResults) -> Iterator[Decision]:
        """Yield what was dropped of each text. A dropped result without text yields a decision without spans."""
        for position, record in enumerate(self.parsed.records):
            drop = self.drops.get(position) or kept.drops.get(position) or Drop(Reason.BUDGET)
            is_kept = position in kept.positions
            has_decision = False
            for key, text in record.texts():
                spans = inverse(kept.spans.get((position, key), ()), len(text))
                if spans and not (is_kept and not text.strip()):
                    has_decision = True
                    passage = record.passage(position, key, text)
                    yield Decision(position, passage, spans, drop.reason, drop.duplicate_of)
            if not is_kept and not has_decision:
                yield Decision(position, record.passage(position), (), drop.reason, drop.duplicate_of)

    def _shorten(self, positions: Sequence[int], shortener: KeySentences, characters: int) -> _KeptResults:
        """characters: of each result."""
        shortened = {n: shortener.shorten(n, characters, self.limits.max_sentences) for n in positions}
        records = [self.parsed.records[n].with_texts(result.changed) for n, result in shortened.items()]
        spans = {(n, key): kept for n, result in shortened.items() for key, kept in result.spans.items()}
        is_same = len(positions) == len(self.parsed.records) and not any(one.changed for one in shortened.values())
        results = self.results if is_same and isinstance(self.results, str) else self.parsed.rebuild(records)
        return _KeptResults(results, positions, spans, self.count(shown_to_model(results)))

    def _keep_none(self, *, warns: bool) -> _KeptResults:
        results = self.parsed.rebuild([]) if self.parsed.records else self.results
        tokens = self.count(shown_to_model(results))
        if self.max_tokens is not None and tokens > self.max_tokens:
            raise ConfigError(
                f"max_tokens is {self.max_tokens}, but everything around the results already takes {tokens}; give more"
            )
        if warns:
            warn(f"no result fits into max_tokens={self.max_tokens}; give more")
        return _KeptResults(results, (), {}, tokens)


def _required(records: Sequence[Record], config: CompressionConfig) -> frozenset[int]:
    """Return the positions of the results that have what `must_keep` names."""
    if not config.must_keep:
        return frozenset()
    texts = [(n, record.passage(n, *text)) for n, record in enumerate(records) for text in record.texts()]
    passages = {m: passage for m, (_, passage) in enumerate(texts)}
    return frozenset(texts[m][0] for m in Finds.of(config.must_keep, passages).spans)


def _lengths_of_last(characters: int) -> Iterator[int]:
    """Yield ever fewer characters, for the last result that is left."""
    yield characters
    while characters > _FEWEST_CHARACTERS:
        characters = max(_FEWEST_CHARACTERS, characters * 3 // 4)
        yield characters
