"""A language model selects among the segments that extraction keeps for a larger budget: the option `llm`.

The model only names numbers of segments. The texts come from the input, and the budget holds as ever. If the model
gives no useful answer, the result is the one without it, and the statistics say why.
"""

import json
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind, Passage
from ctxcompress.data.stats import LLMStats
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.language_model import Answer, LLMSelector
from ctxcompress.pipeline.asking import NoAnswerError, ask
from ctxcompress.pipeline.call_cache import CallCache, key_of
from ctxcompress.render.formats import path_of, section_of, title_of
from ctxcompress.select.layout import Layout
from ctxcompress.select.numbered_prompts import NumberedPrompt, numbered_prompts
from ctxcompress.select.selection import Selection, ranked, select, select_in_order
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Choices", "LLMSelection", "not_asked", "select_by_llm"]

_LONGEST_COUNTED = 100_000
"""Characters of an answer whose tokens are counted."""
_NUMBER_SIZE = 32
"""Bytes of memory for each number of an answer."""

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class Choices:
    """The segments and the budget, as the selection without a model takes them: see `select`."""

    structure: Structure
    worth: Floats
    layout: Layout
    budget: int
    known: frozenset[int] = frozenset()
    counts: Sequence[int] | None = None

    def selected(self, budget: int) -> Selection:
        """Select without a model for this budget."""
        return select(self.structure, self.worth, self.layout, budget, self.known, counts=self.counts)


@dataclass(frozen=True, slots=True)
class LLMSelection:
    """What the model selected."""

    stats: LLMStats
    selection: Selection | None = None
    """None if the result without the model stands."""
    left_out: Spans = field(default_factory=dict)
    """Spans of documents that the model read and did not name."""


def not_asked(reason: str) -> LLMStats:
    """Return the statistics of a compression that needs no model."""
    return LLMStats(f"not asked: {reason}")


def select_by_llm(
    selector: LLMSelector,
    query: str,
    choices: Choices,
    document_passages: Sequence[Passage],
    cache: CallCache | None,
    count: TokenCounter,
) -> LLMSelection:
    """Ask the model which segments to keep, and keep them as far as they fit, with what they need.

    document_passages: each document as a passage. count: for models that do not say how many tokens they read.

    Raises CancelledError if the compression is cancelled.
    """
    table = choices.structure.table
    shown = _kept_segments(table, choices.selected(selector.budget_of_candidates(choices.budget)).spans)
    unnamed = {n for n in shown if not _may_be_named(choices, n)}
    names = [_name(passage) for passage in document_passages]
    prompts = numbered_prompts(query, table, shown, unnamed, names)
    candidates = len(shown) - len(unnamed)
    if not prompts:
        return LLMSelection(not_asked("there is nothing to choose from"))
    asking = _Asking(selector, prompts, cache, count)
    try:
        named = asking.named(choices.worth)
        selection = _composed(choices, named, set(shown).difference(unnamed), fills=selector.fill_budget)
    except NoAnswerError as error:
        _log.warning("the language model selects nothing (%s); continuing without it", error)
        return LLMSelection(replace(asking.stats, outcome=f"failed: {error}", candidates=candidates))
    left_out = {} if selector.fill_budget else table.spans(sorted(set(shown).difference(unnamed, named)))
    return LLMSelection(replace(asking.stats, candidates=candidates, named=len(named)), selection, left_out)


def _kept_segments(table: SegmentTable, spans: Spans) -> list[int]:
    """Return the segments whose first visible character is in these spans."""
    found: list[int] = []
    for document, of_document in sorted(spans.items()):
        left = iter(of_document)
        span = next(left, None)
        for number in range(table.first[document], table.first[document + 1]):
            text = table.texts[number]
            start = table.start[number] + len(text) - len(text.lstrip())
            while span is not None and span.end <= start:
                span = next(left, None)
            if span is not None and span.start <= start:
                found.append(number)
    return found


def _may_be_named(choices: Choices, number: int) -> bool:
    structure = choices.structure
    kind = structure.table.kind[number]
    return structure.stands[number] and kind is not Kind.HEADING and number not in choices.known


def _name(passage: Passage) -> str:
    """Return the source of a document on one line."""
    source = path_of(passage) or title_of(passage)
    section = section_of(passage)
    return f"{source} § {section}".strip() if section else source


def _composed(choices: Choices, named: Sequence[int], candidates: Collection[int], *, fills: bool) -> Selection:
    """Return the selection of the named segments, each with the heading above it. Raises NoAnswerError if none fits.

    fills: whether other candidates fill the rest of the budget.
    """
    structure, above = choices.structure, choices.structure.table.headings_above()
    others = [number for number in ranked(structure, choices.worth) if number in candidates]
    wanted = [*named, *others] if fills else named
    with_headings = dict.fromkeys(number for name in wanted for number in (name, above[name]) if number >= 0)
    order = [number for number in with_headings if number not in choices.known]
    found = select_in_order(structure, order, others, choices.layout, choices.budget, counts=choices.counts)
    if found is None:  # each is larger than the budget, so the first one is split
        only = replace(choices, worth=_only(choices.worth, named[0]), counts=None)
        found = only.selected(choices.budget)
    if not found.spans:
        raise NoAnswerError("nothing that it names fits")
    return found


