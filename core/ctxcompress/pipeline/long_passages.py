"""Leave out the tags of HTML, and truncate long passages.

This composes the algorithms of `segment.markup` and `reduce.truncation`, and has none of its own.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, repeat
from math import log

from ctxcompress.code.detection import is_code_name
from ctxcompress.code.elision import GAP, Elision
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document, Piece, Spans, passages_of
from ctxcompress.data.passages import Gap, Node, Passage, Segment, Span, intersection, inverse, spans_of
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.complexity import Intent, classify_intent
from ctxcompress.query.terms import query_terms
from ctxcompress.reduce.reduction import places_in_documents
from ctxcompress.reduce.truncation import Cut, truncated, words_of
from ctxcompress.segment.data_records import is_data
from ctxcompress.segment.formats import read_each, segment_outlined
from ctxcompress.segment.markup import TextNode, text_nodes
from ctxcompress.select.between_segments import assemble
from ctxcompress.text.words import Terms, split_words

__all__ = ["Cutter", "Gaps", "truncate_passages", "without_tags"]

Gaps = Mapping[int, tuple[Gap, ...]]
"""Passage number -> the parts that were cut out of it, in order."""
_SPACE = lazy_regex(r"\s*+")


def truncate_passages(
    cutter: "Cutter | None", documents: Sequence[Document], passages: Sequence[Passage], required: Spans
) -> tuple[Sequence[Document], Gaps]:
    """Truncate each passage in the documents. Return the documents and the gaps in the passages.

    A passage whose words are so long that nothing could be kept stays whole. cutter: None if no option asks for it.
    required: number of a passage that is not truncated -> the parts of it that must be kept.
    """
    if cutter is None or all(len(passage.text) <= cutter.max_length for passage in passages):
        return documents, {}
    texts = [passage.text for passage in passages]
    gaps: dict[int, tuple[Gap, ...]] = {}
    truncated_documents: list[Document] = []
    for document in documents:
        is_cut = any(len(texts[number]) > cutter.max_length for number in passages_of((document,)).difference(required))
        read = _without_tags(document, passages[document.passage], texts, required) if is_cut else document
        pieces: list[Piece] = []
        for number, of_passage in groupby(read.pieces, key=lambda piece: piece.passage):
            left: Sequence[Piece] = tuple(of_passage)
            if number not in required:
                left, cuts = _truncated(Document.of(left, texts), passages[number], cutter)
                if read is not document:
                    cuts = _with_tags(cuts, left, len(texts[number]))
                if cuts:
                    gaps[number] = cuts
            pieces += left
        truncated_documents.append(document if tuple(pieces) == document.pieces else Document.of(pieces, texts))
    return truncated_documents, gaps


def _truncated(part: Document, passage: Passage, cutter: "Cutter") -> tuple[Sequence[Piece], tuple[Gap, ...]]:
    """Return the pieces that are left of a part of a passage, and the gaps in the passage."""
    cut = cutter.cut(part.text, passage)
    if not (cut.spans and cut.gaps):
        return part.pieces, ()
    gaps = [_gap_in_passage(gap, part) for gap in cut.gaps]
    # Of the white space between two pieces, which is in no passage, both gaps beside it would take what is there.
    following = [*(gap.start for gap in gaps[1:]), gaps[-1].end]
    apart = (gap._replace(end=min(gap.end, start)) for gap, start in zip(gaps, following, strict=True))
    return tuple(part.within(cut.spans)), tuple(gap for gap in apart if gap.start < gap.end)


def without_tags(documents: Iterable[Document], passages: Sequence[Passage], required: Spans) -> Sequence[Document]:
    """Return what is left of HTML without its tags: its text nodes, and what must be kept; other text as it is.

    required: number of a passage -> the parts of it that must be kept.
    """
    texts = [passage.text for passage in passages]
    return [_without_tags(document, passages[document.passage], texts, required) for document in documents]


def _without_tags(document: Document, first: Passage, texts: Sequence[str], required: Spans) -> Document:
    nodes = text_nodes(document.text) if "<" in document.text and not is_code_name(first.file_name) else []
    if not nodes:
        return document
    held = places_in_documents(required, [document]).get(0, ())
    return Document.of(list(document.within(*zip(*_with_held(nodes, held), strict=True))), texts)


def _with_held(nodes: Sequence[TextNode], held: Sequence[Span]) -> Sequence[TextNode]:
    """Return the text nodes, with what must be kept and is not within one as nodes of their own."""
    starts = [span.start for span, _ in nodes]
    outer = [span for span in held if span.end > nodes[max(bisect_right(starts, span.start) - 1, 0)][0].end]
    if not outer:
        return nodes
    found = [(span, " ") for span in outer]
    rest = inverse(outer, max(outer[-1].end, nodes[-1][0].end))
    for node, before in nodes:
        parts = intersection((node,), rest)
        found += zip(parts, (before, *repeat(" ", len(parts))), strict=False)
    found.sort()
    after = {span.end for span in outer}
    return [
        (span, before or (" " if number and found[number - 1][0].end in after else ""))
        for number, (span, before) in enumerate(found)
    ]


def _with_tags(gaps: Sequence[Gap], left: Sequence[Piece], length: int) -> tuple[Gap, ...]:
    """Return the gaps of truncation, and one without a marker for each tag that is dropped beside them.

    left: the pieces that are left of the passage. length: its characters.
    """
    tags = intersection(inverse([piece.span for piece in left], length), inverse(spans_of(gaps), length))
    return tuple(sorted((*gaps, *(Gap(*span, "", "", "") for span in tags))))


def _gap_in_passage(gap: Gap, document: Document) -> Gap:
    """Convert a gap in a document that has a single passage to offsets into that passage."""
    start = document.in_passage(gap.start).span.start if gap.start else document.place(0)
    end = document.place(gap.end) if gap.end < len(document.text) else document.place(gap.end - 1) + 1
    return gap._replace(start=start, end=end)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Shows segments of a text, with gap markers between them."""

    text: str
    elision: Elision | None = None
    """Elides source code and data; None for prose."""

    def cut_to(self, segments: Sequence[Segment], kept: Sequence[int]) -> Cut:
        """Return what is shown if the segments with these numbers are kept."""
        spans = assemble(self.text, segments, kept)
        dropped = inverse(spans, len(self.text))
        starts = [start for start, _ in dropped]
        markers: dict[int, str] = {}
        for place, marker in self.elision.markers(spans) if self.elision else ():
            markers[bisect_right(starts, place) - 1] = marker  # a comment may be kept between the gap and the place
        return Cut(spans, tuple(self._gap(*span, markers.get(number, "")) for number, span in enumerate(dropped)))

    def _gap(self, start: int, end: int, marker: str) -> Gap:
        """Return a gap. marker: of code, with the line break before it."""
        if self.elision:
            space = marker[: len(marker) - len(marker.lstrip())]
            return Gap(start, end, marker, "", marker and space + self.elision.marker)
        dropped = self.text[start:end]
        if not dropped.strip():
            return Gap(start, end, "", "", "")
        beside = _SPACE.match(self.text, start if end == len(self.text) else end)
        space = beside[0] if beside else ""
        mark = GAP if space else GAP + dropped[len(dropped.rstrip()) :]
        return Gap(start, end, mark, space, mark)


