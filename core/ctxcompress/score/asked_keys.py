"""Fields of records whose keys the query asks for: `"commits": 3` for "How many commits does it have?".

A field has few words, and most of its text may be its value. So a long value such as an address, in which the name of
the record occurs again, would come before the short one that was asked for. A key of which the query has every word
says more than any value.
"""

from collections.abc import Iterable, Mapping, Sequence

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import Terms

__all__ = ["raise_asked_keys"]

_RECORD = Kind.RECORD
_KEY = lazy_regex(r"\s*+(?:- )?(?:[\"'<])?([A-Za-z_][\w.$-]{0,60})[\"']?[ \t]*+[:=>]")
"""The key at the beginning of a field."""
_SAY_LITTLE = frozenset("count counts number numbers num total value values name id".split())
"""Words of keys that a query has in other words, as "how many" or "which"."""
_MOST = 0.95
"""The score of a field that is asked for, relative to the best score."""
_BEGINS = 0.8
"""The weight of a word of a key that a term only begins with, as "star" begins "stargazers"."""
_SHORTEST = 4
"""Letters of such a term."""


def raise_asked_keys(
    segments: Sequence[Segment],
    texts: Sequence[str],
    scores: Floats,
    wanted: Mapping[str, float],
    terms: Terms,
    labels: Floats,
) -> None:
    """Raise the scores of fields with keys that the query asks for, up to nearly the best.

    A field loses as much as its record fits less than that of another such field. wanted: the terms of the query and
    their weights. labels: how much of the query the label of each segment has.
    """
    keys = {
        number: match[1]
        for number, segment in enumerate(segments)
        if segment[0] is _RECORD and (match := _KEY.match(texts[number]))
    }
    weights = _weights(keys.values(), wanted, terms)
    asked = {number: weights[key] for number, key in keys.items() if weights[key]}
    if not asked:
        return
    best, most = scores.max(), max(labels[number] for number in asked) or 1.0
    for number, weight in asked.items():
        of_record = labels[number] / most if labels.any() else 1.0
        own = scores[number]
        scores[number] = max(own, _MOST * (0.9 * weight * of_record * best + 0.1 * own))


def _weights(keys: Iterable[str], wanted: Mapping[str, float], terms: Terms) -> dict[str, float]:
    """Return key -> how surely the query asks for it, from 0 to 1."""
    own = [term for term, weight in wanted.items() if weight >= 1]
    return {key: _weight(found[1:] or found, own) for key, found in terms.of_words(keys).items()}


def _weight(parts: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the least weight of the words of a key."""
    telling = [part for part in parts if part not in _SAY_LITTLE]
    return min((_of_word(part, wanted) for part in telling), default=0.0)


def _of_word(part: str, wanted: Sequence[str]) -> float:
    if part in wanted:
        return 1.0
    return _BEGINS if any(len(term) >= _SHORTEST and part.startswith(term) for term in wanted) else 0.0
