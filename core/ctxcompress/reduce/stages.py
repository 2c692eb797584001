"""The stages that drop whole passages and repeated text before anything is scored."""

from collections.abc import Mapping, Sequence
from math import inf

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Reason
from ctxcompress.data.stats import Clock
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.errors import warn
from ctxcompress.reduce.delivered_texts import DeliveredTexts
from ctxcompress.reduce.differences import Particulars
from ctxcompress.reduce.duplicates import exact_duplicates, near_duplicates, preference, same_meaning
from ctxcompress.reduce.filters import (
    above_threshold,
    are_doubtful,
    group_of,
    is_own_line,
    low_scores,
    standing,
    within_limits,
)
from ctxcompress.reduce.overlaps import Link, find_overlaps, neighbours_of_equals
from ctxcompress.reduce.passage_vectors import vectors_of
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.reduce.required import Required
from ctxcompress.reduce.stitching import links_of_elements, stitched, with_continuations
from ctxcompress.text.language import is_prose_in

__all__ = ["reduced"]

_DOUBT_WARNING = (
    "as score_kind has it, the scores of the passages get better from the first passage to the last, but a retriever "
    'gives its best one first: declare score_kind="distance" (or "rank") where less is better, "similarity" where more '
    'is, "none" where they mean nothing; if the passages come from the worst to the best, all is well'
)
_DOUBT_NOTE = "scores get better from first to last: check score_kind"
_NOTHING_DELIVERED = DeliveredTexts()


def reduced(
    passages: Sequence[Passage],
    config: CompressionConfig,
    *,
    fits: bool,
    delivered: DeliveredTexts = _NOTHING_DELIVERED,
    shortlist: Sequence[int] | None = None,
) -> Reduction:
    """Drop passages by score, duplicates, passages over the limits, and passages for lines, in this order. Then drop
    repeated text from the rest.

    A stage that cannot work is skipped. fits: whether all passages fit unchanged, so that nothing is dropped unless an
    option asks for it. delivered: the passages at the beginning that were delivered before. They stand for their
    duplicates and are otherwise ignored. shortlist: the numbers of the passages that are looked at; None for all. No
    stage loses what `must_keep` names: a passage with some of it is dropped
    only as a duplicate of one that has it. Raises PatternTimeout, and ConfigError unless the encoder gives one vector
    for each passage.
    """
    has_thresholds = config.ngram_threshold is not None or config.similarity_threshold is not None
    exact = not fits or has_thresholds
    reducer = _Reducer(passages, config, delivered)
    if shortlist is not None:
        reducer.only(shortlist)
    reducer.by_score()
    links = reducer.exact(wanted=exact)
    reducer.near()
    reducer.by_meaning()
    reducer.by_limits()
    reducer.to_lines()
    texts = [passage.text for passage in passages]
    preference = reducer.preferred() if exact and len(reducer.numbers) > 1 else []
    # A preview has a line for each chunk, so it needs the passages as they are.
    if preference and config.format != "preview":
        alive = set(reducer.numbers)
        between = [link for link in links if {link.before, link.after} <= alive]
        groups = {number: group_of(passages[number]) for number in reducer.numbers}
        between = with_continuations(between, passages, groups, reducer.numbers)
        between += links_of_elements(passages, reducer.numbers)
        documents = stitched(texts, reducer.numbers, between, preference)
    else:
        documents = documents_as_they_are(texts, reducer.numbers)
    required = reducer.required.left(reducer.numbers, documents)
    if required is None:
        documents = documents_as_they_are(texts, reducer.numbers)
        required = reducer.required.left(reducer.numbers, documents)
    reducer.end("repeats")
    return Reduction(documents, reducer.reasons, reducer.leaders, reducer.stages, preference, required or {})


