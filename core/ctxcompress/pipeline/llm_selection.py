"""A language model selects among the segments that extraction keeps for a larger budget: the option `llm`.

The model only names numbers of segments. The texts come from the input, and the budget holds as ever. If the model
gives no useful answer, the result is the one without it, and the statistics say why.
"""

import logging
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind, Passage
from ctxcompress.data.stats import LLMStats
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.language_model import Answer, LLMSelector
from ctxcompress.pipeline.call_cache import AS_JSON, CallCache, key_of
from ctxcompress.pipeline.threads import NoAnswerError, ask
from ctxcompress.render.formats import path_of, section_of, title_of
from ctxcompress.select.layout import Layout
from ctxcompress.select.numbered_prompts import NumberedPrompt, numbered_prompts
from ctxcompress.select.selection import Selection, ranked, select, select_in_order
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Choices", "LLMSelection", "not_asked", "select_by_llm"]

_LONGEST_COUNTED = 100_000
"""Characters of an answer whose tokens are counted."""

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
    cache: CallCache,
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
        starts = [span.start for span in of_document]
        for number in range(table.first[document], table.first[document + 1]):
            text = table.texts[number]
            place = table.start[number] + len(text) - len(text.lstrip())
            before = bisect_right(starts, place)
            if before and place < of_document[before - 1].end:
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
        self, selector: LLMSelector, prompts: Sequence[NumberedPrompt], cache: CallCache, count: TokenCounter
    ) -> None:
        self._selector, self._prompts, self._cache, self._count = selector, prompts, cache, count
        self._identity = selector.model.identity if cache else ""
        self.stats = LLMStats("cached")

    def named(self, worth: Floats) -> list[int]:
        """Return the segments that the answers name, the most important first.

        The first ones of all answers come before the second ones of all. Raises NoAnswerError if one prompt has no
        useful answer, or no segment is named.
        """
        texts: list[str | None] = [self._cache.get(self._key(prompt), AS_JSON) for prompt in self._prompts]
        missing = [prompt for prompt, text in zip(self._prompts, texts, strict=True) if text is None]
        answers = iter(self._answers(missing) if missing else ())
        found = [
            self._read(prompt, next(answers).text) if text is None else prompt.named(text)
            for prompt, text in zip(self._prompts, texts, strict=True)
        ]
        named = [
            number
            for places in zip_longest(*found)
            for number in sorted((n for n in places if n is not None), key=lambda n: (-float(worth[n]), n))
        ]
        if not named:
            raise NoAnswerError("no segment is named")
        return named

    def _answers(self, missing: Sequence[NumberedPrompt]) -> Sequence[Answer]:
        self.stats = LLMStats("used", calls=len(missing))
        answers = ask(self._selector.model, [prompt.prompt for prompt in missing], self._selector.timeout)
        self._count_cost(missing, answers)
        return answers

    def _read(self, prompt: NumberedPrompt, text: str) -> list[int]:
        """Return the segments that a new answer names, and put it into the cache. Raises NoAnswerError."""
        try:
            named = prompt.named(text)
        except ValueError as error:
            raise NoAnswerError(str(error)) from error
        self._cache.put(self._key(prompt), text, AS_JSON)
        return named

    def _key(self, prompt: NumberedPrompt) -> str | None:
        return key_of("llm", self._identity, *prompt.prompt) if self._identity else None

    def _count_cost(self, asked: Sequence[NumberedPrompt], answers: Sequence[Answer]) -> None:
        given = [(_natural(answer.input_tokens), _natural(answer.output_tokens)) for answer in answers]
        pairs = list(zip(asked, answers, given, strict=True))
        read = [self._count(str(prompt.prompt)) if known is None else known for prompt, _, (known, _) in pairs]
        written = [
            self._count(answer.text[:_LONGEST_COUNTED]) if known is None else known for _, answer, (_, known) in pairs
        ]
        costs = [answer.cost for answer in answers if isinstance(answer.cost, int | float)]
        self.stats = replace(
            self.stats,
            input_tokens=sum(read),
            output_tokens=sum(written),
            is_estimated=any(None in pair for pair in given),
            cost=sum(costs) if len(costs) == len(answers) else self._selector.cost(sum(read), sum(written)),
        )


def _natural(tokens: object) -> int | None:
    is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0
    return int(tokens) if is_count else None  # type: ignore[call-overload]
