"""The fourth step: choose the segments to keep within the budget, and ask the language model of the options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans
from ctxcompress.data.stats import LLMStats
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.analysis import Analysed, Analyser, Analysis
from ctxcompress.pipeline.llm_selection import Choices, not_asked, select_by_llm
from ctxcompress.pipeline.reducing import Reduced
from ctxcompress.pipeline.scoring import ScoredSegments
from ctxcompress.pipeline.task import Task
from ctxcompress.reduce.reduction import places_in_documents
from ctxcompress.select.delivered_segments import Delivered, all_unknown, delivered_segments
from ctxcompress.select.kept_first import Match, matches_in, select_kept_first
from ctxcompress.select.layout import Layout, arrangement
from ctxcompress.select.previews import previews
from ctxcompress.select.selection import Selection, select

__all__ = ["Choice", "all_of", "choice_of_llm", "select_segments"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The kept parts and their layout."""

    selection: Selection
    layout: Layout
    relevance: Mapping[int, float]
    """Passage number -> the best score of its segments."""
    unlikely: Spans = field(default_factory=dict)
    """Spans of documents that the query hardly needs."""
    delivered: Spans = field(default_factory=dict)
    """Spans of passages that were delivered before."""
    is_emptied: bool = False
    """Whether nothing is kept because nothing is wanted, and not because nothing fits."""
    is_all: bool = False
    """Whether everything that is new fits and is kept."""
    known: frozenset[int] = frozenset()
    """Numbers of the segments that were delivered before."""
    counts: Sequence[int] | None = None
    """The tokens of each segment, if known."""
    is_held: bool = False
    """Whether there is text that must be kept."""
    llm: LLMStats | None = None


def all_of(task: Task, reduced: Reduced) -> Choice | None:
    """Return the choice of everything, in source order, if it fits and nothing may be dropped of it; None otherwise."""
    if reduced.whole is None or task.config.order != "source" or task.delivered_count or task.drops_what_fits:
        return None
    llm = None if task.config.llm is None else not_asked("everything fits")
    return Choice(reduced.whole, reduced.layout, dict.fromkeys(range(len(task.passages)), 1.0), llm=llm)


def select_segments(
    task: Task, reduced: Reduced, analysis: Analysis, scored: ScoredSegments, analyser: Analyser
) -> Choice:
    """Choose the segments to keep within the budget."""
    config, table, budget = task.config, analysis.table, reduced.budget
    matches = _matches(task, reduced, analysis)
    held = chain.from_iterable(match.segments for match in matches)
    delivered = _delivered(task, reduced, analysis, analyser).without(held)
    known = frozenset(delivered.numbers)
    relevance = scored.relevance_of(len(task.passages))
    layout = _layout(config, reduced.layout, analysis, relevance)
    if config.format == "preview":
        return _preview(config, scored, relevance, layout, budget, matches)
    simple = _without_packing(task, reduced, scored, delivered, layout, matches)
    if simple is not None:
        is_emptied = bool(config.adaptive and scored.unlikely)
        unlikely = table.spans(scored.unlikely) if is_emptied else {}
        return Choice(simple, layout, relevance, unlikely, delivered.spans, is_emptied, not is_emptied, known)
    unlikely = table.spans(scored.unlikely)
    if matches:
        selection = select_kept_first(
            matches, analysis.structure, scored.worth, layout, config.budget, known, others=budget
        )
        return Choice(selection, layout, relevance, unlikely, delivered.spans, is_held=True)
    counts = analyser.counts(analysis)
    selection = select(analysis.structure, scored.worth, layout, budget, known, counts=counts)
    return Choice(selection, layout, relevance, unlikely, delivered.spans, known=known, counts=counts)


def _layout(config: CompressionConfig, layout: Layout, analysis: Analysis, relevance: Mapping[int, float]) -> Layout:
    """Return the layout with the order of the options and with gap markers."""
    arrange = layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    return replace(layout, arrange=arrange, elide=analysis.markers, relevance=relevance)


