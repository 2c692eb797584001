"""The adjustments of what the model found: one table, in the order in which they run.

An adjustment is a pure function for some kinds of text. It is here because marked cases that somebody else made lose at
least a point of their evidence without it, or because of a promise: contents and indexes do not displace what they lead
to. `make ablate` switches each off in turn.
"""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.terms import Question
from ctxcompress.score.completions import Completions
from ctxcompress.score.corpus import Corpus, of_kinds
from ctxcompress.score.log_relevance import rescore_logs

__all__ = ["OF_PROBABILITY", "OF_WORTH", "UNASKED", "Judged", "adjusted", "unasked_boilerplate"]

_BOILERPLATE = Kind.BOILERPLATE
UNASKED = 1e-4
"""The factor on the score of boilerplate that is not asked for: nearly everything else comes before it."""
_ABOUT = tuple(
    (lazy_regex(asked, re.IGNORECASE), lazy_regex(said, re.IGNORECASE))
    for asked, said in (
        (
            r"\b(?:who wrote|written|author|byline|publi(?:sh|cat|cad|é)|posted|updated|geschrieben|autor|verfasser"
            r"|veröffentlicht|aktualisiert|écrit|auteur|mis à jour|escribió|actualizado|автор|написал|опубликован"
            r"|обновл)|作者|谁写|发布|更新",
            r"\A(?:---|\+\+\+)",
        ),
        (r"\b(?:tag|categor)", "tag|categor"),
        (
            r"\b(?:version|since|added|introduced|deprecated|changelog)",
            r"\b(?:added|changes|deprecated|introduced_in|version):",
        ),
    )
)
"""(words of queries, words of the boilerplate that these ask for). Front matter tells who wrote a text, and when."""


def unasked_boilerplate(query: str, table: SegmentTable) -> list[int]:
    """Return the numbers of the boilerplate segments that the query does not ask for."""
    if _BOILERPLATE not in table.kinds:
        return []
    asked = [said for asked, said in _ABOUT if asked.search(query)]
    numbers = (number for number, kind in enumerate(table.kind) if kind is _BOILERPLATE)
    return [number for number in numbers if not any(said.search(table.texts[number]) for said in asked)]


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
    blocks = list(zip(table.document, table.block, strict=True))
    answering = {
        block
        for block, of_block in groupby(range(len(blocks)), blocks.__getitem__)
        if _ANSWER.match(table.texts[next(of_block)])
    }
    answers = [block in answering for block in blocks]
    odds = probability / (1 - np.minimum(probability, 1 - 1e-9)) * np.exp(_LOG_ODDS)
    return np.where(answers, odds / (1 + odds), probability)


_TABLE, _TURN = Kind.TABLE, Kind.TURN
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
    parts = _parts_of_turns(table)
    if parts.mean() < _LONG_TURNS:
        return probability
    raised: Floats = _OF_LONG_TURN * probability / (1 + (_OF_LONG_TURN - 1) * probability)
    return np.where(parts, raised, probability)


def _parts_of_turns(table: SegmentTable) -> NDArray[np.bool_]:
    """Return which segments are parts of turns of several segments."""
    turns, blocks = of_kinds(table, (_TURN,)), np.array(table.block)
    parts = np.zeros(turns.size, dtype=bool)
    parts[1:] = turns[1:] & ~table.begins[1:] & (blocks[1:] == blocks[:-1])
    parts[:-1] |= parts[1:]
    return parts


def _in_tables(table: SegmentTable) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the number of each header and total, with the rows that gain from it."""
    numbers = (number for number, kind in enumerate(table.kind) if kind is _TABLE)
    for _, of_table in groupby(numbers, key=lambda number: (table.document[number], table.block[number])):
        rows = list(of_table)
        if table.needs(rows[-1]):
            header, *rows = rows
            yield header, rows
        yield from _sums(table, rows)


def _sums(table: SegmentTable, rows: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield each total with the rows between it and the total before."""
    summands: list[int] = []
    for row in rows:
        if _TOTAL.match(table.label[row]):
            yield row, summands
            summands = []
        else:
            summands.append(row)


_OF_NAVIGATION = 0.1
"""What contents and indexes keep of their probability. They share more words with a question than what they lead to."""
_FEWEST_LINES, _LONGEST_LINE = 4, 120
"""The least lines of contents or of an index, and the most characters of one."""
_MOST, _SOME = 0.9, 0.3
"""The least share of lines in order, as the header of a page can be among them; and of lines on another page than the
one before, and of names that stand elsewhere, as retrieval hands over some of the sections."""
_OF_LINES = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.TABLE))
_LINE = lazy_regex(
    r"[\W\d_]*+(?P<name>[^\n]*[^\W\d_])(?=[^\s,]*[\s,]|\.\.)(?P<gap>[\W_]+)"
    r"(?P<pages>\d{1,4}(?:(?:, ?|-|\u2013)\d{1,4})*+)\W*"
)
_LINK = lazy_regex(r"[^\[]{0,20}\[[^\[\]]*\]\(#[^()\s]*\)\W*")
"""A line that is only a link to a place in the same text."""
_WORDS, _NUMBERS = lazy_regex(r"[^\W\d_]+"), lazy_regex(r"\d+")


