"""Question answering cases as the scorer sees them. What does not depend on the weights is computed once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.encoders import WORDS
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.pipeline.analysis import Analyser, AnalysisOptions
from ctxcompress.pipeline.call_cache import CallCache
from ctxcompress.query.terms import Question, clauses, query_terms
from ctxcompress.reduce.stages import reduced
from ctxcompress.score.bridges import Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.evidence import Stage, evidence, follow, passes, sigmoid
from ctxcompress.score.features import features, relevance, turn_features
from ctxcompress.score.matches import Matches, find_matches, log_odds
from ctxcompress.score.semantic import Meaning, Reader, Semantics
from ctxcompress.score.source_features import source_features
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import select
from ctxcompress.select.structure import Structure
from ctxcompress.text.language import STOP_WORDS, detect_language
from ctxcompress.text.tokens import TokenCounter
from ctxcompress.text.words import Terms, split_words
from lib.cases import Case

__all__ = ["Example", "Floats", "example", "kept_evidence"]

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Example:
    """One case, segmented and looked up."""

    query: str
    language: str
    passages: list[Passage]
    documents: Sequence[Document]
    table: SegmentTable
    corpus: Corpus
    matched: bool
    """Whether a word of the question occurs."""
    rows: Floats
    """The first pass's features."""
    matches: Matches
    wanted: tuple[str, ...]
    """The terms of the question."""
    by_hand: Floats
    """The scores of `scorer="bm25"`."""
    bridges: Bridges
    clauses: list[str]
    """Of the question."""
    needed: NDArray[np.bool_]
    """Which segments are evidence."""
    gold: list[str]
    """The evidence, white space folded."""

    def words(self, stages: Sequence[Stage]) -> Floats:
        """The logits after as many of these passes over words as the case takes."""
        last = passes(self.corpus)
        return follow(self.bridges, stages[0].logits(self.rows), stages[1:last], self.rows)

    def inputs(self, stages: Sequence[Stage]) -> Floats | None:
        """What the pass over words after `stages` sees; None if the case does not take it."""
        if not stages:
            return self.rows
        if len(stages) >= passes(self.corpus):
            return None
        return np.vstack([self.rows, self.bridges.features(sigmoid(self.words(stages)))])

    def source(self, probability: Floats) -> Floats:
        """What the pass over source code sees, given the probabilities so far."""
        return np.vstack([self.rows, source_features(self.corpus, self.matches, self.wanted, probability)])

    def turns(self, probability: Floats) -> Floats:
        """What the pass over turns sees, given the probabilities so far."""
        return turn_features(self.corpus, probability)

    def semantic(self, meaning: Meaning) -> Floats:
        """The features of closeness."""
        return meaning.features(self.query, self.corpus, self.clauses)

    def semantics(self, encoder: Encoder | Comparer | str) -> Semantics:
        """What tells closeness of this case with an encoder."""
        return Semantics.of(encoder, [None] * len(self.passages), self.corpus, self.language)

    def before_reading(self) -> Floats:
        """The probabilities before an encoder has read the best segments."""
        question = Question.of(self.query, self.language, {})
        return evidence(question, self.corpus, self.matches, self.semantics(WORDS))

    def read(self, encoder: Encoder | Comparer, probability: Floats) -> Floats:
        """What the pass after an encoder sees, given the probabilities so far."""
        reader = Reader(encoder, [None] * len(self.passages))
        return reader.features(self.query, self.corpus, log_odds(probability), is_alone=not self.matched)


def example(case: Case) -> Example:
    passages = [Passage(str(n), d.text, title=d.title or None) for n, d in enumerate(case.documents)]
    language = detect_language(" ".join([case.query, *(p.text[:150] for p in passages[:3])]))
    documents = reduced(passages, CompressionConfig(), fits=False).documents
    analyser = Analyser(CallCache(None), "o200k_base")
    analysis = analyser.read(documents, passages, AnalysisOptions.of(language, 500)).analysis
    table, corpus = analysis.table, analysis.corpus
    terms = Terms(language)
    wanted = query_terms(case.query, language=language, terms=terms)
    matches = find_matches(corpus, wanted, terms, split_words(case.query))
    ignored = STOP_WORDS.get(language, frozenset())
    return Example(
        query=case.query,
        language=language,
        passages=passages,
        documents=documents,
        table=table,
        corpus=corpus,
        matched=matches.any,
        rows=features(corpus, matches),
        matches=matches,
        by_hand=relevance(find_matches(corpus, wanted, terms)),
        wanted=tuple(wanted),
        bridges=Bridges(case.query, corpus, ignored),
        clauses=clauses(case.query, ignored),
        needed=np.array(list(_needed(documents, table, case.gold))),
        gold=[" ".join(case.documents[d].text[start:end].split()) for d, start, end in case.gold],
    )


def kept_evidence(case: Example, worth: Floats, budget: int, count: TokenCounter) -> int:
    """How many pieces of evidence are whole in what is selected within the budget."""
    texts = [passage.text for passage in case.passages]
    layout = Layout(case.documents, texts, "\n\n", lambda _, shown: shown.text, count)
    folded = " ".join(select(Structure(case.table), worth, layout, budget).text.split())
    return sum(gold in folded for gold in case.gold)


def _needed(documents: Sequence[Document], table: SegmentTable, gold: Sequence[tuple[int, int, int]]) -> Iterator[bool]:
    """Whether a good part of a segment is evidence, or it holds a good part of some."""
    for document, segment in zip(table.document, table.segments, strict=True):
        found = documents[document].of_passages([Span(segment.start, segment.end)])
        yield any(
            min(part.end, end) - max(part.start, start) > 0.3 * min(part.end - part.start, end - start)
            for passage, start, end in gold
            for part in found.get(passage, ())
        )
