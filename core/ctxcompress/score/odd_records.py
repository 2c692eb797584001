"""Records that differ from the rest, such as an error among 200 records that are ok.

A question that asks what is wrong rarely has words of the record that shows it. The other records do: where nearly all
have the same value for a key, one with another value is the answer.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.line_shapes import FAILURES

__all__ = ["raise_odd_records"]

_RECORD = Kind.RECORD
_FEWEST = 5
"""The fewest records that tell what is usual."""
_USUAL = 0.75
"""The least share of the records with one value, or with one key, for which others are odd."""
_LEAST = 0.3
"""The score of the oddest record where all scores are lower."""
_MOST = 0.7
"""The score of the oddest record, relative to the best one, which may have the words of the query."""
_PLAIN = 0.6
"""The factor for a value that does not say that something went wrong."""
_ASKS = lazy_regex(
    r"\b(?:wrong|fail\w*|errors?|broken?|breaks?|problems?|issues?|unusual\w*|odd|anomal\w+|outliers?|differ\w*|strange"
    r"|unexpected\w*|irregular\w*|suspicious|abnormal\w*|faulty|stand\w* out|went down|is down|falsch"
    rf"|anormal\w*)\b|异常|異常|{FAILURES}",
    re.IGNORECASE,
)
_SAYS_WRONG = lazy_regex(
    r"err|fail|fatal|crit|invalid|denied|reject|timeout|timed|abort|crash|except|panic|down|dead|lost|miss|refus|warn"
    r"|unhealthy|degraded|offline|expired|cancel|^[45]\d\d$|false|null|none",
    re.IGNORECASE,
)
_FIELD = lazy_regex(
    r"""\\?["']?([A-Za-z_][\w.-]{0,60})\\?["']?[ \t]{0,9}[:=][ \t]{0,9}\\?["']?([^"',{}\[\]\n<>\\]{1,60})"""
    r"|<(\w[\w.:-]{0,60})>([^<>]{1,60})</"
)
_SEVERITIES = {
    **dict.fromkeys(("fatal", "critical", "crit", "emergency", "emerg", "alert", "panic", "60"), 1.0),
    **dict.fromkeys(("error", "err", "severe", "50"), 0.95),
    **dict.fromkeys(("warning", "warn", "40"), 0.4),
}
"""How much the severity of a log's record counts. The numbers are those of loggers that write JSON."""
_LEVEL_KEYS = frozenset(("level", "severity", "lvl", "loglevel", "log_level", "levelname", "log.level"))
_REPEATED = 0.5
"""The factor for a record that differs from an earlier one only in numbers."""
_NUMBER = lazy_regex(r"[0-9a-f]*\d[0-9a-f]*", re.IGNORECASE)
_CELLS = lazy_regex(r"[,;\t|]")


def raise_odd_records(query: str, segments: Sequence[Segment], texts: Sequence[str], scores: Floats) -> None:
    """Raise the scores of records that differ from the rest, up to nearly the best, if the query asks what is wrong."""
    if not _ASKS.search(query):
        return
    numbers = [number for number, segment in enumerate(segments) if segment[0] is _RECORD]
    fields = {number: found for number in numbers if (found := _fields(texts[number]))}
    if len(fields) < _FEWEST:
        return
    best = max(scores.max(initial=0.0), _LEAST)
    usual, keys = _usual_values(list(fields.values())), _usual_keys(list(fields.values()))
    shapes: set[str] = set()
    for number, of_record in fields.items():
        odd = max((_oddness(key, value, usual, keys) for key, value in of_record.items()), default=0.0)
        shape = _NUMBER.sub("0", texts[number]) if odd else ""
        scores[number] = max(scores[number], odd * _MOST * best * (_REPEATED if shape in shapes else 1.0))
        shapes.add(shape)


def _fields(text: str) -> dict[str, str]:
    """Return key -> plain value of a record. The keys of a row are the numbers of its cells."""
    found = {match[1] or match[3]: (match[2] or match[4]).strip() for match in _FIELD.finditer(text)}
    if found:
        return found
    cells = _CELLS.split(text.strip())
    return {str(number): cell.strip() for number, cell in enumerate(cells)} if len(cells) > 1 else {}


def _usual_values(records: Sequence[dict[str, str]]) -> dict[str, tuple[str, float]]:
    """Return key -> the value that most records with this key have, and the share of these records."""
    values: dict[str, Counter[str]] = {}
    for record in records:
        for key, value in record.items():
            values.setdefault(key, Counter())[value] += 1
    usual = {}
    for key, counts in values.items():
        (value, times), total = counts.most_common(1)[0], counts.total()
        if total >= _FEWEST and _USUAL * total <= times < total:
            usual[key] = value, times / total
    return usual


def _usual_keys(records: Sequence[dict[str, str]]) -> dict[str, float]:
    """Return key -> the share of the records that have it; empty if the records have few keys in common."""
    counts = Counter(key for record in records for key in record)
    shares = {key: times / len(records) for key, times in counts.items()}
    return shares if max(shares.values()) >= _USUAL else {}


def _oddness(key: str, value: str, usual: dict[str, tuple[str, float]], keys: dict[str, float]) -> float:
    """Return how odd a value is, from 0 to 1."""
    if key.lower() in _LEVEL_KEYS and value.lower() in _SEVERITIES:
        return _SEVERITIES[value.lower()]
    is_wrong = _SAYS_WRONG.search(value) or _SAYS_WRONG.search(key)
    weight = 1.0 if is_wrong else _PLAIN
    if key in usual:
        value_of_most, share = usual[key]
        return weight * share if value != value_of_most else 0.0
    return weight * (1 - keys[key]) if keys.get(key, 1.0) <= 1 - _USUAL else 0.0
