"""Questions for yes or no, and the paragraphs that begin with such an answer.

A page of questions and answers is often retrieved in chunks that have an answer without its question. "Yes, but only on
Linux." shares no word with "Can I run it as a service?"; what tells that it answers is how it begins.
"""

import re

import numpy as np

from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["raise_yes_no_answers"]

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
