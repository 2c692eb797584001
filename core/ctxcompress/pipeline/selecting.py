"""The fourth step: choose the segments to keep within the budget, and ask the language model of the options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Passage
from ctxcompress.data.stats import LLMStats
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.analysis import Analyser, Analysis
from ctxcompress.pipeline.llm_selection import Choices, not_asked, select_by_llm
from ctxcompress.pipeline.reducing import Reduced
from ctxcompress.pipeline.scoring import ScoredSegments
from ctxcompress.pipeline.task import Task
from ctxcompress.reduce.required import places_in_documents
from ctxcompress.select.delivered_segments import Delivered, all_unknown, delivered_segments
from ctxcompress.select.kept_first import Match, matches_in, select_kept_first
from ctxcompress.select.layout import Layout, arrangement
from ctxcompress.select.previews import previews
from ctxcompress.select.selection import Selection

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
    choices: Choices | None = None
    """What a language model may decide about; None if nothing is left to decide."""
    settled: str = "there is no query"
    """Why a language model has nothing to decide."""
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
    delivered = _delivered(task, reduced, analysis, analyser)
    delivered = delivered.without(chain.from_iterable(match.segments for match in matches))
    known, relevance = frozenset(delivered.numbers), scored.relevance_of(len(task.passages))
    # with the order of the options, and with gap markers
    arrange = reduced.layout.arrange if config.order == "source" else arrangement(config.order, relevance)
    layout = replace(reduced.layout, arrange=arrange, elide=analysis.markers, relevance=relevance)
    chosen = partial(Choice, layout=layout, relevance=relevance, delivered=delivered.spans)
    is_pruned = bool(config.adaptive and scored.unlikely)
    is_emptied = is_pruned and config.on_empty == "drop" and len(scored.unlikely) == len(table.segments) and not matches
    if config.format == "preview":
        layout = replace(
            layout, elide=lambda number, spans, _: analysis.markers(number, spans, True)
        )  # as each line is
        found = _previews(config, scored, relevance, layout, budget, matches)
        dropped = table.spans(scored.unlikely if is_pruned else ())
        return chosen(
            found, layout=layout, unlikely=dropped, is_emptied=is_emptied, settled="previews are chosen without it"
        )
    unlikely = table.spans(scored.unlikely)
    if is_emptied:
        return chosen(Selection.of({}, layout), unlikely=unlikely, is_emptied=True, settled="nothing is wanted")
    choices = Choices(analysis.structure, scored.worth, layout, budget, known)
    if not is_pruned and (reduced.whole is not None or known):
        found = all_unknown(table, delivered, layout)
        if found.tokens <= budget:
            return chosen(found, choices=choices if task.asks_if_fits else None, settled="everything fits")
    if matches:
        found = select_kept_first(
            matches, analysis.structure, scored.worth, layout, config.budget, known, others=budget
        )
        return chosen(found, unlikely=unlikely, settled="what must be kept is chosen without it")
    choices = replace(choices, counts=analyser.counts(analysis))
    return chosen(choices.selected(budget), unlikely=unlikely, choices=choices)


def choice_of_llm(task: Task, choice: Choice, document_passages: Sequence[Passage], analyser: Analyser) -> Choice:
    """Return the choice of the language model of the options; the given one if there is none, or it does not answer.

    document_passages: each document as a passage.
    """
    selector = LLMSelector.of(task.config.llm)
    if selector is None:
        return choice
    if choice.choices is None or not task.query.strip():
        return replace(choice, llm=not_asked(choice.settled))
    found = select_by_llm(selector, task.query, choice.choices, document_passages, analyser.cache, analyser.count)
    if found.selection is None:
        return replace(choice, llm=found.stats)
    unlikely = dict(choice.unlikely)
    for number, spans in found.left_out.items():
        unlikely[number] = tuple(sorted((*unlikely.get(number, ()), *spans)))
    return replace(choice, selection=found.selection, unlikely=unlikely, llm=found.stats)


def _previews(
    config: CompressionConfig,
    scored: ScoredSegments,
    relevance: Mapping[int, float],
    layout: Layout,
    budget: int,
    matches: Sequence[Match],
) -> Selection:
    """Select the best sentence of each passage, with `adaptive` of those that the query may need."""
    unlikely = scored.unlikely if config.adaptive else ()
    keeps_best = config.on_empty != "drop"
    return previews(scored.table, scored.worth, relevance, layout, budget, unlikely, matches, keeps_best=keeps_best)


def _matches(task: Task, reduced: Reduced, analysis: Analysis) -> list[Match]:
    """Return what must be kept and was not delivered before."""
    documents = reduced.layout.documents
    required = places_in_documents(reduced.reduction.required, documents)
    found = matches_in(analysis.table, required, [document.text for document in documents]) if required else []
    new = {text for text in {match.text for match in found} if text not in task.delivered_context.text}
    return [match for match in found if match.text in new]


def _delivered(task: Task, reduced: Reduced, analysis: Analysis, analyser: Analyser) -> Delivered:
    """Find the segments that were delivered before."""
    before = task.delivered
    if before is None or not before.passages:
        return Delivered()
    had = before.spans_of(enumerate(task.input_passages, task.delivered_count))
    return delivered_segments(analysis.table, reduced.layout, before.unit_texts(analyser, analysis.options), had)
