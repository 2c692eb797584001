"""The terms of a query: its content words and their synonyms, also those that texts explain; and its clauses."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.focus import question_in
from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.stems import fold, lower_case
from ctxcompress.text.words import Terms, has_unspaced, split_words

__all__ = ["Question", "abbreviations_in", "asks_for_all", "clauses", "main_question", "query_terms"]

_ABOUT_TEXTS = frozenset(
    "summary summarize summarise summarized overview outline gist tl dr tldr recap abstract describe explain tell give "
    "write say says know translate continue list read please short brief main key important central point points idea "
    "ideas theme themes topic topics subject takeaway takeaways content contents context detail details document "
    "documents text texts article articles page pages passage passages chapter section file files book story paper "
    "report conversation discussion chat transcript code more everything anything all this these that "
    "zusammenfassung zusammen fasse zusammenfassen überblick geht worum text dokument résumé résume résumer resumen "
    "resume resumir riassunto riassumi resumo resuma кратко резюме".split()
)
"""Words of queries that ask for a summary, or for more, and not for anything in the texts."""
_ASIDE_WEIGHT, _SYNONYM_WEIGHT = 0.1, 0.5
"""The weights of words beside the sentences that ask, and of synonyms."""
_FEWEST_ASKED = 2
"""Content words of a question that can stand alone."""
_KANA_WEIGHT = 0.5
"""The weight of pairs of hiragana, which are endings and particles more often than words."""
_BESIDE_UNSPACED = 3.0
"""The weight of a name in Latin letters or a number among pairs of characters, of which a word has several."""
_HIRAGANA = lazy_regex(r"[\u3041-\u309f]+")
_THAI_STOP_WORD = lazy_regex("|".join(sorted(STOP_WORDS["th"], key=len, reverse=True)))
_WORD = lazy_regex(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_POSSESSIVE = lazy_regex(r"['\u2019]s$", re.IGNORECASE)
_BREAK = lazy_regex(r"[,;:?!\u060c\u061f]")
_MOST_CLAUSES = 8
"""The most clauses of a query, which limits the cost of a long one."""
_SHORT_FORM = lazy_regex(r"\(([^\W\d_][\w.&/-]{1,9})\)")
_FEWEST_CAPITALS, _MOST_MORE_WORDS, _LONGEST = 2, 5, 120
"""Capitals of a short form, words of a long one beyond its letters, characters that it is looked for in."""


def query_terms(
    query: str,
    *,
    language: str,
    terms: Terms,
    synonyms: Mapping[str, Sequence[str]] = MappingProxyType({}),
    question: str | None = None,
) -> dict[str, float]:
    """Return term -> weight in the order of the query: 1.0 for its own terms, 0.5 for synonyms and pairs of hiragana,
    more for a name or a number among pairs of characters, and little for words beside the part that asks.

    Stop words are ignored unless the query has nothing else. synonyms: words or phrases that mean the same, by one of
    them; each finds all the others. question: `main_question` of the query, if it is known.
    """
    words = split_words(query)
    content = _content(words, language) or words
    every = [term for of_word in terms.of_words(content).values() for term in of_word]
    # An Arabic root may look like a function word: the root of قبائل, "tribes", is written like قبل, "before".
    stop = frozenset() if language == "ar" else STOP_WORDS.get(language, frozenset())
    whole = _BESIDE_UNSPACED if 2 * sum(map(has_unspaced, every)) > len(every) else 1.0
    weights = {term: _weight(term, whole) for term in every if term not in stop}
    own = weights or dict.fromkeys(every, 1.0)
    question = main_question(query, language) if question is None else question
    if question != query:
        asked = {term for of_word in terms.of_words(split_words(question)).values() for term in of_word}
        own = {term: weight if term in asked else weight * _ASIDE_WEIGHT for term, weight in own.items()}
    return own | {term: _SYNONYM_WEIGHT for term in _other_names(words, synonyms, terms) if term not in own}


def _weight(term: str, whole: float) -> float:
    """Return the weight of a term. whole: that of a word which is no pair of characters."""
    if not has_unspaced(term):
        return whole
    return _KANA_WEIGHT if _HIRAGANA.fullmatch(term) else 1.0


def main_question(query: str, language: str) -> str:
    """Return the part of a query that asks: see `question_in`; the whole query if it has hardly a content word."""
    question = question_in(query)
    if question == query:
        return query
    return question if len(_content(split_words(question), language)) >= _FEWEST_ASKED else query


def asks_for_all(query: str, language: str) -> bool:
    """Return whether the query asks for nothing in particular: it has no content word, or only asks for a summary."""
    return all(word.lower() in _ABOUT_TEXTS for word in _content(split_words(query), language))


def clauses(query: str, ignored: frozenset[str]) -> list[str]:
    """Return the runs of two or more content words, and any two neighbouring runs with the words between them.

    Example: "What is the birthplace of the director of Silver Dunes?" gives "Silver Dunes", "birthplace of the
    director" and "director of Silver Dunes". Scripts without spaces have no clauses.

    ignored: the function words of the language, in lower case.
    """
    runs: list[tuple[int, int]] = []
    end, joined = 0, False
    for found in _WORD.finditer(query):
        word = _POSSESSIVE.sub("", found.group())
        is_content = word.lower() not in ignored
        if is_content:
            continues = joined and not _BREAK.search(query, end, found.start())
            start = runs.pop()[0] if continues else found.start()
            runs.append((start, found.start() + len(word)))
        joined = is_content and len(word) == len(found.group())
        end = found.end()
    pairs = [(first[0], second[1]) for first, second in pairwise(runs)]
    texts = dict.fromkeys(query[start:end] for start, end in [*runs, *pairs])
    return [text for text in texts if len(text.split()) > 1 and text != query][:_MOST_CLAUSES]


def _content(words: Sequence[str], language: str) -> list[str]:
    """Return the words that are not stop words."""
    if language == "th":
        return [part for word in words for part in _THAI_STOP_WORD.split(word) if len(part) > 1 or part == word]
    stop, lower = STOP_WORDS.get(language, frozenset()), lower_case(language)
    return [word for word in words if lower(word) not in stop and (word.isascii() or fold(lower(word)) not in stop)]


def _other_names(words: Sequence[str], synonyms: Mapping[str, Sequence[str]], terms: Terms) -> list[str]:
    """Return the terms of the groups of synonyms of which the query has a word or a phrase, in any form ("configs")."""
    if not synonyms:
        return []
    asked = {term for of_word in terms.of_words(words).values() for term in of_word}
    found: list[str] = []
    for word, others in synonyms.items():
        names = [[*filter(None, terms.of_words(split_words(name)).values())] for name in (word, *others)]
        if any(name and all(map(asked.issuperset, name)) for name in names):
            found += [term for name in names for of_word in name for term in of_word]
    return found


def abbreviations_in(texts: Iterable[str]) -> Mapping[str, tuple[str]]:
    """Return short form -> its long form, as the first text that explains it says: a group of synonyms.

    The method is that of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in
    biomedical text" (2003): from its end, each letter of the short form is looked for in the words before the bracket
    ("the Federal Network Agency (FNA)"), and the first letter must begin a word.
    """
    found: dict[str, tuple[str]] = {}
    for text in texts:
        if "(" not in text:
            continue
        for match in _SHORT_FORM.finditer(text):
            short = match[1]
            if short not in found and sum(map(str.isupper, short)) >= _FEWEST_CAPITALS:
                long = _long_form(short, text[max(0, match.start() - _LONGEST) : match.start()].rstrip())
                if long:
                    found[short] = (long,)
    return found


def _long_form(short: str, before: str) -> str:
    """Return the end of `before` that the short form stands for; "" if it stands for something else."""
    lower, place = before.lower(), len(before)
    letters = [sign for sign in short.lower() if sign.isalnum()]
    for number in range(len(letters) - 1, -1, -1):
        place = lower.rfind(letters[number], 0, place)
        while place > 0 and number == 0 and before[place - 1].isalnum():
            place = lower.rfind(letters[0], 0, place)
        if place < 0:
            return ""
    words = len(before[place:].split())
    return before[place:] if 1 < words <= len(letters) + _MOST_MORE_WORDS else ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and how its words are compared."""

    text: str
    """The part of it that asks."""
    wanted: Mapping[str, float]
    """Its terms and their synonyms, with their weights."""
    terms: Terms
    ignored: frozenset[str]
    """The function words of the language."""

    @classmethod
    def of(cls, text: str, language: str, synonyms: Mapping[str, Sequence[str]]) -> "Question":
        terms, asking = Terms(language), main_question(text, language)
        wanted = query_terms(text, language=language, terms=terms, synonyms=synonyms, question=asking)
        return cls(asking, wanted, terms, STOP_WORDS.get(language, frozenset()))