def choice_of_llm(
    task: Task, reduced: Reduced, found: Analysed, scored: ScoredSegments, analyser: Analyser, choice: Choice
) -> Choice:
    """Return the choice of the language model of the options; the given one if there is none, or it does not answer."""
    selector = LLMSelector.of(task.config.llm)
    if selector is None:
        return choice
    reason = _why_not_asked(task, choice)
    if reason:
        return replace(choice, llm=not_asked(reason))
    structure = found.analysis.structure
    choices = Choices(structure, scored.worth, choice.layout, reduced.budget, choice.known, choice.counts)
    named = select_by_llm(selector, task.query, choices, found.passages, analyser.cache, analyser.count)
    if named.selection is None:
        return replace(choice, llm=named.stats)
    unlikely = dict(choice.unlikely)
    for number, spans in named.left_out.items():
        unlikely[number] = tuple(sorted((*unlikely.get(number, ()), *spans)))
    return replace(choice, selection=named.selection, unlikely=unlikely, llm=named.stats)


def _why_not_asked(task: Task, choice: Choice) -> str:
    """Return why the language model has nothing to decide; "" if it has."""
    if task.config.format == "preview":
        return "previews are chosen without it"
    if not task.query.strip():
        return "there is no query"
    if choice.is_emptied:
        return "nothing is wanted"
    if choice.is_held:
        return "what must be kept is chosen without it"
    return "everything fits" if choice.is_all and not task.asks_if_fits else ""


def _preview(
    config: CompressionConfig,
    scored: ScoredSegments,
    relevance: Mapping[int, float],
    layout: Layout,
    budget: int,
    matches: Sequence[Match],
) -> Choice:
    """Choose the best sentence of each passage, with `adaptive` of those that the query may need."""
    unlikely = scored.unlikely if config.adaptive else ()
    keeps_best = config.on_empty != "drop"
    selection = previews(
        scored.table, scored.worth, relevance, layout, budget, unlikely, matches, keeps_best=keeps_best
    )
    is_emptied = not keeps_best and not matches and len(unlikely) == len(scored.table.segments)
    return Choice(selection, layout, relevance, scored.table.spans(unlikely), is_emptied=is_emptied)


def _matches(task: Task, reduced: Reduced, analysis: Analysis) -> list[Match]:
    """Return what must be kept and was not delivered before."""
    documents = reduced.layout.documents
    required = places_in_documents(reduced.reduction.required, documents)
    found = matches_in(analysis.table, required, [document.text for document in documents]) if required else []
    new = {text for text in {match.text for match in found} if text not in task.delivered_context.text}
    return [match for match in found if match.text in new]


def _without_packing(
    task: Task,
    reduced: Reduced,
    scored: ScoredSegments,
    delivered: Delivered,
    layout: Layout,
    matches: Sequence[Match],
) -> Selection | None:
    """Return nothing if nothing is wanted, or everything that is new if that is wanted and fits; None otherwise."""
    config, table = task.config, scored.table
    if config.adaptive and scored.unlikely:
        is_emptied = config.on_empty == "drop" and len(scored.unlikely) == len(table.segments) and not matches
        return Selection.nothing(layout) if is_emptied else None
    if reduced.whole is None and not delivered.numbers:
        return None
    whole = all_unknown(table, delivered, layout)
    return whole if whole.tokens <= reduced.budget else None


def _delivered(task: Task, reduced: Reduced, analysis: Analysis, analyser: Analyser) -> Delivered:
    """Find the segments that were delivered before."""
    before = task.delivered
    if before is None or not before.passages:
        return Delivered()
    had = before.spans_of(enumerate(task.input_passages, task.delivered_count))
    return delivered_segments(analysis.table, reduced.layout, before.unit_texts(analyser, analysis.options), had)
