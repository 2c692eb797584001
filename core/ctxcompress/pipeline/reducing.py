"""The first step: drop whole passages, truncate long ones, and lay out what is left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctxcompress.data.documents import Document, passages_of
from ctxcompress.data.results import Reason, StageStats
from ctxcompress.data.stats import Clock
from ctxcompress.pipeline.analysis import Analyser
from ctxcompress.pipeline.long_passages import Gaps, find_escapes, length_limit, metadata_lines, truncate_passages
from ctxcompress.pipeline.presentation import OriginalText, Presentation
from ctxcompress.pipeline.shortlisting import find_shortlist
from ctxcompress.pipeline.task import Task
from ctxcompress.pipeline.text_codec import FEW_OBJECTS
from ctxcompress.reduce.delivered_texts import DeliveredTexts
from ctxcompress.reduce.filters import standing
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.reduce.stages import reduced
from ctxcompress.select.layout import Layout
from ctxcompress.select.previews import Lines
from ctxcompress.select.selection import Selection

__all__ = ["Reduced", "reduce_passages"]


@dataclass(frozen=True, slots=True)
class Reduced:
    """The documents that are left, and the budget for them."""

    reduction: Reduction
    layout: Layout
    """The documents, and how the final text shows them."""
    lines: Lines
    """The metadata lines that replace passages with a low score."""
    budget: int
    """The tokens for documents: the budget without the share of the lines."""
    whole: Selection | None
    """All documents, if they fit; None otherwise."""
    original: OriginalText
    """The input, shown like the final text."""
    stages: Sequence[StageStats]


def reduce_passages(task: Task, analyser: Analyser, key: str | None) -> Reduced:
    """Drop passages by score, as duplicates and by number; join overlapping ones; truncate those that are too long.

    key: of the passages and the options in the cache, if it can hold them.
    """
    config = task.config
    presentation = Presentation.of(task)
    original = presentation.of_input(task.input_passages)
    tokens = analyser.fits(untouched := original.text, config.budget)
    reduction = _reduction(task, analyser, key, fits=tokens is not None)
    clock = Clock()
    documents, gaps, reduction = _truncate(task, reduction, clock)
    layout = replace(
        presentation.layout(task.passages, documents, analyser.count, task.delivered_count),
        arrange=sorted if task.delivered is None else list,
        before=task.delivered_context.text,
        delivered_runs=task.delivered.runs if task.delivered else frozenset,
        gaps=gaps,
        escapes=find_escapes(enumerate(task.input_passages, task.delivered_count), config),
    )
    lines, reduction = _metadata_lines(task, reduction)
    budget = config.budget - lines.reserve(layout, config.budget)
    is_changed = task.delivered_count or gaps or layout.escapes or not reduction.is_everything(len(task.passages))
    is_too_long = tokens is None and not is_changed
    whole = None if is_too_long else _whole(layout, untouched, tokens, analyser, budget)
    return Reduced(reduction, layout, lines, budget, whole, original, (*reduction.stages, *clock.laps))


def _reduction(task: Task, analyser: Analyser, key: str | None, *, fits: bool) -> Reduction:
    """Reduce the passages, or take from the cache what another query left there."""
    shortlist = None if fits else find_shortlist(task)  # which depends on the query
    cache, key = analyser.cache, f"reduced:{fits}:{key}" if key and shortlist is None else None
    known = cache.get(key, FEW_OBJECTS) if cache and key else None
    if isinstance(known, Reduction):
        return known
    reduction = reduced(
        task.passages,
        task.config,
        fits=fits,
        delivered=task.delivered.texts if task.delivered else DeliveredTexts(),
        shortlist=shortlist,
    )
    if cache and key and (lasting := reduction.for_others()) is not None:
        cache.put(key, lasting, FEW_OBJECTS)
    return reduction


def _truncate(task: Task, reduction: Reduction, clock: Clock) -> tuple[Sequence[Document], Gaps, Reduction]:
    """Truncate passages that are too long. Return what is left of the documents, the gaps in each passage, and the
    reduction without passages that are duplicates after truncation."""
    limit = length_limit(task.query, task.config)
    if limit is None:
        return reduction.documents, {}, reduction
    passages = len(passages_of(reduction.documents))
    documents, gaps = truncate_passages(
        task.query, reduction.documents, task.passages, task.language, task.config, limit, reduction.required
    )
    documents, reduction = reduction.after_cuts(documents, gaps, task.passages)
    note = f"{len(gaps)} of over {limit.characters:,} characters"
    clock.lap("truncate", passages, len(passages_of(documents)), note)
    return documents, gaps, reduction


def _metadata_lines(task: Task, reduction: Reduction) -> tuple[Lines, Reduction]:
    """Return the metadata lines of passages with a low score. A line that was delivered before is a duplicate."""
    low = [number for number, reason in reduction.reasons.items() if reason is Reason.METADATA]
    if not low:
        return Lines({}, ()), reduction
    texts = metadata_lines(task.passages, low)
    delivered = {part.text: number for number, part in enumerate(task.delivered_context.parts) if part.metadata_only}
    leaders = {number: delivered[line] for number, line in texts.items() if line in delivered}
    reasons: Mapping[int, Reason] = {**reduction.reasons, **dict.fromkeys(leaders, Reason.DUPLICATE)}
    reduction = replace(reduction, reasons=reasons, leaders={**reduction.leaders, **leaders})
    stands = standing(task.passages, task.config.score_kind)
    order = sorted(set(low).difference(leaders), key=lambda number: (-stands[number], number))
    return Lines(texts, order), reduction


def _whole(layout: Layout, untouched: str, tokens: int | None, analyser: Analyser, budget: int) -> Selection | None:
    """Return a selection of all documents, or None if it does not fit.

    untouched: the final text if nothing were changed. tokens: the tokens of `untouched`, None if it does not fit.
    """
    whole = Selection.everything(layout)
    if (final := layout.final(whole.text)) != untouched:
        tokens = analyser.fits(final, budget)
    return replace(whole, tokens=tokens) if tokens is not None and tokens <= budget else None
