"""Shows how often the promise of `guaranteed_budget` is kept on marked cases, and which budgets it names.

    python benchmarks/guarantee.py CASES... [--limit 200] [--questions 100 200 400] [--max-loss 0.05 0.1]

CASES are files that lib/cases.py reads, one for each set. A loss is the share of a case's evidence that is not whole in
the result. The cases of a set stand for all questions there are, so that what a budget is expected to lose is known:
its mean over them. Questions are drawn from them with replacement, a thousand times, and a budget is named each time.

| column | what it is |
|---|---|
| held | draws after which the expected loss is at most the promised one; the whole context loses nothing |
| named | draws after which a budget is named, and not the whole context |
| budget | mean of the named ones |
| best | the budget that would be named if the expected losses were known |
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from lib.cases import Case, read_cases, set_name
from lib.markdown_blocks import share, table
from numpy.typing import NDArray

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.apps.evaluation.guarantee import guaranteed_budget, least_questions

BUDGETS = (100, 200, 300, 400, 500, 700, 1000, 1500, 2000)
DRAWS = 1_000

Losses = NDArray[np.float64]


def losses_of(cases: Sequence[Case]) -> Losses:
    """The loss of each case, a row, with each budget, a column."""
    compressor = Compressor(CompressionConfig())
    return np.array([[_loss(case, compressor, budget) for budget in BUDGETS] for case in cases])


def _loss(case: Case, compressor: Compressor, budget: int) -> float:
    passages = [
        Passage(str(n), document.text, title=document.title or None) for n, document in enumerate(case.documents)
    ]
    folded = " ".join(compressor.compress(case.query, passages, max_tokens=budget).text.split())
    gold = [" ".join(case.documents[number].text[start:end].split()) for number, start, end in case.gold]
    return sum(piece not in folded for piece in gold) / len(gold)


def outcome(losses: Losses, questions: int, max_loss: float, confidence: float) -> list[str]:
    """The cells of a row: how often the promise was kept, and what was named."""
    risks = dict(zip(BUDGETS, losses.mean(axis=0).tolist(), strict=True))
    draw = np.random.default_rng(0)
    named = []
    for _ in range(DRAWS):
        drawn = losses[draw.integers(len(losses), size=questions)]
        named.append(guaranteed_budget(drawn, BUDGETS, max_loss=max_loss, confidence=confidence).budget)
    budgets = [budget for budget in named if budget is not None]
    held = np.mean([budget is None or risks[budget] <= max_loss for budget in named])
    mean = f"{np.mean(budgets):,.0f}" if budgets else "-"
    return [share(float(held)), share(len(budgets) / DRAWS), mean, _best(risks, max_loss)]


def _best(risks: dict[int, float], max_loss: float) -> str:
    best = "-"
    for budget in reversed(BUDGETS):
        if risks[budget] > max_loss:
            break
        best = f"{budget:,}"
    return best


def main() -> None:
    options = _options()
    rows = []
    for path in options.cases:
        losses = losses_of(list(read_cases(path, options.limit)))
        print(
            f"{set_name(path)}, {len(losses)} cases: "
            + ", ".join(
                f"{budget} loses {share(loss)}" for budget, loss in zip(BUDGETS, losses.mean(axis=0), strict=True)
            ),
            flush=True,
        )
        for max_loss in options.max_loss:
            for questions in options.questions:
                if questions >= least_questions(max_loss, options.confidence):
                    cells = outcome(losses, questions, max_loss, options.confidence)
                    rows.append([set_name(path), f"{max_loss:g}", str(questions), *cells])
    print(f"\n{table(['set', 'max_loss', 'questions', 'held', 'named', 'budget', 'best'], rows)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=200, help="cases of a set at most")
    parser.add_argument("--questions", type=int, nargs="+", default=[100, 200, 400], help="drawn each time")
    parser.add_argument("--max-loss", type=float, nargs="+", default=[0.05, 0.1])
    parser.add_argument("--confidence", type=float, default=0.9)
    return parser.parse_args()


if __name__ == "__main__":
    main()
