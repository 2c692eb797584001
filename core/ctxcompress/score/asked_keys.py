"""Fields of records whose keys the query asks for: `"commits": 3` for "How many commits does it have?".

A field has few words, and most of its text may be its value. So a long value such as an address, in which the name of
the record occurs again, would come before the short one that was asked for. A key of which the query has every word
says more than any value.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.matches import Matches
from ctxcompress.score.occurrences import summed
from ctxcompress.text.words import Terms

__all__ = ["raise_asked_keys"]

_RECORD = Kind.RECORD
_KEY = lazy_regex(r"\s*+(?:- )?(?:[\"'<])?([A-Za-z_][\w.$-]{0,60})[\"']?[ \t]*+[:=>]")
"""The key at the beginning of a field."""
_SAY_LITTLE = frozenset("count counts number numbers num total value values name id".split())
"""Words of keys that a query has in other words, as "how many" or "which"."""
_MOST, _SURE = 1.2, 0.99
"""The score of a field that is asked for, relative to the best score, and the most that it can be: in its record there
may be longer texts that have as many words of the query."""
_OWN = 0.1
"""The weight of the score that the field has without its key, so that equal fields stay in their order."""
_BEGINS = 0.95
"""The weight of a word of a key that a term only begins with, as "star" begins "stargazers"."""
_SHORTEST, _SAME = 4, 0.75
"""Letters of such a term, and the least share of the word that another form of it has."""


def raise_asked_keys(
    segments: Sequence[Segment],
    texts: Sequence[str],
    scores: Floats,
    wanted: Mapping[str, float],
    terms: Terms,
    matches: Matches,
) -> None:
    """Raise the scores of fields with keys that the query asks for, above those of other texts of their record.

    Other records have this key, too: a field whose text and label have less of the rest of the query than another
    segment gains less. wanted: the terms of the query and their weights. matches: where they occur.
    """
    keys = {
        number: match[1]
        for number, segment in enumerate(segments)
        if segment[0] is _RECORD and (match := _KEY.match(texts[number]))
    }
    own = [term for term, weight in wanted.items() if weight >= 1]
    asked = {key: found for key, parts in terms.of_words(keys.values()).items() if (found := _asked(parts, own))}
    if not asked:
        return
    best = scores.max()
    fitting = {key: _fitting(matches, [term not in found for term in wanted]) for key, (_, found) in asked.items()}
    for number, key in keys.items():
        if key in asked:
            raised = (1 - _OWN) * asked[key][0] * fitting[key][number] * best + _OWN * scores[number]
            scores[number] = max(scores[number], min(_MOST * raised, _SURE))


def _asked(parts: Sequence[str], wanted: Sequence[str]) -> tuple[float, set[str]] | None:
    """Return how surely the query asks for a key, and the terms that do; None if a word of it is missing.

    parts: the terms of the key, of an identifier the whole and its parts.
    """
    weight, found = 1.0, set[str]()
    for part in parts[1:] or parts:
        if part in _SAY_LITTLE:
            continue
        begins = [term for term in wanted if _begins(part, term)]
        if part not in wanted and not begins:
            return None
        weight = min(weight, 1.0 if part in wanted else _BEGINS)
        found.update([part] if part in wanted else begins)
    return (weight, found) if found else None


def _begins(part: str, term: str) -> bool:
    """Tell whether a word of a key begins with a term, or is another form of it where the language is not known."""
    if len(term) < _SHORTEST:
        return False
    same = max(_SHORTEST + 1, round(_SAME * len(part)))
    return part.startswith(term) or (len(term) >= same and part[:same] == term[:same])


def _fitting(matches: Matches, is_counted: Sequence[bool]) -> Floats:
    """Return how much of the counted terms each segment has with its label, relative to the one that has most.

    Where labels have some of these terms, only these count: others may be in a text by chance.
    """
    body, label = matches.body, matches.own
    weights = np.where(is_counted, matches.idf, 0.0)
    in_labels = np.isin(np.arange(body.terms), label.term)
    if (weights * in_labels).any():
        weights *= in_labels
    keys = np.union1d(body.keys(), label.keys()) if label.units else body.keys()
    covered = summed(weights[keys % body.terms], keys // body.terms, body.units)
    most = covered.max(initial=0.0)
    fitting: Floats = covered / most if most else np.ones(covered.size)
    return fitting
