"""The filters that drop whole passages before anything is scored: one table, in the order in which they run.

A package adds a filter by an entry point of the group "ctxcompress.filters" that names a `Filter`. These come first.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document, Spans, documents_as_they_are
from ctxcompress.data.must_keep import Finds
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Reason
from ctxcompress.data.stats import Clock
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.errors import warn
from ctxcompress.guarded import called
from ctxcompress.plugins import plugins
from ctxcompress.reduce.duplicates import Particulars, exact_duplicates, near_duplicates, same_meaning
from ctxcompress.reduce.filters import above_threshold, are_doubtful, document_key, group_of, is_own_line, standing
from ctxcompress.reduce.overlaps import find_overlaps
from ctxcompress.reduce.reduction import MUST_KEEP, Candidates, DeliveredTexts, Reduction, nothing_matches
from ctxcompress.reduce.stitching import continuations, stitched
from ctxcompress.text.language import is_prose_in

__all__ = ["FILTERS", "Filter", "Step", "reduced"]

_DOUBT_WARNING = (
    "as score_kind has it, the scores of the passages get better from the first passage to the last, but a retriever "
    'gives its best one first: declare score_kind="distance" (or "rank") where less is better, "similarity" where more '
    'is, "none" where they mean nothing; if the passages come from the worst to the best, all is well'
)
_NO_SCORES = "skipped: no usable scores"
_DOUBT_NOTE = "scores get better from first to last: check score_kind"


@dataclass(frozen=True, slots=True)
class Step:
    """What a filter leaves, and what the statistics say of it: see `StageStats`."""

    left: Candidates
    note: str = ""
    by_score: bool = False
    """Whether scores decided which passages are left. Doubtful scores are noted then, and warned of once."""
    skipped: bool = False
    emptied: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """Drops passages. It gives what it leaves, or None if no option asks for it."""

    name: str
    apply: Callable[[Candidates, CompressionConfig], Step | None]


def reduced(
    passages: Sequence[Passage],
    config: CompressionConfig,
    *,
    fits: bool,
    delivered: DeliveredTexts | None = None,
    shortlist: Sequence[int] | None = None,
) -> Reduction:
    """Run the filters in their order. Then drop repeated text from the passages that are left.

    fits: whether all passages fit unchanged, so that nothing is dropped unless an option asks for it. delivered: the
    passages at the beginning that were delivered before. They stand for their duplicates and are otherwise ignored.
    shortlist: the numbers of the passages that are looked at; None for all. No filter loses what `must_keep` names: a
    passage with some of it is dropped only as a duplicate of one that has it. Raises PatternTimeout, and ConfigError
    unless the encoder gives one vector for each passage.
    """
    config = config.without_filters() if config.keep_all_sources else config
    added = {} if config.keep_all_sources else plugins("ctxcompress.filters")
    clock, delivered = Clock(), delivered or DeliveredTexts()
    first = delivered.count
    finds = Finds.of(config.must_keep, dict(enumerate(passages[first:], first))) if config.must_keep else Finds({})
    if finds.rules:
        counts = len(finds.rules), len(finds.rules) - len(finds.missed)
        clock.lap(MUST_KEEP, *counts, nothing_matches(finds.missed), skipped=finds.is_nothing)
    stands = [*([-inf] * first), *standing(passages[first:], config.score_kind)]
    candidates = Candidates(passages, range(first, len(passages)), stands, finds.spans, delivered, fits)
    runs = _Runs(clock, are_doubtful(stands))
    if shortlist is not None:
        note = f"{len(shortlist)} with most words of the query"
        candidates = runs.record("shortlist", candidates, Step(candidates.keep(shortlist, Reason.BUDGET), note))
    for part, one in added.items():
        candidates = runs.record(one.name, candidates, called(part, partial(one.apply, candidates, config)))
    for one in FILTERS:
        candidates = runs.record(one.name, candidates, one.apply(candidates, config))
    documents, kept = _documents(candidates, config)
    runs.record("repeats", candidates, Step(candidates))
    return Reduction(documents, candidates.reasons, candidates.leaders, clock.laps, kept)


@dataclass(slots=True)
class _Runs:
    """Records the filters that ran."""

    clock: Clock
    doubtful: bool
    """Whether the scores get better from the first passage to the last."""
    has_warned: bool = False

    def record(self, name: str, before: Candidates, step: Step | None) -> Candidates:
        """Record a filter, and return what it left. Raises CancelledError if nobody waits for the result any more."""
        if step is None:
            return before
        doubtful, note = step.by_score and self.doubtful, step.note
        if doubtful:
            note = f"{note}, {_DOUBT_NOTE}" if note else _DOUBT_NOTE
            if not self.has_warned:
                warn(_DOUBT_WARNING)
            self.has_warned = True
        counts = len(before.numbers), len(step.left.numbers)
        self.clock.lap(name, *counts, note, skipped=step.skipped, emptied=step.emptied, doubtful=doubtful)
        return step.left


def _documents(candidates: Candidates, config: CompressionConfig) -> tuple[Sequence[Document], Spans]:
    """Return the documents of the passages that are left, without text that repeats, and what must be kept of them."""
    texts, numbers = [passage.text for passage in candidates.passages], candidates.numbers
    # A preview has a line for each chunk, so it needs the passages as they are.
    if _drops_exact(candidates, config) and len(numbers) > 1 and config.format != "preview" and candidates.preferred:
        alive = set(numbers)
        links = [link for link in candidates.links if {link.before, link.after} <= alive]
        links = [*continuations(candidates.passages, numbers), *links]
        documents = stitched(texts, numbers, links, candidates.preferred)
        required = candidates.left_in(documents)
        if required is not None:
            return documents, required
    documents = documents_as_they_are(texts, numbers)
    return documents, candidates.left_in(documents) or {}


def _drops_exact(candidates: Candidates, config: CompressionConfig) -> bool:
    """Tell whether repeated text is dropped: if near-duplicates are, or if what is left would not fit."""
    if config.keep_all_sources:
        return False
    return not candidates.fits or config.ngram_threshold is not None or config.similarity_threshold is not None


def _chosen(before: Candidates, left: Candidates, note: str = "") -> Step:
    """Return the step of a filter that looks at scores only where it drops something."""
    return Step(left, note, by_score=len(left.numbers) < len(before.numbers))


def _by_score(candidates: Candidates, config: CompressionConfig) -> Step:
    """Drop the passages below `min_score`."""
    if config.min_score is None:
        return Step(candidates)
    above = _above(candidates, config.min_score, config)
    if above is None:
        return Step(candidates, _NO_SCORES, skipped=True)
    left = candidates.keep(above, Reason.SCORE)
    empty = not left.numbers and bool(candidates.numbers)
    if empty:
        warn(f"no score reaches min_score={config.min_score:g}; on_empty={config.on_empty!r} decides what is kept")
        left = _if_empty(candidates, left, config, Reason.SCORE)
    note = f"\u2265{config.min_score:g}" + (f", none: {config.on_empty}" if empty else "")
    return Step(left, note, by_score=True, emptied=empty)


def _above(candidates: Candidates, least: float, config: CompressionConfig) -> list[int] | None:
    """Return the numbers of the passages with at least this score, or an unknown one; None if all are unknown."""
    first = candidates.delivered.count
    above = above_threshold(candidates.passages[first:], least, config.score_kind)
    return None if above is None else [first + number for number in above]


def _if_empty(candidates: Candidates, none: Candidates, config: CompressionConfig, reason: Reason) -> Candidates:
    """Return what `on_empty` keeps where a filter would keep nothing."""
    if config.on_empty == "drop":
        return none
    return candidates if config.on_empty == "original" else candidates.keep([candidates.best()], reason)


def _exact(candidates: Candidates, config: CompressionConfig) -> Step:
    """Drop exact duplicates and chunks that are a part of another chunk, and find the overlaps of the rest."""
    if not _drops_exact(candidates, config):
        return Step(candidates, "off")
    order = _to_compare(candidates)
    same = _numbered(order, exact_duplicates([candidates.passages[number].text for number in order]))
    order = [number for number in order if number not in same]
    chunks = [candidates.passages[number] for number in order]
    found = find_overlaps([chunk.text for chunk in chunks], list(map(group_of, chunks)))
    left = candidates.without_duplicates(same).without_duplicates(_numbered(order, found.within))
    links = [link._replace(before=order[link.before], after=order[link.after]) for link in found.links]
    return _chosen(candidates, replace(left, links=links) if links else left)


def _near(candidates: Candidates, config: CompressionConfig) -> Step:
    """Drop passages with nearly the same words as another."""
    threshold = config.ngram_threshold
    if threshold is None:
        return Step(candidates, "off")
    order = _to_compare(candidates)
    texts = [candidates.passages[number].text for number in order]
    return _similar(candidates, order, threshold, partial(near_duplicates, texts, threshold))


def _by_meaning(candidates: Candidates, config: CompressionConfig) -> Step:
    """Drop passages with the same meaning as another, if there are embeddings."""
    threshold = config.similarity_threshold
    if threshold is None:
        return Step(candidates, "off")
    order = _with_vectors(candidates, config.own_encoder)
    if len(order) < 2:
        return Step(candidates, f"\u2265{threshold:g}")
    passages = [candidates.passages[number] for number in order]
    vectors = candidates.delivered.vectors_of(passages, config.own_encoder)
    if vectors is None:
        why = "no encoder" if config.own_encoder is None else "an encoder that makes none"
        return Step(candidates, f"skipped: no embeddings and {why}", skipped=True)
    return _similar(candidates, order, threshold, partial(same_meaning, vectors, threshold))


def _similar(
    candidates: Candidates, order: Sequence[int], threshold: float, find: Callable[[Particulars], Mapping[int, int]]
) -> Step:
    """Drop the duplicates that a search finds among the passages in this order."""
    known = Particulars([candidates.passages[number].text for number in order])
    left = candidates.without_duplicates(_numbered(order, find(known)))
    return _chosen(candidates, left, f"\u2265{threshold:g}{known.note}")


def _with_vectors(candidates: Candidates, encoder: object) -> Sequence[int]:
    """Return the numbers of the passages that carry an embedding, if any does, or that the encoder can read."""
    passages, order = candidates.passages, _to_compare(candidates)
    if any(passages[number].embedding is not None for number in candidates.numbers):
        first = candidates.delivered.count
        return [number for number in order if number >= first or passages[number].embedding is not None]
    if order and isinstance(encoder, PassageVectors) and not isinstance(encoder, Encoder):
        return [number for number in order if is_prose_in(encoder.language, passages[number].text)]
    return order


def _to_compare(candidates: Candidates) -> list[int]:
    """Return the passages that were delivered before, which lead their duplicates, and then the preferred ones."""
    return [*range(candidates.delivered.count), *candidates.preferred]


def _numbered(order: Sequence[int], leaders: Mapping[int, int]) -> dict[int, int]:
    """Return numbers of passages for places in `order`."""
    return {order[member]: order[leader] for member, leader in leaders.items()}


def _by_limits(candidates: Candidates, config: CompressionConfig) -> Step:
    """Drop the passages over `max_chunks_per_doc` and `top_n`, the worst by score."""
    per_document, top_n = config.max_chunks_per_doc, config.top_n
    notes = [f"{per_document} per doc"] * (per_document > 0) + [f"best {top_n}"] * (top_n is not None)
    if not notes:
        return Step(candidates)
    of_document: Counter[str] = Counter()
    stay: list[int] = []
    for number in sorted(candidates.numbers, key=lambda number: -candidates.stands[number]):
        key = document_key(candidates.passages[number])  # without one, a passage is a document of its own
        if not per_document or key is None or of_document[key] < per_document:
            of_document[key or ""] += 1
            stay.append(number)
    return _chosen(candidates, candidates.keep(stay[:top_n], Reason.LIMIT), ", ".join(notes))


def _to_lines(candidates: Candidates, config: CompressionConfig) -> Step | None:
    """Drop the passages below the limit of `metadata_only` in favour of lines about them."""
    if config.metadata_only is False or config.format == "preview":
        return None
    above = _above(candidates, config.metadata_only, config)
    if above is None:
        return Step(candidates, _NO_SCORES, skipped=True)
    below = set(candidates.numbers).difference(above)
    below.difference_update(candidates.required)
    if below.issuperset(candidates.numbers) and below and config.on_empty != "drop":
        below = set() if config.on_empty == "original" else below - {candidates.best()}
    low_ones = {number: candidates.passages[number] for number in below}
    lines = {number for number, item in low_ones.items() if item.text.strip() and not is_own_line(item)}
    left = candidates.keep(set(candidates.numbers).difference(lines), Reason.METADATA)
    return Step(left, f"{len(lines)} as lines", by_score=True)


FILTERS: Sequence[Filter] = (
    Filter("threshold", _by_score),
    Filter("exact", _exact),
    Filter("near", _near),
    Filter("semantic", _by_meaning),
    Filter("limit", _by_limits),
    Filter("metadata", _to_lines),
)
