"""The scorer without training: BM25 of segments and of their sections.

A sentence that answers a query often shares few words with it, because its title, its heading or the sentence before
has them. So the score of a segment is the sum of three numbers, each relative to the best in this retrieval: BM25 of
the segment alone, BM25 of its section with title and headings, and the share of the query's weight that segment,
headings and title cover together.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from ctxcompress.data.table import Floats
from ctxcompress.score.matches import RepeatedSearch, Scan, find_matches
from ctxcompress.score.occurrences import relative
from ctxcompress.text.words import Terms

__all__ = ["combined", "relevance", "scores_of_rank_bm25"]

_SECTION_WEIGHT = 2.5
_COVERAGE_WEIGHT = 1.0
_CLASSES = {"rank_bm25": "BM25Okapi", "rank_bm25l": "BM25L", "rank_bm25plus": "BM25Plus"}
_MOST_TERMS = 100
"""The package reads all segments for each term of the query: no more terms than this are scored."""


def relevance(
    words: Sequence[Sequence[str]],
    sections: Sequence[int],
    labels: Sequence[Sequence[str]],
    query: Mapping[str, float],
    terms: Terms,
    names: Sequence[Sequence[str]] = (),
    own: Sequence[Sequence[str]] = (),
    search: Scan | RepeatedSearch | None = None,
) -> Floats:
    """Return the score of every segment, shape (segments,), at least 0; all 0 if nothing matches.

    words: of each segment. sections: the number of each segment's section, ascending from 0. labels: the words of each
    section's title and headings. query: term -> weight. names, own, search: see `find_matches`; they change nothing.
    """
    if not words or not query:
        return np.zeros(len(words))
    matches = find_matches(words, sections, labels, query, terms, names, own=own, search=search)
    section = relative(matches.together())[matches.section_of]
    return combined(relative(matches.alone()), section, *matches.coverage())


def combined(alone: Floats, section: Floats, in_body: Floats, in_label_alone: Floats) -> Floats:
    """Return the score of every segment.

    alone, section: BM25 of each segment and of its section, relative to the best. in_body, in_label_alone: see
    `Matches.coverage`.
    """
    return alone + _SECTION_WEIGHT * section + _COVERAGE_WEIGHT * relative(in_body + 0.5 * in_label_alone)


def scores_of_rank_bm25(
    scorer: str, words: Sequence[Sequence[str]], query: Mapping[str, float], terms: Terms
) -> Floats:
    """Return the scores that a class of the package rank-bm25 gives, less the lowest one, as it gives scores below 0.

    The arguments are those of `relevance`. The package sees terms, and no title or heading.
    """
    import rank_bm25  # an optional dependency

    of_word = terms.of_words(word for of_segment in words for word in of_segment)
    segments = [[term for word in of_segment for term in of_word[word]] for of_segment in words]
    scores = np.zeros(len(segments))
    if any(segments):
        model = getattr(rank_bm25, _CLASSES[scorer])(segments)
        for term in islice(filter(model.idf.__contains__, query), _MOST_TERMS):
            scores += query[term] * model.get_scores([term])
        scores -= scores.min()
    return scores