class _Line(NamedTuple):
    """A line that may be part of contents or of an index."""

    segment: int
    name: str
    """Without numbers."""
    pages: list[int]
    """Empty for a link."""
    is_entry: bool = False
    """Whether a comma is before the pages, as in an index."""


def lower_navigation(table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; those of contents and indexes, which lead to other text and must not displace it, are a
    tenth of what they were.

    They are known by what they are, in any language: many lines in a row that end with numbers of pages, or that are
    only links to places in the same text. The pages of contents do not go back, and what they name stands elsewhere. An
    index is sorted, and has entries with several pages.
    """
    runs = [run for run in _runs(table) if len(run) >= _FEWEST_LINES]
    if not runs:
        return probability
    lines = {line.segment for run in runs for line in run}
    others = (text for number, text in enumerate(table.texts) if len(text) <= _LONGEST_LINE and number not in lines)
    elsewhere = set(map(_name, others))
    lowered = probability.copy()
    lowered[list({line.segment for run in runs if _is_navigation(run, elsewhere) for line in run})] *= _OF_NAVIGATION
    return lowered


def _runs(table: SegmentTable) -> Iterator[Sequence[_Line]]:
    """Yield the lines of each document that may be contents, as far as they follow each other. One other line between
    two of them, such as one that refers to another entry, ends nothing."""
    run: list[_Line] = []
    previous = (-1, 0)
    for place, line in _lines(table):
        if run and (place[0] != previous[0] or place[1] > previous[1] + 2):
            yield run
            run = []
        run.append(line)
        previous = place
    yield run


def _lines(table: SegmentTable) -> Iterator[tuple[tuple[int, int], _Line]]:
    """Yield ((document, number of the line), line) for each line that may be part of contents or of an index."""
    count = 0
    for number, (text, kind) in enumerate(zip(table.texts, table.kind, strict=True)):
        lines = text.split("\n") if kind in _OF_LINES else ()
        for line in filter(None, map(str.strip, lines)):
            count += 1
            if (line[-1].isdigit() or line[-1] == ")") and len(line) <= _LONGEST_LINE:
                place, found = (table.document[number], count), _LINE.fullmatch(line)
                if found:
                    pages = [int(page) for page in _NUMBERS.findall(found["pages"])]
                    yield place, _Line(number, _name(found["name"]), pages, "," in found["gap"])
                elif _LINK.fullmatch(line):
                    yield place, _Line(number, "", [])
        count += not lines


def _name(text: str) -> str:
    return " ".join(_WORDS.findall(text.lower()))


def _is_navigation(run: Sequence[_Line], elsewhere: Container[str]) -> bool:
    is_linked = not any(line.pages for line in run)
    return is_linked or _is_index(run) or _is_contents(run, elsewhere)


def _is_index(run: Sequence[_Line]) -> bool:
    rising = _share([earlier.name < later.name for earlier, later in pairwise(run)])
    entries = _share([line.is_entry for line in run])
    return min(rising, entries) >= _MOST and any(len(line.pages) > 1 for line in run)


def _is_contents(run: Sequence[_Line], elsewhere: Container[str]) -> bool:
    back = _share([earlier.pages > later.pages for earlier, later in pairwise(run)])
    on = _share([earlier.pages < later.pages for earlier, later in pairwise(run)])
    return back <= 1 - _MOST and min(on, _share([line.name in elsewhere for line in run])) >= _SOME


def _share(of: Sequence[bool]) -> float:
    return sum(of) / len(of)


@dataclass(frozen=True, slots=True)
class Judged:
    """What an adjustment may look at: the question and all segments."""

    question: Question
    corpus: Corpus
    closeness: Floats | None = None
    """How close in meaning each segment is, in standard deviations, if an encoder tells."""
    completions: Completions | None = None
    """What completes each segment, for an adjustment of worth."""


class Adjustment(NamedTuple):
    """One row of the table."""

    name: str
    change: Callable[[Judged, Floats], Floats]
    """(what was judged, the probability of each segment) -> the probability of each segment."""


OF_PROBABILITY = (
    Adjustment(
        "answers with yes or no",
        lambda judged, found: raise_yes_no_answers(judged.question.text, judged.corpus.table, found),
    ),
    Adjustment("rows of a table", lambda judged, found: raise_rows(judged.corpus.table, found)),
    Adjustment(
        "lines of logs", lambda judged, found: rescore_logs(judged.question, judged.corpus, found, judged.closeness)
    ),
    Adjustment("contents and indexes", lambda judged, found: lower_navigation(judged.corpus.table, found)),
)
"""They change how likely a segment is needed."""
OF_WORTH = (
    Adjustment(
        "what completes a likely segment",
        lambda judged, found: judged.completions.shared(found) if judged.completions else found,
    ),
    Adjustment("long turns", lambda judged, found: raise_long_turns(judged.corpus.table, found)),
)
"""They change what a segment is worth to the selection, and not whether it is likely."""


def adjusted(judged: Judged, probability: Floats, *, is_worth: bool = False) -> Floats:
    """Return how likely each segment is needed, shape (segments,); or by what the selection values it."""
    for adjustment in OF_WORTH if is_worth else OF_PROBABILITY:
        probability = adjustment.change(judged, probability)
    return probability
