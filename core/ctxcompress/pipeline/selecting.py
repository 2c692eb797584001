"""The fourth step: choose the segments to keep within the budget, by their worth, and then with `llm` by those that a
language model names among what extraction would keep for a larger budget.

The model only names numbers of segments. The texts come from the input, and the budget holds as ever. If the model
gives no useful answer, the result is the one without it, and the statistics say why.
"""

import logging
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind, Passage
from ctxcompress.data.stats import LLMStats
from ctxcompress.data.table import SegmentTable
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.analysis import Analyser, Analysis
from ctxcompress.pipeline.numbered_prompts import Asking, NoAnswerError, numbered_prompts
from ctxcompress.pipeline.reducing import Reduced
from ctxcompress.pipeline.scoring import ScoredSegments
from ctxcompress.pipeline.task import Task
from ctxcompress.reduce.reduction import places_in_documents
from ctxcompress.render.formats import path_of, section_of, title_of
from ctxcompress.select.kept_first import Match, best_of_each, matches_in, select_kept_first, select_of_each
from ctxcompress.select.layout import Elide, Layout, arrangement
from ctxcompress.select.previews import previews
from ctxcompress.select.repetition import Delivered, all_unknown, delivered_segments
from ctxcompress.select.selection import Choices, Selection, ranked, select_in_order

__all__ = ["Choice", "all_of", "choice_of_llm", "select_segments"]

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class Choice:
    """The kept parts and their layout."""

    selection: Selection
    layout: Layout
    unlikely: Spans = field(default_factory=dict)
    """Spans of documents that the query hardly needs."""
    delivered: Spans = field(default_factory=dict)
    """Spans of passages that were delivered before."""
    is_emptied: bool = False
    """Whether nothing is kept because nothing is wanted, and not because nothing fits."""
    choices: Choices | None = None
    """What a language model may decide about; None if nothing is left to decide."""
    settled: str = "there is no query"
    """Why a language model has nothing to decide."""
    llm: LLMStats | None = None


def all_of(task: Task, reduced: Reduced) -> Choice | None:
    """Return the choice of everything, in source order, if it fits and nothing may be dropped of it; None otherwise."""
    if reduced.whole is None or task.config.order != "source" or task.delivered_count or task.drops_what_fits:
        return None
    llm = None if task.config.llm is None else _not_asked("everything fits")
    return Choice(reduced.whole, reduced.layout, llm=llm)


def _markers(analysis: Analysis, config: CompressionConfig) -> Elide:
    """Return what finds the gap markers in a document of which spans are kept."""
    if not config.gap_markers:  # source code may be invalid without them
        return lambda number, spans, _: analysis.markers(number, spans) if number in analysis.elisions else ()
    is_on_lines = config.format == "preview"  # each text alone
    return lambda number, spans, is_lone: analysis.markers(number, spans, is_lone or is_on_lines)


def select_segments(
    task: Task, reduced: Reduced, analysis: Analysis, scored: ScoredSegments, analyser: Analyser
) -> Choice:
    """Choose the segments to keep within the budget."""
    config, table, budget = task.config, analysis.table, reduced.budget
    matches = _matches(task, reduced, analysis)
    delivered = _delivered(task, reduced, analysis, analyser)
    delivered = delivered.without(chain.from_iterable(match.segments for match in matches))
    known, relevance = delivered.numbers, _relevance(task, table, scored)
    # with the order of the options, and with gap markers
    arrange = reduced.layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    elide = _markers(analysis, config)
    layout = replace(reduced.layout, arrange=arrange, elide=elide, relevance=relevance)
    chosen = partial(Choice, layout=layout, delivered=delivered.spans)
    is_pruned = bool(config.adaptive and scored.unlikely)
    is_kept = bool(matches or layout.sources)
    is_emptied = is_pruned and config.on_empty == "drop" and len(scored.unlikely) == len(table.segments) and not is_kept
    if config.format == "preview":
        avoided, keeps_best = scored.unlikely if config.adaptive else (), config.on_empty != "drop"
        found = previews(table, scored.worth, relevance, layout, budget, avoided, matches, keeps_best=keeps_best)
        dropped = table.spans(avoided)
        return chosen(found, unlikely=dropped, is_emptied=is_emptied, settled="previews are chosen without it")
    unlikely = table.spans(scored.unlikely)
    if is_emptied:
        return chosen(Selection.of({}, layout), unlikely=unlikely, is_emptied=True, settled="nothing is wanted")
    choices = Choices(analysis.structure, scored.worth, layout, budget, known)
    if not is_pruned and (reduced.whole is not None or known):
        found = Selection.of(all_unknown(table, delivered, layout), layout)
        if found.tokens <= budget:
            return chosen(found, choices=choices if task.asks_if_fits else None, settled="everything fits")
    if matches:
        found = select_kept_first(
            matches, analysis.structure, scored.worth, layout, config.budget, known, others=budget
        )
        return chosen(found, unlikely=unlikely, settled="what must be kept is chosen without it")
    choices = replace(choices, counts=analyser.counts(analysis))
    return chosen(select_of_each(choices), unlikely=unlikely, choices=choices)


