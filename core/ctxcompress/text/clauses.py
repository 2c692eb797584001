"""The parts of a question that may be asked one by one."""

import re
from itertools import pairwise

__all__ = ["clauses"]

_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s$", re.IGNORECASE)
_MARK = re.compile(r"[,;:?!\u060c\u061f]")
_MOST = 8
"""Clauses of a question, so that a long one does not cost many times what a short one does."""


def clauses(query: str, ignored: frozenset[str]) -> list[str]:
    """Runs of two words or more without function words, and any two neighbouring runs with what stands between.

    Of "What is the birthplace of the director of Silver Dunes?": "Silver Dunes", "birthplace of the director",
    "director of Silver Dunes".

    ignored: the language's function words, in lower case. Scripts without spaces have no clauses.
    """
    runs: list[tuple[int, int]] = []
    end, joined = 0, False
    for found in _WORD.finditer(query):
        word = _POSSESSIVE.sub("", found.group())
        is_content = word.lower() not in ignored
        if is_content:
            continues = joined and not _MARK.search(query, end, found.start())
            start = runs.pop()[0] if continues else found.start()
            runs.append((start, found.start() + len(word)))
        joined = is_content and len(word) == len(found.group())
        end = found.end()
    pairs = [(first[0], second[1]) for first, second in pairwise(runs)]
    texts = dict.fromkeys(query[start:end] for start, end in [*runs, *pairs])
    return [text for text in texts if len(text.split()) > 1 and text != query][:_MOST]
