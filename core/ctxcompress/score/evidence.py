"""How likely a segment is needed to answer: a logistic regression over named features, in several passes.

The first pass judges each segment by what it, its section and its headings share with the
question. Where there are several passages, one or two more passes judge again with what the best
segments so far lead to. Where there is an encoder, last passes judge again with how close in meaning
segments are.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ctxcompress.score.bm25 import Floats
from ctxcompress.score.bridges import Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import features
from ctxcompress.score.matches import find_matches
from ctxcompress.score.model import Stage, load_models, sigmoid
from ctxcompress.score.semantic import Semantics
from ctxcompress.score.source import is_program, source_features
from ctxcompress.text.clauses import clauses
from ctxcompress.text.words import Terms, split_words

__all__ = ["evidence", "follow", "passes"]

_PASSES = ((12, 3), (3, 2), (0, 1))
"""(least number of passages, passes): one or two need no bridge, a few are reached by one pass over bridges."""


def passes(passages: int) -> int:
    """How many passes over words there are for so many passages."""
    return next(number for least, number in _PASSES if passages >= least)


def evidence(
    query: str,
    corpus: Corpus,
    wanted: Mapping[str, float],
    terms: Terms,
    ignored: frozenset[str],
    semantics: Semantics | None = None,
) -> Floats:
    """The probability that each segment is needed, shape (segments,); all 0 if nothing tells one from another.

    wanted: the query's terms and their weights. ignored: the function words of the language.
    """
    matches = find_matches(
        corpus.words,
        corpus.sections,
        corpus.labels,
        wanted,
        terms,
        corpus.names,
        split_words(query),
        postings=corpus.postings,
    )
    if not corpus.texts or not (matches.any or (semantics and query.strip())):
        return np.zeros(len(corpus.texts))
    models = load_models()
    model, last = models["words"], passes(len(corpus.titles))
    rows = features(corpus, matches)
    logits = model.stages[0].logits(rows)
    if last > 1 or semantics:
        bridges = Bridges(query, corpus, ignored)
        logits = follow(bridges, logits, model.stages[1:last], rows)
    if semantics:
        semantics = semantics if matches.any else semantics.alone()
        model = models[semantics.model]
        close = semantics.features(query, corpus, logits if matches.any else None, clauses(query, ignored))
        logits = follow(bridges, logits, model.stages, rows, close)
    probability = model.calibration.probability(logits)
    return of_source(corpus, rows, probability) if is_program(corpus) else probability


def of_source(corpus: Corpus, rows: Floats, probability: Floats) -> Floats:
    """The probability of each segment, that of source code judged again. rows: the first pass's features."""
    model, source = load_models()["source"], corpus.source
    table = np.vstack([rows, source_features(corpus, probability)])[:, source]
    judged = probability.copy()
    judged[source] = model.calibration.probability(model.stages[0].logits(table))
    return judged


def follow(bridges: Bridges, logits: Floats, stages: Sequence[Stage], *tables: Floats) -> Floats:
    """The logits after these passes, each of which sees the tables' features and the bridges from the pass before.

    They end early where the best segments stay the same: another look from there changes little, and costs.
    """
    sources: list[int] | None = None
    for stage in stages:
        probability = sigmoid(logits)
        found = bridges.sources(probability)
        if found == sources:
            break
        first, *others = tables
        logits, sources = stage.logits(first, bridges.features(probability), *others), found
    return logits