def _relevance(task: Task, table: SegmentTable, scored: ScoredSegments) -> dict[int, float]:
    """Return the best score of each passage's segments, 0 for a passage without segments."""
    best = np.zeros(len(task.passages))
    np.maximum.at(best, table.passage, scored.scores)
    return dict(enumerate(best.tolist()))


def _matches(task: Task, reduced: Reduced, analysis: Analysis) -> list[Match]:
    """Return what must be kept and was not delivered before."""
    documents = reduced.layout.documents
    required = places_in_documents(reduced.reduction.required, documents)
    found = matches_in(analysis.table, required, documents)
    new = {text for text in {match.text for match in found} if text not in task.delivered_context.text}
    return [match for match in found if match.text in new]


def _delivered(task: Task, reduced: Reduced, analysis: Analysis, analyser: Analyser) -> Delivered:
    """Find the segments that were delivered before."""
    before = task.delivered
    if before is None or not before.passages:
        return Delivered()
    had = before.spans_of(enumerate(task.input_passages, task.delivered_count))
    return delivered_segments(analysis.table, reduced.layout, before.unit_texts(analyser, analysis.options), had)


def choice_of_llm(task: Task, choice: Choice, document_passages: Sequence[Passage], analyser: Analyser) -> Choice:
    """Return the choice of the language model of the options; the given one if there is none, or it does not answer.

    The model is asked which segments to keep. They are kept as far as they fit, with what they need. document_passages:
    each document as a passage.

    Raises CancelledError if the compression is cancelled.
    """
    selector, choices = LLMSelector.of(task.config.llm), choice.choices
    if selector is None:
        return choice
    if choices is None or not task.query.strip():
        return replace(choice, llm=_not_asked(choice.settled))
    table = choices.structure.table
    larger = replace(choices, budget=selector.budget_of_candidates(choices.budget))
    shown = _kept_segments(table, select_of_each(larger).spans)
    new = (number for number in shown if choices.structure.stands[number] and number not in choices.known)
    may_be_named = {number for number in new if table.kind[number] is not Kind.HEADING}
    unnamed = set(shown).difference(may_be_named)
    prompts = numbered_prompts(task.query, table, shown, unnamed, list(map(_name, document_passages)))
    if not prompts:
        return replace(choice, llm=_not_asked("there is nothing to choose from"))
    asking = Asking(selector, prompts, analyser)
    try:
        named = asking.named(choices.values)
        selection = _composed(choices, named, may_be_named, fills=selector.fill_budget)
    except NoAnswerError as error:
        _log.warning("the language model selects nothing (%s); continuing without it", error)
        return replace(choice, llm=replace(asking.stats, outcome=f"failed: {error}", candidates=len(may_be_named)))
    unlikely = dict(choice.unlikely)
    left_out = set[int]() if selector.fill_budget else may_be_named.difference(named)
    for number, spans in table.spans(sorted(left_out)).items():
        unlikely[number] = tuple(sorted((*unlikely.get(number, ()), *spans)))
    stats = replace(asking.stats, candidates=len(may_be_named), named=len(named))
    return replace(choice, selection=selection, unlikely=unlikely, llm=stats)


def _not_asked(reason: str) -> LLMStats:
    """Return the statistics of a compression that needs no model."""
    return LLMStats(f"not asked: {reason}")


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


def _name(passage: Passage) -> str:
    """Return the source of a document on one line."""
    source = path_of(passage) or title_of(passage)
    section = section_of(passage)
    return f"{source} § {section}".strip() if section else source


def _composed(choices: Choices, named: Sequence[int], candidates: Collection[int], *, fills: bool) -> Selection:
    """Return the selection of the named segments, each with the heading above it. Raises NoAnswerError if none fits.

    fills: whether other candidates fill the rest of the budget.
    """
    structure, above = choices.structure, choices.structure.table.above
    others = [number for number in ranked(structure, choices.values) if number in candidates]
    of_each = best_of_each(structure, choices.values, choices.known) if choices.layout.sources else ()
    wanted = [*named, *of_each, *(others if fills else ())]
    with_headings = dict.fromkeys(number for name in wanted for number in (name, above[name]) if number >= 0)
    order = [number for number in with_headings if number not in choices.known]
    found = select_in_order(choices, order, others)
    if found is None:  # each is larger than the budget, so the first one is split
        only = np.where(np.arange(choices.values.size) == named[0], 1.0, -1.0)
        found = select_of_each(replace(choices, values=only, counts=None))
    if not found.spans:
        raise NoAnswerError("nothing that it names fits")
    return found