class _Reducer:
    """Runs the stages one after the other on the passages that are left."""

    def __init__(self, passages: Sequence[Passage], config: CompressionConfig, before: DeliveredTexts) -> None:
        self._before, self._delivered = before, (delivered := before.count)
        self.numbers = list(range(delivered, len(passages)))
        self.reasons: dict[int, Reason] = {}
        self.leaders: dict[int, int] = {}
        self._passages, self._config = passages, config
        self.required = Required(config.must_keep, passages, delivered)
        stands = standing(passages[delivered:], config.score_kind)
        self._stands = [*([-inf] * delivered), *stands]
        self._doubtful = are_doubtful(stands)
        self._warned = False
        self._preferred: tuple[Sequence[int], Sequence[int]] = ((), ())
        """The last `numbers` and the result of `preferred` for them."""
        self._clock = Clock()
        self.stages = self._clock.laps
        self.required.record(self._clock)

    def preferred(self) -> Sequence[int]:
        """Return the numbers of the passages that are left and not blank, from the best to the worst."""
        of, order = self._preferred
        if of is not self.numbers:  # a stage that drops something makes a new list
            order = self._in_order()
            self._preferred = self.numbers, order
        return order

    def _in_order(self) -> list[int]:
        numbers = [number for number in self.numbers if self._passages[number].text.strip()]
        left = [self._passages[number] for number in numbers]
        texts, ids = [passage.text for passage in left], [passage.id for passage in left]
        order = preference(
            texts,
            [self._stands[number] for number in numbers],
            ids,
            neighbours_of_equals(texts, list(map(group_of, left))),
        )
        return [numbers[place] for place in order]

    def _to_compare(self) -> list[int]:
        """Return the same after the passages that were delivered before, which therefore lead their duplicates."""
        return [*range(self._delivered), *self.preferred()]

    def only(self, shortlist: Sequence[int]) -> None:
        """Drop all passages but those of the shortlist."""
        self._keep(shortlist, Reason.BUDGET)
        self.end("shortlist", f"{len(shortlist)} with most words of the query")

    def by_score(self) -> None:
        """Drop the passages below `min_score`."""
        config = self._config
        if config.min_score is None:
            self.end("threshold")
            return
        input_passages = self._passages[self._delivered :]
        above = above_threshold(input_passages, config.min_score, config.score_kind)
        if above is None:
            self.end("threshold", "skipped: no usable scores", skipped=True)
            return
        left = sorted({*(self._delivered + number for number in above), *self.required.among(self.numbers)})
        empty = not left and bool(input_passages)
        if empty:
            warn(f"no score reaches min_score={config.min_score:g}; on_empty={config.on_empty!r} decides what is kept")
        if empty and config.on_empty != "drop":
            left = self.numbers if config.on_empty == "original" else [max(self.numbers, key=self._stands.__getitem__)]
        self._keep(left, Reason.SCORE)
        note = f"\u2265{config.min_score:g}" + (f", none: {config.on_empty}" if empty else "")
        self.end("threshold", note, by_score=True, emptied=empty)

    def exact(self, *, wanted: bool) -> list[Link]:
        """Drop exact duplicates and chunks that are a part of another chunk, and return the overlaps of the rest."""
        order = self.preferred() if wanted else []
        if not order:
            self.end("exact", "" if wanted else "off")
            return []
        texts = {number: self._passages[number].text for number in order}
        same = exact_duplicates(texts, order, self._before.first)
        self._drop_duplicates(same)
        order = [number for number in order if number not in same]
        delivered, others = self._before.beside([self._passages[number] for number in order])
        order = [*delivered, *order]
        chunks = [self._passages[number] for number in order]
        found = find_overlaps([chunk.text for chunk in chunks], list(map(group_of, chunks)), order, others)
        self._merge(order, found.within)
        self.end("exact", by_score=self._has_dropped)
        return [link._replace(before=order[link.before], after=order[link.after]) for link in found.links]

    def near(self) -> None:
        """Drop passages with nearly the same words as another."""
        threshold, note = self._config.ngram_threshold, "off"
        if threshold is not None:
            order = self._to_compare()
            texts = [self._passages[number].text for number in order]
            known = Particulars(texts)
            self._merge(order, near_duplicates(texts, range(len(order)), threshold, known))
            note = f"\u2265{threshold:g}{known.note}"
        self.end("near", note, by_score=self._has_dropped)

    def by_meaning(self) -> None:
        """Drop passages with the same meaning as another, if there are embeddings."""
        threshold = self._config.similarity_threshold
        order = self._to_compare() if threshold is not None else []
        if any(self._passages[number].embedding is not None for number in self.numbers):
            order = [n for n in order if n >= self._delivered or self._passages[n].embedding is not None]
        elif order and isinstance(encoder := self._config.encoder, PassageVectors) and not isinstance(encoder, Encoder):
            order = [n for n in order if is_prose_in(encoder.language, self._passages[n].text)]
        if threshold is None or len(order) < 2:
            self.end("semantic", "off" if threshold is None else f"\u2265{threshold:g}")
            return
        vectors = vectors_of([self._passages[number] for number in order], self._config.encoder, self._before)
        if vectors is None:
            why = "no encoder" if self._config.encoder is None else "an encoder that makes none"
            self.end("semantic", f"skipped: no embeddings and {why}", skipped=True)
            return
        texts = [self._passages[number].text for number in order]
        known = Particulars(texts)
        self._merge(order, same_meaning(texts, range(len(order)), vectors, threshold, known))
        self.end("semantic", f"\u2265{threshold:g}{known.note}", by_score=self._has_dropped)

    def by_limits(self) -> None:
        """Drop the passages over `max_chunks_per_doc` and `top_n`."""
        per_document, top_n = self._config.max_chunks_per_doc, self._config.top_n
        if per_document or top_n is not None:
            duplicates_of: dict[int, list[int]] = {}
            for member, leader in sorted(self.leaders.items(), key=lambda pair: -self._stands[pair[0]]):
                duplicates_of.setdefault(leader, []).append(member)
            stay = within_limits(
                self._passages,
                self.numbers,
                self._config.score_kind,
                max_chunks_per_doc=per_document,
                top_n=top_n,
                duplicates=duplicates_of,
            )
            stay |= {number: number for number in self.required.among(self.numbers)}
            self._replace({leader: instead for leader, instead in stay.items() if instead != leader})
            self._keep(list(stay.values()), Reason.LIMIT)
        notes = [f"{per_document} per doc"] * (per_document > 0) + [f"best {top_n}"] * (top_n is not None)
        self.end("limit", ", ".join(notes), by_score=self._has_dropped)

    def to_lines(self) -> None:
        """Drop the passages below the limit of `metadata_only` in favour of lines about them."""
        config = self._config
        if config.metadata_only is False or config.format == "preview":
            return
        input_passages, threshold = self._passages[self._delivered :], config.metadata_only
        low = low_scores(input_passages, threshold, config.score_kind)
        if low is None:
            self.end("metadata", "skipped: no usable scores", skipped=True)
            return
        below = set(self.numbers).intersection(self._delivered + number for number in low)
        below -= self.required.among(below)
        if below.issuperset(self.numbers) and below and config.on_empty != "drop":
            best = max(self.numbers, key=self._stands.__getitem__)
            below = set() if config.on_empty == "original" else below - {best}
        low_ones = {number: self._passages[number] for number in below}
        lines = {number for number, item in low_ones.items() if item.text.strip() and not is_own_line(item)}
        self._keep([number for number in self.numbers if number not in lines], Reason.METADATA)
        self.end("metadata", f"{len(lines)} as lines", by_score=True)

    def _merge(self, order: Sequence[int], leaders: Mapping[int, int]) -> None:
        """Drop the members. leaders: place of a member in `order` -> place of its leader."""
        merged = ((order[member], order[leader]) for member, leader in leaders.items())
        self._drop_duplicates({member: leader for member, leader in merged if member >= self._delivered})

    def _drop_duplicates(self, duplicates: Mapping[int, int]) -> None:
        """Drop the members, but for those with something to keep that their leaders lack.

        duplicates: number of a member -> number of its leader.
        """
        merged = {member: leader for member, leader in duplicates.items() if self.required.is_in(leader, member)}
        self.leaders = {member: merged.get(leader, leader) for member, leader in self.leaders.items()} | merged
        self._keep([number for number in self.numbers if number not in merged], Reason.DUPLICATE)

    def _replace(self, instead: dict[int, int]) -> None:
        """Put a duplicate in the place of its leader: it becomes the leader of all duplicates."""
        leaders = {member: instead.get(leader, leader) for member, leader in self.leaders.items()} | instead
        self.leaders = {member: leader for member, leader in leaders.items() if member != leader}
        for leader, member in instead.items():
            self.reasons[leader] = self.reasons.pop(member)
        self.numbers = sorted({instead.get(number, number) for number in self.numbers})

    def _keep(self, numbers: Sequence[int], otherwise: Reason) -> None:
        if len(numbers) == len(self.numbers):
            return
        self.reasons |= dict.fromkeys(set(self.numbers).difference(numbers), otherwise)
        self.numbers = sorted(numbers)

    @property
    def _items_in(self) -> int:
        """How many passages the current stage began with."""
        return self.stages[-1].items_out if self.stages else len(self._passages) - self._delivered

    @property
    def _has_dropped(self) -> bool:
        return len(self.numbers) < self._items_in

    def end(
        self, name: str, note: str = "", *, by_score: bool = False, skipped: bool = False, emptied: bool = False
    ) -> None:
        """Record the stage and start the next one, unless nobody waits for the result any more.

        by_score: whether scores decided which passages the stage kept. Doubtful scores are noted then, and warned of
        once.
        """
        doubtful = by_score and self._doubtful
        if doubtful:
            note = f"{note}, {_DOUBT_NOTE}" if note else _DOUBT_NOTE
            self._warn_of_doubt()
        counts = self._items_in, len(self.numbers)
        self._clock.lap(name, *counts, note, skipped=skipped, emptied=emptied, doubtful=doubtful)

    def _warn_of_doubt(self) -> None:
        if not self._warned:
            self._warned = True
            warn(_DOUBT_WARNING)
