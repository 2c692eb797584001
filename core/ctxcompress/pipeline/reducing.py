"""The first step: drop whole passages, truncate long ones, and lay out what is left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcompress.data.documents import passages_of
from ctxcompress.data.results import Reason, StageStats
from ctxcompress.data.stats import Clock
from ctxcompress.pipeline.analysis import Analyser
from ctxcompress.pipeline.call_cache import FEW_OBJECTS
from ctxcompress.pipeline.long_passages import Cutter, truncate_passages, without_tags
from ctxcompress.pipeline.scoring import current_listener
from ctxcompress.pipeline.task import Task
from ctxcompress.query.terms import asks_for_all, query_terms
from ctxcompress.reduce.filters import like_own_lines, metadata_line, shortlist, standing
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.reduce.stages import reduced
from ctxcompress.segment.formats import data_outline
from ctxcompress.segment.source_code import outline
from ctxcompress.select.layout import Layout
from ctxcompress.select.previews import Lines
from ctxcompress.select.selection import Selection
from ctxcompress.text.log_lines import is_log
from ctxcompress.text.stems import keeps_beginnings
from ctxcompress.text.words import Terms

__all__ = ["Reduced", "reduce_passages"]

_SHORTEST, _FOR_EACH_TOKEN = 2_000, 2
"""The least passages of a shortlist, and for each token of the budget: what is kept of one takes a token."""
_VERY_MANY = 2.5
"""With less than this many times as many passages as the shortlist would have, there is none."""
_SAMPLE, _FEW = 30, 0.1
"""About how many passages tell what all are, and the share of them that may be log lines or records."""


def _find_shortlist(task: Task) -> Sequence[int] | None:
    """Return the numbers of the passages that are looked at, or None for all.

    These are all unless there are very many, and words alone decide which of them are needed.
    """
    passages = task.passages
    most = max(_SHORTEST, _FOR_EACH_TOKEN * task.config.budget)
    if len(passages) < _VERY_MANY * most or _has_other_signals(task) or _asks_beside_words(task):
        return None
    texts = [passage.text for passage in passages]
    sample = texts[:: len(texts) // _SAMPLE]
    if sum(is_log(text) or bool(data_outline(text)) for text in sample) > _FEW * len(sample):
        return None  # an error in a log answers "what failed?" without its words, and a date in a record has many forms
    return shortlist(texts, _terms(task), most)


def _has_other_signals(task: Task) -> bool:
    """Tell whether scores, an encoder, or rules of the options may matter for passages without words of the query, or
    whether somebody wants to know about all passages."""
    config = task.config
    has_rules = bool(config.must_keep or config.max_chunks_per_doc or config.keep_all_sources)
    has_rules = has_rules or config.top_n is not None
    is_watched = task.delivered is not None or current_listener() is not None
    if has_rules or is_watched or config.own_encoder is not None or config.format == "preview":
        return True
    return any(passage.score is not None for passage in task.passages)


def _asks_beside_words(task: Task) -> bool:
    """Tell whether the query asks for no words in particular, or whether its language changes words too much."""
    language = task.language
    asks = any(asks_for_all(query, language) for query in task.queries)
    # Stems of Arabic are not the beginnings of its words, and not parts of them.
    return asks or language == "ar" or not keeps_beginnings(language)


def _terms(task: Task) -> dict[str, float]:
    """Return the terms of all questions with their weights."""
    config, terms = task.config, Terms(task.language)
    found: dict[str, float] = {}
    for query in task.queries:
        of_query = query_terms(query, language=task.language, terms=terms, synonyms=config.synonyms)
        found |= {term: max(weight, found.get(term, 0.0)) for term, weight in of_query.items()}
    return found


@dataclass(frozen=True, slots=True)
class Reduced:
    """The documents that are left, and the budget for them."""

    reduction: Reduction
    layout: Layout
    """The documents, and how the final text shows them. HTML is without its tags unless everything is kept."""
    lines: Lines
    """The metadata lines that replace passages with a low score."""
    budget: int
    """The tokens for documents: the budget without the share of the lines."""
    whole: Selection | None
    """All documents as they are, if they fit; None otherwise."""
    stages: Sequence[StageStats]


def reduce_passages(task: Task, analyser: Analyser, key: str | None) -> Reduced:
    """Drop passages by score, as duplicates and by number; join overlapping ones; truncate those that are too long.

    key: of the passages and the options in the cache, if it can hold them.
    """
    config, passages = task.config, task.passages
    tokens = analyser.fits(untouched := task.original.text, config.budget)
    reduction = _reduction(task, analyser, key, fits=tokens is not None)
    clock, cutter = Clock(), Cutter.of(task.query, task.language, config)
    documents, gaps = truncate_passages(cutter, reduction.documents, passages, reduction.required)
    if cutter is not None:
        count = len(passages_of(reduction.documents))
        clock.lap("truncate", count, count, f"{len(gaps)} of over {cutter.max_length:,} characters")
    layout = replace(
        task.presentation.layout(passages, documents, analyser.count, task.delivered_count),
        arrange=sorted if task.delivered is None else list,
        before=task.delivered_context.text,
        delivered_runs=task.delivered.runs if task.delivered else frozenset,
        gaps=gaps,
        escapes=_escapes(task),
        sources=range(task.delivered_count, len(passages)) if config.keep_all_sources else (),
    )
    lines, reduction = _metadata_lines(task, reduction)
    budget = config.budget - lines.reserve(layout, config.budget)
    is_changed = task.delivered_count or gaps or layout.escapes or not reduction.is_everything(len(passages))
    is_too_long = tokens is None and not is_changed
    whole = None if is_too_long else _whole(layout, untouched, tokens, analyser, budget)
    if whole is None or task.drops_what_fits:
        layout = replace(layout, documents=without_tags(documents, passages, reduction.required))
    return Reduced(reduction, layout, lines, budget, whole, (*reduction.stages, *clock.laps))


def _reduction(task: Task, analyser: Analyser, key: str | None, *, fits: bool) -> Reduction:
    """Reduce the passages, or take from the cache what another query left there."""
    shortlist = None if fits else _find_shortlist(task)  # which depends on the query
    fits = fits and task.delivered is None  # a context that grows must not repeat itself
    key = f"reduced:{fits}:{key}" if key and shortlist is None else None
    known: Reduction | None = analyser.cache.get(key, FEW_OBJECTS)
    if known is not None:
        return known
    reduction = reduced(
        task.passages,
        task.config,
        fits=fits,
        delivered=task.delivered.texts if task.delivered else None,
        shortlist=shortlist,
    )
    if key and (lasting := reduction.for_others()) is not None:
        analyser.cache.put(key, lasting, FEW_OBJECTS)
    return reduction


def _escapes(task: Task) -> dict[int, tuple[int, ...]]:
    """Return the offsets at which a passage's own text could pass for a metadata line, by passage number.

    There are none if the options allow no such line.
    """
    if task.config.format == "preview" or task.config.metadata_only is False:
        return {}
    found = ((n, like_own_lines(passage)) for n, passage in enumerate(task.input_passages, task.delivered_count))
    return {number: tuple(places) for number, places in found if places}


def _metadata_lines(task: Task, reduction: Reduction) -> tuple[Lines, Reduction]:
    """Return the metadata lines of passages with a low score. A line that was delivered before is a duplicate."""
    low = [number for number, reason in reduction.reasons.items() if reason is Reason.METADATA]
    if not low:
        return Lines({}, ()), reduction
    texts = {
        number: metadata_line(passage, outline(passage.text, passage.file_name))
        for number in low
        for passage in (task.passages[number],)
    }
    delivered = {part.text: number for number, part in enumerate(task.delivered_context.parts) if part.metadata_only}
    leaders = {number: delivered[line] for number, line in texts.items() if line in delivered}
    reasons = {**reduction.reasons, **dict.fromkeys(leaders, Reason.DUPLICATE)}
    reduction = replace(reduction, reasons=reasons, leaders={**reduction.leaders, **leaders})
    stands = standing(task.passages, task.config.score_kind)
    order = sorted(set(low).difference(leaders), key=lambda number: (-stands[number], number))
    return Lines(texts, order), reduction


def _whole(layout: Layout, untouched: str, tokens: int | None, analyser: Analyser, budget: int) -> Selection | None:
    """Return a selection of all documents, or None if it does not fit.

    untouched: the final text if nothing were changed. tokens: the tokens of `untouched`, None if it does not fit.
    """
    everything = layout.everything
    composed = layout.compose(everything)
    if (final := layout.final(composed.text)) != untouched:
        tokens = analyser.fits(final, budget)
    return Selection(everything, composed, tokens) if tokens is not None and tokens <= budget else None
