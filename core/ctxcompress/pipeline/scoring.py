"""The third step: score each segment for the query. This composes algorithms, and has none of its own.

analysis -> scores -> worth within the budget
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Kind, Passage
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.pipeline.analysis import Analysis
from ctxcompress.query.terms import TECHNICAL_SYNONYMS, query_terms
from ctxcompress.score.boilerplate_relevance import Surroundings, surroundings
from ctxcompress.score.evidence import evidence
from ctxcompress.score.log_relevance import rescore_logs
from ctxcompress.score.odd_records import raise_odd_records
from ctxcompress.score.relevance import relevance
from ctxcompress.score.semantic import Semantics
from ctxcompress.select.structure import Structure
from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.words import Terms

__all__ = ["ScoredSegments", "score_segments"]


@dataclass(frozen=True, slots=True)
class ScoredSegments:
    """The segments of the documents with their scores."""

    table: SegmentTable
    scores: Floats
    """The probability that the query needs each segment, or its BM25 score."""
    worth: Floats
    """The value of each segment to the selection; below 0 if the query hardly needs it."""
    unlikely: Sequence[int]
    """The numbers of the segments that the query hardly needs."""
    around: Sequence[int] = ()
    """The numbers of the boilerplate segments that the query does not ask for."""

    def relevance_of(self, passages: int) -> Mapping[int, float]:
        """Return the best score of each passage's segments, 0 for a passage without segments.

        passages: the number of passages.
        """
        best = np.zeros(passages)
        np.maximum.at(best, self.table.passage, self.scores)
        return dict(enumerate(best.tolist()))


def score_segments(
    query: str, document_passages: Sequence[Passage], analysis: Analysis, language: str, config: CompressionConfig
) -> ScoredSegments:
    """Score the segments for the query, and weigh them by the options.

    document_passages: each document as a passage, see `documents_as_passages`.
    """
    table = analysis.table
    terms = Terms(language)
    wanted = _weighted_terms(query, language, terms, config)
    scores = _scores(query, document_passages, analysis, language, config, wanted, terms)
    if Kind.RECORD in table.kinds:
        raise_odd_records(query, table.segments, table.texts, scores)
    around = surroundings(query, table.segments, table.texts, wanted, terms, analysis.structure.under)
    if Kind.BOILERPLATE in config.type_weights:
        around = Surroundings([], [])
    around.damp(scores)
    worth = _worth(scores, table, config)
    unlikely = _unlikely(scores, analysis.structure, config, around.unasked)
    worth[unlikely] -= 1 + worth.max(initial=0.0)
    return ScoredSegments(table, scores, worth, unlikely, around.unasked)


def _weighted_terms(query: str, language: str, terms: Terms, config: CompressionConfig) -> Mapping[str, float]:
    """Return the query's terms and their synonyms, with their weights."""
    tables = [config.synonyms] if config.synonyms else []
    if config.technical_synonyms:
        tables.append(TECHNICAL_SYNONYMS)
    return query_terms(query, language=language, terms=terms, synonyms=tables)


def _scores(
    query: str,
    document_passages: Sequence[Passage],
    analysis: Analysis,
    language: str,
    config: CompressionConfig,
    wanted: Mapping[str, float],
    terms: Terms,
) -> Floats:
    """Return each segment's score: a probability, or its BM25 score."""
    corpus, ignored = analysis.corpus, STOP_WORDS.get(language, frozenset[str]())
    if config.scorer == "bm25":
        found = relevance(corpus.words, corpus.sections, corpus.labels, wanted, terms, corpus.postings)
        return rescore_logs(query, corpus, wanted, terms, ignored, found)
    embeddings = [passage.embedding for passage in document_passages]
    semantics = Semantics.of(config.encoder, embeddings, language) if config.encoder else None
    return evidence(query, corpus, wanted, terms, ignored, semantics)


def _worth(scores: Floats, table: SegmentTable, config: CompressionConfig) -> Floats:
    """Return the value of each segment to the selection.

    The odds tell two likely segments apart better than their probabilities. The fourth root of the odds has the scale
    of BM25, for which the weights of lengths and types were chosen.
    """
    worth = scores.copy() if config.scorer == "bm25" else (scores / (1 - np.minimum(scores, 1 - 1e-12))) ** 0.25
    if config.type_weights:
        worth *= np.array([config.type_weights.get(kind, 1.0) for kind, *_ in table.segments])
    return worth


def _unlikely(scores: Floats, structure: Structure, config: CompressionConfig, unasked: Sequence[int]) -> list[int]:
    """Return the numbers of the segments that the query hardly needs.

    These are boilerplate and, with `adaptive`, segments with a probability below `min_probability`; the best segment
    always stays. The rows of a table count as likely if its header does, because a header is never kept alone. A
    heading counts as likely if the text right under it does.
    """
    table = structure.table
    boilerplate = _droppable_boilerplate(structure, unasked)
    if not config.adaptive:
        return sorted(boilerplate)
    likely = (scores >= min(config.min_probability, scores.max(initial=0.0))).tolist()
    headings = {heading for heading, block in structure.under.items() if any(likely[block.start : block.stop])}
    return [
        number
        for number, segment in enumerate(table.segments)
        if number in boilerplate
        or not (
            likely[number]
            or number in headings
            or (segment[0] is Kind.TABLE and any(likely[header] for header in table.needs(number)))
        )
    ]


def _droppable_boilerplate(structure: Structure, unasked: Sequence[int]) -> set[int]:
    """Return the boilerplate that the query does not ask for, or nothing if there is no other text."""
    boilerplate, segments = set(unasked), structure.table.segments
    others = (number for number in range(len(segments)) if number not in boilerplate)
    if boilerplate and any(structure.stands[number] and segments[number][0] is not Kind.HEADING for number in others):
        return boilerplate
    return set()
