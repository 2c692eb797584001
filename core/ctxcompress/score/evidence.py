"""The learned scorer: the probability that a segment is needed to answer, by logistic regression in several passes.

The first pass looks at the words that a segment, its section and its headings share with the query. With several
passages, one or two more passes add what the best segments so far lead to (see bridges). The next pass adds how close
segments are in meaning. Another one scores source code and conversations again. Then an encoder reads the best.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.named_patterns import dates_in, is_same_date
from ctxcompress.data.table import Floats, Integers
from ctxcompress.query.terms import Question, clauses
from ctxcompress.score.adjustments import Judged, adjusted
from ctxcompress.score.bridges import BRIDGES, Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import FEATURES, TURNS, features, is_conversation, turn_features
from ctxcompress.score.log_relevance import rescore_logs
from ctxcompress.score.matches import Matches, Occurrences, contained, deviation, find_matches, log_odds, summed
from ctxcompress.score.semantic import NO_SEMANTICS, READ, SEMANTIC, Meaning, Reader, Semantics
from ctxcompress.score.source_features import SOURCE, is_program, source_features
from ctxcompress.text.words import Terms, split_words

__all__ = [
    "COLUMNS",
    "CONFIDENCE",
    "Calibration",
    "Model",
    "Stage",
    "confidence",
    "confidence_features",
    "evidence",
    "follow",
    "load_models",
    "log_odds",
    "matches_in",
    "passes",
    "sigmoid",
]

COLUMNS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "words": (FEATURES, FEATURES + BRIDGES, FEATURES + BRIDGES),
    "static": (FEATURES + BRIDGES + SEMANTIC,),
    "word_table": (FEATURES + BRIDGES + SEMANTIC,),
    "source": (FEATURES + SOURCE,),
    "turns": (TURNS,),
    "encoder": (READ,),
}
"""Name of a model -> the feature names of each of its passes. "words" runs first; "word_table" or
"static" continues from it, "source" or "turns" from the last of these, and "encoder" from the last of all."""
_MEANING_IN_SOURCE = 0.5
"""The share of meaning in the probabilities that the pass over source code begins with: names say as much as it."""
_COVERED = FEATURES.index("covered_with_label")
_MOST_DATES = 4
"""The most dates of a query that are looked for in any notation."""
_PASSES = ((12, 3), (3, 2), (0, 1))
"""(least number of passages, passes): up to two passages need no bridge, a few need one pass over bridges."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass: a logistic regression."""

    intercept: float
    weights: Floats
    """One per feature, shape (features,)."""

    def logits(self, *tables: Floats) -> Floats:
        """Return the logit of each segment, shape (segments,). The rows of the tables are the features, in order.

        Features are added one after the other: the order in which a matrix product adds them depends on the processor
        and on a segment's place among the others.
        """
        total: Any = self.intercept
        done = 0
        for rows in tables:
            total = total + np.add.reduce(rows * self.weights[done : done + len(rows), np.newaxis], axis=0)
            done += len(rows)
        return np.asarray(total)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt scaling that also considers the number of segments, the sum of their odds and how much they differ.

    Passes learn to rank the needed segments of one retrieval first. How likely these are needed also depends on how
    many rivals they have.
    """

    intercept: float
    logit: float
    log_segments: float
    log_odds: float
    """The weight of the log of the summed odds."""
    spread: float = 0.0
    """The weight of the standard deviation of the logits: if many segments are alike, few of them are needed."""

    def probability(self, logits: Floats) -> Floats:
        """Return the probability that each segment is needed, shape (segments,), in the order of the logits."""
        ascending = np.sort(logits)  # so that the order of the segments changes nothing
        shared = self.intercept + self.log_segments * np.log(logits.size)
        shared += self.log_odds * np.logaddexp.reduce(ascending) + self.spread * deviation(ascending)
        return sigmoid(self.logit * logits + shared)


@dataclass(frozen=True, slots=True)
class Model:
    """Passes that run one after the other, and the calibration of the last one."""

    stages: tuple[Stage, ...]
    calibration: Calibration


@functools.cache
def load_models() -> Mapping[str, Model]:
    """Return the trained models by name."""
    data = json.loads(Path(__file__).with_name("evidence.json").read_text(encoding="utf-8"))
    return {name: _model(data["models"][name], columns) for name, columns in COLUMNS.items()}


def _model(data: Mapping[str, Any], columns: tuple[tuple[str, ...], ...]) -> Model:
    return Model(
        stages=tuple(
            Stage(stage["intercept"], np.array([stage["weights"][name] for name in names]))
            for stage, names in zip(data["stages"], columns, strict=True)
        ),
        calibration=Calibration(**data["calibration"]),
    )


def matches_in(corpus: Corpus, question: Question) -> Matches:
    """Find the question in the corpus."""
    query, wanted, terms = question.text, question.wanted, question.terms
    return find_matches(corpus, wanted, terms, split_words(query), _same_dates(query, corpus, wanted, terms))


def _same_dates(query: str, corpus: Corpus, wanted: Mapping[str, float], terms: Terms) -> Integers:
    """Return the keys of the dates of a query in units with the same date: "December 2015" is in "2015-12-01"."""
    number, keys = {term: place for place, term in enumerate(wanted)}, set[int]()
    if not any(map(str.isdecimal, query)):  # as in all dates
        return np.zeros(0, np.intp)
    names, labels = [""] * len(corpus.names), corpus.table.label[: len(corpus.own)]
    for span, asked in islice(dates_in(query), _MOST_DATES):
        of_words = terms.of_words(split_words(query[span.start : span.end])).values()
        of_date = [number[term] for of_word in of_words for term in of_word if term in number]
        sign = [str(year or day)[-2:] for year, day, _ in asked]  # to search is cheaper than to read dates
        for unit, text in enumerate((*corpus.label_texts, *names, *labels, *corpus.table.texts)):
            others = dates_in(text) if any(map(text.__contains__, sign)) else ()
            if any(is_same_date(one, other) for _, found in others for one in asked for other in found):
                keys.update(unit * len(number) + term for term in of_date)
    return np.array(sorted(keys), np.intp)


def evidence(question: Question, corpus: Corpus, matches: Matches, semantics: Semantics = NO_SEMANTICS) -> Floats:
    """Return the probability that each segment is needed, shape (segments,); all 0 if nothing distinguishes them.

    matches: `matches_in`.
    """
    if not corpus.table.texts or not (matches.any or (any(semantics) and question.text.strip())):
        return rescore_logs(question, corpus, np.zeros(len(corpus.table.texts)))
    rows = features(corpus, matches)
    meaning = semantics.meaning if matches.any or not semantics.reader else None  # alone, a reader decides
    of_words, probability, closeness = _of_all(question, corpus, matches, meaning, rows)
    if is_program(corpus):
        judged = probability if probability is of_words else _between(of_words, probability, _MEANING_IN_SOURCE)
        of_source = np.vstack([rows, source_features(corpus, matches, tuple(question.wanted), judged)])
        probability = _rescored("source", corpus.table.is_source, of_source, probability)
    elif is_conversation(corpus):
        probability = _rescored("turns", corpus.turns, turn_features(corpus, probability), probability)
    if semantics.reader:
        probability = _after_reading(question.text, corpus, semantics.reader, probability, is_alone=not matches.any)
    return adjusted(Judged(question, corpus, closeness), probability)


def _of_all(
    question: Question, corpus: Corpus, matches: Matches, meaning: Meaning | None, rows: Floats
) -> tuple[Floats, Floats, Floats | None]:
    """Return the probabilities by words, those by words and meaning, and how close segments are if meaning was asked.

    rows: the features of words.
    """
    models, last, is_alone = load_models(), passes(corpus), not matches.any
    model = models["words"]
    known = meaning.known(corpus, rows[_COVERED].max(), is_alone=is_alone) if meaning else 0.0
    logits = model.stages[0].logits(rows)
    if last > 1 or known:
        bridges = Bridges(question.text, corpus, question.ignored)
        logits = follow(bridges, logits, model.stages[1:last], rows)
    of_words = model.calibration.probability(logits)
    if not (meaning and known):
        return of_words, of_words, None
    model = models[meaning.model(is_alone=is_alone)]
    close = meaning.features(question.text, corpus, clauses(question.text, question.ignored))
    by_meaning = model.calibration.probability(follow(bridges, logits, model.stages, rows, close))
    return of_words, _between(of_words, by_meaning, known), close[SEMANTIC.index("similarity")]


def _after_reading(query: str, corpus: Corpus, reader: Reader, probability: Floats, *, is_alone: bool) -> Floats:
    """Return the probabilities after an encoder has read the best segments. is_alone: see `Meaning.model`."""
    known = reader.known(corpus, is_alone=is_alone)
    if not known:
        return probability
    model = load_models()["encoder"]
    rows = reader.features(query, corpus, log_odds(probability), is_alone=is_alone)
    return _between(probability, model.calibration.probability(model.stages[0].logits(rows)), known)


def _between(before: Floats, after: Floats, share: float) -> Floats:
    """Return the probabilities whose log odds lie between those before meaning was asked and those after.

    share: the weight of the latter, less where an encoder does not know the language.
    """
    if share == 1:
        return after
    return sigmoid((1 - share) * log_odds(before) + share * log_odds(after))


def passes(corpus: Corpus) -> int:
    """Return how many passes the "words" model makes. Without titles, nothing leads from one passage to another."""
    return next(number for least, number in _PASSES if len(corpus.titles) >= least) if corpus.has_titles else 1


def follow(bridges: Bridges, logits: Floats, stages: Sequence[Stage], *tables: Floats) -> Floats:
    """Return the logits after these passes. Each uses the features in `tables` and the bridges from the previous pass.

    Passes end early when the best segments stay the same, because another one would change little.
    """
    sources: list[int] | None = None
    first, *others = tables
    for stage in stages:
        probability = sigmoid(logits)
        found = bridges.sources(probability)
        if found == sources:
            break
        logits, sources = stage.logits(first, bridges.features(probability, found), *others), found
    return logits


def _rescored(name: str, which: NDArray[np.bool_], rows: Floats, probability: Floats) -> Floats:
    """Return the probabilities with those of some segments scored again by a last pass.

    name: its model. which: the segments. rows: the features of all segments.
    """
    model, changed = load_models()[name], probability.copy()
    changed[which] = model.calibration.probability(model.stages[0].logits(rows[:, which]))
    return changed


def sigmoid(logits: Floats) -> Floats:
    """Return 1 / (1 + exp(-logits)), without overflow."""
    return np.asarray(1 / (1 + np.exp(-np.minimum(np.maximum(logits, -500.0), 500.0))))


CONFIDENCE: Mapping[str, float] = {
    "terms": 1.62,  # log of 1 + the number of terms
    "found": 4.47,  # share of the terms that occur
    "in_segment": 3.04,  # greatest share in one segment; long terms count more
    "in_section": 3.79,  # greatest share in one section with its title and headings
    "segments": -0.56,  # log of 1 + the number of segments
}
"""Name of a feature -> its weight."""
_INTERCEPT = -6.96
_LONG_TERM, _LENGTH_POWER = 10, 1.5
"""Characters: longer terms count no more. And how much more a long one counts: it is rarer in other texts."""


def confidence(query: Mapping[str, float], matches: Matches) -> float:
    """Return the probability that the segments answer the query, from 0 to 1; 0.5 if the query has no terms.

    query: term -> weight. matches: of these terms.
    """
    if not query:
        return 0.5
    weights = np.fromiter(CONFIDENCE.values(), float)
    return float(sigmoid(_INTERCEPT + weights @ confidence_features(query, matches)))


def confidence_features(query: Mapping[str, float], matches: Matches) -> Floats:
    """Return one number per name in CONFIDENCE.

    query: term -> weight, at least one. Synonyms, which have less weight, do not count.
    """
    own = np.fromiter(query.values(), float) >= min(max(query.values()), 1.0)
    sizes = np.array([min(len(term), _LONG_TERM) for term in query]) ** _LENGTH_POWER * own
    speakers = _speakers(matches)
    occurs = np.zeros(len(query), dtype=bool)
    occurs[matches.section.term] = occurs[speakers] = True
    return np.array(
        [
            np.log1p(own.sum()),
            (occurs & own).sum() / own.sum(),
            _greatest_share(sizes, matches.body, speakers),
            _greatest_share(sizes, matches.section, speakers),
            np.log1p(matches.lengths.size),
        ]
    )


def _speakers(matches: Matches) -> Integers:
    """Return the names of speakers that their turns do not have: they count as found everywhere."""
    label, body = matches.own, matches.body
    return np.unique(label.term[~contained(label.keys(), body.keys())])


def _greatest_share(sizes: Floats, found: Occurrences, given: Integers) -> float:
    """Return the greatest share of the terms that one unit has. given: terms that count as found in each."""
    others = sizes.copy()
    others[given] = 0.0
    best = summed(others[found.term], found.unit, found.units).max(initial=0.0) + sizes[given].sum()
    return float(best / sizes.sum())
