"""What each segment is worth to the question: composition only, no algorithm of its own.

documents -> segment -> score -> worth
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxcompress.config import CompressionConfig
from ctxcompress.documents import Document
from ctxcompress.outline import Node
from ctxcompress.query.synonyms import TECHNICAL_SYNONYMS
from ctxcompress.query.terms import query_terms
from ctxcompress.score.bm25 import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.evidence import evidence
from ctxcompress.score.relevance import relevance
from ctxcompress.score.semantic import Semantics
from ctxcompress.segment.code import WHOLE, outline
from ctxcompress.segment.segments import segment_outlined
from ctxcompress.select.candidates import Candidates
from ctxcompress.text.language import detect_language
from ctxcompress.text.stopwords import STOP_WORDS
from ctxcompress.text.words import Terms
from ctxcompress.types import Kind, Passage, Segment

__all__ = ["Judged", "judge", "language_of", "segmented"]


_CHARACTERS = 3
"""Of a function, for each token of the budget: more, and it is cut."""
_SHORTEST = 120


@dataclass(frozen=True, slots=True)
class Judged:
    """The segments of the documents, and what was found out about them."""

    candidates: Candidates
    scores: Floats
    """A probability, or plain BM25's sum."""
    worth: Floats
    """What they are worth to the budget; below 0 for those that are hardly needed."""
    unlikely: Sequence[int]
    """The numbers of the segments that are hardly needed."""

    def relevance_of(self, passages: int) -> Mapping[int, float]:
        """Number of a passage -> the best score of a segment of it, 0 for one without segments."""
        best = np.zeros(passages)
        np.maximum.at(best, self.candidates.passage, self.scores)
        return dict(enumerate(best.tolist()))


def language_of(query: str, passages: Sequence[Passage], config: CompressionConfig) -> str:
    """The language that is given, or that the question and the beginnings of the first passages are in."""
    return config.language or detect_language(" ".join([query, *(item.text[:150] for item in passages[:3])]))


def segmented(
    documents: Sequence[Document], passages: Sequence[Passage], language: str, budget: int
) -> tuple[list[Passage], list[list[Segment]], list[tuple[Node, ...]]]:
    """(each document as a passage, its segments, its outline if it is code). A document is called what the first
    passage in it is. budget: in tokens; a function that takes most of it is no single segment."""
    items = []
    for document in documents:
        item = passages[document.pieces[0].passage]
        items.append(item if document.is_passage else replace(item, text=document.text, embedding=None))
    outlines = [outline(item.text, item.file_path or item.title) for item in items]
    pairs = zip(items, outlines, strict=True)
    whole = min(WHOLE, max(_SHORTEST, _CHARACTERS * budget))
    segments = [segment_outlined(item.text, nodes, language=language, whole=whole) for item, nodes in pairs]
    return items, segments, outlines


def judge(
    query: str,
    items: Sequence[Passage],
    segments: Sequence[Sequence[Segment]],
    candidates: Candidates,
    language: str,
    config: CompressionConfig,
) -> Judged:
    """Scores the segments for the question, and weighs them as the options say."""
    scores = _scores(query, items, segments, candidates, language, config)
    worth = _worth(scores, candidates, config)
    unlikely = _unlikely(scores, candidates, config.min_probability) if config.adaptive else []
    worth[unlikely] -= 1 + worth.max(initial=0.0)
    return Judged(candidates, scores, worth, unlikely)


def _scores(
    query: str,
    items: Sequence[Passage],
    segmented: Sequence[Sequence[Segment]],
    candidates: Candidates,
    language: str,
    config: CompressionConfig,
) -> Floats:
    """What the scorer says of each segment: a probability, or plain BM25's sum."""
    terms = Terms(language)
    tables = [config.synonyms] if config.synonyms else []
    if config.technical_synonyms:
        tables.append(TECHNICAL_SYNONYMS)
    wanted = query_terms(query, language=language, terms=terms, synonyms=tables)
    corpus = Corpus.of(items, segmented, candidates.texts)
    if config.scorer == "bm25":
        return relevance(corpus.words, corpus.sections, corpus.labels, wanted, terms)
    semantics = Semantics(config.encoder, [item.embedding for item in items]) if config.encoder else None
    return evidence(query, corpus, wanted, terms, STOP_WORDS.get(language, frozenset()), semantics)


def _worth(scores: Floats, candidates: Candidates, config: CompressionConfig) -> Floats:
    """What the segments are worth to the budget.

    A probability says little of which of two sure segments is surer, its odds do. Their fourth root brings them to
    the scale of BM25, on which the length of a segment and a factor on its kind are weighed.
    """
    worth = scores.copy() if config.scorer == "bm25" else (scores / (1 - np.minimum(scores, 1 - 1e-12))) ** 0.25
    if config.type_weights:
        worth *= np.array([config.type_weights.get(kind, 1.0) for kind, *_ in candidates.segments])
    return worth


def _unlikely(scores: Floats, candidates: Candidates, probability: float) -> list[int]:
    """The segments less likely needed than that, and than the likeliest one. A table's rows are as likely as its
    header, which is no segment to be kept alone."""
    likely = (scores >= min(probability, scores.max(initial=0.0))).tolist()
    return [
        number
        for number, segment in enumerate(candidates.segments)
        if not likely[number]
        and not (segment[0] is Kind.TABLE and any(likely[header] for header in candidates.needs(number)))
    ]
