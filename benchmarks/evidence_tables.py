"""Writes the tables of docs/evidence.md that come from evidence.json: the results, and the calibration.

    python benchmarks/evidence_tables.py                          # print the tables
    python benchmarks/evidence_tables.py --docs docs/evidence.md  # print them, and replace them in the document

The numbers are those of the last run of train_evidence.py.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from lib.kinds import kind_of
from lib.markdown_blocks import publish, share, table

EVIDENCE = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
_NOT_MEASURED = "–"


def learned(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of what stands in evidence.json: the evidence kept of left-out kinds, and the numbers of the
    calibration."""
    return {"held-out": _held_out(data["left_out"]), "constants": _constants(data["models"])}


def _held_out(left_out: Mapping[str, Mapping[str, float]]) -> str:
    columns = list(dict.fromkeys(column for row in left_out.values() for column in row))
    rows = [
        [name, kind_of(name), *(_measured(row.get(column)) for column in columns)] for name, row in left_out.items()
    ]
    measured = [[row[column] for row in left_out.values() if column in row] for column in columns]
    return table(["set", "kind", *columns], [*rows, ["mean", "", *(share(mean(values)) for values in measured)]])


def _measured(value: float | None) -> str:
    return _NOT_MEASURED if value is None else share(value)


def _constants(models: Mapping[str, Any]) -> str:
    names = list(next(iter(models.values()))["calibration"])
    rows = [[model, *(f"{of['calibration'][name]:.3f}" for name in names)] for model, of in models.items()]
    return table(["model", *(f"`{name}`" for name in names)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="the document to put the tables into")
    options = parser.parse_args()
    publish(learned(json.loads(EVIDENCE.read_text(encoding="utf-8"))), options.docs)


if __name__ == "__main__":
    main()
