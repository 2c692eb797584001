"""How relevant each segment is, without learning: BM25 on two levels.

A sentence that answers a question often shares few words with it, because its title, its heading
or the sentence before said them. So a segment's score adds up three views, each relative to the
best in this retrieval: BM25 of the segment alone, BM25 of its section with title and headings
among the section's words, and the share of the question's weight that segment, headings and title
cover together.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ctxcompress.score.features import relative
from ctxcompress.score.matches import Floats, Postings, find_matches
from ctxcompress.text.words import Terms

__all__ = ["relevance"]

_SECTION_WEIGHT = 2.5
_COVERAGE_WEIGHT = 1.0


def relevance(
    words: Sequence[Sequence[str]],
    sections: Sequence[int],
    labels: Sequence[Sequence[str]],
    query: Mapping[str, float],
    terms: Terms,
    postings: Postings | None = None,
) -> Floats:
    """The score of every segment, shape (segments,), at least 0; all 0 if nothing matches.

    words: of each segment. sections: the number of each segment's section, ascending from 0. labels: the
    words of the headings and the title of each section. query: term -> weight. postings: where all these words
    occur, if that is known.
    """
    if not words or not query:
        return np.zeros(len(words))
    matches = find_matches(words, sections, labels, query, terms, postings=postings)
    section = relative(matches.together())[matches.section_of]
    in_body, in_label_alone = matches.coverage()
    covered = relative(in_body + 0.5 * in_label_alone)
    return relative(matches.alone()) + _SECTION_WEIGHT * section + _COVERAGE_WEIGHT * covered
