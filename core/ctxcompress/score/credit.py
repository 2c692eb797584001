"""What a segment gains from those it belongs with: a sentence from its paragraph, a row from its table, the
parts of a long turn; and what a paragraph gains that answers with yes or no.

An answer of several sentences begins with the words of the question and goes on without them. "How many shares are to
be issued?" names a column: its words are in the header, and no row has any. "Which component contributes most to total
expenses?" names the last row, and asks for the rows above it. In a meeting, the long turns answer, and the short ones
ask, thank and pass the word, with the names and words of the question.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["raise_long_turns", "raise_rows", "raise_sentences", "raise_yes_no_answers"]

_QUESTION = lazy_regex(
    r"\W*(?:(?:and|but|so|or|und|aber|et|mais|y|pero)\b,? )?(?:"
    r"can|could|do|does|did|is|are|was|were|am|will|would|should|shall|may|might|must|has|have|had"
    r"|isn't|aren't|don't|doesn't|can't|won't"
    r"|kann|können|darf|ist|sind|hat|haben|gibt es|muss|soll|wird|werden|funktioniert|unterstützt"
    r"|est-ce|peut-on|puis-je|dois-je|faut-il|y a-t-il|puedo|se puede|hay|debo|tengo que|es posible"
    r")\b",
    re.IGNORECASE,
)
"""The beginning of a question for yes or no."""
_ANSWER = lazy_regex(
    r"\W*(?:(?:a|answer|short answer|antwort|réponse|respuesta)\b\W+)?(?:"
    r"(?:yes|no|nope|yep|sure|maybe|ja|nein|jein|oui|non|sí)"
    r"(?=[ ]*(?:[,.;:!*]|\s-|\u2013|\u2014|$|\n|but\b|and\b|aber\b))"
    r"|probably|possibly|absolutely|definitely|certainly|of course|not (?:really|necessarily|quite|yet|directly)"
    r"|it depends|unfortunately|wahrscheinlich|vermutlich|leider|es kommt darauf an|probablement|malheureusement"
    r")",
    re.IGNORECASE,
)
"""The beginning of a paragraph that answers with yes or no, or says that it depends."""
_LOG_ODDS = 2.0
"""What such a paragraph adds to the log odds of its segments. Pages of questions and answers kept most with 2 to 4."""


def raise_yes_no_answers(query: str, table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities, greater in paragraphs that begin with yes or no if the query asks for that."""
    if not _QUESTION.match(query):
        return probability
    answers = np.zeros(probability.size, dtype=bool)
    is_answer, last = False, (-1, -1)
    for number, segment in enumerate(table.segments):
        block = table.document[number], segment[3]
        if block != last:
            is_answer, last = _ANSWER.match(table.texts[number]) is not None, block
        answers[number] = is_answer
    odds = probability / (1 - np.minimum(probability, 1 - 1e-9)) * np.exp(_LOG_ODDS)
    return np.where(answers, odds / (1 + odds), probability)


_TABLE, _TURN = Kind.TABLE, Kind.TURN
_PROSE = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE))
_FROM_BEFORE, _FROM_AFTER = 0.3, 0.15
"""What a sentence gets of the probability of the one before it in its paragraph, and of the one after it. Manuals keep
the more the greater these are, and questions of several hops lose evidence from 0.4 on."""
_OF_TABLE = 0.03
"""What a row gets of the probability of its header or total. Reports keep the same with 0.02 to 0.05, and more takes
the room of better text."""
_OF_LONG_TURN = 2.5
"""How many times as high the odds of a part of a long turn are. Meetings and mail keep more with 2 to 4."""
_LONG_TURNS = 0.3
"""The least share of parts of long turns among the segments, from which short turns answer less. In a chat with few
long turns, the short ones answer."""
_TOTAL = lazy_regex(
    r"(?:sub|grand )?total|totaal|summe\b|gesamt|insgesamt|somme\b|suma\b|итого|всего|合计|总计|合計", re.IGNORECASE
)


def raise_sentences(table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; that of a sentence is at least a share of those beside it in its paragraph."""
    after = np.array(_continuing(table), np.intp)
    before = after - 1
    raised = probability.copy()
    raised[after] = np.maximum(raised[after], _FROM_BEFORE * probability[before])
    raised[before] = np.maximum(raised[before], _FROM_AFTER * probability[after])
    return raised


def raise_rows(table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; that of a row is at least a share of those of its header and of its total."""
    if _TABLE not in table.kinds:
        return probability
    raised = probability.copy()
    for giver, takers in _in_tables(table):
        raised[takers] = np.maximum(raised[takers], _OF_TABLE * probability[giver])
    return raised


def raise_long_turns(table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; where many turns of a conversation are long, their parts have higher odds."""
    if _TURN not in table.kinds:
        return probability
    parts = _parts_of_long_turns(table)
    if parts.mean() < _LONG_TURNS:
        return probability
    raised: Floats = _OF_LONG_TURN * probability / (1 + (_OF_LONG_TURN - 1) * probability)
    return np.where(parts, raised, probability)


def _parts_of_long_turns(table: SegmentTable) -> NDArray[np.bool_]:
    """Return which segments are parts of a turn with several."""
    turns = np.array([segment[0] is _TURN for segment in table.segments])
    blocks = np.array([segment[3] for segment in table.segments])
    goes_on = np.zeros(turns.size + 1, dtype=bool)
    goes_on[1:-1] = turns[1:] & turns[:-1] & (blocks[1:] == blocks[:-1]) & ~table.begins[1:]
    return goes_on[1:] | goes_on[:-1]


def _continuing(table: SegmentTable) -> list[int]:
    """Return the numbers of the segments that go on with the paragraph of the segment before."""
    segments, documents = table.segments, table.document
    return [
        number
        for number in range(1, len(segments))
        if segments[number][3] == segments[number - 1][3]
        and documents[number] == documents[number - 1]
        and segments[number][0] in _PROSE
    ]


def _in_tables(table: SegmentTable) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the number of each header and total, with the rows that gain from it."""
    numbers = (number for number, segment in enumerate(table.segments) if segment[0] is _TABLE)
    for _, of_table in groupby(numbers, key=lambda number: (table.document[number], table.segments[number].block)):
        rows = list(of_table)
        if table.needs(rows[-1]):
            header, *rows = rows
            yield header, rows
        yield from _sums(table, rows)


def _sums(table: SegmentTable, rows: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield each total with the rows between it and the total before."""
    summands: list[int] = []
    for row in rows:
        if _TOTAL.match(table.segments[row].label):
            yield row, summands
            summands = []
        else:
            summands.append(row)
