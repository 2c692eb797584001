"""The relevance of lines of logs, made by hand: BM25 over lines, how rare a line's shape is, what went wrong, and a
share of the score that any other text would have.

Logs repeat themselves: of a hundred lines of one shape, the best stands for all of them. So a word is the rarer, the
fewer shapes have it, and the second line of a shape is worth little. Questions about logs rarely have their words, so
words also match abbreviations and parts of identifiers, and where the question asks why something failed, errors and
exceptions count as matches.
"""

import re
from collections.abc import Collection, Mapping
from itertools import islice

import numpy as np

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.line_shapes import FAILURES, LineShapes
from ctxcompress.score.question import Question
from ctxcompress.text.words import Terms, split_words

__all__ = ["rescore_logs"]

_LOG = Kind.LOG  # ten times as fast as an attribute of an enum
_ALIKE = 0.6
"""The weight of a word that has a term as a part or is an abbreviation of it, where the term itself has 1."""
_SHORTEST, _SHORTEST_WITHIN = 3, 5
"""Letters of a term that a word begins or ends with, and of one that it contains or abbreviates."""
_ABOVE = 0.5
"""The weight of a word in what a line needs: in the header of its hunk, in the exception of its stack."""
_LENGTH = 0.3
"""How much a long line loses, as `b` of BM25."""
_RARE = 0.3
"""The weight of a rare shape, relative to the best line."""
_SCORED = 0.5
"""The weight of the score that the line has as any other text, relative to the best line: it knows how many words of
the question stand together, where shapes and severity alone would bury the line that has them all."""
_CLOSE = 0.7
"""The weight of closeness in meaning, relative to the best line."""
_WRONG = 0.8
"""The weight of the severity where the question asks what went wrong, relative to a line with all words."""
_NAMED, _OTHER, _OF_OTHERS = 0.8, 0.7, 0.3
"""The least share of the question in the header of a test that it names, the most that a line of another test has of
this, and the factor for the severity of such a line."""
_MOST_TERMS = 64
"""The most terms of a question that are looked for: memory grows with them and with the lines."""
_STEEP = 2
"""How much lines that say what went wrong come before the others where the question asks for them: a power."""
_AGAIN = 0.3
"""The factor for each better line of the same shape."""
_MOST_AGAIN = 3
_LEAST_PROBABILITY, _LEAST_WRONG = 0.02, 0.3
"""The least score of the best line: in general, because questions about logs rarely have their words, and if it says
what went wrong and the question asks for that. Where no line has a word of the question, other text comes first."""
_ASKS_WHAT_WENT_WRONG = lazy_regex(
    r"(?<![\w-])(?:why|wrong|fail\w*|errors?|exceptions?|crash\w*|caus\w+|problems?|broken?|breaks?|bugs?|abort\w*"
    r"|panic\w*|issues?|root cause|happened|warum|wieso|weshalb|schief\w*|pourquoi|por qué|mal|perché|por que|waarom"
    r"|dlaczego|varför|hvorfor|neden|почему|чому|не так)(?![\w-])"
    rf"|为什么|为何|為什麼|なぜ|どうして|問題|问题|왜|لماذا|क्यों|ทำไม|{FAILURES}",
    re.IGNORECASE,
)
"""Words that ask what went wrong. A part of a compound does not: a break-in is no break."""


def rescore_logs(question: Question, corpus: Corpus, scores: Floats, closeness: Floats | None = None) -> Floats:
    """Return the scores with those of the lines of logs replaced. The best line keeps the best of their scores.

    closeness: how close in meaning each segment is, in standard deviations, if an encoder tells.
    """
    if _LOG not in corpus.table.kinds:
        return scores
    lines, wanted, terms = corpus.line_shapes, question.wanted, question.terms
    asks = _ASKS_WHAT_WENT_WRONG.search(question.text) is not None
    if asks:
        asking = terms.of_words(split_words(" ".join(_ASKS_WHAT_WENT_WRONG.findall(question.text))))
        wanted = {term: weight for term, weight in wanted.items() if (term,) not in asking.values()}
    most = dict(islice(wanted.items(), _MOST_TERMS))
    value, above, covered = _matched(corpus, lines, most, terms, question.ignored)
    if asks:
        value = value + _WRONG * lines.severity * _in_asked_test(above, covered)
    says_nothing = not value.any() and lines.numbers.size < scores.size
    best = value.max() or 1.0
    value = value + _RARE * best * lines.rarity
    if closeness is not None:
        value += _CLOSE * best * _share_of_range(closeness[lines.numbers])
    value += _SCORED * best * scores[lines.numbers] / (scores[lines.numbers].max() or 1.0)
    value *= _without_repetition(value, lines)
    rescored = scores.copy()
    least = _LEAST_WRONG * lines.severity.max() if asks else _LEAST_PROBABILITY
    of_best = max(scores[lines.numbers].max(), 0.0 if says_nothing else least)
    rescored[lines.numbers] = of_best * (value / (value.max() or 1.0)) ** (_STEEP if asks else 1)
    return rescored


