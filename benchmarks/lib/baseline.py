"""The plain baseline: sentences by a regular expression, ranked by rank_bm25, the best that fit, in source order.

This is what one writes in an afternoon without ctxcompress, so ctxcompress is compared with it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

__all__ = ["RankedSentences"]

_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\n+|(?<=[.!?])[^\S\n]+|(?<=[。！？])(?!$)")


class _Sentence(NamedTuple):
    document: int
    text: str


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """The sentences of some documents, and their indices from the best for a query to the worst.

    Ranking costs the most and does not depend on the budget: rank once, cut at as many budgets as are wanted.
    """

    sentences: tuple[_Sentence, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, query: str, documents: Sequence[str]) -> "RankedSentences":
        """Ranks the sentences of `documents` for `query`; of equally good ones the first stays first."""
        sentences = tuple(_sentences(documents))
        if not sentences:
            return cls((), ())
        # A sentence of signs alone has no words, and rank_bm25 divides by the number of all words.
        model = BM25Okapi([_words(sentence.text) or [""] for sentence in sentences])
        order = np.argsort(-model.get_scores(_words(query)), kind="stable")
        return cls(sentences, tuple(order.tolist()))

    def within(self, budget: int, count: Callable[[str], int]) -> str:
        """The best sentences that fit, a line each, a blank line between documents: `budget` tokens at most."""
        chosen: list[int] = []
        left = budget
        for index in self.order:
            cost = count(self.sentences[index].text) + 1  # what joins it to the next
            if cost <= left:
                chosen.append(index)
                left -= cost
        text = self._joined(chosen)
        while chosen and count(text) > budget:  # the tokens of a text are not quite the sum of its parts'
            chosen.pop()
            text = self._joined(chosen)
        return text

    def _joined(self, chosen: Sequence[int]) -> str:
        kept = (self.sentences[index] for index in sorted(chosen))
        by_document = groupby(kept, key=lambda sentence: sentence.document)
        return "\n\n".join("\n".join(sentence.text for sentence in found) for _, found in by_document)


def _sentences(documents: Sequence[str]) -> Iterator[_Sentence]:
    for index, document in enumerate(documents):
        for part in _BREAK.split(document):
            if part.strip():
                yield _Sentence(index, part.strip())


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
