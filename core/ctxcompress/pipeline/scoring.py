"""What each segment is worth to the question: composition only, no algorithm of its own.

reading -> score -> worth
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Kind, Passage
from ctxcompress.data.table import SegmentTable
from ctxcompress.pipeline.analysis import Analysis
from ctxcompress.query.terms import TECHNICAL_SYNONYMS, query_terms
from ctxcompress.score.boilerplate_relevance import Surroundings, surroundings
from ctxcompress.score.evidence import evidence
from ctxcompress.score.matches import Floats
from ctxcompress.score.relevance import relevance
from ctxcompress.score.semantic import Semantics
from ctxcompress.select.structure import Structure
from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.words import Terms

__all__ = ["ScoredSegments", "score_segments"]


@dataclass(frozen=True, slots=True)
class ScoredSegments:
    """The segments of the documents, and what was found out about them."""

    table: SegmentTable
    scores: Floats
    """A probability, or plain BM25's sum."""
    worth: Floats
    """What they are worth to the budget; below 0 for those that are hardly needed."""
    unlikely: Sequence[int]
    """The numbers of the segments that are hardly needed."""
    around: Sequence[int] = ()
    """The numbers of those that pages put around their text, and that the question does not ask for."""

    def relevance_of(self, passages: int) -> Mapping[int, float]:
        """Number of a passage -> the best score of a segment of it, 0 for one without segments."""
        best = np.zeros(passages)
        np.maximum.at(best, self.table.passage, self.scores)
        return dict(enumerate(best.tolist()))


def score_segments(
    query: str, items: Sequence[Passage], analysis: Analysis, language: str, config: CompressionConfig
) -> ScoredSegments:
    """Scores the segments for the question, and weighs them as the options say. items: the documents as passages."""
    table = analysis.table
    terms = Terms(language)
    wanted = _wanted(query, language, terms, config)
    scores = _scores(query, items, analysis, language, config, wanted, terms)
    around = surroundings(query, table.segments, table.texts, wanted, terms, analysis.structure.under)
    if Kind.BOILERPLATE in config.type_weights:
        around = Surroundings([], [])
    around.damp(scores)
    worth = _worth(scores, table, config)
    unlikely = _unlikely(scores, analysis.structure, config, around.unasked)
    worth[unlikely] -= 1 + worth.max(initial=0.0)
    return ScoredSegments(table, scores, worth, unlikely, around.unasked)


def _wanted(query: str, language: str, terms: Terms, config: CompressionConfig) -> Mapping[str, float]:
    """The question's terms, with their weights."""
    tables = [config.synonyms] if config.synonyms else []
    if config.technical_synonyms:
        tables.append(TECHNICAL_SYNONYMS)
    return query_terms(query, language=language, terms=terms, synonyms=tables)


def _scores(
    query: str,
    items: Sequence[Passage],
    analysis: Analysis,
    language: str,
    config: CompressionConfig,
    wanted: Mapping[str, float],
    terms: Terms,
) -> Floats:
    """What the scorer says of each segment: a probability, or plain BM25's sum."""
    corpus = analysis.corpus
    if config.scorer == "bm25":
        return relevance(corpus.words, corpus.sections, corpus.labels, wanted, terms, corpus.postings)
    embeddings = [item.embedding for item in items]
    semantics = Semantics.of(config.encoder, embeddings, language) if config.encoder else None
    return evidence(query, corpus, wanted, terms, STOP_WORDS.get(language, frozenset()), semantics)


def _worth(scores: Floats, table: SegmentTable, config: CompressionConfig) -> Floats:
    """What the segments are worth to the budget.

    A probability says little of which of two sure segments is surer, its odds do. Their fourth root brings them to
    the scale of BM25, on which the length of a segment and a factor on its kind are weighed.
    """
    worth = scores.copy() if config.scorer == "bm25" else (scores / (1 - np.minimum(scores, 1 - 1e-12))) ** 0.25
    if config.type_weights:
        worth *= np.array([config.type_weights.get(kind, 1.0) for kind, *_ in table.segments])
    return worth


def _unlikely(scores: Floats, structure: Structure, config: CompressionConfig, unasked: Sequence[int]) -> list[int]:
    """The boilerplate, and with `adaptive` the segments less likely needed than `min_probability`, and than the
    likeliest one. A table's rows are as likely as its header, which is no segment to be kept alone, and a heading is
    as the text right under it."""
    table = structure.table
    apart = _apart(structure, unasked)
    if not config.adaptive:
        return sorted(apart)
    likely = (scores >= min(config.min_probability, scores.max(initial=0.0))).tolist()
    headings = {heading for heading, block in structure.under.items() if any(likely[block.start : block.stop])}
    return [
        number
        for number, segment in enumerate(table.segments)
        if number in apart
        or not (
            likely[number]
            or number in headings
            or (segment[0] is Kind.TABLE and any(likely[header] for header in table.needs(number)))
        )
    ]


def _apart(structure: Structure, unasked: Sequence[int]) -> set[int]:
    """The boilerplate that is not asked for, unless there is no other text."""
    apart, segments = set(unasked), structure.table.segments
    others = (number for number in range(len(segments)) if number not in apart)
    if apart and any(structure.stands[number] and segments[number][0] is not Kind.HEADING for number in others):
        return apart
    return set()
