"""The key sentences of search results: the sentences that best answer the query within a few characters.

All results are scored together, so that a word that all of them contain counts little. Then the sentences of each
result are chosen separately.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.apps.search.shapes import Record, TextKey
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Spans, documents_as_they_are
from ctxcompress.data.must_keep import Finds
from ctxcompress.data.passages import Kind, Span
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.errors import BudgetTooSmall
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.pipeline.analysis import Analyser, AnalysisOptions
from ctxcompress.pipeline.call_cache import CallCache
from ctxcompress.pipeline.long_passages import without_tags
from ctxcompress.pipeline.scoring import score_segments
from ctxcompress.pipeline.task import language_of
from ctxcompress.reduce.reduction import places_in_documents
from ctxcompress.select.kept_first import Match, matches_in, select_kept_first
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import select
from ctxcompress.select.structure import Structure
from ctxcompress.text.lines import longest_prefix
from ctxcompress.text.words import has_unspaced

__all__ = ["KeySentences"]

_ELLIPSIS = "..."
"""Ends a text whose only kept sentence is too long."""
_CUT_BETWEEN_LINES = (Kind.CODE, Kind.TABLE)
"""Kinds of segments that are cut between lines, where no ellipsis is needed."""
_SENTENCE_END = lazy_regex(r"[.!?\u2026\u3002\uff01\uff1f\u061f\u0964][^\w\s]*+\s*+$|\n\s*+$")
_ENDING = 20
"""Characters at the end of a segment in which the end of its sentence is looked for."""
_QUESTION = lazy_regex(r"[?\uff1f\u061f][\s\"'\u201d\u00bb)\]*_]*+$")
_BREADCRUMB = lazy_regex(r"\s[/|>\u00bb\u203a\u00b7\u2022]\s")
_MIN_WORDS = 5
"""A sentence with fewer words hardly says anything: "Back to top." """


@dataclass(frozen=True, slots=True)
class ShortenedResult:
    """What is kept of the texts of one result."""

    spans: Mapping[TextKey, Sequence[Span]]
    changed: Mapping[TextKey, str]
    """The texts that are shorter now."""


class _KeptText(NamedTuple):
    """The kept part of one text: its spans, and the text of these with an ellipsis if a sentence is cut."""

    text: str
    spans: tuple[Span, ...]


class KeySentences:
    """The sentences of all results, scored for one query. Each result is remembered at each length."""

    def __init__(self, query: str, records: Mapping[int, Record], config: CompressionConfig) -> None:
        """records: the results by position."""
        named = [(n, *text) for n in sorted(records) for text in records[n].texts() if text[1].strip()]
        self._keys = [key for _, key, _ in named]
        self._numbers: dict[int, list[int]] = {n: [] for n in records}
        for number, (n, *_) in enumerate(named):
            self._numbers[n].append(number)
        self._known: dict[tuple[int, int], ShortenedResult] = {}
        passages = [records[n].passage(n, key, text) for n, key, text in named]
        texts = [passage.text for passage in passages]
        required = Finds.of(config.must_keep, dict(enumerate(passages))).spans
        documents = without_tags(documents_as_they_are(texts), passages, required)
        language = language_of(query, passages, config)
        analyser = Analyser(CallCache(config.cache), len)
        analysed = analyser.read(documents, passages, AnalysisOptions.of(language, 1))
        analysis = analysed.analysis
        self._structure: Structure = analysis.structure
        scored = score_segments((query,), analysed, config)
        self._worth: Floats = scored.worth
        self._around = frozenset(scored.around)
        self._unlikely = frozenset(scored.unlikely) if config.adaptive else frozenset[int]()
        places = places_in_documents(required, documents)
        self._matches = matches_in(analysis.table, places, documents)
        elide = partial(analysis.markers, is_within=True)
        self._layout = Layout(documents, texts, "", lambda _, shown: shown.text, analyser.count, elide=elide)
        self._sentence = _whole_sentences(analysis.table)

    def shorten(self, position: int, characters: int, sentences: int) -> ShortenedResult:
        """Return what is kept of a result.

        At most `sentences` sentences are kept, with the headings and table headers they need, in at most `characters`
        characters altogether. Texts that already fit stay as they are, except for sentences that `adaptive` drops. If
        even the best sentence is too long, it is cut between words and ends in an ellipsis. What `must_keep` names is
        kept beyond these limits, too.
        """
        if (position, characters) not in self._known:
            kept, texts = self._chosen(self._numbers[position], characters, sentences), self._layout.passages
            self._known[position, characters] = ShortenedResult(
                {self._keys[n]: part.spans for n, part in kept.items()},
                {self._keys[n]: part.text for n, part in kept.items() if part.text != texts[n]},
            )
        return self._known[position, characters]

    def worth(self, position: int) -> float:
        """Return how well the best sentence of a result answers the query, 0 if there is none."""
        own = self._of(self._numbers[position])
        return max((float(self._worth[n]) for n in own if n not in self._around), default=0.0)

    def unlikely(self, positions: Sequence[int], config: CompressionConfig) -> list[int]:
        """Return the positions of the results that the query hardly needs. If it needs none, `on_empty` decides."""
        found = [n for n in positions if (own := self._of(self._numbers[n])) and self._unlikely.issuperset(own)]
        if found and len(found) == len(positions) and config.on_empty != "drop":
            found.remove(max(found, key=self.worth))
        return found

    def _chosen(self, numbers: Sequence[int], characters: int, sentences: int) -> Mapping[int, _KeptText]:
        """Map the number of each text of one result to its kept part."""
        layout, own = self._layout, self._of(numbers)
        fits = sum(len(layout.passages[n]) for n in numbers) <= characters and len(self._sentences(own)) <= sentences
        if fits and self._unlikely.isdisjoint(own):
            return {n: _KeptText(layout.passages[n], (Span(0, len(layout.passages[n])),)) for n in numbers}
        best = self._best(own, characters, sentences)
        if matches := [match for match in self._matches if match.document in numbers]:
            spans = self._select_with(matches, best, characters)
            return {n: self._kept(n, spans, None) for n in numbers}
        spans = self._select(best, characters)
        cut = self._text_cut_in_sentence(best, spans)
        if cut is not None:
            room = max(1, characters - len(_ELLIPSIS))
            spans = self._select(best, room)
            spans = {**spans, cut: self._lengthened(best[-1], spans[cut], room)}
        return {n: self._kept(n, spans, cut) for n in numbers}

    def _of(self, numbers: Iterable[int]) -> list[int]:
        """Return the numbers of the segments of these texts."""
        first = self._structure.table.first
        return [n for number in numbers for n in range(first[number], first[number + 1])]

    def _best(self, own: Sequence[int], characters: int, sentences: int) -> list[int]:
        """Return the best sentences that fit together, or the best part of the best one if none fits.

        Sentences are ranked by worth, not by worth per character as for a token budget: their number is limited, so
        length does not count.
        """
        segments, texts = self._structure.table.segments, self._structure.table.texts
        standing = [n for n in self._sentences(own) if self._structure.stands[n]]
        ranked = sorted(standing, key=lambda n: (-self._worth[n], n))
        ranked = [n for n in ranked if n not in self._around] or ranked
        ranked = [n for n in ranked if n not in self._unlikely] or ranked[:1]
        ranked = [n for n in ranked if not _says_nothing(texts[n])] or ranked
        best: dict[str, range] = {}
        room = characters
        for n in ranked:
            whole = self._sentence[n]
            is_long = segments[whole[-1]].start - segments[whole[0]].start > room
            text = "" if is_long else "".join(texts[part] for part in whole).rstrip()
            if len(best) < sentences and not is_long and len(text) <= room and text not in best:
                best[text] = whole
                room -= sum(len(texts[part]) for part in whole)
            elif n == ranked[0] and len(whole) > 1:  # a part of it says more than all others
                begin = range(whole.start, n + 1)
                return list(begin) if sum(len(texts[part]) for part in begin) <= room else [n]
        return [n for whole in best.values() for n in whole] or ranked[:1]

    def _select(self, numbers: Iterable[int], characters: int) -> Spans:
        """Return the spans of these segments that fit, and of the segments they need."""
        wanted = set(numbers)
        others = set(range(len(self._worth))) - wanted
        return select(self._structure, self._worth, self._layout, characters, others).spans if wanted else {}

    def _select_with(self, matches: Sequence[Match], numbers: Iterable[int], characters: int) -> Spans:
        """Return the spans of the matches' segments, as much of them as fits, and then of these segments."""
        held = {number for match in matches for number in match.segments}
        others = set(range(len(self._worth))) - held.union(numbers)
        kept_first = partial(select_kept_first, matches, self._structure, self._worth, self._layout)
        try:
            return kept_first(characters, others, others=characters).spans
        except BudgetTooSmall as error:
            return kept_first(error.tokens or characters, others, others=characters).spans

    def _sentences(self, numbers: Iterable[int]) -> list[int]:
        """Return the segments that count as sentences: all but headings and white space."""
        segments, texts = self._structure.table.segments, self._structure.table.texts
        return [n for n in numbers if segments[n].kind is not Kind.HEADING and not texts[n].isspace()]

    def _lengthened(self, number: int, spans: Sequence[Span], room: int) -> tuple[Span, ...]:
        """Return the spans of a text, which end with segment `number`, with as much more of its sentence as fits."""
        table, (start, end) = self._structure.table, spans[-1]
        text = self._layout.documents[table.document[number]].text
        sentence = text[start : table.segments[self._sentence[number][-1]].end]
        most = room - sum(stop - begin for begin, stop in spans[:-1])
        length = longest_prefix(sentence, fits=lambda length: length <= most, lines=False, whole_words=True)
        return (*spans[:-1], Span(start, max(end, start + len(sentence[:length].rstrip()))))

    def _text_cut_in_sentence(self, best: Iterable[int], spans: Spans) -> int | None:
        """Return the number of the text whose kept part ends within a sentence."""
        table = self._structure.table
        ends = {(document, end) for document, kept in spans.items() for _, end in kept[-1:]}
        for number in best:
            segment, document = table.segments[number], table.document[number]
            last = segment.start + len(table.texts[number].rstrip())
            if number < self._sentence[number][-1]:  # its sentence goes on
                last = segment.end + 1
            is_sentence = segment.kind not in _CUT_BETWEEN_LINES
            if is_sentence and any(d == document and segment.start < end < last for d, end in ends):
                return document
        return None

    def _kept(self, number: int, spans: Spans, cut: int | None) -> _KeptText:
        shown = self._layout.compose({number: spans[number]} if number in spans else {}).shown
        text, kept = (shown[number].text, shown[number].spans) if number in shown else ("", ())
        return _KeptText(text + _ELLIPSIS if number == cut else text, kept)


def _whole_sentences(table: SegmentTable) -> list[range]:
    """Return for each segment the numbers of the segments of its sentence: a long one has several."""
    begins = [0] * (len(table.segments) > 0)
    for n, (one, other) in enumerate(pairwise(table.segments)):
        is_one_block = table.document[n] == table.document[n + 1] and (one.kind, one.block) == (other.kind, other.block)
        if one.kind in _CUT_BETWEEN_LINES or not is_one_block or _SENTENCE_END.search(table.texts[n][-_ENDING:]):
            begins.append(n + 1)
    return [range(*both) for both in pairwise((*begins, len(table.segments))) for _ in range(*both)]


def _says_nothing(text: str) -> bool:
    """Whether a text is a question, a breadcrumb or only a few words.

    Pages put these around their content, and they often match more words of a query than the answer does.
    """
    if _QUESTION.search(text, max(0, len(text) - 20)) or len(_BREADCRUMB.findall(text)) > 1:
        return True
    return len(text.split()) < _MIN_WORDS and not has_unspaced(text)
