"""Selects what must be kept first, and fills the rest of the budget with the segments that are worth most."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Span, with_needs
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.errors import BudgetTooSmall
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import Candidates, Choices, Packing, Selection, ranked
from ctxcompress.select.structure import Structure
from ctxcompress.text.lines import is_between_graphemes, shortened

__all__ = ["Match", "best_of_each", "matches_in", "select_kept_first", "select_of_each"]

_LONGEST_WORD = 80
"""Characters beside a match that are kept with it so that no word is cut."""
_MOST_SHOWN, _LONGEST_SHOWN = 3, 30
"""Of the texts that an error names: how many, with how many characters."""


@dataclass(frozen=True, slots=True)
class Match:
    """A place that must be kept, and the segments that hold it."""

    document: int
    span: Span
    text: str
    segments: range


def matches_in(table: SegmentTable, required: Spans, documents: Sequence[Document]) -> list[Match]:
    """Return the matches with their segments. required: number of a document -> the spans that must be kept."""
    found: list[Match] = []
    for document, spans in required.items():
        for start, end in spans:
            held = range(table.segment_at(document, start + 1), table.segment_at(document, end) + 1)
            found.append(Match(document, Span(start, end), documents[document].text[start:end], held))
    return found


def select_kept_first(
    matches: Sequence[Match],
    structure: Structure,
    values: Floats,
    layout: Layout,
    budget: int,
    known: Collection[int] = (),
    *,
    others: int,
) -> Selection:
    """Choose segments as `select` does, but those with matches before all others.

    As much is kept around the matches as the budget holds: their segments with the headings above and all that these
    segments need; then of matches with the same text only the best one; then without headings and announcements; then
    only the words that hold the matches, and the rest of their segments comes before other segments. Raises
    BudgetTooSmall if not even these fit.

    known: segments that were delivered before. others: the budget if segments without matches are chosen, too.
    """
    candidates = Choices(structure, values, layout, others, known).candidates
    wanted: Sequence[int] = ()
    fixed = _first_that_fits(_whole_segments(matches, candidates), Packing(candidates, layout, budget))
    if fixed is None:
        best = _best_of_each_text(matches, candidates.values)
        parts = _Parts.of(_word_spans(best, structure.table, layout), candidates, known)
        candidates, wanted = parts.candidates, parts.rests
        packing = Packing(candidates, layout, budget)
        needed = with_needs(parts.matches, packing.table.needs)
        fixed = _first_that_fits((needed, parts.matches), packing)
        if fixed is None:
            raise _too_small(best, packing.composed(parts.matches).tokens, budget)
    numbers, selection = fixed
    packing = Packing(candidates, layout, others)
    if layout.sources:
        selection, numbers = _with_best_of_each(packing, selection, numbers, known)
    found = packing.filled([*wanted, *candidates.worth_choosing], others - selection.tokens, numbers)
    return found[0] if found is not None else selection


def select_of_each(choices: Choices) -> Selection:
    """Choose segments as `select` does, but where passages have a place in any case, the best one of each before all
    others, as far as they fit.

    Raises BudgetTooSmall if the budget cannot hold the places of the passages, without any text.
    """
    layout, budget = choices.layout, choices.budget
    if not layout.sources:
        return choices.selected()
    candidates, nothing = choices.candidates, Selection.of({}, layout)
    if nothing.tokens > budget:
        raise BudgetTooSmall(
            f"{len(layout.sources)} sources take {nothing.tokens} tokens even without their texts, but max_tokens is "
            f"{budget}; give more, or keep_all_sources=False",
            nothing.tokens,
        )
    packing = Packing(candidates, layout, budget, choices.counts)
    selection, numbers = _with_best_of_each(packing, nothing, set(), choices.known)
    found = packing.filled(candidates.worth_choosing, budget - selection.tokens, numbers)
    if found is None and not numbers:
        return choices.selected()  # which splits what is too long
    return found[0] if found is not None else selection


def best_of_each(structure: Structure, values: Floats, known: Collection[int] = ()) -> list[int]:
    """Return the best segment of each passage, from the best to the worst."""
    best: dict[int, int] = {}
    for number in ranked(structure, values, known):
        best.setdefault(structure.table.passage[number], number)
    return list(best.values())


def _with_best_of_each(
    packing: Packing, selection: Selection, numbers: Collection[int], known: Collection[int]
) -> tuple[Selection, Collection[int]]:
    """Add the best segment of each passage to these, as far as they fit, also if others have the same text."""
    structure = packing.candidates.structure
    bests = best_of_each(structure, packing.candidates.values, known)
    alone = replace(packing, candidates=Candidates(structure, np.zeros(0), bests, {}), may_repeat=True)
    found = alone.filled(bests, packing.budget - selection.tokens, numbers)
    return found if found is not None else (selection, numbers)


def _first_that_fits(tries: Iterable[Collection[int]], packing: Packing) -> tuple[Collection[int], Selection] | None:
    """Return the first of these sets of segments that fits, and its selection; None if none does."""
    found = ((numbers, packing.composed(numbers)) for numbers in tries)
    return next((pair for pair in found if pair[1].tokens <= packing.budget), None)


def _whole_segments(matches: Sequence[Match], candidates: Candidates) -> Iterator[set[int]]:
    """Yield the segments of the matches with what they need, and then ever less of it."""
    table, best = candidates.structure.table, _best_of_each_text(matches, candidates.values)
    once = sorted({number for match in best for number in match.segments})
    companions = _with_companions(_of_every_match(matches, candidates), candidates)
    yield _with_headings(companions, table)
    yield companions
    yield _with_companions(once, candidates)
    yield with_needs(once, table.needs)


def _of_every_match(matches: Iterable[Match], candidates: Candidates) -> list[int]:
    """Return the segments of all matches. Of several with the same text, it is the one that is worth most."""
    found: dict[int, None] = {}
    for match in matches:
        alone = len(match.segments) == 1
        found |= dict.fromkeys(candidates.duplicate_of.get(n, n) if alone else n for n in match.segments)
    return list(found)


def _best_of_each_text(matches: Iterable[Match], values: Floats) -> list[Match]:
    """Return for each text the match whose segments are worth most."""
    best: dict[str, tuple[float, Match]] = {}
    for match in matches:
        worth = float(values[match.segments.start : match.segments.stop].sum())
        if match.text not in best or worth > best[match.text][0]:
            best[match.text] = worth, match
    return [match for _, match in best.values()]


def _with_companions(numbers: Sequence[int], candidates: Candidates) -> set[int]:
    found = set(numbers)
    for number in numbers:
        companions = candidates.coherence.companions(number, found)
        # A heading without text under it has none.
        found.update(candidates.structure.table.needs(number) if companions is None else companions)
    return found


def _with_headings(numbers: set[int], table: SegmentTable) -> set[int]:
    """Add the headings above these segments."""
    return numbers.union(*(table.headings_of(number) for number in numbers if number < len(table.segments)))


def _too_small(matches: Sequence[Match], needed: int, budget: int) -> BudgetTooSmall:
    """Return the error if the words that hold these matches take so many tokens. It shows the first few of them."""
    shown = [repr(shortened(match.text, _LONGEST_SHOWN)) for match in matches[:_MOST_SHOWN]]
    some = ", ".join([*shown, "..."] if len(matches) > _MOST_SHOWN else shown)
    return BudgetTooSmall(
        f"must_keep names {len(matches)} different texts ({some}), which take {needed} tokens even without "
        f"the text around them, but max_tokens is {budget}; give at least {needed} tokens, or narrower patterns",
        needed,
    )


def _word_spans(matches: Iterable[Match], table: SegmentTable, layout: Layout) -> dict[int, list[Span]]:
    """Return number of a segment -> the spans of the words in it that hold matches, in order and disjoint."""
    found: dict[int, list[Span]] = {}
    for match in sorted(matches, key=lambda match: (match.document, match.span)):
        text = layout.documents[match.document].text
        for number in match.segments:
            segment = table.segments[number]
            begin = max(match.span.start, segment.start)
            end = min(match.span.end, segment.end)
            begin, end = _whole_words(text, begin, end, segment.start, segment.end)
            of_segment = found.setdefault(number, [])
            if of_segment and begin <= of_segment[-1].end:
                begin, end = of_segment[-1].start, max(end, of_segment.pop().end)
            of_segment.append(Span(begin, end))
    return found


def _whole_words(text: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Return the span of the words around ``text[start:end]`` in ``text[first:last]``; of graphemes if one is long."""
    before, after = text[max(first, start - _LONGEST_WORD - 1) : start], text[end : min(last, end + _LONGEST_WORD + 1)]
    head = 0 if before[-1:].isspace() else sum(map(len, before.split()[-1:]))
    tail = 0 if after[:1].isspace() else sum(map(len, after.split()[:1]))
    begin, stop = start - head * (head <= _LONGEST_WORD), end + tail * (tail <= _LONGEST_WORD)
    while begin > first and not is_between_graphemes(text, begin):
        begin -= 1
    while stop < last and not is_between_graphemes(text, stop):
        stop += 1
    return begin, stop


