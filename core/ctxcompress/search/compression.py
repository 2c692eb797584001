"""Search results, compressed: which of them are kept, and what of their texts.

The rules and the limits are those of "Query Complexity & Result Compression" (Context Engine Series, part 2). Three
things differ: what two results of one page say alike is kept once, of too many results the best-scored are kept, and
the scorer says which sentences matter, where words are counted there.

results -> the score's floor -> no boilerplate -> no copies -> the best, as many as the question needs
        -> key sentences -> the same shape
"""

import logging
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, Unpack

from ctxcompress.config.checks import check_count
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Decision, Reason
from ctxcompress.data.spans import inverse
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.query.complexity import Complexity
from ctxcompress.search.key_sentences import KeySentences, hollow
from ctxcompress.search.result_limits import Drop, Limits, SearchOptions, best_first, complexity_of, left_out
from ctxcompress.search.shapes import Found, Record, read_shape, shown_to_model
from ctxcompress.tokens import TokenCounter

__all__ = ["SearchCompression", "compress_search_results"]

Results = TypeVar("Results")

_FEWEST = 40
"""Characters that one result alone has at least, unless there are fewer to begin with."""

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class SearchCompression(Generic[Results]):
    """What was kept of search results. Tokens are those of the text that a language model reads."""

    results: Results
    """In the shape that came in."""
    is_evident: bool
    """Whether the shape itself says that these are results of a search, or pages that were read: it has them under a
    key such as "results", or they have a score, a snippet, a content or highlights. Lists of anything else with an
    address and a description may be what they are taken for, or not."""
    complexity: Complexity
    original_count: int
    compressed_count: int
    original_tokens: int
    compressed_tokens: int
    dropped: tuple[Decision, ...] = field(repr=False)
    """Every character of the results' texts that was left out, and why: `index` is the place of the result among those
    that came, `passage.metadata["key"]` the key that has the text. A result without text that is not kept is there
    without spans. DUPLICATE: another result of the same page says the same. SCORE and LIMIT: the result is not kept.
    BUDGET: other sentences answer better, a result has nothing but what pages put around their text, or `max_tokens` is
    full."""

    @property
    def tokens_saved(self) -> int:
        return self.original_tokens - self.compressed_tokens

    @property
    def savings_percent(self) -> float:
        """Share of the original tokens that was saved, with one decimal."""
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
    """What of a search's results the question needs, in the shape that they came in.

    results: what a search tool returned: Tavily's answer, a list of results, one alone, Exa's response, what
    LangChain's tools for Tavily, DuckDuckGo, Brave and Exa make of them, or JSON text of it; see docs/search.md. They
    are never changed, and what comes out shares nothing with them that can change. Keys that hold no text of a result
    are as they were, its score among them. A text in which nothing is left out comes back as it is.
    complexity: "simple", "moderate" or "complex": up to 3, 4 or 5 results of 300, 400 or 500 characters. None tells it
    from the query, and is "complex" without one.
    max_tokens: the most that the results may take as a model reads them. Texts get shorter first, then results go, the
    lowest score first, or the last. None bounds them by the limits alone.
    config: what counts tokens (`encoding`) and how sentences are judged (`scorer`, `encoder`, `language`, `synonyms`,
    `type_weights`); its other options are not used.
    limits: `max_results`, `max_characters` (of the texts of a result together) and `max_sentences` (3) in the place of
    those of the complexity; `min_score`, the score below which a result is left out (0.3; None for none). Results
    without a usable score stay, and if all are below it, all stay.

    Of results of one page, as their addresses say, one whose text another one has too is left out; of the same text
    the best-scored stays, or the first. Different parts of a page all count. Sentences are kept in
    their order and verbatim, with what they cannot stand without (a heading, the header of a table); one that is too
    long alone is cut between words and ends in "...".

    Tokens are counted in the text that came, or else in the JSON that frameworks make of the results for the model
    (`json.dumps(results, ensure_ascii=False)`), or in `str(results)` where they do not go into JSON: always as a whole.

    Raises InputError if `results` is none of these shapes or `query` no string, ConfigError on a value that cannot work
    or if what stands around the results takes more than `max_tokens`, TokenizerUnavailable.
    """
    if query is not None and not isinstance(query, str):
        raise InputError(f"query is a {type(query).__name__}; give a string, or None to keep what comes first")
    level = complexity_of(complexity, query)
    checked = Limits.of(level, limits)
    if max_tokens is not None:
        check_count("max_tokens", max_tokens, 1, "or None for no other limits than those of results")
    config = config or CompressionConfig()
    found = read_shape(results)
    if found is None:
        raise InputError(
            f"results is a {type(results).__name__} that holds no search results: these have an address ('url', 'link' "
            "or 'href') and a text ('content', 'snippet', ...); for a plain text there is compress()"
        )
    count = TokenCounter(config.encoding)
    says_nothing = hollow(query or "", found.records, config)
    work = _Work(results, found, left_out(found.records, checked, says_nothing), checked)
    try:
        made = work.within(query or "", config, count, max_tokens)
    except RecursionError as error:
        raise InputError("results are nested too deeply to be copied; take out what is not a result") from error
    return SearchCompression(
        results=made.results,
        is_evident=found.is_evident,
        complexity=level,
        original_count=len(found.records),
        compressed_count=len(made.places),
        original_tokens=count(shown_to_model(results)),
        compressed_tokens=made.tokens,
        dropped=tuple(work.dropped(made)),
    )


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a result."""

    place: int
    key: str
    number: int | None
    """Its place in the list under the key."""
    text: str


@dataclass(frozen=True, slots=True)
class _Made:
    """The results with these places, shortened."""

    results: Any
    places: Sequence[int]
    spans: Mapping[tuple[int, str, int | None], Sequence[Span]]
    """What is kept of their texts."""
    tokens: int


_Key = tuple[str, int | None]
"""Of a text in its result: the key, and the place in the list under it."""


@dataclass(frozen=True, slots=True)
class _Shortened:
    """What is kept of one result's texts."""

    spans: Mapping[_Key, Sequence[Span]]
    changed: Mapping[_Key, str]


