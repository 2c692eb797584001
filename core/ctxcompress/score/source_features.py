"""Named features of source code: what kind of definition a segment is in, and which definitions call each other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import NodeKind
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import Matches, log_odds, stacked

__all__ = ["SOURCE", "is_program", "source_features"]

_FUNCTIONS = frozenset((NodeKind.FUNCTION, NodeKind.METHOD))
_DOC = NodeKind.DOC
_PARTS = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definition around each segment: its name and its kind."""

    paths: Sequence[tuple[str, ...]]
    """The names of all definitions around each segment, innermost last."""
    names: Sequence[str]
    """The innermost name; "" for none."""
    described: Sequence[str]
    """The innermost name, with the parameter that the segment describes or the constants that it defines, if any."""
    parts: Mapping[str, tuple[str, ...]]
    """Each of these but "" -> its parts in lower case, such as get, HTTP and status of getHTTPStatus."""
    rows: Sequence[NDArray[np.bool_]]
    """Whether each segment is a function or an entry of its docstring, and whether it has a special name."""

    @classmethod
    def of(cls, corpus: Corpus) -> "Definitions":
        segments = corpus.table.segments
        paths = [segment.heading for segment in segments]
        names = [path[-1] if path else "" for path in paths]
        entries = [part[6] is _DOC and part[7] != "" for part in segments]
        described = [f"{name} {part[7]}".strip() for name, part in zip(names, segments, strict=True)]
        distinct = dict.fromkeys(filter(None, described))
        return cls(
            paths,
            names,
            described,
            {name: tuple(part.lower() for part in _PARTS.findall(name)) for name in distinct},
            [
                np.array([part.unit in _FUNCTIONS or entry for part, entry in zip(segments, entries, strict=True)]),
                np.array([name[:2] == "__" for name in names]),
            ],
        )


SOURCE = (
    "judged",  # the log odds of its probability so far
    "is_function",  # a whole function, the signature of one, or an entry of its docstring
    "is_protocol",  # in one that the language itself calls, such as __init__
    "called",  # the best segment of another definition that mentions this one's name
    "calls",  # the best other definition whose name the segment mentions
    "same_outermost",  # the best other segment in the same class
    "same_definition",  # the best other segment in the same function
    "near",  # the best segment of the definitions right before and after its own
    "resembles",  # share of the query's weight in words that the name, parameter or constant contains or abbreviates
)
"""The rows of `source_features`, in order."""
_BEST = 4
"""The number of best segments that raise others."""
_LONG_DOCUMENT, _SHORTEST_PART = 25, 3
"""Segments of a document that is more than a chunk; letters of a part of a name that abbreviates a term."""


def source_features(corpus: Corpus, matches: Matches, wanted: Sequence[str], probability: Floats) -> Floats:
    """Return one row per name in SOURCE and one column per segment. The columns of prose mean nothing.

    wanted: the terms of the query. probability: of each segment so far.
    """
    definitions = corpus.once(Definitions.of)
    paths, names = definitions.paths, definitions.names
    judged = np.clip(probability, 1e-9, 1 - 1e-9)
    best = np.argsort(-judged, kind="stable")[:_BEST].tolist()
    called, calls = _calls(corpus, names, judged, best)
    return stacked(
        [
            log_odds(probability),
            *definitions.rows,
            called,
            calls,
            _best_beside([path[:1] for path in paths], judged, best),
            _best_beside(paths, judged, best),
            _best_near(corpus, judged),
            _resemblance(definitions, dict(zip(wanted, (matches.idf / matches.weight).tolist(), strict=True))),
        ]
    )


def _calls(corpus: Corpus, names: Sequence[str], judged: Floats, best: Sequence[int]) -> tuple[Floats, Floats]:
    """Return for each segment the best probability of those that mention its name, and of those that it mentions."""
    called, calls = np.zeros(len(names)), np.zeros(len(names))
    named = {name: max(judged[b] for b in best if names[b] == name) for name in {names[b] for b in best} if name}
    mentioned: dict[str, float] = {}
    for number in reversed(best):
        mentioned |= dict.fromkeys(set(corpus.words[number]) - {names[number]}, judged[number])
    for number, name in enumerate(names):
        called[number] = mentioned.get(name, 0.0) if name else 0.0
        if not named.keys().isdisjoint(corpus.words[number]):
            calls[number] = max((named[w] for w in named.keys() & corpus.words[number] if w != name), default=0.0)
    return called, calls


def _best_beside(paths: Sequence[tuple[str, ...]], judged: Floats, best: Sequence[int]) -> Floats:
    """Return, for each segment, the greatest probability of the other best segments with the same path."""
    found = np.zeros(len(paths))
    for number in reversed(best):
        same = [other for other, path in enumerate(paths) if path and path == paths[number] and other != number]
        found[same] = judged[number]
    return found


def _best_near(corpus: Corpus, judged: Floats) -> Floats:
    """Return, for each segment, the greatest probability in the sections right before and after its own section.

    It is 0 in short documents, which are chunks: what stands beside a definition there is chance.
    """
    sections, documents = np.asarray(corpus.table.sections), corpus.table.documents
    best = np.zeros(int(sections[-1]) + 3)
    np.maximum.at(best, sections + 1, judged)
    document = np.full(best.size, -1)
    document[sections + 1] = documents
    before = np.where(document[sections] == documents, best[sections], 0.0)
    after = np.where(document[sections + 2] == documents, best[sections + 2], 0.0)
    is_long = np.bincount(documents, minlength=len(corpus.titles)) >= _LONG_DOCUMENT
    return np.maximum(before, after) * is_long[documents]


def _resemblance(definitions: Definitions, weights: Mapping[str, float]) -> Floats:
    """Return, for each segment, the share of the query's weight in the terms that its name contains or abbreviates."""
    contained = re.compile("|".join(re.escape(term) for term in weights if len(term) > _SHORTEST_PART) or r"(?!)")
    beginnings = {term[:size] for term in weights for size in range(_SHORTEST_PART, len(term) + 1)}
    known = {"": 0.0}
    for name, parts in definitions.parts.items():
        low = name.lower()
        may = not beginnings.isdisjoint(parts) or contained.search(low)
        known[name] = _resembles(low, parts, weights) if may else 0.0
    return np.array([known[name] for name in definitions.described])


def _resembles(low: str, parts: Sequence[str], weights: Mapping[str, float]) -> float:
    abbreviations = tuple(part for part in parts if len(part) >= _SHORTEST_PART)
    return sum(
        weight
        for term, weight in weights.items()
        if (len(term) > _SHORTEST_PART and term in low) or term.startswith(abbreviations)
    )


def is_program(corpus: Corpus) -> bool:
    """Tell whether most segments are source code that has functions, unlike data in braces and schemas."""
    units = corpus.table.unit
    return 2 * units.count(None) < len(units) and not _FUNCTIONS.isdisjoint(units)