def _only(worth: Floats, number: int) -> Floats:
    """Return values with which only this segment is worth keeping."""
    values = worth * 0 - 1.0
    values[number] = 1.0
    return values


class _Asking:
    """Asks for the prompts of one compression, and counts what that costs."""

    __slots__ = ("_cache", "_count", "_identity", "_prompts", "_selector", "stats")

    def __init__(
        self, selector: LLMSelector, prompts: Sequence[NumberedPrompt], cache: CallCache | None, count: TokenCounter
    ) -> None:
        self._selector, self._prompts, self._cache, self._count = selector, prompts, cache, count
        self._identity = "" if cache is None else selector.model.identity
        self.stats = LLMStats("cached")

    def named(self, worth: Floats) -> list[int]:
        """Return the segments that the answers name, the most important first.

        The first ones of all answers come before the second ones of all. Raises NoAnswerError if one prompt has no
        useful answer, or no segment is named.
        """
        found = self._known()
        missing = [number for number in range(len(self._prompts)) if number not in found]
        if missing:
            self.stats = LLMStats("used", calls=len(missing))
            prompts = [self._prompts[number].prompt for number in missing]
            answers = ask(self._selector.model, prompts, self._selector.timeout)
            self._count_cost(missing, answers)
            found |= {number: self._read(number, answer) for number, answer in zip(missing, answers, strict=True)}
        by_place = zip_longest(*(found[number] for number in sorted(found)))
        named = [segment for place in by_place for segment in _best_first(place, worth)]
        if not named:
            raise NoAnswerError("no segment is named")
        return named

    def _known(self) -> dict[int, list[int]]:
        """Return number of a prompt -> the segments of its answer in the cache."""
        found: dict[int, list[int]] = {}
        for number, prompt in enumerate(self._prompts):
            key = self._key(prompt)
            if self._cache is None or key is None:
                continue
            places = self._cache.get(key, _PlacesCodec(len(prompt.segments)))
            if places is not None:
                found[number] = [prompt.segments[place] for place in places]
        return found

    def _read(self, number: int, answer: Answer) -> list[int]:
        """Return the segments that an answer names, and put it into the cache. Raises NoAnswerError."""
        prompt = self._prompts[number]
        try:
            named = prompt.named(answer.text)
        except ValueError as error:
            raise NoAnswerError(str(error)) from error
        key = self._key(prompt)
        if self._cache is not None and key is not None:
            places = {segment: place for place, segment in enumerate(prompt.segments)}
            self._cache.put(key, [places[segment] for segment in named], _PlacesCodec(len(prompt.segments)))
        return named

    def _key(self, prompt: NumberedPrompt) -> str | None:
        return key_of("llm", self._identity, *prompt.prompt) if self._identity else None

    def _count_cost(self, missing: Sequence[int], answers: Sequence[Answer]) -> None:
        given = [(_natural(answer.input_tokens), _natural(answer.output_tokens)) for answer in answers]
        read = [
            self._count(str(self._prompts[number].prompt)) if tokens is None else tokens
            for number, (tokens, _) in zip(missing, given, strict=True)
        ]
        written = [
            self._count(answer.text[:_LONGEST_COUNTED]) if tokens is None else tokens
            for answer, (_, tokens) in zip(answers, given, strict=True)
        ]
        costs = [answer.cost for answer in answers if isinstance(answer.cost, int | float)]
        self.stats = replace(
            self.stats,
            input_tokens=sum(read),
            output_tokens=sum(written),
            is_estimated=any(None in pair for pair in given),
            cost=sum(costs) if len(costs) == len(answers) else self._selector.cost(sum(read), sum(written)),
        )


def _best_first(segments: Sequence[int | None], worth: Floats) -> Iterator[int]:
    """Yield the segments that have the same place in several answers."""
    yield from sorted((n for n in segments if n is not None), key=lambda n: (-float(worth[n]), n))


def _natural(tokens: object) -> int | None:
    is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0
    return int(tokens) if is_count else None  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class _PlacesCodec:
    """Encodes an answer: the places of the named segments among those of the prompt."""

    segments: int

    def encode(self, value: Sequence[int], /) -> bytes:
        return json.dumps([*value]).encode()

    def decode(self, data: bytes, /) -> list[int]:
        """Raises ValueError if it is damaged."""
        try:
            places = json.loads(data)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if not isinstance(places, list) or not all(type(n) is int and 0 <= n < self.segments for n in places):
            raise ValueError("it names a segment that does not exist")
        return places

    def estimated_size(self, value: Sequence[int], /) -> int:
        return _NUMBER_SIZE * (4 + len(value))