class _Shorter:
    """The texts of all results, and what is kept of each in so many characters, looked for once."""

    __slots__ = ("_found", "_numbers", "_sentences", "_texts")

    def __init__(
        self, query: str, records: Sequence[Record], texts: Mapping[int, Sequence[_Text]], config: CompressionConfig
    ) -> None:
        self._texts = [text for place in sorted(texts) for text in texts[place]]
        self._numbers: dict[int, list[int]] = {place: [] for place in texts}
        for number, text in enumerate(self._texts):
            self._numbers[text.place].append(number)
        passages = [Passage(str(text.place), text.text, title=records[text.place].title) for text in self._texts]
        self._sentences = KeySentences(query, passages, config)
        self._found: dict[tuple[int, int], _Shortened] = {}

    def of(self, place: int, characters: int, sentences: int) -> _Shortened:
        if (place, characters) not in self._found:
            kept = self._sentences.of(self._numbers[place], characters, sentences)
            texts = {self._key(number): (self._texts[number].text, of_text) for number, of_text in kept.items()}
            self._found[place, characters] = _Shortened(
                {key: of_text.spans for key, (_, of_text) in texts.items()},
                {key: of_text.text for key, (text, of_text) in texts.items() if of_text.text != text},
            )
        return self._found[place, characters]

    def _key(self, number: int) -> _Key:
        return self._texts[number].key, self._texts[number].number


