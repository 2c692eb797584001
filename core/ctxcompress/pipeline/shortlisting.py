"""Decides whether only a shortlist of the passages is looked at: there are far more than the budget has room for."""

from collections.abc import Sequence

from ctxcompress.pipeline.scored_calls import current_listener
from ctxcompress.pipeline.task import Task
from ctxcompress.query.terms import asks_for_all, query_terms, tables_of_synonyms
from ctxcompress.reduce.shortlist import shortlist
from ctxcompress.segment.data_records import data_outline
from ctxcompress.text.log_lines import is_log
from ctxcompress.text.stems import keeps_beginnings
from ctxcompress.text.words import Terms

__all__ = ["find_shortlist"]

_SHORTEST = 2_000
"""The least passages of a shortlist."""
_FOR_EACH_TOKEN = 2
"""Passages for each token of the budget. What is kept of a passage takes at least one."""
_VERY_MANY = 2.5
"""With less than this many times as many passages as the shortlist would have, there is none."""
_SAMPLE = 30
"""About how many passages tell what all are."""
_FEW = 0.1
"""Of the sample, the most that may be log lines or records."""
_ARABIC = "ar"
"""Its stems are not the beginnings of its words, and not parts of them."""


def find_shortlist(task: Task) -> Sequence[int] | None:
    """Return the numbers of the passages that are looked at, or None for all.

    These are all unless there are very many, and words alone decide which of them are needed.
    """
    passages = task.passages
    most = max(_SHORTEST, _FOR_EACH_TOKEN * task.config.budget)
    if len(passages) < _VERY_MANY * most or _has_other_signals(task) or _asks_beside_words(task):
        return None
    texts = [passage.text for passage in passages]
    sample = texts[:: len(texts) // _SAMPLE]
    if sum(is_log(text) or bool(data_outline(text)) for text in sample) > _FEW * len(sample):
        return None  # an error in a log answers "what failed?" without its words, and a date in a record has many forms
    return shortlist(texts, _terms(task), most)


def _has_other_signals(task: Task) -> bool:
    """Tell whether scores, an encoder, or rules of the options may matter for passages without words of the query, or
    whether somebody wants to know about all passages."""
    config = task.config
    has_rules = bool(config.must_keep or config.max_chunks_per_doc) or config.top_n is not None
    is_watched = task.delivered is not None or current_listener() is not None
    if has_rules or is_watched or config.encoder is not None or config.mode != "extract":
        return True
    return any(passage.score is not None for passage in task.passages)


def _asks_beside_words(task: Task) -> bool:
    """Tell whether the query asks for no words in particular, or whether its language changes words too much."""
    language = task.language
    asks = any(asks_for_all(query, language) for query in task.queries or (task.query,))
    return asks or language == _ARABIC or not keeps_beginnings(language)


def _terms(task: Task) -> dict[str, float]:
    """Return the terms of all questions with their weights."""
    config, terms = task.config, Terms(task.language)
    tables = tables_of_synonyms(config.synonyms, technical=config.technical_synonyms)
    found: dict[str, float] = {}
    for query in task.queries or (task.query,):
        of_query = query_terms(query, language=task.language, terms=terms, synonyms=tables)
        found |= {term: max(weight, found.get(term, 0.0)) for term, weight in of_query.items()}
    return found
