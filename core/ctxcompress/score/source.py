"""What is known of segments of source code beyond what is known of prose: what they are in their file, and which
definitions speak of one another."""

from collections.abc import Sequence

import numpy as np

from ctxcompress.outline import NodeKind
from ctxcompress.score.bm25 import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import table

__all__ = ["SOURCE", "is_program", "source_features"]

SOURCE = (
    "judged",  # the log odds of what was judged so far
    "is_function",  # a whole one, or the signature of one
    "is_class",  # the signature of a class or type, or a small one
    "is_doc",
    "is_private",  # in a definition whose name begins with one underscore
    "is_protocol",  # in one whose name the language calls by itself, such as __init__
    "outside",  # in no definition
    "in_outermost",  # in one that stands in no other
    "called",  # the best segment of another definition that mentions this one's name
    "calls",  # the best other definition whose name the segment mentions
    "same_outermost",  # the best segment of others in the same class
    "same_definition",  # the best of the others in the same function
)
"""The rows of `source_features`, in order."""

_BEST = 4
"""How many of the best segments count for others."""
_FUNCTIONS = frozenset((NodeKind.FUNCTION, NodeKind.METHOD))
_CLASSES = frozenset((NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))


def source_features(corpus: Corpus, probability: Floats) -> Floats:
    """One row for each of SOURCE, one column a segment, shape (features, segments); of no meaning for prose.

    probability: what was judged so far of each segment.
    """
    paths = [segment.heading for segment in corpus.segments]
    names = [path[-1] if path else "" for path in paths]
    units = [segment.unit for segment in corpus.segments]
    judged = np.clip(probability, 1e-9, 1 - 1e-9)
    best = np.argsort(-judged, kind="stable")[:_BEST].tolist()
    called, calls = _calls(corpus, names, judged, best)
    return table(
        [
            np.log(judged / (1 - judged)),
            np.array([unit in _FUNCTIONS for unit in units]),
            np.array([unit in _CLASSES for unit in units]),
            np.array([unit is NodeKind.DOC for unit in units]),
            np.array([name[:1] == "_" != name[1:2] for name in names]),
            np.array([name[:2] == "__" for name in names]),
            np.array([not path for path in paths]),
            np.array([len(path) == 1 for path in paths]),
            called,
            calls,
            _best_beside([path[:1] for path in paths], judged, best),
            _best_beside(paths, judged, best),
        ]
    )


def is_program(corpus: Corpus) -> bool:
    """Whether most of the segments are source code, and it defines something: data in braces does not."""
    defines = _FUNCTIONS | _CLASSES
    return bool(corpus.source.mean() > 0.5) and any(segment.unit in defines for segment in corpus.segments)


def _calls(corpus: Corpus, names: Sequence[str], judged: Floats, best: Sequence[int]) -> tuple[Floats, Floats]:
    """(of each segment how likely the likeliest of the best is that mentions its name, and of those whose names it
    mentions)."""
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
    """How likely the likeliest of the best segments with the same path is, the segment itself apart."""
    found = np.zeros(len(paths))
    for number in reversed(best):
        same = [other for other, path in enumerate(paths) if path and path == paths[number] and other != number]
        found[same] = judged[number]
    return found