@dataclass(frozen=True, slots=True)
class _Work:
    """Results that are to be compressed, and which of them are not worth reading."""

    results: object
    found: Found
    left_out: Mapping[int, Drop]
    limits: Limits

    def within(self, query: str, config: CompressionConfig, count: TokenCounter, max_tokens: int | None) -> _Made:
        """The first of the ways to shorten them that fits: so many results as do, and the best of them."""
        records = self.found.records
        places = best_first(records, [place for place in range(len(records)) if place not in self.left_out])
        texts = {place: [text for text in self._texts(place) if text.text.strip()] for place in places}
        shorter = _Shorter(query, records, texts, config)

        def made(number: int, characters: int) -> _Made:
            return self._made(sorted(places[:number]), shorter, characters, count)

        def fits(made: _Made) -> bool:
            return max_tokens is None or made.tokens <= max_tokens

        lengths = (self.limits.max_characters, max(1, self.limits.max_characters // 2))
        most = len(places)
        if max_tokens is not None:
            # The first number that is one too many, among those of more than one result.
            most = bisect_left(range(2, most + 1), True, key=lambda number: not fits(made(number, lengths[-1]))) + 1
        for number in range(min(most, len(places)), 0, -1):
            ways = (made(number, of) for of in (lengths if number > 1 else _lengths_of_one(lengths[0])))
            if fitting := next(filter(fits, ways), None):
                return fitting
        return self._nothing(count, max_tokens, is_cut=bool(places))

    def dropped(self, made: _Made) -> Iterator[Decision]:
        """What of all texts was left out; of a result that is not kept and has no text, that it was."""
        for place, record in enumerate(self.found.records):
            why = self.left_out.get(place, Drop(Reason.BUDGET))
            is_kept = place in made.places
            said = False
            for text in self._texts(place):
                spans = inverse(made.spans.get((place, text.key, text.number), ()), len(text.text))
                if spans and not (is_kept and not text.text.strip()):
                    said = True
                    yield Decision(place, _passage(place, record, text), spans, why.reason, why.duplicate_of)
            if not is_kept and not said:
                yield Decision(place, _passage(place, record), (), why.reason, why.duplicate_of)

    def _texts(self, place: int) -> list[_Text]:
        return [_Text(place, *text) for text in self.found.records[place].texts()]

    def _made(self, places: Sequence[int], shorter: "_Shorter", characters: int, count: TokenCounter) -> _Made:
        """characters: those of each result."""
        shortened = {place: shorter.of(place, characters, self.limits.max_sentences) for place in places}
        kept = [self.found.records[place].with_texts(found.changed) for place, found in shortened.items()]
        spans = {(place, *key): of for place, found in shortened.items() for key, of in found.spans.items()}
        is_same = len(places) == len(self.found.records) and not any(found.changed for found in shortened.values())
        results = self.results if is_same and isinstance(self.results, str) else self.found.rebuilt(kept)
        return _Made(results, places, spans, count(shown_to_model(results)))

    def _nothing(self, count: TokenCounter, max_tokens: int | None, *, is_cut: bool) -> _Made:
        """None of the results."""
        results = self.found.rebuilt([]) if self.found.records else self.results
        tokens = count(shown_to_model(results))
        if max_tokens is not None and tokens > max_tokens:
            raise ConfigError(
                f"max_tokens is {max_tokens}, but what stands around the results alone takes {tokens}; give more"
            )
        if is_cut:
            _log.warning("none of %d results fits into max_tokens=%s: give more", len(self.found.records), max_tokens)
        return _Made(results, (), {}, tokens)


def _lengths_of_one(characters: int) -> Iterator[int]:
    """Ever fewer characters, for the last result that is left."""
    yield characters
    while characters > _FEWEST:
        characters = max(_FEWEST, characters * 3 // 4)
        yield characters


def _passage(place: int, record: Record, text: _Text | None = None) -> Passage:
    """A text of a result, for the account."""
    metadata = {"key": text.key} if text else {}
    return Passage(record.address or str(place), text.text if text else "", title=record.title, metadata=metadata)
