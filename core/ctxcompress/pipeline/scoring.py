"""The third step: score each segment for the query. This composes algorithms, and has none of its own.

analysis -> scores -> worth within the budget

Who listens learns what each call scored.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.pipeline.analysis import Analysed, Analysis
from ctxcompress.pipeline.task import OriginalText
from ctxcompress.query.focus import questions_in
from ctxcompress.query.terms import Question, asks_for_all
from ctxcompress.score.adjustments import UNASKED, Judged, adjusted, unasked_boilerplate
from ctxcompress.score.evidence import confidence, evidence, matches_in
from ctxcompress.score.features import relevance, scores_of_rank_bm25
from ctxcompress.score.log_relevance import rescore_logs
from ctxcompress.score.matches import Matches, find_matches
from ctxcompress.score.semantic import Semantics
from ctxcompress.select.layout import Layout
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import TokenCounter

__all__ = ["ScoredCall", "ScoredSegments", "confidence_in", "current_listener", "listening", "score_segments"]

_EXEMPT = frozenset((Kind.LOG, Kind.RECORD))
_FEW = 0.04
"""The most documents that are logs and data among others: less than one of the twenty that a search returns."""
_SURE = 0.12
"""The probability of a segment from which an encoder is trusted where no word of the query occurs. In twenty passages
about something else it finds hardly a segment with more than this."""
_PRIOR_ODDS = 3.0
"""How often documents answer their query for each time that they do not. The confidence was learned from as many
contexts that do as that do not, but most retrievals do."""


@dataclass(frozen=True, slots=True)
class ScoredSegments:
    """The segments of the documents with their scores."""

    scores: Floats
    """The probability that the query needs each segment, or its BM25 score."""
    likelihoods: Floats
    """The same, with how likely the documents answer: what `adaptive` is compared with. 1 if
    nobody wants them, and if the query asks for nothing in particular."""
    worth: Floats
    """The value of each segment to the selection; below 0 if the query hardly needs it."""
    unlikely: Sequence[int]
    """The numbers of the segments that the query hardly needs."""
    around: Sequence[int] = ()
    """The numbers of the boilerplate segments that are not wanted."""


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What one question says about the segments."""

    question: Question
    scores: Floats
    likelihoods: Floats
    around: Sequence[int]
    """The numbers of the boilerplate segments that it does not want."""

    @classmethod
    def of_all(cls, judgements: Sequence["_Judgement"]) -> "_Judgement":
        """Judge each segment by the question that needs it most."""
        if len(judgements) == 1:
            return judgements[0]
        around = set(judgements[0].around).intersection(*(each.around for each in judgements))
        scores = np.maximum.reduce([each.scores for each in judgements])
        bests = [int(each.scores.argmax()) for each in judgements if each.scores.any()]
        scores[bests] = scores.max(initial=0.0)
        likelihoods = np.maximum.reduce([each.likelihoods for each in judgements])
        return cls(judgements[0].question, scores, likelihoods, sorted(around))


def score_segments(
    queries: tuple[str, ...],
    found: Analysed,
    config: CompressionConfig,
    *,
    with_likelihoods: bool = False,
    ranked: Sequence[float] | None = None,
) -> ScoredSegments:
    """Score the segments for the queries, and weigh them by the options.

    Each question in the queries wants an answer of its own. with_likelihoods: whether to find the likelihoods also
    without `adaptive`, which then change nothing else. ranked: see `Task.ranked`.
    """
    analysis, table, language = found.analysis, found.analysis.table, found.analysis.options.language
    embeddings = [passage.embedding for passage in found.passages]
    semantics = Semantics.of(config.encoder, embeddings, analysis.corpus, language)
    is_pruned = bool(config.adaptive) or with_likelihoods
    questions = [question for query in queries for question in questions_in(query)]
    best = _Judgement.of_all([_judged(each, analysis, config, semantics, is_pruned=is_pruned) for each in questions])
    likely = best.likelihoods >= config.adaptive
    if config.on_empty == "original" and not likely.any():
        likely = ~likely
    worth = _worth(best, analysis, config)
    if ranked is not None:
        worth *= np.array(ranked)[table.passage]
    unlikely = _unlikely(likely if config.adaptive else None, analysis.structure, best.around)
    if unlikely:
        worth[unlikely] -= 1 + worth.max(initial=0.0)
    return ScoredSegments(best.scores, best.likelihoods, worth, unlikely, best.around)


def _judged(
    question: str, analysis: Analysis, config: CompressionConfig, semantics: Semantics, *, is_pruned: bool
) -> _Judgement:
    """is_pruned: whether the likelihoods are wanted."""
    table, corpus = analysis.table, analysis.corpus
    asked = _question(question, analysis, config)
    wants = is_pruned and not asks_for_all(question, analysis.options.language)
    likelihoods = np.ones(len(table.segments))
    if config.scorer == "evidence":
        matches = matches_in(corpus, asked)
        scores = evidence(asked, corpus, matches, semantics)
        if wants:
            # The table finds something close in any text, so it tells what comes first, and words what is likely.
            by_table = semantics.meaning and semantics.meaning.has_table and not semantics.reader
            likely = evidence(asked, corpus, matches) if by_table else scores
            likelihoods = _likelihoods(likely, _chance(asked, matches, scores, config), table)
    elif config.scorer == "bm25":
        scores = rescore_logs(asked, corpus, relevance(find_matches(corpus, asked.wanted, asked.terms)))
    else:
        scores = scores_of_rank_bm25(config.scorer, corpus.words, asked.wanted, asked.terms)
    unasked = [] if Kind.BOILERPLATE in config.type_weights else unasked_boilerplate(asked.text, table)
    scores[unasked] *= UNASKED
    # What has a word of the query may fill up the room.
    around = [n for n in unasked if config.adaptive or not asked.terms.matching(corpus.words[n], asked.wanted)]
    return _Judgement(asked, scores, likelihoods, around)


