"""Switches each row of the registries off in turn, and shows what it gains: formats of texts and adjustments of scores.

    python benchmarks/ablate.py CASES... [--limit N] [--docs docs/evidence.md]

CASES are files that lib/cases.py reads, one for each set. All cases are compressed as they are and without one row
after the other. For each row the table has the evidence that is kept without it (the difference of the mean over the
sets), how many cases keep less and how many more, the set that loses most, and the CPU time without it as a share of
that with it, measured in turns; the first row, without nothing, shows the noise. --docs replaces the table "rules" of
that document.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
from lib.cases import Case, read_cases, set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import publish, publishing_parser, share, table

from ctxcompress import Compressor, Passage
from ctxcompress.score import adjustments
from ctxcompress.segment import formats

Kept = Mapping[str, Sequence[float]]
"""Name of a set -> the share of the evidence that each case keeps."""
_ALWAYS = "prose"
"""The format that reads what no other does."""


def rows() -> Iterator[tuple[str, AbstractContextManager[object]]]:
    """Yield each row of the registries, and the context in which it is switched off."""
    for number, row in enumerate(formats.FORMATS):
        if row.name != _ALWAYS:
            others = (*formats.FORMATS[:number], *formats.FORMATS[number + 1 :])
            yield f"format: {row.name}", patch.object(formats, "FORMATS", others)
    for name in ("OF_PROBABILITY", "OF_WORTH"):
        registry = getattr(adjustments, name)
        for number, row in enumerate(registry):
            yield f"adjustment: {row.name}", patch.object(adjustments, name, registry[:number] + registry[number + 1 :])


def measured(sets: Mapping[str, Sequence[Case]]) -> tuple[Kept, float]:
    """Compress all cases. Return what they keep, and the CPU seconds."""
    compressor, began = Compressor(), time.process_time()
    kept = {name: [_kept(case, compressor, budget_of(name)) for case in cases] for name, cases in sets.items()}
    return kept, time.process_time() - began


def _kept(case: Case, compressor: Compressor, budget: int) -> float:
    passages = [
        Passage(str(number), document.text, title=document.title) for number, document in enumerate(case.documents)
    ]
    text = compressor.compress(case.query, passages, max_tokens=budget, encoding=ENCODING).text
    folded = " ".join(text.split())
    gold = [" ".join(case.documents[document].text[start:end].split()) for document, start, end in case.gold]
    return sum(piece in folded for piece in gold) / len(gold)


def compared(name: str, before: tuple[Kept, float], after: tuple[Kept, float]) -> list[str]:
    """Return the row of the table for what is kept without a row of a registry."""
    differences = {of: np.array(after[0][of]) - np.array(before[0][of]) for of in before[0]}
    means = {of: float(difference.mean()) for of, difference in differences.items()}
    every = np.concatenate(list(differences.values()))
    worst = min(means, key=means.__getitem__)
    loss = f"{worst} {means[worst]:+.3f}" if means[worst] <= -0.0005 else ""
    mean = float(np.mean(list(means.values())))
    return [name, f"{mean:+.4f}", str((every < 0).sum()), str((every > 0).sum()), loss, share(after[1] / before[1])]


def report(title: str, found: Sequence[Sequence[str]]) -> str:
    """Return the rows that change what any case keeps, as a table without the CPU time, and the names of the others."""
    header = ["without", "evidence", "worse", "better", "loses most"]
    telling = [row[:-1] for row in found if row[2:4] != ["0", "0"]]
    others = ", ".join(row[0] for row in found if row[2:4] == ["0", "0"])
    return f"{title}. No case changes without {others}.\n\n{table(header, telling)}"


def main() -> None:
    parser = publishing_parser(__doc__)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=1_000_000)
    given = parser.parse_args()
    sets = {set_name(file): list(read_cases(file, given.limit)) for file in given.cases}
    found = []
    for name, switched_off in (("nothing", nullcontext()), *rows()):
        before = measured(sets)
        with switched_off:
            found.append(compared(name, before, measured(sets)))
        print(*found[-1], sep="\t", flush=True)
    title = f"Measured on {datetime.now(UTC):%Y-%m-%d}, {sum(map(len, sets.values())):,} cases in {len(sets)} sets"
    publish({"rules": report(title, found[1:])}, given.docs)


if __name__ == "__main__":
    main()