def _matched(
    corpus: Corpus, lines: LineShapes, wanted: Mapping[str, float], terms: Terms, ignored: Collection[str]
) -> tuple[Floats, Floats, Floats]:
    """Return the share of the query's weight that each line has, less for long lines, or that what it needs has; the
    share that what it needs has; and the share that both have."""
    has = _occurrences(corpus, lines, wanted, terms, ignored)
    if not has.size:
        nothing = np.zeros(lines.numbers.size)
        return nothing, nothing, nothing
    weights = np.array(list(wanted.values())) * _rarity_of_terms(has, lines)
    above = lines.of_needed(has)
    lengths = np.array([max(len(corpus.words[number]), 1) for number in lines.numbers.tolist()])
    longer: Floats = 1 - _LENGTH + _LENGTH * lengths / lengths.mean()
    matched = np.maximum(has / longer, _ABOVE * above / np.minimum(longer, 1))
    whole = sum(wanted.values()) or 1.0
    return weights @ matched / whole, weights @ above / whole, weights @ np.maximum(has, above) / whole


def _in_asked_test(above: Floats, covered: Floats) -> Floats:
    """Return how much the severity of each line counts: less for what does not belong to the test asked for, where the
    header of a test has the words of the question.

    above, covered: the share of the query's weight that what each line needs has, and that it has with the line.
    """
    is_other = covered < _OTHER * above.max(initial=0.0)
    factor: Floats = np.where(is_other, _OF_OTHERS, 1.0) if above.max(initial=0.0) >= _NAMED else np.ones(above.size)
    return factor


def _occurrences(
    corpus: Corpus, lines: LineShapes, wanted: Mapping[str, float], terms: Terms, ignored: Collection[str]
) -> Floats:
    """Return how well each line has each term, shape (terms, lines): 1 for the term itself, less for a word alike."""
    has = np.zeros((len(wanted), lines.numbers.size))
    words = [corpus.words[number] for number in lines.numbers.tolist()]
    matching = terms.matching(set[str]().union(*words), wanted)
    for place, of_line in enumerate(words):
        for word in of_line:
            for term in matching.get(word, ()):
                has[term, place] = 1.0
    for number, wanted_term in enumerate(wanted):
        for part, places in lines.parts.items():
            if _is_alike(part, wanted_term) and part not in ignored:
                has[number, places] = np.maximum(has[number, places], _ALIKE)
    return has


def _is_alike(part: str, term: str) -> bool:
    """Tell whether a word of an identifier abbreviates a term, begins or ends with it, or contains it."""
    if len(part) < _SHORTEST or len(term) < _SHORTEST:
        return False
    if len(term) >= _SHORTEST_WITHIN and (term.startswith(part) or term in part):
        return True
    return part.startswith(term) or part.endswith(term)


def _rarity_of_terms(has: Floats, lines: LineShapes) -> Floats:
    """Return the inverse document frequency of each term, where a document is all lines of one shape, relative to that
    of a term of one shape."""
    shapes = int(lines.shape.max()) + 1
    frequency = np.array([np.unique(lines.shape[of_term > 0]).size for of_term in has])
    rarity: Floats = np.log(1 + (shapes - frequency + 0.5) / (frequency + 0.5)) / np.log(1 + (shapes - 0.5) / 1.5)
    return rarity


def _share_of_range(values: Floats) -> Floats:
    """Return the values from 0 for the least to 1 for the greatest."""
    least, greatest = values.min(), values.max()
    return (values - least) / (greatest - least) if greatest > least else np.zeros_like(values)


def _without_repetition(value: Floats, lines: LineShapes) -> Floats:
    """Return a factor for each line: 1 for the best of a shape, less for each one after it."""
    order = np.argsort(-value, kind="stable")
    seen = np.zeros(int(lines.shape.max()) + 1, dtype=int)
    again = np.zeros(value.size, dtype=int)
    for place in order.tolist():
        again[place] = seen[lines.shape[place]]
        seen[lines.shape[place]] += 1
    factor: Floats = _AGAIN ** np.minimum(again, _MOST_AGAIN).astype(float)
    return factor
