"""What is left of public cases within a budget, by whatever rule their maker has: ctxcompress beside plain ways."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean
from time import process_time
from typing import NamedTuple

import numpy as np

from ctxcompress import Passage, compress
from ctxcompress.apps.evaluation.intervals import Estimate, estimates
from ctxcompress.text.tokens import TokenCounter
from lib.baseline import RankedSentences
from lib.cases import Document
from lib.evaluation import ENCODING
from lib.markdown_blocks import share, table

__all__ = ["PublicCase", "budget_table", "count", "with_interval"]

count = TokenCounter(ENCODING)


class PublicCase(NamedTuple):
    """A question, the documents that are given with it, and the maker's rule: the share that is left in a text."""

    query: str
    documents: Sequence[Document]
    left: Callable[[str], float]

    def texts(self) -> list[str]:
        """Return each document's text below its title."""
        return [f"{document.title}\n{document.text}".strip() for document in self.documents]


Way = Callable[[PublicCase, int], str]
"""Makes the documents of a case fit a budget."""


def _compressed(case: PublicCase, budget: int) -> str:
    passages = [Passage(str(n), of.text, title=of.title or None) for n, of in enumerate(case.documents)]
    return compress(case.query, passages, max_tokens=budget, encoding=ENCODING).text


def _ranked(case: PublicCase, budget: int) -> str:
    return RankedSentences.of(case.query, case.texts()).within(budget, count)


def budget_table(cases: Sequence[PublicCase], budgets: Sequence[int], cut: Mapping[str, Way]) -> str:
    """Return a table of what ctxcompress, rank_bm25 and the ways of `cut` leave within each budget."""
    ways = {"ctxcompress": _compressed, "rank_bm25": _ranked, **cut}
    rows = [[name, *_cells(cases, budget, way)] for budget in budgets for name, way in ways.items()]
    return table(["", "budget", "left [95 %]", "tokens", "over the budget", "CPU ms"], rows)


def _cells(cases: Sequence[PublicCase], budget: int, way: Way) -> list[str]:
    left, tokens, milliseconds = zip(*_outcomes(cases, budget, way), strict=True)
    over = sum(found > budget for found in tokens)
    numbers = f"{mean(tokens):,.0f}", f"{over} of {len(cases)}", f"{mean(milliseconds):.0f}"
    return [f"{budget:,}", with_interval(estimates(np.array(left)[:, None], seed=0)[0]), *numbers]


def _outcomes(cases: Sequence[PublicCase], budget: int, way: Way) -> Iterator[tuple[float, int, float]]:
    for case in cases:
        start = process_time()
        text = way(case, budget)
        milliseconds = 1000 * (process_time() - start)
        yield case.left(text), count(text), milliseconds


def with_interval(estimate: Estimate | None) -> str:
    """Return a mean with its interval of 95 %."""
    return "–" if estimate is None else f"{share(estimate.mean)} [{share(estimate.low)}, {share(estimate.high)}]"
