"""Search results, compressed: which of them are kept, and what of their texts.

The rules and the limits are those of "Query Complexity & Result Compression" (Context Engine Series, part 2). Two
things differ: results of one page are kept once, and the scorer says which sentences matter, where words are counted
there.

results -> one of each page -> the score's floor -> so many as the question needs -> key sentences -> the same shape
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, Unpack

from ctxcompress.checks import check_count
from ctxcompress.config import CompressionConfig
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.query.complexity import Complexity
from ctxcompress.search.limits import LeftOut, Limits, SearchOptions, complexity_of, left_out
from ctxcompress.search.sentences import KeySentences
from ctxcompress.search.shapes import Found, Record, read_shape, shown_to_model
from ctxcompress.spans import inverse
from ctxcompress.tokens import TokenCounter
from ctxcompress.types import Decision, Passage, Reason, Span

__all__ = ["SearchCompression", "compress_search_results"]

Results = TypeVar("Results")

_PARTS = (1, 2)
"""What a result's characters are divided by before the last result is left out of a budget."""
_PARTS_OF_ONE = (1, 2, 4, 8)
"""The same where there is only one left."""

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class SearchCompression(Generic[Results]):
    """What was kept of search results. Tokens are those of the text that a language model reads."""

    results: Results
    """In the shape that came in."""
    complexity: Complexity
    original_count: int
    compressed_count: int
    original_tokens: int
    compressed_tokens: int
    dropped: tuple[Decision, ...] = field(repr=False)
    """Every character of the results' texts that was left out, and why: `index` is the place of the result among those
    that came, `passage.metadata["key"]` the key that has the text. DUPLICATE: a result of the same page is kept. SCORE
    and LIMIT: the result is not kept. BUDGET: other sentences answer better, or `max_tokens` is full."""

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

    results: what a search tool returned: Tavily's answer, a list of results, Exa's response, what LangChain's tools for
    Tavily, DuckDuckGo, Brave and Exa make of them, or JSON text of it; see docs/search.md. They are never changed, and
    what comes out shares nothing with them that can change. Keys that hold no text of a result are as they were, its
    score among them. A text in which nothing is left out comes back as it is.
    complexity: "simple", "moderate" or "complex": up to 3, 4 or 5 results of 300, 400 or 500 characters. None tells it
    from the query, and is "complex" without one.
    max_tokens: the most that the results may take as a model reads them. Texts get shorter first, then the last
    results go. None bounds them by the limits alone.
    config: what counts tokens (`encoding`) and how sentences are judged (`scorer`, `encoder`, `language`, `synonyms`,
    `type_weights`); its other options are not used.
    limits: `max_results`, `max_characters` (of the texts of a result together) and `max_sentences` (3) in the place of
    those of the complexity; `min_score`, the score below which a result is left out (0.3; None for none). Results
    without a usable score stay, and if all are below it, all stay.

    Of several results of one page, as their addresses say, the best-scored stays, or the first. Sentences are kept in
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
    work = _Work(results, found, left_out(found.records, checked), checked)
    try:
        made = work.within(query or "", config, count, max_tokens)
    except RecursionError as error:
        raise InputError("results are nested too deeply to be copied; take out what is not a result") from error
    return SearchCompression(
        results=made.results,
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


@dataclass(frozen=True, slots=True)
class _Work:
    """Results that are to be compressed, and which of them are not worth reading."""

    results: object
    found: Found
    left_out: Mapping[int, LeftOut]
    limits: Limits

    def within(self, query: str, config: CompressionConfig, count: TokenCounter, max_tokens: int | None) -> _Made:
        """The first of the ways to shorten them that fits."""
        places = [place for place in range(len(self.found.records)) if place not in self.left_out]
        texts = [text for place in places for text in self._texts(place) if text.text.strip()]
        passages = [Passage(str(text.place), text.text, title=self.found.records[text.place].title) for text in texts]
        sentences = KeySentences(query, passages, config)
        made = None
        for number in range(len(places), 0, -1):
            for part in _PARTS if number > 1 else _PARTS_OF_ONE:
                made = self._made(places[:number], texts, sentences, part, count)
                if max_tokens is None or made.tokens <= max_tokens:
                    return made
        return self._nothing(count, max_tokens, is_cut=made is not None)

    def dropped(self, made: _Made) -> Iterator[Decision]:
        """What of all texts was left out."""
        for place, record in enumerate(self.found.records):
            why = self.left_out.get(place, LeftOut(Reason.BUDGET))
            for text in self._texts(place):
                spans = inverse(made.spans.get((place, text.key, text.number), ()), len(text.text))
                is_blank = place in made.places and not text.text.strip()
                if spans and not is_blank:
                    metadata = {"key": text.key}
                    passage = Passage(record.address or str(place), text.text, title=record.title, metadata=metadata)
                    yield Decision(place, passage, spans, why.reason, why.duplicate_of)

    def _texts(self, place: int) -> list[_Text]:
        return [_Text(place, *text) for text in self.found.records[place].texts()]

    def _made(
        self, places: Sequence[int], texts: Sequence[_Text], sentences: KeySentences, part: int, count: TokenCounter
    ) -> _Made:
        """part: what the characters of a result are divided by."""
        characters = max(1, self.limits.max_characters // part)
        kept: list[Record] = []
        spans = {}
        is_same = len(places) == len(self.found.records)
        for place in places:
            numbers = [number for number, text in enumerate(texts) if text.place == place]
            shorter = {}
            for number, of_text in sentences.of(numbers, characters, self.limits.max_sentences).items():
                text = texts[number]
                spans[place, text.key, text.number] = of_text.spans
                if of_text.text != text.text:
                    shorter[text.key, text.number] = of_text.text
            is_same = is_same and not shorter
            kept.append(self.found.records[place].with_texts(shorter))
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