@dataclass(frozen=True, slots=True)
class Cutter:
    """Truncates texts for one query."""

    query: str
    language: str
    config: CompressionConfig
    max_length: int
    """Characters of a passage."""
    is_head: bool
    """Whether only the beginning of a text is kept."""

    @classmethod
    def of(cls, query: str, language: str, config: CompressionConfig) -> "Cutter | None":
        """Return what the options want: the shorter limit of those that apply to the query; None without any."""
        limits: list[tuple[int, bool]] = []
        if config.factual_length is not None and query.strip():
            is_factual = classify_intent(query, language=config.language).intent is Intent.FACTUAL
            limits += [(config.factual_length, True)] * is_factual
        if config.max_length is not None:
            limits.append((config.max_length, False))
        if not limits or config.format == "preview":
            return None
        return cls(query, language, config, *min(limits, key=lambda limit: limit[0]))

    def cut(self, text: str, passage: Passage) -> Cut:
        """Truncate a text of the passage: all of its text, or what is left of it."""
        if len(text) <= self.max_length:
            return Cut((Span(0, len(text)),))
        name = passage.file_name
        [(nodes, prose)] = read_each([text], [name], language=self.language)
        shape = _Shape(text, Elision(text, nodes, name) if nodes else None)
        for segments in self._readings(text, nodes, prose):
            asked = self._asked(text, segments)
            cut_to = partial(shape.cut_to, segments)
            found = truncated(segments, self.max_length, cut_to, asked=asked, is_head=self.is_head)
            if found.spans and (nodes or not self.is_head or 2 * len(found) >= self.max_length):
                return found
        words = words_of(text, segments)
        cut_to = partial(_Shape(text).cut_to, words)
        return truncated(words, self.max_length, cut_to, asked=[0.0] * len(words), is_head=self.is_head)

    def _readings(self, text: str, nodes: Sequence[Node], prose: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
        """Yield the segments of a text: of data whole records, then their fields; of code lines."""
        if not nodes:
            yield prose
        elif is_data(nodes):
            yield segment_outlined(text, nodes, whole=2 * self.max_length)
        if nodes:
            yield segment_outlined(text, nodes, whole=0)

    def _asked(self, text: str, segments: Sequence[Segment]) -> list[float]:
        """Rate each segment by the query terms in it and in its heading: frequent ones count less."""
        terms = Terms(self.language)
        wanted = query_terms(self.query, language=self.language, terms=terms, synonyms=self.config.synonyms)
        word_counts = Counter(split_words(text))
        hits = terms.matching(word_counts, wanted)
        term_counts = Counter[int]()
        for word, of_word in hits.items():
            term_counts.update(dict.fromkeys(of_word, word_counts[word]))
        weights = [weight / (1 + log(term_counts[term] or 1)) for term, weight in enumerate(wanted.values())]

        def rating(part: str) -> float:
            found = {term for word in split_words(part) for term in hits.get(word, ())}
            return sum(weights[term] for term in sorted(found))

        return [rating(text[part.start : part.end]) + rating(" ".join(part.heading[-1:])) for part in segments]