@dataclass(frozen=True, slots=True)
class _Parts:
    """The segments, with those that hold matches cut into the words with matches and the rest."""

    candidates: Candidates
    matches: Sequence[int]
    rests: Sequence[int]
    """The first other part of each such segment, which needs all its parts."""

    @classmethod
    def of(cls, pieces: Mapping[int, Sequence[Span]], candidates: Candidates, known: Collection[int]) -> "_Parts":
        """pieces: number of a segment -> the spans of the words with matches."""
        old = candidates.structure.table
        cuts = {
            number: [offset for offset in sorted({*chain(*spans)}) if old.start[number] < offset < old.end[number]]
            for number, spans in pieces.items()
        }
        table, firsts = old.cut(cuts)
        matches: list[int] = []
        rests: list[int] = []
        segments, others = list(table.segments), set[int]()
        values = np.zeros(len(segments))
        values[firsts[:-1]] = candidates.values
        for number, spans in pieces.items():
            starts = {span.start for span in spans}
            parts = range(firsts[number], firsts[number + 1])
            rest = [part for part in parts if segments[part].start not in starts]
            matches += [part for part in parts if segments[part].start in starts]
            values[parts.start : parts.stop] = candidates.values[number]
            others.update(rest[1:])
            if rest:
                base = table.first[table.document[rest[0]]]
                local = tuple(part - base for part in parts if part != rest[0])
                segments[rest[0]] = segments[rest[0]]._replace(needs=(*segments[rest[0]].needs, *local))
                rests.append(rest[0])
        done = {part for number in known for part in range(firsts[number], firsts[number + 1])}
        structure = Structure(replace(table, segments=segments))
        left = Candidates.of(structure, values, ranked(structure, values, {*done, *matches, *others}))
        return cls(left, matches, sorted(rests, key=lambda part: -values[part]))