def _question(text: str, analysis: Analysis, config: CompressionConfig) -> Question:
    """Return the question. What it spells out is also found by the abbreviation that the texts explain."""
    spelled_out = {short: long for short, long in analysis.abbreviations.items() if short not in text}
    return Question.of(text, analysis.options.language, {**spelled_out, **config.synonyms})


def confidence_in(query: str, analysis: Analysis, config: CompressionConfig) -> float:
    """Return the probability that the documents answer the query: see `score.confidence`. It is 0 without text, and 0.5
    for a query that asks for nothing in particular."""
    if not analysis.table.segments:
        return 0.0
    if asks_for_all(query, analysis.options.language):
        return 0.5
    asked = _question(query, analysis, config)
    return confidence(asked.wanted, matches_in(analysis.corpus, asked))


def _chance(asked: Question, matches: Matches, scores: Floats, config: CompressionConfig) -> float:
    """Return the confidence in the documents. If they have no word of the query, only an encoder
    can tell, and is trusted where it finds a segment likely."""
    is_trusted = config.own_encoder is not None and not matches.any and scores.max(initial=0.0) >= _SURE
    return 1.0 if is_trusted else confidence(asked.wanted, matches)


def _worth(best: _Judgement, analysis: Analysis, config: CompressionConfig) -> Floats:
    """Return the value of each segment to the selection.

    The odds tell two likely segments apart better than their probabilities. The fourth root of the odds has the scale
    of BM25, for which the weights of lengths and types were chosen. What fills the budget beside an answer: see
    `score.adjustments`.
    """
    if config.scorer != "evidence":
        worth = best.scores.copy()
    else:
        judged = Judged(best.question, analysis.corpus, completions=analysis.completions)
        likely = adjusted(judged, best.scores, is_worth=True)
        worth = (likely / (1 - np.minimum(likely, 1 - 1e-12))) ** 0.25
    if config.type_weights:
        worth *= np.array([config.type_weights.get(kind, 1.0) for kind in analysis.table.kind])
    return worth


def _likelihoods(scores: Floats, chance: float, table: SegmentTable) -> Floats:
    """Return the probability that the query needs each segment, by its score and by how likely the documents answer.

    The scores assume that the documents answer the query. If that is rather unlikely, they are multiplied by the odds
    that they do, except those of logs and data: these hardly share words with questions about them, or only keys, which
    all records have. A few among very many other texts are no exception: any question finds an error in one of them.
    """
    odds = min(_PRIOR_ODDS * chance / max(1 - chance, 1e-9), 1.0)
    is_exempt = np.fromiter((kind in _EXEMPT for kind in table.kind), bool, scores.size)
    is_exempt &= np.unique(table.documents[is_exempt]).size > _FEW * (len(table.first) - 1)
    return np.asarray(scores * np.where(is_exempt, 1.0, odds))


def _unlikely(likely: NDArray[np.bool_] | None, structure: Structure, unwanted: Sequence[int]) -> list[int]:
    """Return the numbers of the segments that the query hardly needs.

    These are boilerplate and all that is not likely. The rows of a table count as likely if its header does, because a
    header is never kept alone. A heading counts as likely if the text right under it does. likely: None if all are.
    """
    table = structure.table
    boilerplate = _droppable_boilerplate(structure, unwanted)
    if likely is None:
        return sorted(boilerplate)
    may = likely.tolist()
    headings = {heading for heading, block in structure.under.items() if any(may[block.start : block.stop])}
    return [
        number
        for number, segment in enumerate(table.segments)
        if number in boilerplate
        or not (
            may[number]
            or number in headings
            or (segment.kind is Kind.TABLE and any(may[header] for header in table.needs(number)))
        )
    ]


def _droppable_boilerplate(structure: Structure, unwanted: Sequence[int]) -> set[int]:
    """Return the boilerplate that is not wanted, or nothing if there is no other text."""
    boilerplate, segments = set(unwanted), structure.table.segments
    others = (number for number in range(len(segments)) if number not in boilerplate)
    if boilerplate and any(structure.stands[number] and segments[number].kind is not Kind.HEADING for number in others):
        return boilerplate
    return set()


@dataclass(frozen=True, slots=True)
class ScoredCall:
    """The segments of a compression with their scores and likelihoods, and how the final text shows them."""

    analysis: Analysis
    scored: ScoredSegments
    layout: Layout
    original: OriginalText
    count: TokenCounter
    """Remembers what the compression has counted."""


class Listener:
    """Hears what the last compression within its block knew."""

    def __init__(self) -> None:
        self.last: ScoredCall | None = None
        """None if that compression scored nothing: if everything fits, or the cache had the result."""


_LISTENER: ContextVar[Listener | None] = ContextVar("ctxcompress_listener", default=None)


@contextmanager
def listening() -> Iterator[Listener]:
    """Return a block whose listener hears of the compressions in it, also on another thread that has its context."""
    listener = Listener()
    before = _LISTENER.set(listener)
    try:
        yield listener
    finally:
        _LISTENER.reset(before)


def current_listener() -> Listener | None:
    """Return the listener of the innermost block; None outside of all."""
    return _LISTENER.get()
