"""Texts that a query quotes, such as an error message, and the segments that have them word for word.

Words alone do not find them: a message is made of common words, and many lines of a source file share some of them.
"""

import numpy as np

from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["quotations", "raise_quoted"]

_QUOTED = lazy_regex(r"[\"\u201c\u201e\u00ab`]([^\"\u201c\u201d\u00bb`]++)[\"\u201c\u201d\u00bb`]")
_QUESTION_END = ("?", "\uff1f", "\u061f")
_FEWEST_WORDS = 3
"""The least words of a quotation."""
_MOST = 8
"""The most quotations of a query, which limits the cost of a long one."""
_FEWEST_OF_QUERY = 4
"""The least words of a query that may be a quotation itself."""
_RARE = 3
"""The most segments that have a quotation. What more have is a common phrase."""
_SURE = 0.9
"""The least probability of a segment that has a quotation."""
_STRING_MARKS = frozenset("\"'`")
_BEFORE = 30
"""The most characters of a string before a quotation."""


def quotations(query: str) -> tuple[str, ...]:
    """Return the texts of several words that a query has in quotation marks. If there are none, a query that is no
    question may be a quotation itself: people paste error messages."""
    quoted = (" ".join(part.split()) for part in _QUOTED.findall(query))
    found = tuple(text for text in quoted if text.count(" ") + 1 >= _FEWEST_WORDS)
    words = query.split()
    is_quotation = not found and len(words) >= _FEWEST_OF_QUERY and not query.rstrip().endswith(_QUESTION_END)
    return (" ".join(words),) if is_quotation else found[:_MOST]


def raise_quoted(query: str, table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; that of a segment with a quotation of the query is high if few segments have it.

    In source code it must be in a string: comments describe other things in the same words.
    """
    raised = probability
    for quotation in quotations(query):
        first = quotation.partition(" ")[0]
        may_have = [number for number, text in enumerate(table.texts) if first in text]
        has = [n for n in may_have if _has(table.texts[n], quotation, is_source=bool(table.is_source[n]))]
        if 0 < len(has) <= _RARE:
            raised = raised.copy()
            raised[has] = np.maximum(raised[has], _SURE)
    return raised


def _has(text: str, quotation: str, *, is_source: bool) -> bool:
    folded = " ".join(text.split())
    at = folded.find(quotation)
    return at >= 0 and not (is_source and _STRING_MARKS.isdisjoint(folded[max(0, at - _BEFORE) : at]))
