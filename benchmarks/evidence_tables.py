"""Writes the table of docs/evidence.md that comes from evidence.json: the evidence kept of kinds that were left out.

    python benchmarks/evidence_tables.py                          # print the table
    python benchmarks/evidence_tables.py --docs docs/evidence.md  # print it, and replace it in the document

The numbers are those of the last run of train_evidence.py.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from lib.kinds import kind_of
from lib.markdown_blocks import publish, share, table

EVIDENCE = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
_NOT_MEASURED = "–"


def held_out(left_out: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table of the evidence kept of each set by each model that had nothing of its kind."""
    columns = list(dict.fromkeys(column for row in left_out.values() for column in row))
    rows = [
        [name, kind_of(name), *(_measured(row.get(column)) for column in columns)] for name, row in left_out.items()
    ]
    measured = [[row[column] for row in left_out.values() if column in row] for column in columns]
    return table(["set", "kind", *columns], [*rows, ["mean", "", *(share(mean(values)) for values in measured)]])


def _measured(value: float | None) -> str:
    return _NOT_MEASURED if value is None else share(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="the document to put the table into")
    options = parser.parse_args()
    publish({"held-out": held_out(json.loads(EVIDENCE.read_text(encoding="utf-8"))["left_out"])}, options.docs)


if __name__ == "__main__":
    main()
